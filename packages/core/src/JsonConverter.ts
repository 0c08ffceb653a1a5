/**
 * JSON as Connect's JsonConverter reads and writes it: with `schemas.enable` in an envelope
 * `{"schema": ..., "payload": ...}`, else the plain value. Whole numbers beyond 2 ** 53 are kept without loss.
 *
 * Other than Connect it refuses what does not fit the schema (a text where a number should be, 300 as an `int8`), where
 * Connect reads a zero or cuts bits off. Without a schema a whole float beyond 2 ** 53 reads back as a `bigint`: in JSON
 * nothing tells it from an integer.
 */
import * as ConfigKey from "./ConfigKey.ts"
import type { ConnectSchema } from "./ConnectSchema.ts"
import type { Codec, SchemaAndValue } from "./Converter.ts"
import { converterPair } from "./internal/converterPair.ts"
import * as JsonEnvelope from "./internal/jsonEnvelope.ts"
import * as JsonSchema from "./internal/jsonSchema.ts"
import * as JsonText from "./internal/jsonText.ts"
import { type Options, type Writer, writer } from "./internal/jsonWrite.ts"
import * as Utf8 from "./internal/utf8.ts"

const problemOfSchema = (text: string): string | undefined => {
  try {
    JsonSchema.parse(JsonText.parseExact(text))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : "Not a schema"
  }
}

const config = {
  schemasEnable: ConfigKey.Boolean("schemas.enable", {
    default: true,
    importance: "high",
    doc: "Whether every record carries its schema in an envelope of \"schema\" and \"payload\"."
  }),
  schemasCacheSize: ConfigKey.Int("schemas.cache.size", {
    default: 1000,
    min: 0,
    importance: "high",
    doc: "How many schemas that were read are remembered."
  }),
  schemaContent: ConfigKey.String("schema.content", {
    optional: true,
    importance: "high",
    doc:
      "A schema, as it stands in the envelope, of records that hold the payload alone. Read with schemas.enable=true.",
    check: (text: string) => text === "" ? undefined : problemOfSchema(text)
  }),
  decimalFormat: ConfigKey.String("decimal.format", {
    default: "BASE64",
    importance: "low",
    recommended: ["BASE64", "NUMERIC"],
    doc: "How decimals are written: BASE64 (their bytes) or NUMERIC (a number). Both are read.",
    check: (format: string) =>
      /^(?:base64|numeric)$/i.test(format) ? undefined : "String must be one of: BASE64, NUMERIC"
  }),
  replaceNullWithDefault: ConfigKey.Boolean("replace.null.with.default", {
    default: true,
    importance: "low",
    doc: "Whether a null takes the default of its schema."
  })
}

/** A schema that was written, with its function. */
interface Written {
  readonly schema: ConnectSchema
  readonly prefix: string
  readonly write: Writer
}

const writing = (enveloped: boolean, options: Options): Codec["toBytes"] => {
  const bySchema = new WeakMap<ConnectSchema, Written>()
  let last: Written | undefined
  const find = (schema: ConnectSchema): Written => {
    if (last?.schema === schema) return last
    const found = bySchema.get(schema) ?? {
      schema,
      prefix: JsonEnvelope.prefixOf(enveloped ? JsonSchema.print(schema, options) : ""),
      write: writer(schema, "", options)
    }
    bySchema.set(schema, found)
    last = found
    return found
  }
  return (_, value, schema) => {
    if (schema !== undefined) {
      const { prefix, write } = find(schema)
      return Utf8.encode(enveloped ? `${prefix}${write(value)}}` : write(value))
    }
    if (value === null || value === undefined) return null
    const text = JsonText.stringify(value)
    return Utf8.encode(enveloped ? `${JsonEnvelope.schemalessPrefix}${text}}` : text)
  }
}

const nothing: SchemaAndValue = { value: null }

/** No bytes are no value, as in Connect. */
const readingPlain = (bytes: Uint8Array): SchemaAndValue =>
  bytes.length === 0 ? nothing : { value: JsonText.parse(JsonEnvelope.textOf(bytes)) }

const readingWith = ({ parse, read, schema }: JsonEnvelope.Known) => (bytes: Uint8Array): SchemaAndValue => ({
  value: read(bytes.length === 0 ? null : parse(JsonEnvelope.textOf(bytes))),
  schema
})

/** What a codec depends on, when it holds no schema of its own. */
interface Settings extends Options {
  readonly schemasEnable: boolean
  readonly schemasCacheSize: number
}

const open = ({ schemasCacheSize, schemasEnable, ...options }: Settings): Codec => {
  const read = schemasEnable
    ? JsonEnvelope.envelopeReader(schemasCacheSize, options.replaceNullWithDefault)
    : readingPlain
  return {
    toBytes: writing(schemasEnable, options),
    fromBytes: (_, bytes) => bytes === null ? nothing : read(bytes)
  }
}

/** Without schemas there is nothing to remember but functions of schemas that are written: most connectors share these. */
const plain = {
  BASE64: [false, true].map((replaceNullWithDefault) =>
    open({ schemasEnable: false, schemasCacheSize: 0, decimalFormat: "BASE64", replaceNullWithDefault })
  ),
  NUMERIC: [false, true].map((replaceNullWithDefault) =>
    open({ schemasEnable: false, schemasCacheSize: 0, decimalFormat: "NUMERIC", replaceNullWithDefault })
  )
}

const { converter, headerConverter } = converterPair("org.apache.kafka.connect.json.JsonConverter", {
  doc: "Values as JSON, with their schemas unless schemas.enable=false.",
  config,
  open: ({ decimalFormat: format, replaceNullWithDefault, schemaContent = "", schemasCacheSize, schemasEnable }) => {
    const decimalFormat = format.toUpperCase() === "NUMERIC" ? "NUMERIC" : "BASE64"
    const shared = schemasEnable ? undefined : plain[decimalFormat][replaceNullWithDefault ? 1 : 0]
    if (shared !== undefined) return shared
    const codec = open({ schemasEnable, schemasCacheSize, decimalFormat, replaceNullWithDefault })
    if (schemaContent === "") return codec
    const read = readingWith(
      JsonEnvelope.know(JsonSchema.parse(JsonText.parseExact(schemaContent)), replaceNullWithDefault)
    )
    return { toBytes: codec.toBytes, fromBytes: (_, bytes) => bytes === null ? nothing : read(bytes) }
  }
})

export {
  /** For keys and values. */
  converter,
  /** For headers. */
  headerConverter
}
