import { assert, describe, it } from "@effect/vitest"
import { ConfigKey, ConnectSchema, type Converter, Converters } from "@kelpie/core"
import * as JsonConverter from "@kelpie/core/JsonConverter"
import { Result, Schema } from "effect"

type Sch = ConnectSchema.ConnectSchema
const { LogicalName } = ConnectSchema

const open = (config: Readonly<Record<string, string>> = {}): Converter.Codec =>
  JsonConverter.converter.open(Result.getOrThrow(ConfigKey.decode(JsonConverter.converter.fields, config)), "value")

const withSchemas = open()
const plain = open({ "schemas.enable": "false" })

const bytes = (text: string) => new TextEncoder().encode(text)
const written = (codec: Converter.Codec, value: unknown, schema?: Sch): string | null => {
  const result = codec.toBytes("t", value, schema)
  return result === null ? null : new TextDecoder().decode(result)
}
const read = (codec: Converter.Codec, text: string) => codec.fromBytes("t", bytes(text))
const payload = (value: unknown, schema: Sch, codec = plain) => written(codec, value, schema)
const envelope = (schema: string, text: string) => `{"schema":${schema},"payload":${text}}`
const message = (f: () => unknown): string => {
  try {
    f()
  } catch (error) {
    return error instanceof Error ? error.message : "no error"
  }
  return "nothing was thrown"
}

const decimal = (scale: number): Sch => ({
  type: "bytes",
  name: LogicalName.Decimal,
  version: 1,
  parameters: { scale: String(scale) }
})

describe("JsonConverter, schemaless", () => {
  it("writes a value as its JSON when schemas are off, and in an envelope of a null schema when they are on", () => {
    const value = { a: 1, b: [true, null, "x\"é"], c: { d: 1.5 } }
    const text = "{\"a\":1,\"b\":[true,null,\"x\\\"é\"],\"c\":{\"d\":1.5}}"
    assert.strictEqual(written(plain, value), text)
    assert.strictEqual(written(withSchemas, value), `{"schema":null,"payload":${text}}`)
  })

  it("passes a tombstone in both directions", () => {
    for (const codec of [plain, withSchemas]) {
      assert.isNull(codec.toBytes("t", null, undefined))
      assert.deepStrictEqual(codec.fromBytes("t", null), { value: null })
    }
  })

  it("writes what JSON has no word for as Connect does", () => {
    const value = {
      big: 9007199254740993n,
      bytes: Uint8Array.of(0, 1, 255),
      map: new Map([["a", 1]]),
      pairs: new Map([[1, "a"], [2, "b"]]),
      nan: NaN,
      none: undefined,
      at: new Date(0)
    }
    assert.strictEqual(
      written(plain, value),
      "{\"big\":9007199254740993,\"bytes\":\"AAH/\",\"map\":{\"a\":1},\"pairs\":[[1,\"a\"],[2,\"b\"]],\"nan\":\"NaN\"," +
        "\"at\":\"1970-01-01T00:00:00.000Z\"}"
    )
    assert.strictEqual(written(plain, 5n), "5")
    assert.strictEqual(written(plain, Buffer.of(0, 1, 255)), "\"AAH/\"")
  })

  it("reads whole numbers beyond 2 ** 53 without loss, wherever they stand", () => {
    const text =
      "[9007199254740991,9007199254740992,-9007199254740993,{\"a\": 12345678901234567890,\"b\":\"12345678901234567890\"}]"
    assert.deepStrictEqual(read(plain, text).value, [
      9007199254740991,
      9007199254740992n,
      -9007199254740993n,
      { a: 12345678901234567890n, b: "12345678901234567890" }
    ])
    assert.strictEqual(read(plain, "9007199254740993").value, 9007199254740993n)
    assert.strictEqual(read(plain, " 9007199254740993").value, 9007199254740993n)
    assert.deepStrictEqual(read(plain, "[0.30000000000000004,1.7976931348623157e308,12345678901234567.5]").value, [
      0.30000000000000004,
      1.7976931348623157e308,
      12345678901234568
    ])
  })

  it("finds a long number at every place of a text", () => {
    for (let before = 0; before < 40; before++) {
      const value = { s: "x".repeat(before), n: 9007199254740993n }
      assert.deepStrictEqual(read(plain, written(plain, value) ?? "").value, value)
    }
  })

  /** A float of 17 digits and no fraction looks like a whole number in JSON. */
  const asRead = (value: Schema.Json): unknown =>
    typeof value === "number"
      ? /^-?\d{16,}$/.test(String(value)) && !Number.isSafeInteger(value) ? BigInt(String(value)) : value + 0
      : Array.isArray(value)
      ? value.map(asRead)
      : typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, asRead(member)]))
      : value
  it.prop("reads back what it wrote", { value: Schema.Json }, ({ value }) => {
    for (const codec of [plain, withSchemas]) {
      const text = written(codec, value)
      if (text === null) assert.isNull(value)
      else assert.deepStrictEqual(read(codec, text).value, asRead(value))
    }
  })

  it.prop("reads back any whole number", { value: Schema.BigInt }, ({ value }) => {
    const result = read(plain, written(plain, [value]) ?? "").value
    assert.deepStrictEqual(result, [Number.isSafeInteger(Number(value)) ? Number(value) : value])
  })

  it("keeps a member named __proto__ a member", () => {
    const { value } = read(plain, "{\"__proto__\":{\"a\":1}}")
    assert.deepStrictEqual(Object.keys(value as object), ["__proto__"])
    assert.strictEqual(written(plain, value), "{\"__proto__\":{\"a\":1}}")
  })

  it("refuses what JSON cannot hold, by its type", () => {
    const cycle: Array<unknown> = []
    cycle.push(cycle)
    assert.strictEqual(message(() => written(plain, new Set())), "Expected a value that JSON can hold but got Set")
    assert.strictEqual(
      message(() => written(plain, [() => 1])),
      "Expected a value that JSON can hold but got a function"
    )
    assert.strictEqual(
      message(() => written(plain, cycle)),
      "Expected at most 1000 levels of nesting but got more, or a cycle"
    )
  })

  it("refuses bytes that are not JSON without showing them", () => {
    assert.match(message(() => read(plain, "{\"password\":\"hunter2\"")), /^Expected JSON but got other text/)
    assert.notInclude(message(() => read(plain, "hunter2")), "hunter2")
    assert.strictEqual(
      message(() => plain.fromBytes("t", Uint8Array.of(34, 255, 34))),
      "Expected JSON in UTF-8 but got other bytes"
    )
    assert.match(message(() => read(plain, `[${"1".repeat(2000)}]`)), /at most 1000 digits/)
  })

  it("reads no bytes as no value when schemas are off", () => {
    assert.deepStrictEqual(plain.fromBytes("t", new Uint8Array(0)), { value: null })
    assert.include(message(() => withSchemas.fromBytes("t", new Uint8Array(0))), "Expected JSON")
  })
})

