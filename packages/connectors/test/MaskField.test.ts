import { assert, describe, it } from "@effect/vitest"
import * as MaskField from "@kelpie/connectors/MaskField"
import { assertRefused, Decimal, struct, Time, Timestamp, transform, valued } from "./transforming.ts"

const fields = "b,n,big,s,d,a,o,z"

describe("MaskField without a schema", () => {
  it("puts an empty value of the same type in the place of each field", () => {
    const value = { b: true, n: 1.5, big: 2n ** 60n, s: "text", d: new Date(5), a: [1], o: { x: 1 }, z: null, rest: 1 }
    assert.deepStrictEqual(transform(MaskField.Value, { fields })(valued(value))?.value, {
      b: false,
      n: 0,
      big: 0,
      s: "",
      d: new Date(0),
      a: [],
      o: {},
      z: null,
      rest: 1
    })
    assert.strictEqual(value.s, "text")
  })

  it("gives a missing field null", () => {
    assert.deepStrictEqual(transform(MaskField.Value, { fields: "a,constructor" })(valued({}))?.value, {
      a: null,
      constructor: null
    })
  })

  it("puts the replacement in the place of texts and numbers", () => {
    const mask = transform(MaskField.Value, { fields: "s,n,f", replacement: "12.5" })
    assert.deepStrictEqual(mask(valued({ s: "secret", n: 7, f: 0.5 }))?.value, { s: "12.5", n: 12, f: 12.5 })
  })

  it("refuses a replacement that is no number for a number, and one for other types", () => {
    const mask = transform(MaskField.Value, { fields: "f", replacement: "xxx" })
    assertRefused(() => mask(valued({ f: 5 })), "MaskField$Value", "\"f\"", "number")
    assertRefused(() => mask(valued({ f: true })), "boolean")
    assertRefused(() => mask(valued({ f: [] })), "array")
    assertRefused(() => mask(valued({ f: new Date(0) })), "Date")
  })

  it("refuses bytes", () => {
    const mask = transform(MaskField.Value, { fields: "f" })
    assertRefused(() => mask(valued({ f: new Uint8Array(2) })), "MaskField$Value", "\"f\"", "bytes")
  })
})

describe("MaskField with a schema", () => {
  const schema = struct({
    s: { type: "string" },
    i: { type: "int8" },
    f: { type: "double" },
    t: Timestamp,
    tod: Time,
    dec: Decimal,
    m: { type: "map", keys: { type: "int32" }, values: { type: "string" } },
    o: { type: "string", optional: true, default: "none" }
  })
  const value = {
    s: "secret",
    i: 5,
    f: 1.5,
    t: new Date(9),
    tod: 9,
    dec: "1.50",
    m: new Map([[1, "a"]]),
    o: null
  }

  it("keeps the schema and masks by type", () => {
    const result = transform(MaskField.Value, { fields: "s,i,f,t,tod,dec,m,unknown" })(valued(value, schema))
    assert.strictEqual(result?.valueSchema, schema)
    assert.deepStrictEqual(result?.value, {
      s: "",
      i: 0,
      f: 0,
      t: new Date(0),
      tod: 0,
      dec: "0",
      m: new Map(),
      o: "none"
    })
  })

  it("masks a default that took the place of a null, or keeps the null", () => {
    const record = valued(value, schema)
    assert.propertyVal(transform(MaskField.Value, { fields: "o" })(record)?.value, "o", "")
    const keep = transform(MaskField.Value, { fields: "o", "replace.null.with.default": "false" })
    assert.propertyVal(keep(record)?.value, "o", null)
  })

  it("narrows the replacement to the field's type", () => {
    const mask = transform(MaskField.Value, { fields: "s,i,f,dec", replacement: "300.75" })
    const result = mask(valued(value, schema))?.value
    assert.deepInclude(result, { s: "300.75", i: 44, f: 300.75, dec: "300.75" })
  })

  it("refuses structs, and a replacement that is no Decimal", () => {
    const nested = struct({ o: struct({ a: { type: "int32" } }) })
    assertRefused(
      () => transform(MaskField.Value, { fields: "o" })(valued({ o: { a: 1 } }, nested)),
      "MaskField$Value",
      "\"o\"",
      "struct"
    )
    const mask = transform(MaskField.Value, { fields: "dec", replacement: "x" })
    assertRefused(() => mask(valued(value, schema)), "\"dec\"")
  })
})

describe("MaskField", () => {
  it("masks the key", () => {
    assert.deepStrictEqual(transform(MaskField.Key, { fields: "a" })({ topic: "t", key: { a: "x" }, value: 1 }), {
      topic: "t",
      key: { a: "" },
      value: 1
    })
  })

  it("passes tombstones as they are", () => {
    const record = valued(null)
    assert.strictEqual(transform(MaskField.Value, { fields: "a" })(record), record)
  })

  it("refuses values without fields", () => {
    assertRefused(() => transform(MaskField.Value, { fields: "a" })(valued("secret")), "found string")
  })

  it("refuses a configuration without fields, or with an empty replacement", () => {
    assertRefused(() => transform(MaskField.Value, {}), "fields")
    assertRefused(() => transform(MaskField.Value, { fields: " " }), "fields", "at least one")
    assertRefused(() => transform(MaskField.Value, { fields: "a", replacement: "" }), "replacement")
  })
})
