/** Reads typed values as Connect's JsonConverter does. A schema is turned into one function, made once. */
import { type ConnectSchema, LogicalName } from "../ConnectSchema.ts"
import * as Base64 from "./base64.ts"
import * as Decimal from "./decimal.ts"
import { decimalScale } from "./decimalSchema.ts"
import * as IntegerRange from "./integerRange.ts"
import { NumberText } from "./jsonText.ts"
import { refuse, refuseType, typeName } from "./typeName.ts"

/** Gives the value of parsed JSON, or throws. */
export type Reader = (json: unknown) => unknown

const maxDateMillis = 8.64e15
const millisPerDay = 86_400_000

/** A number for a type that a `number` holds exactly. */
const asNumber = (json: unknown): unknown =>
  typeof json === "bigint" ? Number(json) : json instanceof NumberText ? Number(json.text) : json

const kind = (json: unknown): string => json instanceof NumberText ? "a number" : typeName(json)

const small = (type: keyof typeof IntegerRange.integerRange, path: string): Reader => (json) => {
  const value = asNumber(json)
  if (typeof value !== "number") return refuseType(path, type, json)
  return IntegerRange.isWithin(type, value) ? value : refuse(path, type, "a number outside of it")
}

const int64 = (path: string): Reader => (json) => {
  const value = json instanceof NumberText ? Number(json.text) : json
  if (typeof value === "number" && Number.isSafeInteger(value)) return value
  if (typeof value !== "number" && typeof value !== "bigint") return refuse(path, "int64", kind(json))
  if (typeof value === "number" && !Number.isInteger(value)) return refuse(path, "int64", "a number with a fraction")
  const whole = BigInt(value)
  return IntegerRange.isInt64(whole) ? IntegerRange.int64(whole) : refuse(path, "int64", "a number outside of it")
}

const notFinite = new Map<unknown, number>([["NaN", NaN], ["Infinity", Infinity], ["-Infinity", -Infinity]])

const float = (type: string, path: string): Reader => (json) => {
  if (typeof json === "number") return json
  const value = asNumber(json)
  return typeof value === "number" ? value : notFinite.get(value) ?? refuseType(path, type, json)
}

const boolean = (path: string): Reader => (json) =>
  typeof json === "boolean" ? json : refuse(path, "boolean", kind(json))

const string = (path: string): Reader => (json) => typeof json === "string" ? json : refuse(path, "string", kind(json))

const bytes = (path: string): Reader => (json) =>
  typeof json === "string"
    ? Base64.decode(json) ?? refuse(path, "bytes as base64", "a string that is not")
    : refuse(path, "bytes as base64", kind(json))

const wholeNumber = (json: unknown, name: string, path: string): number => {
  const value = asNumber(json)
  return typeof value === "number" && Number.isSafeInteger(value)
    ? value
    : refuse(path, `${name} (a whole number)`, typeof value === "number" ? "another number" : kind(json))
}

const timestamp = (path: string): Reader => (json) => {
  const millis = wholeNumber(json, "Timestamp", path)
  return Math.abs(millis) <= maxDateMillis ? new Date(millis) : refuse(path, "Timestamp", "a number outside of it")
}

const date = (path: string): Reader => (json) => {
  const days = wholeNumber(json, "Date", path)
  return Math.abs(days * millisPerDay) <= maxDateMillis
    ? new Date(days * millisPerDay)
    : refuse(path, "Date", "a number outside of it")
}

const time = (path: string): Reader => (json) => {
  const millis = wholeNumber(json, "Time", path)
  return millis >= 0 && millis <= millisPerDay
    ? millis
    : refuse(path, "Time (milliseconds of a day)", "a number outside of it")
}

/** Both formats are read, whichever is written: a topic may hold records of both. */
const decimal = (schema: ConnectSchema, path: string): Reader => {
  const scale = decimalScale(schema, path)
  return (json) => {
    if (typeof json === "string") {
      const unscaled = Decimal.fromBytes(Base64.decode(json) ?? new Uint8Array(0))
      return unscaled === undefined
        ? refuse(path, "Decimal as base64", "a string that is not")
        : Decimal.print({ unscaled, scale })
    }
    const text = json instanceof NumberText
      ? json.text
      : typeof json === "number" || typeof json === "bigint"
      ? String(json)
      : refuse(path, "Decimal (a number or base64)", kind(json))
    const parsed = Decimal.parse(text)
    return parsed === undefined ? refuse(path, "Decimal of at most 1000 digits", "more") : Decimal.print(parsed)
  }
}

