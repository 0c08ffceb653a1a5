/** A log in memory: the engine of `ConfigStore.layerMemory`. Keeps the last record of each key, as a compacted log does. */
import * as Effect from "effect/Effect"
import type * as ConfigRecord from "../ConfigRecord.ts"
import type { ConfigStore } from "../ConfigStore.ts"
import { StoreError } from "../StoreError.ts"

/** A fresh, empty log. */
export const make: Effect.Effect<ConfigStore.Encoded> = Effect.sync(() => {
  // a map keeps the order of insertion, so deleting before setting keeps it in the order of positions
  const records = new Map<string, ConfigRecord.Encoded>()
  let claims = 0
  let position = 0
  let held = false
  return {
    claim: Effect.sync(() => ++claims),
    append: (claim, writes) =>
      Effect.suspend(() => {
        if (claim !== claims) return Effect.fail(new StoreError({ kind: "Fenced", operation: "append" }))
        return Effect.succeed(writes.map(({ key, value }) => {
          position++
          records.delete(key)
          records.set(key, { key, value, position })
          return position
        }))
      }),
    read: (after) =>
      Effect.sync(() => after >= position ? [] : [...records.values()].filter((record) => record.position > after)),
    exclusive: Effect.asVoid(Effect.acquireRelease(
      Effect.suspend(() => {
        if (held) {
          return Effect.fail(
            new StoreError({ kind: "Unavailable", operation: "exclusive", detail: "another runtime holds this store" })
          )
        }
        held = true
        return Effect.void
      }),
      () =>
        Effect.sync(() => {
          held = false
        })
    ))
  }
})
