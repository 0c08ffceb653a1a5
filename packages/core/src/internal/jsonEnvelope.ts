/**
 * Reads the envelope `{"schema": ..., "payload": ...}` of Connect's JSON.
 *
 * The schema's text is the same in record after record. Where a record begins with a text that is known, only its payload
 * is parsed; otherwise the whole is, and the schema remembered by its text.
 */
import type { ConnectSchema } from "../ConnectSchema.ts"
import type { SchemaAndValue } from "../Converter.ts"
import { needsDigits, type Reader, reader } from "./jsonRead.ts"
import * as JsonSchema from "./jsonSchema.ts"
import * as JsonText from "./jsonText.ts"
import { refuse, typeName } from "./typeName.ts"
import * as Utf8 from "./utf8.ts"

/** A schema with the function that reads its values from JSON text. */
export interface Known {
  readonly schema: ConnectSchema | undefined
  readonly parse: (text: string) => unknown
  readonly read: Reader
}

const schemaless: Known = { schema: undefined, parse: JsonText.parse, read: (json) => json }

/** Makes a schema known. */
export const know = (schema: ConnectSchema, replaceNullWithDefault: boolean): Known => ({
  schema,
  parse: needsDigits(schema) ? JsonText.parseExact : JsonText.parse,
  read: reader(schema, "", replaceNullWithDefault)
})

/** What an envelope begins with. */
export const prefixOf = (schemaText: string): string => `{"schema":${schemaText},"payload":`

/** How an envelope without a schema begins. */
export const schemalessPrefix = prefixOf("null")

interface Envelope {
  readonly schema: unknown
  readonly payload: unknown
}

const isEnvelope = (json: unknown): json is Envelope =>
  typeof json === "object" && json !== null && Object.hasOwn(json, "schema") && Object.hasOwn(json, "payload") &&
  Object.keys(json).length === 2

const envelopeOf = (json: unknown): Envelope =>
  isEnvelope(json) ? json : refuse(
    "",
    "an object with \"schema\" and \"payload\" and nothing else, as schemas.enable=true asks for (set it to false to read plain JSON)",
    typeof json === "object" && json !== null && !Array.isArray(json) ? "other members" : typeName(json)
  )

/** The text of bytes that should be JSON. */
export const textOf = (bytes: Uint8Array): string => {
  try {
    return Utf8.decodeStrict(bytes)
  } catch {
    return refuse("", "JSON in UTF-8", "other bytes")
  }
}

const startsWith = (bytes: Uint8Array, prefix: Uint8Array): boolean => {
  if (bytes.length < prefix.length) return false
  for (let i = 0; i < prefix.length; i++) if (bytes[i] !== prefix[i]) return false
  return true
}

const closingBrace = 125

/** How many beginnings a record is compared with. */
const mostPrefixes = 8

/** The function that reads envelopes. `cacheSize` is the number of schemas that are remembered. */
export const envelopeReader = (
  cacheSize: number,
  replaceNullWithDefault: boolean
): (bytes: Uint8Array) => SchemaAndValue => {
  const bySchemaText = new Map<string, Known>()
  const prefixes: Array<{ readonly prefix: Uint8Array; readonly known: Known }> = [
    { prefix: Utf8.encode(schemalessPrefix), known: schemaless }
  ]

  const knowText = (schemaText: string, json: unknown, text: string): Known => {
    const first = know(JsonSchema.parse(json), replaceNullWithDefault)
    // Its own default may be a number that needs its digits.
    const known = first.parse === JsonText.parse
      ? first
      : know(JsonSchema.parse(envelopeOf(JsonText.parseExact(text)).schema), replaceNullWithDefault)
    bySchemaText.set(schemaText, known)
    const [oldest] = bySchemaText.keys()
    if (bySchemaText.size > cacheSize && oldest !== undefined) bySchemaText.delete(oldest)
    return known
  }

  const schemaOf = (json: unknown, text: string): Known => {
    if (json === null) return schemaless
    const schemaText = JsonText.stringify(json)
    const known = bySchemaText.get(schemaText) ?? knowText(schemaText, json, text)
    const prefix = prefixOf(schemaText)
    // A producer that writes white space, or members in an order that objects do not keep, is always parsed as a whole.
    if (cacheSize > 0 && text.startsWith(prefix)) {
      prefixes.unshift({ prefix: Utf8.encode(prefix), known })
      prefixes.length = Math.min(prefixes.length, mostPrefixes)
    }
    return known
  }

  const readWhole = (bytes: Uint8Array): SchemaAndValue => {
    const text = textOf(bytes)
    const envelope = envelopeOf(JsonText.parse(text))
    const { parse, read, schema } = schemaOf(envelope.schema, text)
    const payload = parse === JsonText.parse ? envelope.payload : envelopeOf(parse(text)).payload
    return { value: read(payload), schema }
  }

  return (bytes) => {
    for (const { known, prefix } of prefixes) {
      if (bytes[bytes.length - 1] !== closingBrace || !startsWith(bytes, prefix)) continue
      const payload = parsePayload(known, bytes.subarray(prefix.length, -1))
      return payload === undefined ? readWhole(bytes) : { value: known.read(payload), schema: known.schema }
    }
    return readWhole(bytes)
  }
}

/** `undefined` when the bytes are not one value: then the record is no envelope, or not JSON. */
const parsePayload = ({ parse }: Known, bytes: Uint8Array): unknown => {
  try {
    return parse(Utf8.decodeStrict(bytes))
  } catch {
    return undefined
  }
}
