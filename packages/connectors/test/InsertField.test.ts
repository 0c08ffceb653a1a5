import { assert, describe, it } from "@effect/vitest"
import * as InsertField from "@kelpie/connectors/InsertField"
import { assertRefused, struct, sunk, Timestamp, transform, valued } from "./transforming.ts"

const everything = {
  "topic.field": "topic",
  "partition.field": "partition",
  "offset.field": "offset",
  "timestamp.field": "time",
  "static.field": "origin",
  "static.value": "shop"
}

const schema = struct({ a: { type: "int32" } }, { name: "Order", version: 2, doc: "an order" })

describe("InsertField without a schema", () => {
  it("adds what the record of a sink has, the timestamp in milliseconds", () => {
    const result = transform(InsertField.Value, everything)(sunk(valued({ a: 1 })))
    assert.deepStrictEqual(result?.value, {
      a: 1,
      topic: "orders",
      partition: 3,
      offset: 42,
      time: 1_500_000_000_000,
      origin: "shop"
    })
  })

  it("does not add what the record of a source does not have, required or not", () => {
    const insert = transform(InsertField.Value, { "partition.field": "partition!", "timestamp.field": "time" })
    assert.deepStrictEqual(insert(valued({ a: 1 }))?.value, { a: 1 })
  })

  it("replaces a field of the same name and leaves the record that came in as it was", () => {
    const record = valued({ topic: "old" })
    assert.deepStrictEqual(transform(InsertField.Value, { "topic.field": "topic" })(record)?.value, { topic: "orders" })
    assert.deepStrictEqual(record.value, { topic: "old" })
  })

  it("takes __proto__ for a name like any other", () => {
    const value = transform(InsertField.Value, { "topic.field": "__proto__" })(valued({}))?.value
    assert.deepStrictEqual(Object.entries(value ?? {}), [["__proto__", "orders"]])
  })

  it("works on the key and keeps the rest of the record", () => {
    const record = sunk({ topic: "orders", key: { id: 1 }, value: "text", headers: [["h", 1]] })
    assert.deepStrictEqual(transform(InsertField.Key, { "topic.field": "topic" })(record), {
      ...record,
      key: { id: 1, topic: "orders" }
    })
  })
})

describe("InsertField with a schema", () => {
  it("adds optional fields to the schema, the timestamp as a Timestamp", () => {
    const result = transform(InsertField.Value, everything)(sunk(valued({ a: 1 }, schema)))
    assert.deepStrictEqual(result?.value, {
      a: 1,
      topic: "orders",
      partition: 3,
      offset: 42,
      time: new Date(1_500_000_000_000),
      origin: "shop"
    })
    assert.deepStrictEqual(
      result?.valueSchema,
      struct({
        a: { type: "int32" },
        topic: { type: "string", optional: true },
        partition: { type: "int32", optional: true },
        offset: { type: "int64", optional: true },
        time: { ...Timestamp, optional: true },
        origin: { type: "string", optional: true }
      }, { name: "Order", version: 2, doc: "an order" })
    )
  })

  it("adds required fields with ! and optional ones with ?", () => {
    const insert = transform(InsertField.Value, { "topic.field": "t!", "partition.field": "p?" })
    const result = insert(valued({ a: 1 }, schema))
    assert.deepStrictEqual(result?.value, { a: 1, t: "orders", p: null })
    assert.deepStrictEqual(result?.valueSchema?.fields?.slice(1), [
      { field: "t", type: "string" },
      { field: "p", type: "int32", optional: true }
    ])
  })

  it("refuses a record without what a required field is made of", () => {
    const insert = transform(InsertField.Value, { "partition.field": "p!" })
    assertRefused(() => insert(valued({ a: 1 }, schema)), "InsertField$Value", "\"p\"", "required")
  })

  it("makes one new schema for all records of a schema", () => {
    const insert = transform(InsertField.Value, { "topic.field": "t" })
    const other = struct({ b: { type: "string" } })
    const first = insert(valued({ a: 1 }, schema))?.valueSchema
    const between = insert(valued({ b: "x" }, other))?.valueSchema
    assert.strictEqual(insert(valued({ a: 2 }, schema))?.valueSchema, first)
    assert.strictEqual(insert(valued({ b: "y" }, other))?.valueSchema, between)
    assert.notStrictEqual(first, between)
  })

  it("replaces nulls by the field's default unless told not to", () => {
    const withDefault = struct({ a: { type: "int32", optional: true, default: 7 } })
    const record = valued({ a: null }, withDefault)
    assert.deepStrictEqual(transform(InsertField.Value, { "topic.field": "t" })(record)?.value, { a: 7, t: "orders" })
    const keep = transform(InsertField.Value, { "topic.field": "t", "replace.null.with.default": "false" })
    assert.deepStrictEqual(keep(record)?.value, { a: null, t: "orders" })
  })

  it("refuses a field that the schema has already", () => {
    const insert = transform(InsertField.Value, { "topic.field": "a" })
    assertRefused(() => insert(valued({ a: 1 }, schema)), "InsertField$Value", "\"a\"", "two fields")
  })

  it("refuses a schema that is no struct", () => {
    const insert = transform(InsertField.Value, { "topic.field": "t" })
    assertRefused(() => insert(valued("x", { type: "string" })), "InsertField$Value", "struct", "string")
  })
})

describe("InsertField", () => {
  it("passes tombstones as they are", () => {
    const insert = transform(InsertField.Value, everything)
    for (const record of [valued(null), valued(null, schema)]) assert.strictEqual(insert(record), record)
  })

  it("refuses records of sources when it inserts the offset", () => {
    const insert = transform(InsertField.Value, { "offset.field": "o" })
    assertRefused(() => insert(valued({})), "InsertField$Value", "offset.field", "sink")
    assertRefused(() => insert(valued({ a: 1 }, schema)), "offset.field")
  })

  it("refuses values without fields and says what came, not what it holds", () => {
    const insert = transform(InsertField.Value, { "topic.field": "t" })
    assertRefused(() => insert(valued("secret")), "InsertField$Value", "found string")
    assertRefused(() => insert(valued([1])), "found array")
    assertRefused(() => insert(valued(new Uint8Array(1))), "found bytes")
    assertRefused(() => insert(valued(new Date(0))), "found Date")
  })

  it("refuses a configuration that inserts nothing, has no text, or no name", () => {
    assertRefused(() => transform(InsertField.Value, {}), "InsertField$Value", "topic.field", "static.field")
    assertRefused(() => transform(InsertField.Value, { "static.field": "s" }), "static.value")
    assertRefused(() => transform(InsertField.Value, { "topic.field": "!" }), "topic.field")
  })
})