describe("JsonConverter, envelope", () => {
  const person: Sch = {
    type: "struct",
    name: "acme.Person",
    version: 2,
    doc: "somebody",
    fields: [
      { field: "id", type: "int64" },
      { field: "name", type: "string", optional: true },
      { field: "tags", type: "array", items: { type: "string" } }
    ]
  }
  const personText = "{\"type\":\"struct\",\"fields\":[{\"type\":\"int64\",\"optional\":false,\"field\":\"id\"}," +
    "{\"type\":\"string\",\"optional\":true,\"field\":\"name\"}," +
    "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"optional\":false},\"optional\":false,\"field\":\"tags\"}]," +
    "\"optional\":false,\"name\":\"acme.Person\",\"version\":2,\"doc\":\"somebody\"}"

  it("writes the schema with its members in Connect's order", () => {
    assert.strictEqual(
      written(withSchemas, { id: 7, name: "Ann", tags: ["a"] }, person),
      envelope(personText, "{\"id\":7,\"name\":\"Ann\",\"tags\":[\"a\"]}")
    )
  })

  it("reads it back", () => {
    const value = { id: 9007199254740993n, name: null, tags: [] }
    assert.deepStrictEqual(read(withSchemas, written(withSchemas, value, person) ?? ""), { value, schema: person })
  })

  it("gives one schema object for records of equal schemas, however they are written", () => {
    const codec = open()
    const text = envelope(personText, "{\"id\":1,\"tags\":[]}")
    const spaced = JSON.stringify(JSON.parse(text), null, 2)
    const swapped = `{"payload":{"id":1,"tags":[]},"schema":${personText}}`
    const results = [text, text, spaced, swapped, spaced].map((each) => read(codec, each))
    for (const result of results) {
      assert.strictEqual(result.schema, results[0]?.schema)
      assert.deepStrictEqual(result.value, { id: 1, name: null, tags: [] })
    }
  })

  it("reads records of many schemas in turn, with a cache of any size", () => {
    for (const size of ["0", "1", "3", "1000"]) {
      const codec = open({ "schemas.cache.size": size })
      for (let i = 0; i < 60; i++) {
        const schema: Sch = { type: "int32", name: `s${i % 20}` }
        assert.deepStrictEqual(read(codec, written(codec, i, schema) ?? ""), { value: i, schema })
      }
    }
  })

  it("is not misled by what follows a known schema", () => {
    const codec = open()
    const schema = "{\"type\":\"string\",\"optional\":false}"
    assert.strictEqual(read(codec, envelope(schema, "\"a\"")).value, "a")
    assert.strictEqual(read(codec, `${envelope(schema, "\"b\"")} `).value, "b")
    assert.include(
      message(() => read(codec, envelope(schema, "\"a\",\"more\":1"))),
      "\"schema\" and \"payload\" and nothing else"
    )
    assert.match(message(() => read(codec, envelope(schema, "\"a\"}"))), /Expected JSON/)
    assert.match(message(() => read(codec, envelope(schema, ""))), /Expected JSON/)
    assert.strictEqual(message(() => read(codec, envelope(schema, "1"))), "Expected string but got a number")
  })

  it("refuses records without an envelope, and says what to set", () => {
    for (const text of ["{\"a\":1}", "{\"schema\":null}", "{\"schema\":null,\"payload\":1,\"x\":2}", "[1]", "1"]) {
      assert.include(message(() => read(withSchemas, text)), "schemas.enable=true", text)
    }
  })

  it("writes a null with a schema as a payload, not as a tombstone", () => {
    const optional: Sch = { type: "string", optional: true }
    assert.strictEqual(
      written(withSchemas, null, optional),
      envelope("{\"type\":\"string\",\"optional\":true}", "null")
    )
    assert.strictEqual(written(plain, null, optional), "null")
  })

  it("writes and reads names, documentation, parameters and defaults of every part", () => {
    const schema: Sch = {
      type: "map",
      keys: { type: "string", doc: "k" },
      values: { type: "bytes", optional: true, default: Uint8Array.of(1, 2), parameters: { a: "b" } }
    }
    const text = written(withSchemas, { x: Uint8Array.of(255) }, schema)
    assert.strictEqual(
      text,
      envelope(
        "{\"type\":\"map\",\"keys\":{\"type\":\"string\",\"optional\":false,\"doc\":\"k\"}," +
          "\"values\":{\"type\":\"bytes\",\"optional\":true,\"parameters\":{\"a\":\"b\"},\"default\":\"AQI=\"},\"optional\":false}",
        "{\"x\":\"/w==\"}"
      )
    )
    assert.deepStrictEqual(read(withSchemas, text ?? ""), { value: { x: Uint8Array.of(255) }, schema })
  })

  it("refuses schemas that are none, by what is missing", () => {
    const wrong = [
      ["1", "Expected a schema (an object) but got a number"],
      ["{}", "one of the types"],
      ["{\"type\":\"int128\"}", "but got another"],
      ["{\"type\":\"array\"}", "Expected the array schema to say its \"items\""],
      ["{\"type\":\"map\",\"keys\":{\"type\":\"string\"}}", "Expected the map schema to say its \"values\""],
      ["{\"type\":\"struct\"}", "\"fields\""],
      ["{\"type\":\"struct\",\"fields\":[{\"type\":\"int8\"}]}", "a name in \"field\""],
      ["{\"type\":\"int8\",\"parameters\":{\"a\":1}}", "parameters to be strings but got a number"],
      ["{\"type\":\"bytes\",\"name\":\"org.apache.kafka.connect.data.Decimal\"}", "parameter \"scale\""]
    ] as const
    for (const [schema, reason] of wrong) {
      assert.include(message(() => read(withSchemas, envelope(schema, "1"))), reason, schema)
    }
  })

  it("reads payloads alone by schema.content", () => {
    const codec = open({ "schema.content": "{\"type\":\"struct\",\"fields\":[{\"type\":\"int8\",\"field\":\"a\"}]}" })
    assert.deepStrictEqual(read(codec, "{\"a\":1}"), {
      value: { a: 1 },
      schema: { type: "struct", fields: [{ type: "int8", field: "a" }] }
    })
    const wrong = ConfigKey.decode(JsonConverter.converter.fields, { "schema.content": "{\"type\":1}" })
    assert.isTrue(Result.isFailure(wrong))
  })
})

