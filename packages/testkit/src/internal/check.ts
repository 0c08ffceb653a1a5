/** What laws are written with: effects that fail with a text that says what was expected and what was there. */
import { StoreError } from "@kelpie/core/StoreError"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** A law does not hold. */
export class Mismatch extends Data.TaggedError("Mismatch")<{ readonly message: string }> {}

/** A text that is equal for equal values: members sorted, bytes as numbers. */
export const show = (value: unknown): string => {
  if (value instanceof Uint8Array) return `bytes[${value.join(" ")}]`
  if (value instanceof Date) return `date ${value.getTime()}`
  if (value instanceof Map) return `map${show([...value])}`
  if (Array.isArray(value)) return `[${value.map(show).join(", ")}]`
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    return `{ ${
      members.sort(([a], [b]) => a < b ? -1 : 1).map(([key, member]) => `${key}: ${show(member)}`).join(", ")
    } }`
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}

/** Fails with the text when it is not so. */
export const isTrue = (text: string, holds: boolean): Effect.Effect<void, Mismatch> =>
  holds ? Effect.void : Effect.fail(new Mismatch({ message: text }))

/** Compares plain data; members that are `undefined` count as absent. */
export const equal = <A>(what: string, actual: A, expected: A): Effect.Effect<void, Mismatch> => {
  const [is, should] = [show(actual), show(expected)]
  return isTrue(`${what}: expected ${should}, was ${is}`, is === should)
}

/** An effect has to fail with a store's error of that kind. */
export const fails = <A, E, R>(
  what: string,
  kind: StoreError["kind"],
  effect: Effect.Effect<A, E, R>
): Effect.Effect<void, Mismatch, R> =>
  Effect.flatMap(Effect.exit(effect), (exit) => {
    if (Exit.isSuccess(exit)) return isTrue(`${what}: has to be refused as ${kind}, but was accepted`, false)
    const error = Cause.squash(exit.cause)
    return isTrue(
      `${what}: has to be refused as ${kind}, but failed with ${String(error)}`,
      error instanceof StoreError && error.kind === kind
    )
  })
