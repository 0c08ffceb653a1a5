/** What kind of JSON value something is, for errors: values themselves may be secrets. */
export const typeName = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
    ? "an array"
    : typeof value === "object"
    ? "an object"
    : value === undefined
    ? "nothing"
    : `a ${typeof value}`