describe("JsonConverter, types", () => {
  it("writes each type as Connect does", () => {
    const vectors: ReadonlyArray<readonly [Sch, unknown, string]> = [
      [{ type: "int8" }, -128, "-128"],
      [{ type: "int16" }, 32767, "32767"],
      [{ type: "int32" }, -2147483648, "-2147483648"],
      [{ type: "int64" }, 9223372036854775807n, "9223372036854775807"],
      [{ type: "int64" }, 12, "12"],
      [{ type: "int64" }, 12n, "12"],
      [{ type: "float" }, Math.fround(0.1), "0.1"],
      [{ type: "float" }, 1, "1.0"],
      [{ type: "float" }, Math.fround(16777216.0), "16777216.0"],
      [{ type: "double" }, 0.1, "0.1"],
      [{ type: "double" }, 12, "12.0"],
      [{ type: "double" }, -0, "-0.0"],
      [{ type: "double" }, 1e21, "1e+21"],
      [{ type: "double" }, -Infinity, "\"-Infinity\""],
      [{ type: "boolean" }, true, "true"],
      [{ type: "string" }, "a\"\n\ud800", "\"a\\\"\\n\\ud800\""],
      [{ type: "bytes" }, Uint8Array.of(0xfb, 0xff), "\"+/8=\""],
      [{ type: "bytes" }, new Uint8Array(0), "\"\""],
      [{ type: "array", items: { type: "int8", optional: true } }, [1, null], "[1,null]"],
      [{ type: "map", keys: { type: "string" }, values: { type: "int8" } }, { a: 1 }, "{\"a\":1}"],
      [{ type: "map", keys: { type: "string" }, values: { type: "int8" } }, new Map([["a", 1]]), "{\"a\":1}"],
      [{ type: "map", keys: { type: "int32" }, values: { type: "string" } }, new Map([[1, "a"]]), "[[1,\"a\"]]"],
      [{ type: "int64", name: LogicalName.Timestamp }, new Date(1700000000123), "1700000000123"],
      [{ type: "int32", name: LogicalName.Date }, new Date(Date.UTC(2020, 0, 2)), "18263"],
      [{ type: "int32", name: LogicalName.Date }, new Date(-86_400_000), "-1"],
      [{ type: "int32", name: LogicalName.Time }, 3_600_000, "3600000"],
      [decimal(2), "1.56", "\"AJw=\""],
      [decimal(2), "1.5", "\"AJY=\""],
      [decimal(2), "-1.56", "\"/2Q=\""],
      [decimal(0), "0", "\"AA==\""],
      [decimal(-2), "1200", "\"DA==\""],
      [decimal(3), "-0.128", "\"gA==\""]
    ]
    for (const [schema, value, text] of vectors) {
      assert.strictEqual(payload(value, schema), text, JSON.stringify(schema))
      assert.deepStrictEqual(JSON.parse(written(withSchemas, value, schema) ?? "").payload, JSON.parse(text))
    }
  })

  it("reads each type back as records hold it", () => {
    const vectors: ReadonlyArray<readonly [Sch, string, unknown]> = [
      [{ type: "int8" }, "1.0", 1],
      [{ type: "int64" }, "9223372036854775807", 9223372036854775807n],
      [{ type: "int64" }, "-9223372036854775808", -9223372036854775808n],
      [{ type: "int64" }, "12", 12],
      [{ type: "double" }, "12345678901234567890", 12345678901234567000],
      [{ type: "double" }, "\"-Infinity\"", -Infinity],
      [{ type: "double" }, "\"NaN\"", NaN],
      [{ type: "float" }, "0.1", 0.1],
      [{ type: "boolean" }, "false", false],
      [{ type: "bytes" }, "\"+/8=\"", Uint8Array.of(0xfb, 0xff)],
      [{ type: "map", keys: { type: "int32" }, values: { type: "string" } }, "[[1,\"a\"]]", new Map([[1, "a"]])],
      [{ type: "map", keys: { type: "string" }, values: { type: "int8" } }, "{\"a\":1}", { a: 1 }],
      [{ type: "int64", name: LogicalName.Timestamp }, "1700000000123", new Date(1700000000123)],
      [{ type: "int32", name: LogicalName.Date }, "18263", new Date("2020-01-02T00:00:00.000Z")],
      [{ type: "int32", name: LogicalName.Time }, "3600000", 3_600_000],
      [decimal(2), "\"AJw=\"", "1.56"],
      [decimal(2), "\"/2Q=\"", "-1.56"],
      [decimal(2), "\"AQ==\"", "0.01"],
      [decimal(-2), "\"DA==\"", "1200"],
      [decimal(2), "1.50", "1.50"],
      [decimal(2), "12345678901234567890.123456789", "12345678901234567890.123456789"],
      [decimal(2), "1E+3", "1000"],
      [decimal(2), "7", "7"]
    ]
    for (const [schema, text, value] of vectors) {
      const schemaText = (written(withSchemas, null, { ...schema, optional: true }) ?? "").split(",\"payload\"")[0]
      const codec = open()
      // The first is parsed as a whole, the second by its known beginning.
      for (let i = 0; i < 2; i++) {
        assert.deepStrictEqual(read(codec, `${schemaText},"payload":${text}}`).value, value, JSON.stringify(schema))
      }
    }
  })

  it("writes decimals as numbers with decimal.format=NUMERIC, digit for digit", () => {
    const codec = open({ "decimal.format": "numeric", "schemas.enable": "false" })
    for (const text of ["1.50", "-0.001", "12345678901234567890.123", "0"]) {
      assert.strictEqual(payload(text, decimal(3), codec), text)
    }
  })

  it("names the field, what was expected, and the type that came", () => {
    const schema: Sch = {
      type: "struct",
      fields: [
        { field: "a", type: "struct", fields: [{ field: "b", type: "array", items: { type: "int8" } }] }
      ]
    }
    assert.strictEqual(
      message(() => payload({ a: { b: [1, "secret"] } }, schema)),
      "Field a.b[]: expected int8 but got a string"
    )
    assert.strictEqual(
      message(() => payload({ a: { b: [300] } }, schema)),
      "Field a.b[]: expected int8 but got a number outside of it"
    )
    assert.strictEqual(message(() => payload({ a: {} }, schema)), "Field a.b: expected array but got null")
    assert.strictEqual(message(() => payload([], schema)), "Expected struct but got an array")
    const text = written(withSchemas, { a: { b: [1] } }, schema) ?? ""
    assert.strictEqual(
      message(() => read(withSchemas, text.replace("[1]", "[\"secret\"]"))),
      "Field a.b[]: expected int8 but got a string"
    )
    assert.strictEqual(
      message(() => read(withSchemas, text.replace("\"b\":[1]", "\"c\":1"))),
      "Field a.b: expected array but got null"
    )
  })

  it("refuses what would lose something, in both directions", () => {
    const refusedToWrite: ReadonlyArray<readonly [Sch, unknown]> = [
      [{ type: "int32" }, 1.5],
      [{ type: "int32" }, 2 ** 31],
      [{ type: "int32" }, 1n],
      [{ type: "int64" }, 2 ** 53],
      [{ type: "int64" }, 2n ** 63n],
      [{ type: "boolean" }, 0],
      [{ type: "string" }, 1],
      [{ type: "bytes" }, "AAAA"],
      [{ type: "map", keys: { type: "int8" }, values: { type: "int8" } }, { 1: 1 }],
      [{ type: "int32", name: LogicalName.Date }, new Date(1)],
      [{ type: "int64", name: LogicalName.Timestamp }, new Date(NaN)],
      [{ type: "int32", name: LogicalName.Time }, -1],
      [decimal(2), "1.234"],
      [decimal(2), 1.2],
      [decimal(2), "one"]
    ]
    for (const [schema, value] of refusedToWrite) {
      assert.match(message(() => payload(value, schema)), /^Expected .* but got /)
    }
    const refusedToRead: ReadonlyArray<readonly [string, string]> = [
      ["\"int32\"", "1.5"],
      ["\"int8\"", "128"],
      ["\"int64\"", "9223372036854775808"],
      ["\"int64\"", "\"1\""],
      ["\"string\"", "1"],
      ["\"boolean\"", "\"true\""],
      ["\"bytes\"", "\"*\""],
      ["\"double\"", "\"one\""]
    ]
    for (const [type, text] of refusedToRead) {
      assert.match(message(() => read(withSchemas, envelope(`{"type":${type}}`, text))), /^Expected .* but got /, text)
    }
  })

  it("takes the default of a null field, unless replace.null.with.default=false", () => {
    const schema: Sch = {
      type: "struct",
      fields: [{ field: "at", type: "int64", name: LogicalName.Timestamp, optional: true, default: new Date(5) }]
    }
    const keep = open({ "replace.null.with.default": "false" })
    const text = (value: string) =>
      envelope(
        "{\"type\":\"struct\",\"fields\":[{\"type\":\"int64\",\"optional\":true," +
          "\"name\":\"org.apache.kafka.connect.data.Timestamp\",\"default\":5,\"field\":\"at\"}],\"optional\":false}",
        `{"at":${value}}`
      )
    assert.strictEqual(written(withSchemas, { at: null }, schema), text("5"))
    assert.strictEqual(written(keep, { at: null }, schema), text("null"))
    assert.deepStrictEqual(read(withSchemas, text("null")), { value: { at: new Date(5) }, schema })
    assert.deepStrictEqual(read(keep, text("null")), { value: { at: null }, schema })
  })

  it("reads and writes fields with the names of inherited members", () => {
    const schema: Sch = {
      type: "struct",
      fields: [
        { field: "constructor", type: "string", optional: true },
        { field: "__proto__", type: "string", optional: true }
      ]
    }
    assert.strictEqual(payload({}, schema), "{\"constructor\":null,\"__proto__\":null}")
    const result = read(withSchemas, written(withSchemas, JSON.parse("{\"__proto__\":\"p\"}"), schema) ?? "").value
    assert.deepStrictEqual(Object.entries(result as object), [["constructor", null], ["__proto__", "p"]])
  })

  const everything: Sch = {
    type: "struct",
    fields: [
      { field: "i", type: "int32" },
      { field: "l", type: "int64" },
      { field: "d", type: "double" },
      { field: "s", type: "string", optional: true },
      { field: "m", type: "map", keys: { type: "int32" }, values: { type: "string" } },
      { field: "n", ...decimal(6) },
      { field: "b", type: "bytes" }
    ]
  }
  it.prop(
    "reads back any struct that it wrote",
    {
      i: Schema.Int.check(Schema.isBetween({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 })),
      l: Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n })),
      d: Schema.Number,
      s: Schema.NullOr(Schema.String),
      m: Schema.Array(Schema.Tuple([Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })), Schema.String])),
      n: Schema.Int,
      b: Schema.Uint8Array
    },
    ({ b, d, i, l, m, n, s }) => {
      const long = Number.isSafeInteger(Number(l)) ? Number(l) : l
      const value = { i, l: long, d, s, m: new Map(m), n: (n / 1e6).toFixed(6), b }
      for (const format of ["BASE64", "NUMERIC"]) {
        const codec = open({ "decimal.format": format })
        for (let round = 0; round < 2; round++) {
          const result = read(codec, written(codec, value, everything) ?? "")
          assert.deepStrictEqual(result, {
            value: { ...value, n: value.n.replace(/^-(0\.0+)$/, "$1") },
            schema: everything
          })
        }
      }
    }
  )
})

