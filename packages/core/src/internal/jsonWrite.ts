/** Writes typed values as Connect's JsonConverter does. A schema is turned into one function, made once. */
import { type ConnectSchema, LogicalName } from "../ConnectSchema.ts"
import * as Base64 from "./base64.ts"
import * as Decimal from "./decimal.ts"
import { decimalScale } from "./decimalSchema.ts"
import { type integerRange, isInt64, isWithin } from "./integerRange.ts"
import * as JsonText from "./jsonText.ts"
import { refuse, refuseType, typeName } from "./typeName.ts"

/** Gives the JSON of a value, or throws. */
export type Writer = (value: unknown) => string

/** What the converter's configuration says about writing. */
export interface Options {
  readonly decimalFormat: "BASE64" | "NUMERIC"
  readonly replaceNullWithDefault: boolean
}

const millisPerDay = 86_400_000

/** Members that every object inherits: only own ones may be read under such a name. */
const isInherited = (name: string): boolean => name in Object.prototype

const member = (object: object, name: string): unknown =>
  isInherited(name) && !Object.hasOwn(object, name) ? undefined : (object as Record<string, unknown>)[name]

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array) &&
  !(value instanceof Date) && !(value instanceof Map)

const small = (type: keyof typeof integerRange, path: string): Writer => (value) =>
  typeof value !== "number"
    ? refuseType(path, type, value)
    : isWithin(type, value)
    ? String(value)
    : refuse(path, type, "a number outside of it")

const int64 = (path: string): Writer => (value) => {
  if (typeof value === "number") {
    return Number.isSafeInteger(value)
      ? String(value)
      : refuse(path, "int64 (a bigint beyond 2 ** 53)", "a number that is not a safe integer")
  }
  if (typeof value !== "bigint") return refuseType(path, "int64", value)
  return isInt64(value) ? String(value) : refuse(path, "int64", "a bigint outside of it")
}

/** A whole number keeps a `.0`: readers without the schema then see a fraction, as Connect wrote one. */
const printDouble = (value: number): string => {
  const text = Object.is(value, -0) ? "-0" : JsonText.printNumber(value)
  return Number.isInteger(value) && !text.includes("e") ? `${text}.0` : text
}

/** The fewest digits that give the same 32-bit float. */
const printFloat = (value: number): string => {
  const single = Math.fround(value)
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === single) return printDouble(short)
  }
  return printDouble(value)
}

const float = (type: string, print: (value: number) => string, path: string): Writer => (value) =>
  typeof value === "number" ? print(value) : refuseType(path, type, value)

const bytes = (path: string): Writer => (value) =>
  value instanceof Uint8Array ? `"${Base64.encode(value)}"` : refuseType(path, "bytes", value)

const string = (path: string): Writer => (value) =>
  typeof value === "string" ? JSON.stringify(value) : refuseType(path, "string", value)

const boolean = (path: string): Writer => (value) =>
  typeof value === "boolean" ? String(value) : refuseType(path, "boolean", value)

const millis = (value: unknown, name: string, path: string): number =>
  value instanceof Date && !Number.isNaN(value.getTime()) ? value.getTime() : refuseType(path, name, value)

const timestamp = (path: string): Writer => (value) => String(millis(value, "Timestamp", path))

const date = (path: string): Writer => (value) => {
  const days = millis(value, "Date", path) / millisPerDay
  return Number.isInteger(days)
    ? String(days)
    : refuse(path, "a Date at midnight UTC, as the logical type Date asks for", "a Date with a time of day")
}

const time = (path: string): Writer => (value) =>
  typeof value !== "number"
    ? refuseType(path, "Time (milliseconds of a day)", value)
    : Number.isInteger(value) && value >= 0 && value <= millisPerDay
    ? String(value)
    : refuse(path, "Time (whole milliseconds of a day)", "a number outside of it")

