/** The documentation is true: every module in it compiles, its tests pass, and every link leads somewhere. */
import { assert } from "@effect/vitest"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { afterAll, describe, it } from "vitest"
import * as Processes from "./Processes.ts"
import * as Snippets from "./Snippets.ts"

const root = path.resolve(import.meta.dirname, "..")
const folder = await Snippets.folder()
afterAll(() => fs.rm(folder, { recursive: true }))
const snippets = await Snippets.write(root, folder)

const project = {
  extends: path.join(root, "tsconfig.base.json"),
  include: ["**/*.ts"],
  compilerOptions: {
    rootDir: ".",
    noEmit: true,
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true,
    types: ["node"],
    tsBuildInfoFile: "./.tsbuildinfo"
  },
  references: ["core", "herder", "sqlite", "connectors", "rest", "testkit"].map((name) => ({
    path: path.join(root, "packages", name)
  }))
}

/** The anchors of a page, as they are made from its headings. */
const anchors = (text: string): ReadonlySet<string> =>
  new Set(
    Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = ""]) =>
      heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-"))
  )

describe("the documentation", () => {
  it("compiles, every module of it", { timeout: 120_000 }, async () => {
    await fs.writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(project))
    const tsc = path.join(root, "node_modules", ".bin", "tsc")
    const { code, errors, output } = await Processes.ended(Processes.start(tsc, ["-b", folder], { cwd: root }))
    assert.strictEqual(code, 0, output + errors)
  })

  it("links to files and headings that exist", async () => {
    const dead: Array<string> = []
    for (const page of await Snippets.pages(root, [...Snippets.documentation, ...Snippets.packagePages])) {
      const text = await fs.readFile(path.join(root, page), "utf8")
      for (const [, target = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^(?:https?|mailto):/.test(target)) continue
        const [file = "", anchor] = target.split("#")
        const place = file === "" ? path.join(root, page) : path.join(root, path.dirname(page), file)
        const found = await fs.stat(place).catch(() => undefined)
        const isThere = found !== undefined &&
          (anchor === undefined || anchors(await fs.readFile(place, "utf8")).has(anchor))
        if (!isThere) dead.push(`${page}: ${target}`)
      }
    }
    assert.deepStrictEqual(dead, [])
  })

  describe("its tests", async () => {
    // collected like any others
    for (const snippet of snippets) if (snippet.isTest) await import(Snippets.placeOf(folder, snippet))
  })
})
