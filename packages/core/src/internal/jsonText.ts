/**
 * JSON without loss: whole numbers that a `number` cannot hold are `bigint` in both directions, and bytes, maps and numbers
 * that are not finite are written as Connect writes them.
 *
 * The usual value costs a quick look and one call of the engine's own `JSON`; only what needs more takes the slow way.
 */
import * as Base64 from "./base64.ts"
import { refuse, typeName } from "./typeName.ts"

/** A number as it was written, where its digits say more than a `number` holds. */
export class NumberText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string } | undefined) => unknown
/** The third argument of the reviver is in engines since 2023; the library's types lack it. */
const parseSource = JSON.parse as (text: string, reviver?: Reviver) => unknown

const run = 16
const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Whether there are 16 digits in a row. Looks at every 16th character first: such a row cannot hide between two. */
const hasLongRun = (text: string): boolean => {
  for (let i = run - 1; i < text.length; i += run) {
    if (!isDigit(text.charCodeAt(i))) continue
    let start = i
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start--
    let end = i + 1
    while (end - start < run && end < text.length && isDigit(text.charCodeAt(end))) end++
    if (end - start >= run) return true
  }
  return false
}

/** Where a value may begin: a whole number of 17 digits, or of 16 that may be beyond 2 ** 53. */
const unsafeInteger = /(?:^|[:,[\s-])(?:\d{17}|9\d{15})/

const source = (context: { readonly source?: string } | undefined): string => {
  if (context?.source !== undefined) return context.source
  throw new Error("This JavaScript engine cannot read numbers beyond 2 ** 53 without loss; Node 22 can")
}

const integer = (text: string): bigint => {
  if (text.length > 1000) throw new Error("Expected a number of at most 1000 digits but got a longer one")
  return BigInt(text)
}

const keepIntegers: Reviver = (_, value, context) => {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value
  const text = source(context)
  return /^-?\d+$/.test(text) ? integer(text) : value
}

const keepNumbers: Reviver = (_, value, context) => {
  if (typeof value !== "number") return value
  const text = source(context)
  if (String(value) === text) return keepIntegers(_, value, context)
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? integer(text) : new NumberText(text)
}

const parseWith = (text: string, reviver?: Reviver): unknown => {
  try {
    return parseSource(text, reviver)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // The engine's message quotes the text.
    const position = /position (\d+)/.exec(error.message)
    return refuse("", "JSON", position === null ? "other text" : `other text at position ${position[1]}`)
  }
}

/** Reads JSON; whole numbers outside the safe range are `bigint`. Throws when the text is not JSON. */
export const parse = (text: string): unknown =>
  parseWith(text, hasLongRun(text) && unsafeInteger.test(text) ? keepIntegers : undefined)

/** Like `parse`, but a number that prints differently than it was written is a `NumberText`. */
export const parseExact = (text: string): unknown => parseWith(text, keepNumbers)

const deepest = 1000

const isPlainObject = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Whether the engine's own `JSON.stringify` writes exactly this. */
const isPlain = (value: unknown, depth: number): boolean => {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return true
    case "number":
      return Number.isFinite(value)
    case "object":
      return value === null || (depth < deepest && allPlain(value, depth + 1))
    default:
      return false
  }
}

const allPlain = (value: object, depth: number): boolean => {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!isPlain(value[i], depth)) return false
    return true
  }
  if (!isPlainObject(value)) return false
  // The prototype has no enumerable members, so this sees own ones only.
  for (const key in value) if (!isPlain((value as Record<string, unknown>)[key], depth)) return false
  return true
}

/** A number in JSON; those that JSON does not know are quoted, as Connect's writer does. */
export const printNumber = (value: number): string => Number.isFinite(value) ? String(value) : `"${value}"`

const write = (value: unknown, depth: number): string => {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value)
    case "number":
      return printNumber(value)
    case "boolean":
    case "bigint":
      return String(value)
    case "undefined":
      return "null"
    case "object":
      return value === null ? "null" : writeObject(value, depth)
    default:
      return refuse("", "a value that JSON can hold", typeName(value))
  }
}

const writeObject = (value: object, depth: number): string => {
  if (depth > deepest) return refuse("", `at most ${deepest} levels of nesting`, "more, or a cycle")
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(",")}]`
  if (value instanceof Uint8Array) return `"${Base64.encode(value)}"`
  if (value instanceof Map) return writeMap(value, depth)
  if (value instanceof NumberText) return value.text
  if (!isPlainObject(value) && "toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON()
    return write(json, depth + 1)
  }
  const tag: string = Object.prototype.toString.call(value)
  if (tag !== "[object Object]") return refuse("", "a value that JSON can hold", tag.slice(8, -1))
  return writeMembers(Object.entries(value), depth)
}

const writeMembers = (members: Iterable<readonly [string, unknown]>, depth: number): string => {
  let text = ""
  for (const [key, value] of members) {
    if (value !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${write(value, depth + 1)}`
  }
  return `{${text}}`
}

const isKeyedByStrings = (map: ReadonlyMap<unknown, unknown>): map is ReadonlyMap<string, unknown> => {
  for (const key of map.keys()) if (typeof key !== "string") return false
  return true
}

/** Keys that are not texts make it an array of pairs, as in Connect. */
const writeMap = (map: ReadonlyMap<unknown, unknown>, depth: number): string =>
  isKeyedByStrings(map)
    ? writeMembers(map, depth)
    : `[${Array.from(map, ([key, value]) => `[${write(key, depth + 1)},${write(value, depth + 1)}]`).join(",")}]`

/**
 * Writes a value without a schema. Bytes are base64, a `Date` is its ISO text, a `Map` with other keys than texts is an
 * array of pairs. Throws for what JSON cannot hold.
 */
export const stringify = (value: unknown): string =>
  value !== undefined && isPlain(value, 0) ? JSON.stringify(value) : write(value, 0)
