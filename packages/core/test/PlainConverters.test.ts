import { assert, describe, it } from "@effect/vitest"
import { ConfigKey, type Converter } from "@kelpie/core"
import * as BooleanConverter from "@kelpie/core/BooleanConverter"
import * as ByteArrayConverter from "@kelpie/core/ByteArrayConverter"
import * as NumberConverters from "@kelpie/core/NumberConverters"
import * as StringConverter from "@kelpie/core/StringConverter"
import { Result, Schema } from "effect"

const open = <F extends ConfigKey.Fields>(
  converter: Converter.Converter<F>,
  config: Readonly<Record<string, string>> = {}
): Converter.Codec => converter.open(Result.getOrThrow(ConfigKey.decode(converter.fields, config)), "value")

const hex = (bytes: Uint8Array | null): string | null => bytes === null ? null : Buffer.from(bytes).toString("hex")
const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"))
const message = (f: () => unknown): string => {
  try {
    f()
  } catch (error) {
    return error instanceof Error ? error.message : "no error"
  }
  return "nothing was thrown"
}

describe("StringConverter", () => {
  const utf8 = open(StringConverter.converter)

  it("writes UTF-8 and reads it back as an optional string", () => {
    assert.strictEqual(hex(utf8.toBytes("t", "aé€😀", undefined)), "61c3a9e282acf09f9880")
    assert.deepStrictEqual(utf8.fromBytes("t", fromHex("61c3a9e282acf09f9880")), {
      value: "aé€😀",
      schema: { type: "string", optional: true }
    })
    assert.strictEqual(utf8.fromBytes("t", fromHex("efbbbf61ff")).value, "\ufeffa\ufffd")
    assert.strictEqual(hex(utf8.toBytes("t", "", undefined)), "")
  })

  it("passes null in both directions", () => {
    assert.isNull(utf8.toBytes("t", null, undefined))
    assert.deepStrictEqual(utf8.fromBytes("t", null), { value: null, schema: { type: "string", optional: true } })
  })

  it("writes other values as their text, objects as JSON, and refuses bytes", () => {
    const text = (value: unknown) => new TextDecoder().decode(utf8.toBytes("t", value, undefined) ?? undefined)
    assert.deepStrictEqual([1.5, 10n ** 20n, true, new Date(0), { a: [1n] }].map(text), [
      "1.5",
      "100000000000000000000",
      "true",
      "1970-01-01T00:00:00.000Z",
      "{\"a\":[1]}"
    ])
    assert.match(message(() => utf8.toBytes("t", Uint8Array.of(1), undefined)), /but got bytes \(ByteArrayConverter/)
  })

  it("keeps what it gave when many more texts are written", () => {
    const texts = Array.from({ length: 3000 }, (_, i) => `${i}é`.repeat(1 + (i % 400)))
    const all = texts.map((text) => utf8.toBytes("t", text, undefined))
    assert.deepStrictEqual(all.map((bytes) => new TextDecoder().decode(bytes ?? undefined)), texts)
  })

  it.prop("reads back any text", { text: Schema.String }, ({ text }) => {
    for (const encoding of ["UTF8", "UTF-16", "utf-16le", "UTF-16BE"]) {
      const codec = open(StringConverter.converter, { "converter.encoding": encoding })
      assert.strictEqual(
        codec.fromBytes("t", codec.toBytes("t", text.toWellFormed(), undefined)).value,
        text.toWellFormed()
      )
    }
  })

  it("writes and reads other encodings; what they lack is a question mark", () => {
    const vectors = [
      ["ISO-8859-1", "é\u0080€😀", "e9803f3f", "é\u0080??"],
      ["US-ASCII", "aé", "613f", "a?"],
      ["windows-1252", "é€", "e980", "é€"],
      ["ISO-8859-15", "€", "a4", "€"],
      ["windows-1251", "Ж", "c6", "Ж"],
      ["UTF-16", "aé", "feff006100e9", "aé"],
      ["UTF-16BE", "aé", "006100e9", "aé"],
      ["UTF-16LE", "aé", "6100e900", "aé"]
    ] as const
    for (const [encoding, text, bytes, back] of vectors) {
      const codec = open(StringConverter.converter, { "converter.encoding": encoding })
      assert.strictEqual(hex(codec.toBytes("t", text, undefined)), bytes, encoding)
      assert.strictEqual(codec.fromBytes("t", fromHex(bytes)).value, back, encoding)
    }
    const marked = open(StringConverter.converter, { "converter.encoding": "UTF-16" })
    assert.strictEqual(marked.fromBytes("t", fromHex("fffe6100")).value, "a")
  })

  it("reads encodings of several bytes, and says that it cannot write them", () => {
    const codec = open(StringConverter.converter, { "converter.encoding": "Shift_JIS" })
    assert.strictEqual(codec.fromBytes("t", fromHex("93fa967b")).value, "日本")
    assert.match(message(() => codec.toBytes("t", "日本", undefined)), /shift_jis, which can only be read/)
  })

  it("refuses an encoding that nobody knows", () => {
    assert.isTrue(
      Result.isFailure(ConfigKey.decode(StringConverter.converter.fields, { "converter.encoding": "klingon" }))
    )
  })
})

describe("ByteArrayConverter", () => {
  const codec = open(ByteArrayConverter.converter)

  it("passes bytes and null as they are", () => {
    const bytes = Uint8Array.of(1, 2)
    assert.strictEqual(codec.toBytes("t", bytes, { type: "bytes" }), bytes)
    assert.isNull(codec.toBytes("t", null, undefined))
    assert.deepStrictEqual(codec.fromBytes("t", bytes), { value: bytes, schema: { type: "bytes", optional: true } })
    assert.strictEqual(codec.fromBytes("t", bytes).value, bytes)
  })

  it("refuses other values and schemas", () => {
    assert.strictEqual(message(() => codec.toBytes("t", "secret", undefined)), "Expected bytes but got a string")
    assert.strictEqual(
      message(() => codec.toBytes("t", Uint8Array.of(1), { type: "string" })),
      "Expected a schema of type bytes but got one of type string"
    )
  })
})

describe("BooleanConverter", () => {
  const codec = open(BooleanConverter.converter)

  it("is one byte", () => {
    assert.deepStrictEqual([true, false, null].map((value) => hex(codec.toBytes("t", value, undefined))), [
      "01",
      "00",
      null
    ])
    assert.deepStrictEqual([fromHex("01"), fromHex("00"), null].map((bytes) => codec.fromBytes("t", bytes)), [
      { value: true, schema: { type: "boolean", optional: true } },
      { value: false, schema: { type: "boolean", optional: true } },
      { value: null, schema: { type: "boolean", optional: true } }
    ])
  })

  it("refuses everything else", () => {
    assert.strictEqual(message(() => codec.toBytes("t", 1, undefined)), "Expected a boolean but got a number")
    assert.match(message(() => codec.toBytes("t", true, { type: "int8" })), /a schema of type boolean/)
    assert.strictEqual(message(() => codec.fromBytes("t", fromHex("02"))), "Expected the byte 0 or 1 but got another")
    assert.strictEqual(message(() => codec.fromBytes("t", fromHex("0100"))), "Expected 1 byte but got 2")
  })
})

describe("NumberConverters", () => {
  const codecs = {
    short: open(NumberConverters.short.converter),
    integer: open(NumberConverters.integer.converter),
    long: open(NumberConverters.long.converter),
    float: open(NumberConverters.float.converter),
    double: open(NumberConverters.double.converter)
  }

  it("write the high byte first", () => {
    const vectors = [
      ["short", 258, "0102"],
      ["short", -2, "fffe"],
      ["short", -32768, "8000"],
      ["integer", 16909060, "01020304"],
      ["integer", -1, "ffffffff"],
      ["long", 72623859790382856n, "0102030405060708"],
      ["long", 1, "0000000000000001"],
      ["long", -1, "ffffffffffffffff"],
      ["long", -4294967297, "fffffffeffffffff"],
      ["long", Number.MAX_SAFE_INTEGER, "001fffffffffffff"],
      ["long", Number.MIN_SAFE_INTEGER, "ffe0000000000001"],
      ["long", 9007199254740992n, "0020000000000000"],
      ["long", -9223372036854775808n, "8000000000000000"],
      ["long", 9223372036854775807n, "7fffffffffffffff"],
      ["float", 1.5, "3fc00000"],
      ["float", -Infinity, "ff800000"],
      ["double", 1.5, "3ff8000000000000"],
      ["double", -0, "8000000000000000"],
      ["double", 0.1, "3fb999999999999a"]
    ] as const
    for (const [name, value, bytes] of vectors) {
      assert.strictEqual(hex(codecs[name].toBytes("t", value, undefined)), bytes, `${name} ${value}`)
      assert.deepStrictEqual(codecs[name].fromBytes("t", fromHex(bytes)).value, value, `${name} ${value}`)
    }
  })

  it("give the optional schema of their type, for null too", () => {
    const types = Object.values(codecs).map((codec) => codec.fromBytes("t", null))
    assert.deepStrictEqual(
      types,
      (["int16", "int32", "int64", "float", "double"] as const).map((type) => ({
        value: null,
        schema: { type, optional: true }
      }))
    )
    assert.isNull(codecs.long.toBytes("t", null, undefined))
  })

  it("refuse what does not fit, and bytes of another length", () => {
    assert.strictEqual(
      message(() => codecs.short.toBytes("t", 32768, undefined)),
      "Expected int16 but got a number outside of it"
    )
    assert.strictEqual(
      message(() => codecs.integer.toBytes("t", 1.5, undefined)),
      "Expected int32 but got a number outside of it"
    )
    assert.strictEqual(message(() => codecs.integer.toBytes("t", 1n, undefined)), "Expected int32 but got a bigint")
    assert.strictEqual(
      message(() => codecs.long.toBytes("t", 2 ** 53, undefined)),
      "Expected int64 but got a number outside of it"
    )
    assert.strictEqual(
      message(() => codecs.long.toBytes("t", 2n ** 63n, undefined)),
      "Expected int64 but got a bigint outside of it"
    )
    assert.strictEqual(
      message(() => codecs.double.toBytes("t", "secret", undefined)),
      "Expected double but got a string"
    )
    assert.strictEqual(message(() => codecs.long.fromBytes("t", fromHex("0102"))), "Expected 8 bytes but got 2")
  })

  it.prop("LongConverter reads back any number of 64 bits", { value: Schema.BigInt }, ({ value }) => {
    const long = BigInt.asIntN(64, value * 0x9e3779b97f4a7c15n)
    const back = codecs.long.fromBytes("t", codecs.long.toBytes("t", long, undefined)).value
    assert.strictEqual(typeof back === "bigint" ? back : BigInt(Number(back)), long)
    assert.strictEqual(typeof back, Number.isSafeInteger(Number(long)) ? "number" : "bigint")
  })

  it.prop("DoubleConverter reads back any number", { value: Schema.Number }, ({ value }) => {
    assert.deepStrictEqual(codecs.double.fromBytes("t", codecs.double.toBytes("t", value, undefined)).value, value)
  })
})
