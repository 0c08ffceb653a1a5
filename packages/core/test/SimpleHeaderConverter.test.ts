import { assert, describe, it } from "@effect/vitest"
import { ConnectSchema } from "@kelpie/core"
import { headerConverter } from "@kelpie/core/SimpleHeaderConverter"
import { Schema } from "effect"

type Sch = ConnectSchema.ConnectSchema
const { LogicalName } = ConnectSchema
const codec = headerConverter.open({}, "header")

const read = (text: string) => codec.fromBytes("t", new TextEncoder().encode(text))
const written = (value: unknown, schema?: Sch): string | null => {
  const bytes = codec.toBytes("t", value, schema)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}
const of = (type: Sch["type"]): Sch => ({ type })
const string = of("string")
const array = (items?: Sch): Sch => items === undefined ? { type: "array" } : { type: "array", items }
const decimal = (scale: number): Sch => ({
  type: "bytes",
  name: LogicalName.Decimal,
  version: 1,
  parameters: { scale: String(scale) }
})
const date: Sch = { type: "int32", name: LogicalName.Date, version: 1 }
const time: Sch = { type: "int32", name: LogicalName.Time, version: 1 }
const timestamp: Sch = { type: "int64", name: LogicalName.Timestamp, version: 1 }

const check = (vectors: ReadonlyArray<readonly [text: string, value: unknown, schema: Sch]>) => {
  for (const [text, value, schema] of vectors) assert.deepStrictEqual(read(text), { value, schema }, text)
}

describe("SimpleHeaderConverter, reading", () => {
  it("knows null and booleans", () => {
    assert.deepStrictEqual(codec.fromBytes("t", null), { value: null })
    assert.deepStrictEqual(read("null"), { value: null })
    check([["true", true, of("boolean")], [" false ", false, of("boolean")], ["True", "True", string]])
  })

  it("gives whole numbers the smallest type that holds them", () => {
    check([
      ["0", 0, of("int8")],
      ["-128", -128, of("int8")],
      ["+127", 127, of("int8")],
      ["128", 128, of("int16")],
      ["-32769", -32769, of("int32")],
      ["2147483648", 2147483648, of("int64")],
      ["9007199254740993", 9007199254740993n, of("int64")],
      ["-9223372036854775808", -9223372036854775808n, of("int64")],
      ["1.0", 1, of("int8")],
      ["1e3", 1000, of("int16")],
      [" 12 ", 12, of("int8")],
      ["9223372036854775808", "9223372036854775808", decimal(0)]
    ])
  })

  it("gives other numbers the smallest type that they are within", () => {
    check([
      ["1.5", 1.5, of("float")],
      ["-.5", -0.5, of("float")],
      ["1e39", 1e39, of("double")],
      ["0.1e-2", 0.001, of("float")],
      ["1e400", `1${"0".repeat(400)}`, decimal(-400)]
    ])
  })

  it("takes anything else for a string, as a whole", () => {
    const texts = [
      "",
      " ",
      "abc",
      ".5",
      "12,5",
      "1 2",
      "-",
      "12:30",
      "true}",
      "nullx",
      "\"quoted\"",
      "[1,2",
      "[1,2]x",
      "{a:1}",
      "[a]",
      "{\"a\":}",
      "{null:1}",
      "[,]",
      "1e99999",
      "[\"a]",
      "{\"a\" 1}",
      "-1-1",
      "2020-13-01",
      "2020-02-30"
    ]
    check(texts.map((text) => [text, text, string]))
  })

  it("reads dates, times and timestamps in UTC", () => {
    check([
      ["2020-01-02", new Date("2020-01-02T00:00:00.000Z"), date],
      ["01:02:03.004Z", 3_723_004, time],
      ["01\\:02\\:03.004Z", 3_723_004, time],
      ["2020-01-02T03:04:05.006Z", new Date("2020-01-02T03:04:05.006Z"), timestamp],
      ["[2020-01-02T03:04:05.006Z, \"2021-01-02T03:04:05.006Z\"]", [
        new Date("2020-01-02T03:04:05.006Z"),
        new Date("2021-01-02T03:04:05.006Z")
      ], array(timestamp)],
      ["{01:02:03.004Z:2020-01-02}", new Map([[3_723_004, new Date("2020-01-02T00:00:00.000Z")]]), {
        type: "map",
        keys: time,
        values: date
      }]
    ])
  })

  it("reads arrays, with the schema that their items have in common", () => {
    check([
      ["[]", [], array()],
      ["[1, 2,\t300]", [1, 2, 300], array(of("int16"))],
      ["[1, 2.5]", [1, 2.5], array(of("float"))],
      ["[\"a\",\"b, c\"]", ["a", "b, c"], array(string)],
      ["[\"a \\\"b\\\" \\\\c\"]", ["a \"b\" \\c"], array(string)],
      ["[1, \"a\"]", [1, "a"], array()],
      ["[true, null]", [true, null], array({ type: "boolean", optional: true })],
      ["[null]", [null], array()],
      ["[1,]", [1], array(of("int8"))],
      ["[[1],[2000]]", [[1], [2000]], array(array(of("int16")))],
      ["[1, 2020-01-02]", [1, new Date("2020-01-02T00:00:00.000Z")], array()],
      [" [1] ", [1], array(of("int8"))]
    ])
  })

  it("reads maps: objects when their keys are strings", () => {
    check([
      ["{}", {}, { type: "map" }],
      ["{\"a\":1, \"b\" : 1000}", { a: 1, b: 1000 }, { type: "map", keys: string, values: of("int16") }],
      ["{1:\"x\",2:\"y\"}", new Map([[1, "x"], [2, "y"]]), { type: "map", keys: of("int8"), values: string }],
      ["{\"a\":null}", { a: null }, { type: "map", keys: string }],
      ["{\"a\":[1],\"b\":{\"c\":true}}", { a: [1], b: { c: true } }, { type: "map", keys: string }],
      ["{\"a\":1,2:3}", new Map<unknown, unknown>([["a", 1], [2, 3]]), { type: "map" }]
    ])
    const proto = read("{\"__proto__\":1}").value
    assert.deepStrictEqual(Object.entries(proto as object), [["__proto__", 1]])
  })

  it("takes what is nested too deep for a string", () => {
    const text = `${"[".repeat(5000)}${"]".repeat(5000)}`
    assert.deepStrictEqual(read(text), { value: text, schema: string })
    assert.deepStrictEqual(read("[".repeat(50) + "]".repeat(50)).schema?.type, "array")
  })

  it("reads what is not UTF-8 as a string with replaced characters", () => {
    assert.deepStrictEqual(codec.fromBytes("t", Uint8Array.of(97, 255)), { value: "a\ufffd", schema: string })
  })
})

