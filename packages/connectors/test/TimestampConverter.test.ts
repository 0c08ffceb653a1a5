import { assert, describe, it } from "@effect/vitest"
import * as TimestampConverter from "@kelpie/connectors/TimestampConverter"
import { Schema } from "effect"
import { assertRefused, Date_, struct, Time, Timestamp, transform, valued } from "./transforming.ts"

const millis = Date.UTC(2020, 1, 29, 13, 14, 15, 167)
const iso = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"
const text = "2020-02-29T13:14:15.167Z"

const convert = (config: Readonly<Record<string, string>>) => transform(TimestampConverter.Value, config)

describe("TimestampConverter without a schema", () => {
  it("takes texts, Unix times and dates to every target", () => {
    const targets: ReadonlyArray<readonly [string, unknown]> = [
      ["string", text],
      ["unix", millis],
      ["Timestamp", new Date(millis)],
      ["Date", new Date(Date.UTC(2020, 1, 29))],
      ["Time", millis - Date.UTC(2020, 1, 29)]
    ]
    for (const [target, expected] of targets) {
      for (const value of [text, millis, BigInt(millis), new Date(millis)]) {
        assert.deepStrictEqual(convert({ "target.type": target, format: iso })(valued(value))?.value, expected)
      }
    }
  })

  it("works on one field and gives a missing one null", () => {
    const toDate = convert({ "target.type": "Timestamp", field: "at" })
    assert.deepStrictEqual(toDate(valued({ at: millis, b: 1 }))?.value, { at: new Date(millis), b: 1 })
    assert.deepStrictEqual(toDate(valued({ b: 1 }))?.value, { b: 1, at: null })
    assert.deepStrictEqual(toDate(valued({ at: null }))?.value, { at: null })
  })

  it("reads and writes Unix times in other units, losing what is finer than a millisecond", () => {
    const units: ReadonlyArray<readonly [string, number | bigint, number]> = [
      ["seconds", Math.trunc(millis / 1000), Math.trunc(millis / 1000) * 1000],
      ["microseconds", millis * 1000, millis],
      ["nanoseconds", BigInt(millis) * 1_000_000n, millis]
    ]
    for (const [precision, unix, back] of units) {
      const config = { "unix.precision": precision }
      assert.strictEqual(convert({ ...config, "target.type": "unix" })(valued(new Date(millis)))?.value, unix)
      assert.deepStrictEqual(convert({ ...config, "target.type": "Timestamp" })(valued(unix))?.value, new Date(back))
    }
    const micros = convert({ "unix.precision": "microseconds", "target.type": "Timestamp" })
    assert.deepStrictEqual(micros(valued(-1999))?.value, new Date(-1))
  })

  it("keeps the date and the time of day of instants before 1970", () => {
    assert.deepStrictEqual(convert({ "target.type": "Date" })(valued(-1))?.value, new Date(-86_400_000))
    assert.strictEqual(convert({ "target.type": "Time" })(valued(-1))?.value, 86_399_999)
  })

  it("bounds nanoseconds that no int64 holds", () => {
    const nanos = convert({ "unix.precision": "nanoseconds", "target.type": "unix" })
    assert.strictEqual(nanos(valued(new Date(8.64e15)))?.value, 2n ** 63n - 1n)
    assert.strictEqual(nanos(valued(new Date(-8.64e15)))?.value, -(2n ** 63n))
  })

  it("refuses what is no time, and says what came, not what it holds", () => {
    const toDate = convert({ "target.type": "Timestamp", field: "at", format: iso })
    for (const [at, type] of [[true, "boolean"], [[1], "array"], [1.5, "number"], [{}, "object"]] as const) {
      assertRefused(() => toDate(valued({ at })), "TimestampConverter$Value", "\"at\"", type)
    }
    assertRefused(() => toDate(valued({ at: "secret" })), "\"at\": the string does not have the configured format")
    assertRefused(() => toDate(valued({ at: 1e20 })), "out of range")
    assertRefused(() => toDate(valued("secret")), "found string")
  })

  it("refuses texts when no format is configured", () => {
    assertRefused(() => convert({ "target.type": "unix" })(valued(text)), "no format")
  })

  it("passes tombstones as they are", () => {
    for (const field of ["", "at"]) {
      const record = valued(null)
      assert.strictEqual(convert({ "target.type": "unix", field })(record), record)
    }
  })
})

