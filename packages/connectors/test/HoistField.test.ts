import { assert, describe, it } from "@effect/vitest"
import * as HoistField from "@kelpie/connectors/HoistField"
import { assertRefused, struct, transform, valued } from "./transforming.ts"

describe("HoistField", () => {
  it("wraps any value without a schema, tombstones too", () => {
    const hoist = transform(HoistField.Value, { field: "x" })
    for (const value of [1, "a", null, [1], { a: 1 }]) {
      assert.deepStrictEqual(hoist(valued(value)), { topic: "orders", value: { x: value } })
    }
  })

  it("wraps a value with a schema in a struct that has the schema as its field", () => {
    const hoist = transform(HoistField.Value, { field: "x" })
    const schema = { type: "int32", optional: true, doc: "a number" } as const
    const result = hoist(valued(5, schema))
    assert.deepStrictEqual(result?.value, { x: 5 })
    assert.deepStrictEqual(result?.valueSchema, struct({ x: schema }))
    assert.deepStrictEqual(hoist(valued(null, schema))?.value, { x: null })
    assert.strictEqual(hoist(valued(6, schema))?.valueSchema, result?.valueSchema)
  })

  it("wraps the key; a missing key is null", () => {
    const hoist = transform(HoistField.Key, { field: "id" })
    assert.deepStrictEqual(hoist({ topic: "t", key: 7, value: 1 }), { topic: "t", key: { id: 7 }, value: 1 })
    assert.deepStrictEqual(hoist({ topic: "t", value: 1 })?.key, { id: null })
  })

  it("refuses a configuration without a field", () => {
    assertRefused(() => transform(HoistField.Value, {}), "field")
    assertRefused(() => transform(HoistField.Value, { field: "" }), "field")
  })
})
