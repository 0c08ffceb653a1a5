/** The results as a page for people. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { Mutation, Suite } from "./Mutation.ts"

/** What became of one mutation. */
export interface Result {
  readonly mutation: Mutation
  /** The suite that noticed it; `undefined`: none did. */
  readonly suite: Suite | undefined
  /** The first test that failed, or the law that broke. */
  readonly by: string | undefined
  /** What it said. */
  readonly message: string
}

const versionOf = (root: string, name: string): string => {
  const { version }: { readonly version: string } = JSON.parse(
    fs.readFileSync(path.join(root, "node_modules", name, "package.json"), "utf8")
  )
  return version
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ")

const row = ({ by, mutation: { breaks, file, name }, suite }: Result): string => {
  const where = suite === undefined || suite === "simulate" ? "" : ` (\`${path.basename(suite)}\`)`
  return `| ${cell(name)} | ${cell(breaks)} | \`${file.replace(/^packages\//, "")}\` | ${
    cell(by ?? "**nobody**")
  }${where} |`
}

/** The page of a run. */
export const page = (root: string, results: ReadonlyArray<Result>): string => {
  const cpus = os.cpus()
  const noticed = results.filter(({ by }) => by !== undefined).length
  const versions = [
    `Node ${process.versions.node}`,
    ...["effect", "vitest", "typescript"].map((name) => `${name} ${versionOf(root, name)}`)
  ]
  return `# Mutations

A test that cannot fail proves nothing. \`pnpm mutations\` breaks the runtime in known ways, one at a time, in a copy of the
workspace, and looks which test, or which law of the simulation, notices it. The list stands in
\`scripts/mutations/list.ts\`; a test of every change looks whether each of them can still be put into its file. This page
is written by \`pnpm mutations --write\`.

- Date: ${new Date().toISOString().slice(0, 10)}
- Machine: ${os.type()} ${os.arch()}, ${cpus.length} x ${cpus[0]?.model.trim() ?? "unknown"}
- Versions: ${versions.join(", ")}
- Noticed: ${noticed} of ${results.length}

The last column has the first test that failed, with its file, or the seed and the law of the simulation. Others may
notice it too: the narrowest suite is asked first, and the first answer is enough.

| broken | breaks | in | noticed by |
| --- | --- | --- | --- |
${results.map(row).join("\n")}
`
}
