import { assert, describe, it } from "@effect/vitest"
import * as Cast from "@kelpie/connectors/Cast"
import type { ConnectSchema } from "@kelpie/core"
import { Schema } from "effect"
import { assertRefused, Date_, Decimal, struct, Time, Timestamp, transform, valued } from "./transforming.ts"

/** Casts a whole value. */
const cast = (type: string, value: unknown, schema?: ConnectSchema.ConnectSchema) =>
  transform(Cast.Value, { spec: type })(valued(value, schema))?.value

describe("Cast of a value without a schema", () => {
  it("narrows whole numbers to their low bits", () => {
    assert.strictEqual(cast("int8", 200), -56)
    assert.strictEqual(cast("int16", 70_000), 4464)
    assert.strictEqual(cast("int32", 2 ** 31), -(2 ** 31))
    assert.strictEqual(cast("int8", 2n ** 60n + 5n), 5)
    assert.strictEqual(cast("int64", 2n ** 60n), 2n ** 60n)
  })

  it("cuts fractions off and bounds what is too large", () => {
    assert.strictEqual(cast("int32", -1.9), -1)
    assert.strictEqual(cast("int32", 1e300), 2 ** 31 - 1)
    assert.strictEqual(cast("int64", 1e300), 2n ** 63n - 1n)
    assert.strictEqual(cast("int64", -1e300), -(2n ** 63n))
    assert.strictEqual(cast("int16", NaN), 0)
    assert.strictEqual(Object.is(cast("int64", -0.5), 0), true)
  })

  it("makes floats", () => {
    assert.strictEqual(cast("float32", 0.1), Math.fround(0.1))
    assert.strictEqual(cast("float64", 2n ** 60n), 2 ** 60)
    assert.strictEqual(cast("float64", " 1.5e3 "), 1500)
    assert.strictEqual(cast("float64", "-Infinity"), -Infinity)
    assert.strictEqual(cast("float32", "1f"), 1)
  })

  it("makes booleans: a number that is not 0, the text true in any case", () => {
    const cases: ReadonlyArray<readonly [unknown, boolean]> = [
      [1, true],
      [0, false],
      [0.5, false],
      [-2.5, true],
      [
        2n ** 60n,
        true
      ],
      ["TRUE", true],
      ["yes", false],
      [true, true]
    ]
    for (const [value, expected] of cases) assert.strictEqual(cast("boolean", value), expected)
  })

  it("makes texts", () => {
    assert.strictEqual(cast("string", 1), "1")
    assert.strictEqual(cast("string", 1.5), "1.5")
    assert.strictEqual(cast("string", 1e21), "1.0E21")
    assert.strictEqual(cast("string", 2n ** 60n), "1152921504606846976")
    assert.strictEqual(cast("string", false), "false")
    assert.strictEqual(cast("string", new Uint8Array([1, 2, 255])), "AQL/")
    assert.strictEqual(cast("string", new Date(1_500_000_000_001)), "2017-07-14T02:40:00.001Z")
    assert.strictEqual(cast("string", new Date(86_400_000)), "1970-01-02")
  })

  it("reads texts", () => {
    assert.strictEqual(cast("int8", "-128"), -128)
    assert.strictEqual(cast("int64", "+9007199254740993"), 9_007_199_254_740_993n)
    assert.strictEqual(cast("int32", true), 1)
  })

  it("refuses a text that is no number of the type, without showing it", () => {
    for (const [type, value] of [["int8", "128"], ["int32", "1.5"], ["int64", "secret"], ["float64", "0x"]] as const) {
      assertRefused(() => cast(type, value), "Cast$Value", "not a number of type")
    }
    assertRefused(() => cast("int64", "secret"), "Cast$Value: the value: the string is not a number of type int64")
  })

  it("refuses arrays, objects, and bytes as numbers", () => {
    assertRefused(() => cast("string", [1]), "Cast$Value", "array")
    assertRefused(() => cast("string", { a: 1 }), "object")
    assertRefused(() => cast("int8", new Uint8Array(1)), "bytes")
  })

  it("casts fields, and gives a missing one null", () => {
    const record = valued({ a: "5", b: 1, c: "x" })
    const result = transform(Cast.Value, { spec: "a:int32, b:string, d:boolean" })(record)
    assert.deepStrictEqual(result?.value, { a: 5, b: "1", c: "x", d: null })
    assert.deepStrictEqual(record.value, { a: "5", b: 1, c: "x" })
  })

  it("names the field that it refuses", () => {
    const byField = transform(Cast.Value, { spec: "a:int32" })
    assertRefused(() => byField(valued({ a: "secret" })), "Cast$Value: field \"a\": the string is not")
    assertRefused(() => byField(valued("secret")), "Cast$Value", "found string")
  })
})

