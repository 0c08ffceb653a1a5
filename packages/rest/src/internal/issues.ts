/** Tells what is wrong with a request in words: the member, what was expected, and what came. */
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { typeName } from "./typeName.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "MissingKey"
      ? "is missing"
      : issue._tag === "UnexpectedKey"
      ? "is not known here"
      : SchemaIssue.defaultLeafHook(issue)
})

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): PropertyKey =>
  typeof segment === "object" ? segment.key : segment

const valueAt = (input: unknown, path: ReadonlyArray<PropertyKey>): unknown => {
  let value: unknown = input
  for (const key of path) {
    value = typeof value === "object" && value !== null && Object.hasOwn(value, key)
      ? Reflect.get(value, key)
      : undefined
  }
  return value
}

/** One sentence per member. `got` says how to show what came: by default its type only, for values may be secrets. */
export const describe = (
  what: string,
  error: Schema.SchemaError,
  input: unknown,
  got: (value: unknown) => string = typeName
): string => {
  const reasons = new Map<string, string>()
  for (const { message, path = [] } of format(error.issue).issues) {
    const keys = path.map(keyOf)
    const member = keys.filter((key) => typeof key === "string").join(".").slice(0, 100)
    if (reasons.has(member)) continue
    const subject = member === "" ? what : `${what} "${member}"`
    const reason = message.replace(/^Expected/, "expected")
    reasons.set(
      member,
      reason.startsWith("is ") ? `${subject} ${reason}` : `${subject}: ${reason}, got ${got(valueAt(input, keys))}`
    )
  }
  return [...reasons.values()].join("; ")
}
