/** Casts one value to a primitive type, as Connect's `Cast` does. */
import { type ConnectSchema, LogicalName } from "@kelpie/core/ConnectSchema"
import * as Base64 from "effect/encoding/Base64"
import * as JavaNumber from "./javaNumber.ts"
import { typeName } from "./refusal.ts"

/** What can be cast to, by the names that a schema has. */
export type Target = JavaNumber.IntType | "float" | "double" | "boolean" | "string"

/** The names that users write, which are Connect's. */
export const targets: Readonly<Record<string, Target>> = {
  int8: "int8",
  int16: "int16",
  int32: "int32",
  int64: "int64",
  float32: "float",
  float64: "double",
  boolean: "boolean",
  string: "string"
}

/** Makes the error for a value; it is given the reason. */
export type Refuse = (reason: string) => Error

const dayMillis = 86_400_000

/** Casts a value that the schema describes; `null` stays `null`. Throws what `refuse` makes. */
export const castValue = (
  value: unknown,
  schema: ConnectSchema | undefined,
  target: Target,
  refuse: Refuse
): unknown => {
  switch (typeof value) {
    case "undefined":
      return null
    case "boolean":
      return target === "string" ? String(value) : target === "boolean" ? value : Number(value)
    case "number":
      return castNumber(value, schema, target)
    case "bigint":
      return castWhole(value, target)
    case "string":
      return schema?.name === LogicalName.Decimal && schema.type === "bytes"
        ? castDecimal(value, target, refuse)
        : castText(value, target, refuse)
  }
  if (value === null) return null
  if (value instanceof Date) {
    return target === "string" ? dateText(value, schema) : castWhole(encoded(value, schema, refuse), target)
  }
  if (value instanceof Uint8Array && target === "string") return Base64.encode(value)
  throw refuse(`cannot cast a value of type ${schema?.type === "struct" ? "struct" : typeName(value)} to ${target}`)
}

/** Without a schema, a number is a `double` if it has a fraction or is too large to be exact, and else an `int64`. */
const castNumber = (value: number, schema: ConnectSchema | undefined, target: Target): unknown => {
  const type = schema?.type
  const isFloat = type === "float" || type === "double" || !Number.isSafeInteger(value)
  if (target === "string" && schema?.name === LogicalName.Time) return timeText(value)
  if (!isFloat) return castWhole(value, target)
  switch (target) {
    case "string":
      return type === "float" ? JavaNumber.floatText(value) : JavaNumber.doubleText(value)
    case "boolean":
      return JavaNumber.truncate(value, "int64") !== 0
    case "double":
      return value
    case "float":
      return Math.fround(value)
    default:
      return JavaNumber.truncate(value, target)
  }
}

const castWhole = (value: number | bigint, target: Target): unknown => {
  switch (target) {
    case "string":
      return String(value)
    case "boolean":
      return Number(value) !== 0
    case "double":
      return Number(value)
    case "float":
      return Math.fround(Number(value))
    default:
      return JavaNumber.wrap(value, target)
  }
}

const castText = (value: string, target: Target, refuse: Refuse): unknown => {
  if (target === "string") return value
  if (target === "boolean") return value.toLowerCase() === "true"
  if (target !== "double" && target !== "float") {
    const n = JavaNumber.readInt(value, target)
    if (n === undefined) throw refuse(`the string is not a number of type ${target}`)
    return n
  }
  const n = JavaNumber.readFloat(value)
  if (n === undefined) throw refuse(`the string is not a number of type ${target}`)
  return target === "float" ? Math.fround(n) : n
}

const castDecimal = (value: string, target: Target, refuse: Refuse): unknown => {
  if (target === "string") return value
  if (target === "double" || target === "float") return castText(value, target, refuse)
  const n = JavaNumber.decimalToInt64(value)
  if (n === undefined) throw refuse("the string is not a Decimal")
  return castWhole(n, target)
}

/** A logical date as the number that its schema stores: days for a `Date`, and else milliseconds. */
const encoded = (value: Date, schema: ConnectSchema | undefined, refuse: Refuse): number => {
  const millis = value.getTime()
  if (schema?.name !== LogicalName.Date) return millis
  if (millis % dayMillis !== 0) throw refuse("a Date must not have a time of day")
  return millis / dayMillis
}

const timeText = (millisOfDay: number): string => new Date(millisOfDay).toISOString().slice(11)

/**
 * ISO 8601 in UTC: a date for a `Date` and for any midnight, as Connect has it. Instants before 1970-01-02 keep their date
 * and have their time, where Connect writes the time alone.
 */
const dateText = (value: Date, schema: ConnectSchema | undefined): string => {
  const text = value.toISOString()
  const dateOnly = schema?.name === LogicalName.Date || value.getTime() % dayMillis === 0
  return dateOnly ? text.slice(0, text.indexOf("T")) : text
}
