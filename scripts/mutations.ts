/**
 * Breaks the runtime in known ways, one at a time, in a copy of the workspace, and shows which test or which law of the
 * simulation notices it. Ends with an error when one is not noticed.
 *
 * `pnpm mutations [--check] [--only <text>] [--write]`
 *
 * - `--check` only looks whether every mutation can still be put into its file.
 * - `--only` takes those with the text in their name or file; may be given several times.
 * - `--write` writes the results to `docs/mutations.md`.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { copyWorkspace } from "./mutations/copy.ts"
import { mutations } from "./mutations/list.ts"
import { apply, type Mutation, refusal, type Suite } from "./mutations/Mutation.ts"
import { page, type Result } from "./mutations/report.ts"
import { ask } from "./mutations/suites.ts"

const root = path.resolve(import.meta.dirname, "..")

/** What is wrong with the list: names that are not unique, texts that are gone, suites that do not exist. */
export const check = (): ReadonlyArray<string> => {
  const names = new Set<string>()
  return mutations.flatMap((mutation) => {
    const { file, name, suites } = mutation
    const problems: Array<string> = []
    if (names.has(name)) problems.push("another one has its name")
    names.add(name)
    const refused = refusal(mutation, fs.readFileSync(path.join(root, file), "utf8"))
    if (refused !== undefined) problems.push(refused)
    for (const suite of suites) {
      if (suite !== "simulate" && !fs.existsSync(path.join(root, suite))) problems.push(`${suite} does not exist`)
    }
    return problems.map((problem) => `${name} (${file}): ${problem}`)
  })
}

/** Puts a mutation into the copy, asks its suites, and takes it out again. */
const tryOut = async (copy: string, mutation: Mutation): Promise<Result> => {
  const file = path.join(copy, mutation.file)
  const text = fs.readFileSync(file, "utf8")
  fs.writeFileSync(file, apply(mutation, text))
  const passed: Array<string> = []
  try {
    for (const suite of mutation.suites) {
      const verdict = await ask(copy, suite)
      if (verdict._tag === "Noticed") return { mutation, suite, by: verdict.by, message: verdict.message }
      passed.push(verdict._tag === "Passed" ? `${suite} passed` : `${suite} is unclear: ${verdict.message}`)
    }
  } finally {
    fs.writeFileSync(file, text)
  }
  return { mutation, suite: undefined, by: undefined, message: passed.join("\n") }
}

/** What does not pass before anything is broken would prove nothing. */
const baseline = async (copy: string, chosen: ReadonlyArray<Mutation>): Promise<boolean> => {
  const suites = new Set<Suite>(chosen.flatMap((mutation) => mutation.suites))
  let passes = true
  for (const suite of suites) {
    const verdict = await ask(copy, suite)
    if (verdict._tag === "Passed") continue
    passes = false
    console.error(
      `${suite} does not pass before anything is broken: ${
        verdict._tag === "Noticed" ? verdict.by : ""
      } ${verdict.message}`
    )
  }
  if (passes) console.log(`${suites.size} suites pass before anything is broken`)
  return passes
}

const runAll = async (chosen: ReadonlyArray<Mutation>): Promise<ReadonlyArray<Result> | undefined> => {
  const copy = copyWorkspace(root)
  process.once("exit", () => fs.rmSync(copy, { recursive: true, force: true }))
  if (!(await baseline(copy, chosen))) return undefined
  const results: Array<Result> = []
  for (const mutation of chosen) {
    const result = await tryOut(copy, mutation)
    results.push(result)
    const told = result.by === undefined ? `NOT NOTICED\n${result.message}` : `${result.by}\n    ${result.message}`
    console.log(`${mutation.name} (${mutation.breaks})\n    ${told}`)
  }
  return results
}

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      check: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [""] },
      write: { type: "boolean", default: false }
    }
  })
  const problems = check()
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) return 1
  if (values.check) {
    console.log(`${mutations.length} mutations, each can be put into its file`)
    return 0
  }
  const chosen = mutations.filter(({ file, name }) =>
    values.only.some((text) => name.includes(text) || file.includes(text))
  )
  const results = await runAll(chosen)
  if (results === undefined) return 1
  const missed = results.filter(({ by }) => by === undefined)
  console.log(`${results.length - missed.length} of ${results.length} mutations were noticed`)
  if (values.write) fs.writeFileSync(path.join(root, "docs", "mutations.md"), page(root, results))
  return missed.length === 0 && results.length > 0 ? 0 : 1
}

if (import.meta.main) {
  // ended by a signal, it still ends what it started
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))
  process.exitCode = await main()
}