const array = (schema: ConnectSchema, path: string, replaceNull: boolean): Reader => {
  const item = schema.items === undefined ? untyped : reader(schema.items, `${path}[]`, replaceNull)
  return (json) => {
    if (!Array.isArray(json)) return refuse(path, "array", kind(json))
    const items = new Array<unknown>(json.length)
    for (let i = 0; i < items.length; i++) items[i] = item(json[i])
    return items
  }
}

/** A value where the schema says nothing. */
const untyped: Reader = (json) => json instanceof NumberText ? Number(json.text) : json

type JsonObject = Readonly<Record<string, unknown>>

const isObject = (json: unknown): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof NumberText)

/** Assigning to this name would change the prototype. */
const set = (target: Record<string, unknown>, name: string, value: unknown): void => {
  if (name !== "__proto__") target[name] = value
  else Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true })
}

const map = (schema: ConnectSchema, path: string, replaceNull: boolean): Reader => {
  const item = schema.values === undefined ? untyped : reader(schema.values, `${path}{}`, replaceNull)
  const keys = schema.keys
  if (keys === undefined || keys.type === "string") return objectMap(path, item)
  return pairsMap(path, reader(keys, `${path}{key}`, replaceNull), item)
}

const objectMap = (path: string, item: Reader): Reader => (json) => {
  if (!isObject(json)) return refuse(path, "map with string keys (an object)", kind(json))
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(json)) set(result, name, item(value))
  return result
}

const pairsMap = (path: string, key: Reader, item: Reader): Reader => (json) => {
  if (!Array.isArray(json)) return refuse(path, "map with other keys than strings (an array of pairs)", kind(json))
  const result = new Map<unknown, unknown>()
  for (const pair of json) {
    if (!Array.isArray(pair) || pair.length !== 2) {
      return refuse(path, "pairs of key and value", Array.isArray(pair) ? `an array of ${pair.length}` : kind(pair))
    }
    result.set(key(pair[0]), item(pair[1]))
  }
  return result
}

const struct = (schema: ConnectSchema, path: string, replaceNull: boolean): Reader => {
  const fields = (schema.fields ?? []).map((field) => ({
    name: field.field,
    inherited: field.field in Object.prototype,
    read: reader(field, path === "" ? field.field : `${path}.${field.field}`, replaceNull)
  }))
  return (json) => {
    if (!isObject(json)) return refuse(path, "struct (an object)", kind(json))
    const result: Record<string, unknown> = {}
    for (const { inherited, name, read } of fields) {
      if (inherited) set(result, name, read(Object.hasOwn(json, name) ? json[name] : undefined))
      else result[name] = read(json[name])
    }
    return result
  }
}

const logical = (schema: ConnectSchema, path: string): Reader | undefined => {
  switch (schema.name) {
    case LogicalName.Timestamp:
      return timestamp(path)
    case LogicalName.Date:
      return date(path)
    case LogicalName.Time:
      return time(path)
    case LogicalName.Decimal:
      return decimal(schema, path)
    default:
      return undefined
  }
}

const plain = (schema: ConnectSchema, path: string, replaceNull: boolean): Reader => {
  switch (schema.type) {
    case "int8":
    case "int16":
    case "int32":
      return small(schema.type, path)
    case "int64":
      return int64(path)
    case "float":
    case "double":
      return float(schema.type, path)
    case "boolean":
      return boolean(path)
    case "string":
      return string(path)
    case "bytes":
      return bytes(path)
    case "array":
      return array(schema, path, replaceNull)
    case "map":
      return map(schema, path, replaceNull)
    default:
      return struct(schema, path, replaceNull)
  }
}

/** The function that reads values of a schema. `path` names the place of the schema in errors. */
export const reader = (schema: ConnectSchema, path: string, replaceNullWithDefault: boolean): Reader => {
  const read = logical(schema, path) ?? plain(schema, path, replaceNullWithDefault)
  const { default: fallback, optional } = schema
  return (json) => {
    if (json !== null && json !== undefined) return read(json)
    if (replaceNullWithDefault && fallback !== null && fallback !== undefined) return fallback
    return optional === true ? null : refuse(path, schema.name ?? schema.type, typeName(json))
  }
}

/** Whether values of a schema need the digits of numbers as they were written. */
export const needsDigits = (schema: ConnectSchema): boolean =>
  schema.name === LogicalName.Decimal ||
  [schema.items, schema.keys, schema.values, ...(schema.fields ?? [])].some((part) =>
    part !== undefined && needsDigits(part)
  )
