/** What is generated is current, and what is counted is complete. */
import { assert } from "@effect/vitest"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { describe, it } from "vitest"
import { generate } from "../scripts/docs.ts"

const root = path.resolve(import.meta.dirname, "..")
const read = (file: string) => fs.readFile(path.join(root, file), "utf8").catch(() => undefined)

describe("the generated documentation", () => {
  it("is what the code says; `pnpm docs:generate` writes it", async () => {
    const stale: Array<string> = []
    for (const [file, text] of await generate()) if (await read(file) !== text) stale.push(file)
    assert.deepStrictEqual(stale, [])
  })

  it("has no page that nothing generates", async () => {
    const known = await generate()
    const left: Array<string> = []
    for await (const file of fs.glob("docs/{reference,diagrams}/**", { cwd: root })) {
      if (file.endsWith(".md") && !known.has(file)) left.push(file)
    }
    assert.deepStrictEqual(left, [])
  })
})

it("CONTRIBUTING.md has a reason for every dependency", async () => {
  const contributing = await read("CONTRIBUTING.md")
  const unexplained = new Set<string>()
  for await (
    const file of fs.glob(
      ["package.json", "packages/*/package.json", "examples/*/package.json", "bench/package.json"],
      { cwd: root }
    )
  ) {
    const { dependencies, devDependencies, peerDependencies } = JSON.parse(await read(file) ?? "{}")
    for (const name of Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })) {
      if (!name.startsWith("@kelpie") && contributing?.includes(`\`${name}\``) !== true) unexplained.add(name)
    }
  }
  assert.deepStrictEqual([...unexplained], [])
})
