/** The modules in the README are tests that run: each block stands in the file of its name, as it is. */
import { assert, describe, it } from "@effect/vitest"
import * as fs from "node:fs"
import * as path from "node:path"

const readme = fs.readFileSync(path.join(import.meta.dirname, "..", "README.md"), "utf8")
const blocks = Array.from(
  readme.matchAll(/^```ts\n\/\/ (\S+)\n([^]*?)^```$/gm),
  ([, file = "", code = ""]) => ({ file, code })
)

describe("the README of the testkit", () => {
  it("shows tests that run, as they are", () => {
    assert.isAbove(blocks.length, 0)
    assert.strictEqual(blocks.length, readme.match(/^```ts/gm)?.length)
    for (const { code, file } of blocks) {
      const text = fs.readFileSync(path.join(import.meta.dirname, "readme", file), "utf8")
      assert.include(text, code, `a block of ${file} is not what runs`)
    }
  })

  it("shows each of the three failures in less than 20 lines", () => {
    const scenarios = blocks.filter(({ file }) => file === "scenarios.test.ts")
    assert.strictEqual(scenarios.length, 3)
    for (const { code } of scenarios) assert.isBelow(code.trimEnd().split("\n").length, 20, code)
  })
})