describe("TimestampConverter with a schema", () => {
  it("takes each type to each target, in value and schema", () => {
    const sources = [
      [{ type: "string" }, text],
      [{ type: "int64" }, millis],
      [Timestamp, new Date(millis)]
    ] as const
    const targets = [
      ["string", { type: "string" }, text],
      ["unix", { type: "int64" }, millis],
      ["Timestamp", Timestamp, new Date(millis)],
      ["Date", Date_, new Date(Date.UTC(2020, 1, 29))],
      ["Time", Time, millis - Date.UTC(2020, 1, 29)]
    ] as const
    for (const [schema, value] of sources) {
      for (const [target, targetSchema, expected] of targets) {
        const result = convert({ "target.type": target, format: iso })(valued(value, schema))
        assert.deepStrictEqual(result?.value, expected)
        assert.deepStrictEqual(result?.valueSchema, targetSchema)
      }
    }
  })

  it("takes a Date for its midnight, and a Time for one on the first day", () => {
    const unix = convert({ "target.type": "unix" })
    assert.strictEqual(unix(valued(new Date(86_400_000), Date_))?.value, 86_400_000)
    assert.strictEqual(unix(valued(61_000, Time))?.value, 61_000)
  })

  it("gives a tombstone the target's schema", () => {
    const result = convert({ "target.type": "Timestamp" })(valued(null, { type: "int64", optional: true }))
    assert.isNull(result?.value)
    assert.deepStrictEqual(result?.valueSchema, { ...Timestamp, optional: true })
  })

  const schema = struct({
    at: { type: "int64", optional: true, default: 7 },
    b: { type: "string" }
  }, { name: "Order", optional: true, default: { at: 5, b: "x" } })

  it("changes one field, and the default of the struct", () => {
    const toDate = convert({ "target.type": "Timestamp", field: "at" })
    const result = toDate(valued({ at: millis, b: "x" }, schema))
    assert.deepStrictEqual(result?.value, { at: new Date(millis), b: "x" })
    assert.deepStrictEqual(
      result?.valueSchema,
      struct({ at: { ...Timestamp, optional: true }, b: { type: "string" } }, {
        name: "Order",
        optional: true,
        default: { at: new Date(5), b: "x" }
      })
    )
    const tombstone = toDate(valued(null, schema))
    assert.isNull(tombstone?.value)
    assert.strictEqual(tombstone?.valueSchema, result?.valueSchema)
  })

  it("converts the default that takes the place of a null, or keeps the null", () => {
    const record = valued({ at: null, b: "x" }, schema)
    assert.deepInclude(convert({ "target.type": "Timestamp", field: "at" })(record)?.value, { at: new Date(7) })
    const keep = convert({ "target.type": "Timestamp", field: "at", "replace.null.with.default": "false" })
    assert.deepInclude(keep(record)?.value, { at: null })
  })

  it("passes over a field that the schema does not have", () => {
    const result = convert({ "target.type": "Timestamp", field: "x" })(valued({ at: 1, b: "x" }, schema))
    assert.deepStrictEqual(result?.value, { at: 1, b: "x" })
  })

  it("refuses a type that is no time, and a value that is not of its type", () => {
    const unix = convert({ "target.type": "unix" })
    assertRefused(() => unix(valued(5, { type: "int32" })), "TimestampConverter$Value", "int32")
    assertRefused(() => unix(valued("secret", Timestamp)), "expected a Date, found string")
    assertRefused(() => unix(valued(new Date(0), { type: "int64" })), "expected a whole number, found Date")
    assertRefused(() => unix(valued("secret", Time)), "expected milliseconds, found string")
    assertRefused(() => convert({ "target.type": "unix", field: "a" })(valued(1, { type: "int64" })), "struct", "int64")
  })
})

describe("TimestampConverter", () => {
  it("converts the key", () => {
    const toText = transform(TimestampConverter.Key, { "target.type": "string", format: "yyyy", field: "at" })
    assert.deepStrictEqual(toText({ topic: "t", key: { at: millis }, value: 1 }), {
      topic: "t",
      key: { at: "2020" },
      value: 1
    })
  })

  it("refuses a bad configuration", () => {
    assertRefused(() => convert({}), "target.type")
    assertRefused(() => convert({ "target.type": "date" }), "target.type", "Timestamp")
    assertRefused(() => convert({ "target.type": "string" }), "TimestampConverter$Value", "format")
    assertRefused(() => convert({ "target.type": "string", format: "YYYY" }), "format", "letter Y")
    assertRefused(() => convert({ "target.type": "unix", "unix.precision": "hours" }), "unix.precision", "seconds")
  })

  it.prop("gets every millisecond back from its text", {
    at: Schema.Int.check(Schema.isBetween({ minimum: -62_135_596_800_000, maximum: 253_402_300_799_999 }))
  }, ({ at }) => {
    const written = convert({ "target.type": "string", format: iso })(valued(at))
    assert.strictEqual(written?.value, new Date(at).toISOString())
    assert.strictEqual(convert({ "target.type": "unix", format: iso })(valued(written?.value))?.value, at)
  })
})