describe("SimpleHeaderConverter, writing", () => {
  it("writes each type as its text", () => {
    const vectors: ReadonlyArray<readonly [unknown, Sch | undefined, string | null]> = [
      [null, undefined, null],
      ["a \"b\"", undefined, "a \"b\""],
      [true, undefined, "true"],
      [12, undefined, "12"],
      [12, of("double"), "12.0"],
      [1.5, undefined, "1.5"],
      [9007199254740993n, undefined, "9007199254740993"],
      [Uint8Array.of(0, 1, 255), undefined, "AAH/"],
      ["1.50", decimal(2), "1.50"],
      [new Date("2020-01-02T00:00:00.000Z"), undefined, "2020-01-02"],
      [new Date("2020-01-02T00:00:00.000Z"), timestamp, "2020-01-02T00:00:00.000Z"],
      [new Date("2020-01-02T03:04:05.006Z"), undefined, "2020-01-02T03:04:05.006Z"],
      [3_723_004, time, "01:02:03.004Z"],
      [["a\"\\", 1, null, Uint8Array.of(0)], undefined, "[\"a\\\"\\\\\",1,null,\"AA==\"]"],
      [["1.5"], array(decimal(1)), "[1.5]"],
      [{ a: { b: "c" }, d: [true] }, undefined, "{\"a\":{\"b\":\"c\"},\"d\":[true]}"],
      [new Map([[1, "a"]]), undefined, "{1:\"a\"}"],
      [{ at: 1 }, { type: "struct", fields: [{ field: "at", type: "double" }] }, "{\"at\":1.0}"]
    ]
    for (const [value, schema, text] of vectors) assert.strictEqual(written(value, schema), text)
  })

  it("refuses what has no text, by its type", () => {
    assert.throws(() => written(new Set(["secret"])), "Expected a value that a header's text can hold but got Set")
    assert.throws(() => written(Symbol("secret")), "Expected a value that a header's text can hold but got a symbol")
  })

  it.prop("reads back arrays of any texts and numbers", {
    value: Schema.Array(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]))
  }, ({ value }) => {
    // A quoted date is read as one, as in Connect; and 1e17 as the whole number that it is.
    const plain = value
      .filter((item) => typeof item !== "number" || Number.isSafeInteger(item) || !Number.isInteger(item))
      .map((item) => typeof item === "string" ? item.toWellFormed() : item)
    const back = read(written(plain) ?? "").value
    assert.deepStrictEqual(back, plain.map((item) => typeof item === "number" ? item + 0 : item))
  })

  it.prop("reads back any schema that it inferred in an object", {
    value: Schema.Record(Schema.String, Schema.Int.check(Schema.isBetween({ minimum: -1e6, maximum: 1e6 })))
  }, ({ value }) => {
    const wellFormed = Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), item + 0]))
    const first = read(written(wellFormed) ?? "")
    assert.deepStrictEqual(first.value, wellFormed)
    assert.deepStrictEqual(read(written(first.value, first.schema) ?? ""), first)
  })
})
