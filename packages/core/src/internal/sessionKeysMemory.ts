/** Session keys in memory, as an engine keeps them. */
import * as Effect from "effect/Effect"
import type { SessionKeys } from "../SessionKeys.ts"

/** No keys yet. */
export const make: Effect.Effect<SessionKeys.Encoded> = Effect.sync(() => {
  let keys: ReadonlyArray<SessionKeys.EncodedKey> = []
  return {
    load: Effect.sync(() => keys),
    add: (key, after) =>
      Effect.sync(() => {
        if (keys.at(-1)?.id !== after) return false
        keys = [...keys, key]
        return true
      }),
    drop: (before) =>
      Effect.sync(() => {
        keys = keys.filter(({ createdAt }, index) => createdAt >= before || index === keys.length - 1)
      })
  }
})
