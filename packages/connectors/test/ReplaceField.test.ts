import { assert, describe, it } from "@effect/vitest"
import * as ReplaceField from "@kelpie/connectors/ReplaceField"
import { assertRefused, struct, transform, valued } from "./transforming.ts"

const schema = struct({
  a: { type: "int32" },
  b: { type: "string", optional: true, default: "none" },
  c: { type: "boolean" }
}, { name: "Order", version: 1 })

describe("ReplaceField without a schema", () => {
  it("leaves out the excluded fields", () => {
    const replace = transform(ReplaceField.Value, { exclude: "a, c" })
    assert.deepStrictEqual(replace(valued({ a: 1, b: 2, c: 3, d: null }))?.value, { b: 2, d: null })
  })

  it("keeps the included fields only, and exclude wins", () => {
    const replace = transform(ReplaceField.Value, { include: "a,b,missing", exclude: "a" })
    assert.deepStrictEqual(replace(valued({ a: 1, b: 2, c: 3 }))?.value, { b: 2 })
  })

  it("renames what it keeps, in place; include means the old name", () => {
    const replace = transform(ReplaceField.Value, { renames: "a:x,b:y", include: "a,c" })
    assert.strictEqual(JSON.stringify(replace(valued({ c: 3, b: 2, a: 1 }))?.value), `{"c":3,"x":1}`)
  })

  it("swaps two names", () => {
    const replace = transform(ReplaceField.Value, { renames: "a:b,b:a" })
    assert.deepStrictEqual(replace(valued({ a: 1, b: 2 }))?.value, { a: 2, b: 1 })
  })

  it("gives several fields one name, as long as a record has one of them", () => {
    const replace = transform(ReplaceField.Value, { renames: "id1:id,id2:id" })
    assert.deepStrictEqual(replace(valued({ id1: 1 }))?.value, { id: 1 })
    assert.deepStrictEqual(replace(valued({ id2: 2 }))?.value, { id: 2 })
    assertRefused(() => replace(valued({ id1: 1, id2: 2 })), "ReplaceField$Value", "\"id\"", "two fields")
  })

  it("keeps a field with the name __proto__", () => {
    const value = transform(ReplaceField.Value, { exclude: "a" })(valued(JSON.parse(`{"a":1,"__proto__":2}`)))?.value
    assert.deepStrictEqual(Object.entries(value ?? {}), [["__proto__", 2]])
  })
})

describe("ReplaceField with a schema", () => {
  it("changes the schema with the value", () => {
    const replace = transform(ReplaceField.Value, { exclude: "c", renames: "a:x" })
    const result = replace(valued({ a: 1, b: "t", c: true }, schema))
    assert.deepStrictEqual(result?.value, { x: 1, b: "t" })
    assert.deepStrictEqual(
      result?.valueSchema,
      struct({ x: { type: "int32" }, b: { type: "string", optional: true, default: "none" } }, {
        name: "Order",
        version: 1
      })
    )
    assert.strictEqual(replace(valued({ a: 2, b: "u", c: false }, schema))?.valueSchema, result?.valueSchema)
  })

  it("gives a missing field null, or its default", () => {
    const record = valued({ a: 1, b: null }, schema)
    assert.deepStrictEqual(transform(ReplaceField.Value, { renames: "a:x" })(record)?.value, {
      x: 1,
      b: "none",
      c: null
    })
    const keep = transform(ReplaceField.Value, { renames: "a:x", "replace.null.with.default": "false" })
    assert.deepStrictEqual(keep(record)?.value, { x: 1, b: null, c: null })
  })

  it("refuses two fields of one name", () => {
    const replace = transform(ReplaceField.Value, { renames: "a:b" })
    assertRefused(() => replace(valued({ a: 1 }, schema)), "ReplaceField$Value", "\"b\"")
  })
})

describe("ReplaceField", () => {
  it("changes the key", () => {
    const record = { topic: "orders", key: { a: 1, b: 2 }, value: { a: 1 } }
    assert.deepStrictEqual(transform(ReplaceField.Key, { exclude: "a" })(record), { ...record, key: { b: 2 } })
  })

  it("passes tombstones as they are", () => {
    const replace = transform(ReplaceField.Value, { exclude: "a" })
    for (const record of [valued(null), valued(null, schema)]) assert.strictEqual(replace(record), record)
  })

  it("refuses values without fields", () => {
    assertRefused(
      () => transform(ReplaceField.Value, { exclude: "a" })(valued(5)),
      "ReplaceField$Value",
      "found number"
    )
  })

  it("refuses renames that are not old:new", () => {
    for (const renames of ["a", "a:b:c", "a:", ":b"]) {
      assertRefused(() => transform(ReplaceField.Value, { renames }), "renames", "old:new")
    }
  })
})
