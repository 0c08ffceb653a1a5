/** Reading and writing the members of a struct or of a schemaless object, whatever their names are. */
import { refusal, typeName } from "./refusal.ts"
import type { Side } from "./side.ts"

/** A struct, or a schemaless object. */
export type Members = Readonly<Record<string, unknown>>

/** Whether a value has named members. */
export const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value) &&
  !(value instanceof Date) && !(value instanceof Map)

/** The value as members, or the transform's refusal. */
export const membersOf = (transform: string, side: Side, value: unknown): Members => {
  if (isMembers(value)) return value
  throw refusal(transform, undefined, `the ${side.noun} must be an object with fields, found ${typeName(value)}`)
}

/** One member; what an object inherits (`constructor`, `toString`) is not a member. */
export const read = (members: Members, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined

/** Writes one member of a fresh object; `__proto__` is a name like any other. */
export const write = (members: Record<string, unknown>, name: string, value: unknown): void => {
  if (name !== "__proto__") members[name] = value
  else Object.defineProperty(members, name, { value, configurable: true, enumerable: true, writable: true })
}
