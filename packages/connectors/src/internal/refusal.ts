/** The errors by which a transform refuses a record: they name the transform and the field, and never show a value. */
import * as Result from "effect/Result"

/** What a value is, in one word; never what it holds. */
export const typeName = (value: unknown): string => {
  if (value === null || value === undefined) return "null"
  if (Array.isArray(value)) return "array"
  if (ArrayBuffer.isView(value)) return "bytes"
  if (value instanceof Date) return "Date"
  if (value instanceof Map) return "Map"
  return typeof value
}

/** The error of a transform; `field` is left out when the whole key or value is meant. */
export const refusal = (transform: string, field: string | undefined, reason: string): Error =>
  new Error(field === undefined ? `${transform}: ${reason}` : `${transform}: field "${field}": ${reason}`)

/** The error of a configuration that only makes sense as a whole; the same words as for one refused key. */
export const badConfig = (transform: string, key: string, reason: string): Error =>
  new Error(`${transform}: invalid value for configuration ${key}: ${reason}`)

/** Why a reading failed, `undefined` if it did not: the form that the check of a configuration key has. */
export const reasonOf = (result: Result.Result<unknown, string>): string | undefined =>
  Result.isFailure(result) ? result.failure : undefined
