/** Names what a value is in an error: its type, never its content. */

const ofObject = (value: object): string =>
  Array.isArray(value)
    ? "an array"
    : value instanceof Uint8Array
    ? "bytes"
    : value instanceof Date
    ? Number.isNaN(value.getTime()) ? "an invalid Date" : "a Date"
    : value instanceof Map
    ? "a Map"
    : "an object"

/** The type of a value in words, with its article. */
export const typeName = (value: unknown): string =>
  value === null || value === undefined
    ? "null"
    : typeof value === "object"
    ? ofObject(value)
    : `a ${typeof value}`

/** Refuses a value. `path` is the place of the value in its record, made of the schema's names; empty for the whole. */
export const refuse = (path: string, expected: string, got: string): never => {
  throw new Error(`${path === "" ? "Expected" : `Field ${path}: expected`} ${expected} but got ${got}`)
}

/** Refuses a value for its type. */
export const refuseType = (path: string, expected: string, value: unknown): never =>
  refuse(path, expected, typeName(value))
