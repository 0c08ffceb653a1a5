/**
 * Header values as text and back, by the rules of Connect's SimpleHeaderConverter. Where Connect's reader loses something,
 * this one does not: a text is a number, an array or a map only as a whole (`12,5` is a string, not 12), escapes in quoted
 * strings are undone, and an array with a null among its items stays an array.
 */
import { type ConnectSchema, LogicalName } from "../ConnectSchema.ts"
import type { SchemaAndValue } from "../Converter.ts"
import * as Base64 from "./base64.ts"
import * as HeaderNumber from "./headerNumber.ts"
import { commonSchema } from "./headerSchema.ts"
import * as HeaderTime from "./headerTime.ts"
import { refuse, typeName } from "./typeName.ts"

const stringSchema: ConnectSchema = { type: "string" }
const booleanSchema: ConnectSchema = { type: "boolean" }

/** Nesting beyond this is a string. */
const deepest = 100

const word = (text: string): SchemaAndValue | undefined => {
  switch (text) {
    case "null":
      return { value: null }
    case "true":
    case "false":
      return { value: text === "true", schema: booleanSchema }
    default:
      return /^[\d+-]/.test(text) ? HeaderTime.parse(text) ?? HeaderNumber.parse(text) : undefined
  }
}

/** Reads arrays and maps; every method gives `undefined` when the text is not what it reads. */
class Reader {
  readonly #text: string
  #at = 0
  constructor(text: string) {
    this.#text = text
  }

  whole(): SchemaAndValue | undefined {
    const result = this.#value(0)
    this.#skipSpace()
    return this.#at === this.#text.length ? result : undefined
  }

  #skipSpace(): void {
    while (this.#at < this.#text.length && this.#text.charCodeAt(this.#at) <= 32) this.#at++
  }

  #consume(char: string): boolean {
    this.#skipSpace()
    if (this.#text[this.#at] !== char) return false
    this.#at++
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #value(depth: number): SchemaAndValue | undefined {
    if (depth > deepest) return undefined
    if (this.#consume("[")) return this.#array(depth + 1)
    if (this.#consume("{")) return this.#map(depth + 1)
    if (this.#consume("\"")) return this.#quoted()
    const text = this.#match(/(?:\d{4}-\d\d-\d\dT)?\d\d\\?:\d\d\\?:\d\d\.\d{3}Z/y) ?? this.#match(/[^:,{}[\]"]+/y)
    return text === undefined ? undefined : word(text.trim())
  }

  #quoted(): SchemaAndValue | undefined {
    const text = this.#match(/[^"\\]*(?:\\[^][^"\\]*)*"/y)
    if (text === undefined) return undefined
    const value = text.slice(0, -1)
    return HeaderTime.parse(value) ?? { value: value.replace(/\\(["\\])/g, "$1"), schema: stringSchema }
  }

  #array(depth: number): SchemaAndValue | undefined {
    const items: Array<SchemaAndValue> = []
    while (!this.#consume("]")) {
      const item = this.#value(depth)
      if (item === undefined) return undefined
      items.push(item)
      if (!this.#consume(",") && !this.#peek("]")) return undefined
    }
    const common = commonSchema(items.map((item) => item.schema))
    return { value: items.map((item) => item.value), schema: { type: "array", ...(common && { items: common }) } }
  }

  #peek(char: string): boolean {
    this.#skipSpace()
    return this.#text[this.#at] === char
  }

  #map(depth: number): SchemaAndValue | undefined {
    const keys: Array<SchemaAndValue> = []
    const values: Array<SchemaAndValue> = []
    while (!this.#consume("}")) {
      const key = this.#value(depth)
      if (key === undefined || key.value === null || !this.#consume(":")) return undefined
      const value = this.#value(depth)
      if (value === undefined) return undefined
      keys.push(key)
      values.push(value)
      this.#consume(",")
    }
    return mapOf(keys, values)
  }
}

const mapOf = (keys: ReadonlyArray<SchemaAndValue>, values: ReadonlyArray<SchemaAndValue>): SchemaAndValue => {
  const keySchema = commonSchema(keys.map((key) => key.schema))
  const valueSchema = keySchema && commonSchema(values.map((value) => value.schema))
  const entries = keys.map((key, index): readonly [unknown, unknown] => [key.value, values[index]?.value])
  const isObject = keys.every((key) => typeof key.value === "string" && key.schema === stringSchema)
  return {
    value: isObject ? Object.fromEntries(entries) : new Map(entries),
    schema: { type: "map", ...(keySchema && { keys: keySchema }), ...(valueSchema && { values: valueSchema }) }
  }
}

/** The value that a header's text says, with its schema; a null has none. */
export const parse = (text: string): SchemaAndValue => {
  const trimmed = text.trim()
  const found = /^[[{]/.test(trimmed) ? new Reader(trimmed).whole() : word(trimmed)
  return found ?? { value: text, schema: stringSchema }
}

const quote = (text: string): string => `"${text.replace(/[\\"]/g, "\\$&")}"`

const printNumber = (value: number, schema: ConnectSchema | undefined): string => {
  if (schema?.name === LogicalName.Time) return HeaderTime.printTime(value)
  const text = String(value)
  return (schema?.type === "double" || schema?.type === "float") && /^-?\d+$/.test(text) ? `${text}.0` : text
}

const printEmbedded = (value: unknown, schema: ConnectSchema | undefined): string => {
  if (typeof value === "string") return schema?.name === LogicalName.Decimal ? value : quote(value)
  return value instanceof Uint8Array ? `"${Base64.encode(value)}"` : print(value, schema)
}

const printEntries = (entries: Iterable<readonly [unknown, unknown]>, schema: ConnectSchema | undefined): string => {
  const texts: Array<string> = []
  for (const [key, value] of entries) {
    const valueSchema = schema?.values ?? schema?.fields?.find(({ field }) => field === key)
    texts.push(`${printEmbedded(key, schema?.keys)}:${printEmbedded(value, valueSchema)}`)
  }
  return `{${texts.join(",")}}`
}

const printObject = (value: object, schema: ConnectSchema | undefined): string => {
  if (Array.isArray(value)) return `[${value.map((item) => printEmbedded(item, schema?.items)).join(",")}]`
  if (value instanceof Uint8Array) return Base64.encode(value)
  if (value instanceof Date) return HeaderTime.print(value, schema)
  if (value instanceof Map) return printEntries(value, schema)
  const tag: string = Object.prototype.toString.call(value)
  return tag === "[object Object]"
    ? printEntries(Object.entries(value), schema)
    : refuse("", "a value that a header's text can hold", tag.slice(8, -1))
}

/** The text of a header's value. Strings are written as they are; inside arrays and maps they are quoted. */
export const print = (value: unknown, schema: ConnectSchema | undefined): string => {
  switch (typeof value) {
    case "string":
      return value
    case "number":
      return printNumber(value, schema)
    case "bigint":
    case "boolean":
      return String(value)
    case "undefined":
      return "null"
    case "object":
      return value === null ? "null" : printObject(value, schema)
    default:
      return refuse("", "a value that a header's text can hold", typeName(value))
  }
}
