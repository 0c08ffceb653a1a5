/** Everything that an error says, to look for what it must not say. */
import type * as Cause from "effect/Cause"

/** How deep causes and members are followed. */
const depth = 6

const collect = (value: unknown, into: Array<string>, seen: Set<object>, left: number): void => {
  if (typeof value === "string") into.push(value)
  if (typeof value !== "object" || value === null || left === 0 || seen.has(value)) return
  seen.add(value)
  if (value instanceof Error) into.push(value.name, value.message, value.stack ?? "")
  // a `Redacted` shows nothing here, as it should
  const cause: unknown = Reflect.get(value, "cause")
  for (const member of [cause, ...Object.values(value)]) collect(member, into, seen, left - 1)
}

/** The texts in a value: of errors their messages, stacks, members and causes. */
export const textsIn = (value: unknown): ReadonlyArray<string> => {
  const texts: Array<string> = []
  collect(value, texts, new Set(), depth)
  return texts
}

/** The texts of every reason of a cause. */
export const textsOf = (cause: Cause.Cause<unknown>): ReadonlyArray<string> =>
  cause.reasons.flatMap((reason) => {
    switch (reason._tag) {
      case "Fail":
        return textsIn(reason.error)
      case "Die":
        return textsIn(reason.defect)
      default:
        return []
    }
  })
