import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { FileCopy } from "../src/FileCopy.ts"

const line = (table: string, id: number) => `{"id":${id},"table":"tables.${table}"}\n`

describe("FileCopy", () => {
  it.effect("counts what is added, and what comes twice", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      const copy = new FileCopy(file)
      yield* fs.writeFileString(file, line("a", 1) + line("b", 1) + line("a", 2))
      yield* copy.refresh
      yield* fs.writeFileString(file, line("a", 2) + line("a", 3), { flag: "a" })
      yield* copy.refresh
      assert.deepStrictEqual(copy.arrived("a"), { ids: new Set([1, 2, 3]), duplicates: 1 })
      assert.deepStrictEqual(copy.arrived("b"), { ids: new Set([1]), duplicates: 0 })
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("waits for the end of a line, and counts a line that is no row", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      const copy = new FileCopy(file)
      const whole = line("a", 1)
      yield* fs.writeFileString(file, whole.slice(0, 8))
      yield* copy.refresh
      assert.strictEqual(copy.arrived("a").ids.size, 0)
      yield* fs.writeFileString(file, `${whole.slice(8)}{"id":\n`, { flag: "a" })
      yield* copy.refresh
      assert.strictEqual(copy.arrived("a").ids.size, 1)
      assert.strictEqual(copy.unreadable, 1)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("has nothing while there is no file", () =>
    Effect.gen(function*() {
      const copy = new FileCopy("/nowhere/at/all")
      yield* copy.refresh
      assert.strictEqual(copy.arrived("a").ids.size, 0)
    }).pipe(Effect.provide(NodeServices.layer)))
})