describe("JsonConverter, bytes", () => {
  const schema: Sch = { type: "bytes" }

  it.prop("are base64 of any length", { some: Schema.Uint8Array }, ({ some }) => {
    for (const value of [some, new Uint8Array(20_000).map((_, i) => (i + some.length) % 251)]) {
      const text = payload(value, schema) ?? ""
      assert.strictEqual(text, `"${Buffer.from(value).toString("base64")}"`)
      assert.deepStrictEqual(read(withSchemas, envelope("{\"type\":\"bytes\"}", text)).value, new Uint8Array(value))
    }
  })

  it("are refused when they are not base64", () => {
    for (const text of ["*", "A", "AAAAA", "AA-_"]) {
      assert.strictEqual(
        message(() => read(withSchemas, envelope("{\"type\":\"bytes\"}", `"${text}"`))),
        "Expected bytes as base64 but got a string that is not"
      )
    }
  })
})

describe("Converters", () => {
  it("lists Connect's converters, for headers too, with their Java names", () => {
    const names = ["Json", "String", "ByteArray", "Boolean", "Short", "Integer", "Long", "Float", "Double"]
    const java = (name: string) =>
      `org.apache.kafka.connect.${
        name === "Json" ? "json" : name === "String" ? "storage" : "converters"
      }.${name}Converter`
    assert.deepStrictEqual(
      Converters.all.map(({ aliases, kind, name }) => [kind, name, ...aliases]),
      [
        ...names.flatMap((name) =>
          ["converter", "header_converter"].map((kind) => [kind, `${name}Converter`, java(name), name])
        ),
        [
          "header_converter",
          "SimpleHeaderConverter",
          "org.apache.kafka.connect.storage.SimpleHeaderConverter",
          "Simple"
        ]
      ]
    )
  })
})
