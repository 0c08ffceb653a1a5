import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dataset from "../src/Dataset.ts"

describe("Dataset", () => {
  it.effect("reads every row, and numbers them", () =>
    Effect.gen(function*() {
      const tables = yield* Effect.forEach(["airports", "birdstrikes", "zipcodes"], Dataset.read)
      assert.deepStrictEqual(tables.map(({ rows }) => rows.length), [3376, 10_000, 42_049])
      for (const { columns, rows } of tables) {
        assert.deepStrictEqual(columns[0], { name: "id", type: "INTEGER" })
        assert.deepStrictEqual(rows.at(-1)?.[0], rows.length)
        assert.isTrue(rows.every((row) => row.length === columns.length))
      }
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("keeps the zeros of codes, and reads numbers as numbers", () =>
    Effect.gen(function*() {
      const { columns, rows } = yield* Dataset.read("zipcodes")
      assert.deepStrictEqual(columns.slice(1, 3), [
        { name: "zip_code", type: "TEXT" },
        { name: "latitude", type: "REAL" }
      ])
      assert.deepStrictEqual(rows[0], [1, "00501", 40.922326, -72.637078, "Holtsville", "NY", "Suffolk"])
    }).pipe(Effect.provide(NodeServices.layer)))
})
