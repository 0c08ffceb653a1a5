import { assert, describe, it } from "@effect/vitest"
import * as ExtractField from "@kelpie/connectors/ExtractField"
import { assertRefused, struct, transform, valued } from "./transforming.ts"

const schema = struct({
  id: { type: "int32" },
  name: { type: "string", optional: true, default: "none", doc: "the name" },
  place: struct({ town: { type: "string" }, "a.b": { type: "int8" } }, { optional: true })
})
const v2 = { "field.syntax.version": "v2" }

describe("ExtractField without a schema", () => {
  it("gives the field, whatever it is", () => {
    const extract = transform(ExtractField.Value, { field: "a" })
    for (const a of [1, "x", null, [1], { b: 1 }]) assert.deepStrictEqual(extract(valued({ a }))?.value, a)
  })

  it("gives null for a missing field and for a tombstone", () => {
    for (const field of ["a", "constructor", "__proto__"]) {
      const extract = transform(ExtractField.Value, { field })
      assert.isNull(extract(valued({}))?.value)
      assert.isNull(extract(valued(null))?.value)
    }
  })

  it("takes dots for a part of the name, unless the syntax is V2", () => {
    const record = valued({ "a.b": 1, a: { b: 2 } })
    assert.strictEqual(transform(ExtractField.Value, { field: "a.b" })(record)?.value, 1)
    assert.strictEqual(transform(ExtractField.Value, { field: "a.b", ...v2 })(record)?.value, 2)
    assert.strictEqual(transform(ExtractField.Value, { field: "`a.b`", ...v2 })(record)?.value, 1)
  })

  it("gives null where a part of the path is missing, and refuses one without fields", () => {
    const extract = transform(ExtractField.Value, { field: "a.b.c", ...v2 })
    assert.isNull(extract(valued({ a: { b: null } }))?.value)
    assert.isNull(extract(valued({}))?.value)
    assertRefused(() => extract(valued({ a: { b: "secret" } })), "ExtractField$Value", "\"a.b\"", "found string")
  })
})

describe("ExtractField with a schema", () => {
  it("gives the field and its schema, without the field's name", () => {
    const extract = transform(ExtractField.Value, { field: "name" })
    const result = extract(valued({ id: 1, name: "x" }, schema))
    assert.strictEqual(result?.value, "x")
    assert.deepStrictEqual(result?.valueSchema, { type: "string", optional: true, default: "none", doc: "the name" })
    assert.strictEqual(extract(valued({ id: 2, name: "y" }, schema))?.valueSchema, result?.valueSchema)
  })

  it("replaces a null by the default unless told not to", () => {
    const record = valued({ id: 1, name: null }, schema)
    assert.strictEqual(transform(ExtractField.Value, { field: "name" })(record)?.value, "none")
    const keep = transform(ExtractField.Value, { field: "name", "replace.null.with.default": "false" })
    assert.isNull(keep(record)?.value)
  })

  it("goes down a path", () => {
    const record = valued({ id: 1, place: { town: "Ulm", "a.b": 7 } }, schema)
    const town = transform(ExtractField.Value, { field: "place.town", ...v2 })(record)
    assert.strictEqual(town?.value, "Ulm")
    assert.deepStrictEqual(town?.valueSchema, { type: "string" })
    assert.strictEqual(transform(ExtractField.Value, { field: "place.`a.b`", ...v2 })(record)?.value, 7)
    assert.isNull(transform(ExtractField.Value, { field: "place.town", ...v2 })(valued({ place: null }, schema))?.value)
  })

  it("gives a tombstone the field's schema", () => {
    const result = transform(ExtractField.Value, { field: "id" })(valued(null, schema))
    assert.isNull(result?.value)
    assert.deepStrictEqual(result?.valueSchema, { type: "int32" })
  })

  it("refuses a field that the schema does not have", () => {
    assertRefused(
      () => transform(ExtractField.Value, { field: "place.street", ...v2 })(valued({}, schema)),
      "ExtractField$Value",
      "\"place.street\"",
      "unknown field"
    )
    assertRefused(() => transform(ExtractField.Value, { field: "x" })(valued("a", { type: "string" })), "unknown field")
  })
})

describe("ExtractField", () => {
  it("extracts from the key", () => {
    const record = { topic: "t", key: { id: 7 }, value: 1 }
    assert.deepStrictEqual(transform(ExtractField.Key, { field: "id" })(record), { topic: "t", key: 7, value: 1 })
  })

  it("refuses values without fields", () => {
    assertRefused(
      () => transform(ExtractField.Value, { field: "a" })(valued("x")),
      "ExtractField$Value",
      "found string"
    )
  })

  it("refuses a bad configuration", () => {
    assertRefused(() => transform(ExtractField.Value, {}), "field")
    assertRefused(() => transform(ExtractField.Value, { field: "" }), "field")
    assertRefused(() => transform(ExtractField.Value, { field: "a", "field.syntax.version": "V3" }), "V1, V2")
    assertRefused(() => transform(ExtractField.Value, { field: "`a.b", ...v2 }), "field", "backtick")
  })
})
