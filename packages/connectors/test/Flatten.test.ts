import { assert, describe, it } from "@effect/vitest"
import * as Flatten from "@kelpie/connectors/Flatten"
import { Schema } from "effect"
import { assertRefused, struct, transform, valued } from "./transforming.ts"

describe("Flatten without a schema", () => {
  it("joins the names of nested objects with a dot", () => {
    const value = { a: 1, b: { c: "x", d: { e: null, f: [{ g: 1 }] } }, t: new Date(0), y: new Uint8Array(1) }
    assert.deepStrictEqual(transform(Flatten.Value)(valued(value))?.value, {
      a: 1,
      "b.c": "x",
      "b.d.e": null,
      "b.d.f": [{ g: 1 }],
      t: new Date(0),
      y: new Uint8Array(1)
    })
  })

  it("joins them with another delimiter", () => {
    const flatten = transform(Flatten.Value, { delimiter: "__" })
    assert.deepStrictEqual(flatten(valued({ a: { b: { c: 1 } } }))?.value, { a__b__c: 1 })
  })

  it("refuses two fields of one name, which would lose one", () => {
    assertRefused(
      () => transform(Flatten.Value)(valued({ a: { b: 1 }, "a.b": 2 })),
      "Flatten$Value",
      "\"a.b\"",
      "two fields"
    )
  })

  it("refuses what no record can hold, and maps whose keys are no strings", () => {
    assertRefused(() => transform(Flatten.Value)(valued({ a: { b: () => 1 } })), "Flatten$Value", "\"a.b\"", "function")
    assertRefused(() => transform(Flatten.Value)(valued({ a: new Map() })), "\"a\"", "Map")
  })

  const Leaf = Schema.Union([Schema.Int, Schema.String, Schema.Null, Schema.Boolean])
  const Name = Schema.String.check(Schema.isPattern(/^[a-z_]{1,8}$/))
  const Level1 = Schema.Record(Name, Leaf)
  const Level2 = Schema.Record(Name, Schema.Union([Leaf, Level1]))
  const Level3 = Schema.Record(Name, Schema.Union([Leaf, Level2]))

  const leaves = (value: unknown, path: ReadonlyArray<string>): ReadonlyArray<readonly [string, unknown]> =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, member]) => leaves(member, [...path, name]))
      : [[path.join("/"), value]]

  it.prop("loses no leaf and adds none", { value: Level3 }, ({ value }) => {
    const flat = transform(Flatten.Value, { delimiter: "/" })(valued(value))?.value
    assert.deepStrictEqual(Object.entries(flat ?? {}), leaves(value, []))
  })
})

describe("Flatten with a schema", () => {
  const schema = struct({
    id: { type: "int32" },
    place: struct({
      town: { type: "string", doc: "the town" },
      zip: { type: "string", optional: true, default: "00000" }
    }, { optional: true }),
    tags: { type: "array", items: { type: "string" } }
  }, { name: "Order", version: 3, optional: false })

  it("lifts the fields in value and schema; under an optional struct they are optional", () => {
    const flatten = transform(Flatten.Value)
    const result = flatten(valued({ id: 1, place: { town: "Ulm", zip: "89073" }, tags: ["a"] }, schema))
    assert.deepStrictEqual(result?.value, { id: 1, "place.town": "Ulm", "place.zip": "89073", tags: ["a"] })
    assert.deepStrictEqual(
      result?.valueSchema,
      struct({
        id: { type: "int32" },
        "place.town": { type: "string", doc: "the town", optional: true },
        "place.zip": { type: "string", optional: true, default: "00000" },
        tags: { type: "array", items: { type: "string" } }
      }, { name: "Order", version: 3 })
    )
    assert.strictEqual(flatten(valued({ id: 2, tags: [] }, schema))?.valueSchema, result?.valueSchema)
  })

  it("gives the fields of a null struct null, or their default", () => {
    for (const place of [null, undefined]) {
      const result = transform(Flatten.Value)(valued({ id: 1, place, tags: [] }, schema))
      assert.deepStrictEqual(result?.value, { id: 1, "place.town": null, "place.zip": "00000", tags: [] })
    }
  })

  it("gives fields their part of the default of the struct above", () => {
    const nested = struct({
      p: struct({ a: { type: "int32" }, b: { type: "int32", default: 9 } }, { default: { a: 1, b: 2 } })
    })
    const result = transform(Flatten.Value)(valued({ p: null }, nested))
    assert.deepStrictEqual(result?.value, { "p.a": 1, "p.b": 9 })
    assert.deepStrictEqual(result?.valueSchema?.fields, [
      { type: "int32", field: "p.a", default: 1 },
      { type: "int32", default: 9, field: "p.b" }
    ])
  })

  it("refuses maps, two fields of one name, and a struct that is none", () => {
    const flatten = transform(Flatten.Value)
    const map = struct({ a: struct({ m: { type: "map", keys: { type: "string" }, values: { type: "int32" } } }) })
    assertRefused(() => flatten(valued({ a: { m: {} } }, map)), "Flatten$Value", "\"a.m\"", "map")
    const twice = struct({ "a.b": { type: "int32" }, a: struct({ b: { type: "int32" } }) })
    assertRefused(() => flatten(valued({ "a.b": 1, a: { b: 2 } }, twice)), "\"a.b\"", "two fields")
    assertRefused(() => flatten(valued({ id: 1, place: "secret" }, schema)), "\"place\"", "found string")
  })
})

describe("Flatten", () => {
  it("flattens the key", () => {
    assert.deepStrictEqual(transform(Flatten.Key)({ topic: "t", key: { a: { b: 1 } }, value: { a: { b: 1 } } }), {
      topic: "t",
      key: { "a.b": 1 },
      value: { a: { b: 1 } }
    })
  })

  it("passes tombstones as they are", () => {
    for (const record of [valued(null), valued(null, struct({}))]) {
      assert.strictEqual(transform(Flatten.Value)(record), record)
    }
  })

  it("refuses values without fields", () => {
    assertRefused(() => transform(Flatten.Value)(valued([1])), "Flatten$Value", "found array")
  })
})
