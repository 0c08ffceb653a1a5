import { assert, describe, it } from "@effect/vitest"
import { ValueToKey } from "@kelpie/connectors/ValueToKey"
import { assertRefused, struct, transform, valued } from "./transforming.ts"

const schema = struct({
  a: { type: "int32" },
  b: { type: "string", optional: true, default: "none" },
  c: { type: "boolean" }
}, { name: "Order" })

describe("ValueToKey", () => {
  it("makes a key of the fields, in the order of the configuration, and keeps the value", () => {
    const record = valued({ a: 1, b: 2, c: 3 })
    const result = transform(ValueToKey, { fields: "c,a" })(record)
    assert.strictEqual(JSON.stringify(result?.key), `{"c":3,"a":1}`)
    assert.strictEqual(result?.value, record.value)
  })

  it("gives a missing field null without a schema, and drops the old key's schema", () => {
    const record = { ...valued({ a: 1 }), key: "old", keySchema: { type: "string" } as const }
    const result = transform(ValueToKey, { fields: "a,x" })(record)
    assert.deepStrictEqual(result?.key, { a: 1, x: null })
    assert.isUndefined(result?.keySchema)
  })

  it("makes a struct of a value with a schema", () => {
    const toKey = transform(ValueToKey, { fields: "b,a" })
    const result = toKey(valued({ a: 1, b: "x", c: true }, schema))
    assert.deepStrictEqual(result?.key, { b: "x", a: 1 })
    assert.deepStrictEqual(
      result?.keySchema,
      struct({ b: { type: "string", optional: true, default: "none" }, a: { type: "int32" } })
    )
    assert.strictEqual(result?.valueSchema, schema)
    assert.strictEqual(toKey(valued({ a: 2, b: "y", c: true }, schema))?.keySchema, result?.keySchema)
  })

  it("replaces a null by the default unless told not to", () => {
    const record = valued({ a: 1, b: null, c: true }, schema)
    assert.deepStrictEqual(transform(ValueToKey, { fields: "b" })(record)?.key, { b: "none" })
    const keep = transform(ValueToKey, { fields: "b", "replace.null.with.default": "false" })
    assert.deepStrictEqual(keep(record)?.key, { b: null })
  })

  it("refuses a field that the schema does not have", () => {
    const toKey = transform(ValueToKey, { fields: "a,x" })
    assertRefused(() => toKey(valued({ a: 1 }, schema)), "ValueToKey", "\"x\"", "no such field")
  })

  it("refuses tombstones and values without fields", () => {
    const toKey = transform(ValueToKey, { fields: "a" })
    assertRefused(() => toKey(valued(null)), "ValueToKey", "found null")
    assertRefused(() => toKey(valued(null, schema)), "found null")
    assertRefused(() => toKey(valued("secret")), "found string")
    assertRefused(() => toKey(valued({ a: 1 }, { type: "map" })), "struct", "map")
  })

  it("refuses a configuration without fields", () => {
    assertRefused(() => transform(ValueToKey, {}), "fields")
    assertRefused(() => transform(ValueToKey, { fields: "" }), "fields", "at least one")
  })
})