describe("Cast of a value with a schema", () => {
  it("takes whole doubles for floats", () => {
    assert.strictEqual(cast("string", 1, { type: "double" }), "1.0")
    assert.strictEqual(cast("string", 1e10, { type: "double" }), "1.0E10")
    assert.strictEqual(cast("string", Math.fround(0.1), { type: "float" }), "0.1")
    assert.strictEqual(cast("int8", 1e10, { type: "double" }), -1)
    assert.strictEqual(cast("int8", 1e10, { type: "int64" }), 0)
  })

  it("casts logical types by what they store, and to ISO texts", () => {
    assert.strictEqual(cast("int64", new Date(1500), Timestamp), 1500)
    assert.strictEqual(cast("int32", new Date(3 * 86_400_000), Date_), 3)
    assert.strictEqual(cast("int32", 61_000, Time), 61_000)
    assert.strictEqual(cast("string", new Date(1500), Timestamp), "1970-01-01T00:00:01.500Z")
    assert.strictEqual(cast("string", new Date(-86_400_000), Date_), "1969-12-31")
    assert.strictEqual(cast("string", 61_000, Time), "00:01:01.000Z")
    assertRefused(() => cast("int32", new Date(1), Date_), "time of day")
  })

  it("casts decimals", () => {
    assert.strictEqual(cast("string", "12.50", Decimal), "12.50")
    assert.strictEqual(cast("int32", "-12.50", Decimal), -12)
    assert.strictEqual(cast("float64", "12.50", Decimal), 12.5)
    assert.strictEqual(cast("boolean", "0.50", Decimal), false)
    assertRefused(() => cast("int32", "x", Decimal), "Decimal")
  })

  it("changes the schema of a whole value; optionality and default go with it", () => {
    const whole = transform(Cast.Value, { spec: "string" })
    const schema = { type: "int32", name: "Count", version: 1, optional: true, default: 7 } as const
    const result = whole(valued(5, schema))
    assert.deepStrictEqual(result?.valueSchema, {
      type: "string",
      name: "Count",
      version: 1,
      optional: true,
      default: "7"
    })
    assert.strictEqual(whole(valued(6, schema))?.valueSchema, result?.valueSchema)
  })

  it("drops the name of a logical type that the value no longer has", () => {
    assert.deepStrictEqual(transform(Cast.Value, { spec: "int64" })(valued(new Date(5), Timestamp))?.valueSchema, {
      type: "int64"
    })
  })

  const schema = struct({
    a: { type: "string", optional: true, default: "3" },
    b: { type: "int64", doc: "a number" },
    t: Timestamp
  }, { name: "Order", version: 2, optional: true })

  it("casts fields and their defaults", () => {
    const byField = transform(Cast.Value, { spec: "a:int8,t:int64,unknown:int8" })
    const result = byField(valued({ a: "5", b: 1, t: new Date(9) }, schema))
    assert.deepStrictEqual(result?.value, { a: 5, b: 1, t: 9 })
    assert.deepStrictEqual(
      result?.valueSchema,
      struct({
        a: { type: "int8", optional: true, default: 3 },
        b: { type: "int64", doc: "a number" },
        t: { type: "int64" }
      }, {
        name: "Order",
        version: 2,
        optional: true
      })
    )
    assert.strictEqual(byField(valued({ a: "5", b: 1, t: new Date(9) }, schema))?.valueSchema, result?.valueSchema)
  })

  it("casts the default that takes the place of a null, or keeps the null", () => {
    const record = valued({ a: null, b: 1, t: new Date(0) }, schema)
    assert.deepInclude(transform(Cast.Value, { spec: "a:int8" })(record)?.value, { a: 3 })
    const keep = transform(Cast.Value, { spec: "a:int8", "replace.null.with.default": "false" })
    assert.deepInclude(keep(record)?.value, { a: null })
  })

  it("refuses a default that cannot be cast, and a struct", () => {
    const bad = struct({ a: { type: "string", default: "x" } })
    assertRefused(() => transform(Cast.Value, { spec: "a:int8" })(valued({ a: "1" }, bad)), "\"a\"", "int8")
    assertRefused(() => cast("string", {}, struct({})), "Cast$Value", "struct")
  })
})

describe("Cast", () => {
  it("casts the key", () => {
    const record = { topic: "t", key: "5", value: "5" }
    assert.deepStrictEqual(transform(Cast.Key, { spec: "int32" })(record), { topic: "t", key: 5, value: "5" })
  })

  it("passes tombstones as they are", () => {
    for (const spec of ["int32", "a:int32"]) {
      for (const record of [valued(null), valued(null, struct({}))]) {
        assert.strictEqual(transform(Cast.Value, { spec })(record), record)
      }
    }
  })

  it("reads types in any case", () => {
    assert.strictEqual(cast("INT8", "1"), 1)
  })

  it("refuses a bad spec", () => {
    assertRefused(() => transform(Cast.Value, {}), "spec")
    for (
      const spec of ["", "a:int99", "bytes", "a:array", "a:b:int8", "int8,a:int8", "a:int8,int8", ":int8", "toString"]
    ) {
      assertRefused(() => transform(Cast.Value, { spec }), "configuration spec")
    }
  })

  it.prop("gets a whole number back from its text", { n: Schema.Int }, ({ n }) => {
    assert.strictEqual(cast("int64", cast("string", n)), n)
  })

  it.prop("gets a double back from its text", { n: Schema.Finite }, ({ n }) => {
    assert.strictEqual(cast("float64", cast("string", n, { type: "double" })), n)
  })

  it.prop("gets a float back from its text", { n: Schema.Finite }, ({ n }) => {
    const single = Math.fround(n)
    assert.strictEqual(cast("float32", cast("string", single, { type: "float" })), single)
  })

  it.prop("gives a number of the type, whatever comes", { n: Schema.Union([Schema.Finite, Schema.Int]) }, ({ n }) => {
    for (const [type, bound] of [["int8", 128], ["int16", 32_768], ["int32", 2 ** 31]] as const) {
      const result = cast(type, n)
      assert.isTrue(Number.isInteger(result) && Number(result) >= -bound && Number(result) < bound)
    }
  })
})