const decimal = (schema: ConnectSchema, path: string, format: Options["decimalFormat"]): Writer => {
  const scale = decimalScale(schema, path)
  return (value) => {
    if (typeof value !== "string") return refuseType(path, "Decimal (a text)", value)
    const parsed = Decimal.parse(value)
    if (parsed === undefined) return refuse(path, "Decimal", "a string that is no decimal number")
    if (format === "NUMERIC") return Decimal.print(parsed)
    const scaled = Decimal.rescale(parsed, scale)
    return scaled === undefined
      ? refuse(path, `Decimal of scale ${scale}`, "a number with more digits after the point")
      : `"${Base64.encode(Decimal.toBytes(scaled.unscaled))}"`
  }
}

const array = (schema: ConnectSchema, path: string, options: Options): Writer => {
  const item = schema.items === undefined ? JsonText.stringify : writer(schema.items, `${path}[]`, options)
  return (value) => {
    if (!Array.isArray(value)) return refuseType(path, "array", value)
    let text = "["
    for (let i = 0; i < value.length; i++) text += i === 0 ? item(value[i]) : `,${item(value[i])}`
    return `${text}]`
  }
}

const map = (schema: ConnectSchema, path: string, options: Options): Writer => {
  if (schema.keys === undefined || schema.values === undefined) {
    return (value) =>
      value instanceof Map || isRecord(value) ? JsonText.stringify(value) : refuseType(path, "map", value)
  }
  const key = writer(schema.keys, `${path}{key}`, options)
  const item = writer(schema.values, `${path}{}`, options)
  return schema.keys.type === "string" ? objectMap(path, key, item) : pairsMap(path, key, item)
}

const objectMap = (path: string, key: Writer, item: Writer): Writer => (value) => {
  if (!(value instanceof Map) && !isRecord(value)) return refuseType(path, "map", value)
  let text = "{"
  for (const [name, entry] of value instanceof Map ? value : Object.entries(value)) {
    text += `${text.length === 1 ? "" : ","}${key(name)}:${item(entry)}`
  }
  return `${text}}`
}

const pairsMap = (path: string, key: Writer, item: Writer): Writer => (value) => {
  if (!(value instanceof Map)) return refuseType(path, "a Map (its keys are not strings)", value)
  let text = "["
  for (const [name, entry] of value) text += `${text.length === 1 ? "" : ","}[${key(name)},${item(entry)}]`
  return `${text}]`
}

const struct = (schema: ConnectSchema, path: string, options: Options): Writer => {
  const fields = (schema.fields ?? []).map((field, index) => ({
    name: field.field,
    label: `${index === 0 ? "" : ","}${JSON.stringify(field.field)}:`,
    write: writer(field, path === "" ? field.field : `${path}.${field.field}`, options)
  }))
  return (value) => {
    if (!isRecord(value)) return refuseType(path, "struct", value)
    let text = "{"
    for (const field of fields) text += field.label + field.write(member(value, field.name))
    return `${text}}`
  }
}

const logical = (schema: ConnectSchema, path: string, options: Options): Writer | undefined => {
  switch (schema.name) {
    case LogicalName.Timestamp:
      return timestamp(path)
    case LogicalName.Date:
      return date(path)
    case LogicalName.Time:
      return time(path)
    case LogicalName.Decimal:
      return decimal(schema, path, options.decimalFormat)
    default:
      return undefined
  }
}

const plain = (schema: ConnectSchema, path: string, options: Options): Writer => {
  switch (schema.type) {
    case "int8":
    case "int16":
    case "int32":
      return small(schema.type, path)
    case "int64":
      return int64(path)
    case "float":
      return float("float", printFloat, path)
    case "double":
      return float("double", printDouble, path)
    case "boolean":
      return boolean(path)
    case "string":
      return string(path)
    case "bytes":
      return bytes(path)
    case "array":
      return array(schema, path, options)
    case "map":
      return map(schema, path, options)
    default:
      return struct(schema, path, options)
  }
}

/** The function that writes values of a schema. `path` names the place of the schema in errors. */
export const writer = (schema: ConnectSchema, path: string, options: Options): Writer => {
  const write = logical(schema, path, options) ?? plain(schema, path, options)
  const { default: fallback, optional } = schema
  return (value) => {
    if (value !== null && value !== undefined) return write(value)
    if (options.replaceNullWithDefault && fallback !== null && fallback !== undefined) return write(fallback)
    return optional === true ? "null" : refuse(path, schema.name ?? schema.type, typeName(value))
  }
}
