/** Which type a number in a header's text has, by Connect's rules: the smallest integer that holds it, else a float. */
import { type ConnectSchema, LogicalName } from "../ConnectSchema.ts"
import type { SchemaAndValue } from "../Converter.ts"
import * as Decimal from "./decimal.ts"
import { int64, isInt64, isWithin } from "./integerRange.ts"

const schemas = {
  int8: { type: "int8" },
  int16: { type: "int16" },
  int32: { type: "int32" },
  int64: { type: "int64" },
  float: { type: "float" },
  double: { type: "double" }
} as const satisfies Record<string, ConnectSchema>

const ofInteger = (whole: bigint): SchemaAndValue => {
  const value = int64(whole)
  if (typeof value === "bigint") return { value, schema: schemas.int64 }
  const type = isWithin("int8", value)
    ? "int8"
    : isWithin("int16", value)
    ? "int16"
    : isWithin("int32", value)
    ? "int32"
    : "int64"
  return { value, schema: schemas[type] }
}

/** Reads a number; `undefined` for any other text. One that is whole, such as `1.0`, is an integer. */
export const parse = (text: string): SchemaAndValue | undefined => {
  const decimal = Decimal.parse(text)
  if (decimal === undefined) return undefined
  const whole = Decimal.rescale(decimal, 0)?.unscaled
  if (whole !== undefined && isInt64(whole)) return ofInteger(whole)
  const value = Number(text)
  if (decimal.scale !== 0 && Number.isFinite(Math.fround(value))) return { value, schema: schemas.float }
  if (decimal.scale !== 0 && Number.isFinite(value)) return { value, schema: schemas.double }
  const parameters = { scale: String(decimal.scale) }
  return {
    value: Decimal.print(decimal),
    schema: { type: "bytes", name: LogicalName.Decimal, version: 1, parameters }
  }
}
