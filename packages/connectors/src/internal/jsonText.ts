/** Values as JSON text, in the way of Connect's JSON converter where JSON itself has no answer. */
import * as Base64 from "effect/encoding/Base64"

const unwrap = (value: unknown): unknown => {
  if (typeof value === "bigint") return rawNumber(value)
  if (value instanceof Uint8Array) return Base64.encode(value)
  if (value instanceof Map) return [...value]
  return value
}

// the digits as they are: a number would lose some of them
const { rawJSON } = JSON as { readonly rawJSON?: (text: string) => unknown }
const rawNumber = (value: bigint): unknown => rawJSON === undefined ? String(value) : rawJSON(String(value))

function replace(this: unknown, key: string, value: unknown): unknown {
  // `value` went through `toJSON` already, which changes a Buffer
  return unwrap(Object(this)[key] instanceof Uint8Array ? Object(this)[key] : value)
}

/** Bytes are base64, a bigint is a number, a map is a list of pairs; a value that JSON has no text for is `null`. */
export const jsonText = (value: unknown): string => JSON.stringify(value, replace) ?? "null"
