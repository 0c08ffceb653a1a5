/** Writes statuses to their store: the latest of each item, in groups, again and again until the store takes them. */
import * as Backoff from "@kelpie/core/Backoff"
import * as Item from "@kelpie/core/Item"
import type { StatusRecord } from "@kelpie/core/Status"
import type { StatusStore } from "@kelpie/core/StatusStore"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Loggers from "./loggers.ts"

/** Takes statuses; never fails and never waits. */
export interface StatusWriter {
  readonly put: (records: ReadonlyArray<StatusRecord>, removed: ReadonlyArray<Item.Item>) => void
  /** Waits until all that was given is stored, or the store has refused it once more. */
  readonly flush: Effect.Effect<void>
}

const delays = Backoff.exponential(250, 60_000)

/** Makes the writer, and the fiber that writes. */
export const make = Effect.fnUntraced(
  function*(store: StatusStore["Service"]): Effect.fn.Return<StatusWriter, never, Scope.Scope> {
    let waiting = new Map<string, StatusRecord | Item.Item>()
    const filled = Latch.makeUnsafe(false)
    let failures = 0
    // one after the other: an older status must not be stored after a newer one
    const lock = yield* Semaphore.make(1)

    const write = lock.withPermits(1)(Effect.suspend(() => {
      const batch = waiting
      waiting = new Map()
      filled.closeUnsafe()
      const records: Array<StatusRecord> = []
      const removed: Array<Item.Item> = []
      for (const one of batch.values()) {
        if ("state" in one) records.push(one)
        else removed.push(one)
      }
      return Effect.andThen(
        records.length > 0 ? store.put(records) : Effect.void,
        removed.length > 0 ? store.remove(removed) : Effect.void
      ).pipe(Effect.tapError(() =>
        Effect.sync(() => {
          // what came meanwhile is newer
          waiting = new Map([...batch, ...waiting])
          filled.openUnsafe()
        })
      ))
    }))
    const step = Effect.matchEffect(Effect.andThen(filled.await, write), {
      onSuccess: () =>
        Effect.sync(() => {
          failures = 0
        }),
      onFailure: (error) => {
        failures++
        const note = failures === 1 ? Effect.logWarning(`statuses cannot be stored: ${error.message}`) : Effect.void
        return note.pipe(
          Loggers.as("statuses"),
          Effect.andThen(Effect.sleep(delays(failures) ?? 60_000))
        )
      }
    })
    yield* Effect.forkScoped(Effect.forever(step))
    return {
      put: (records, removed) => {
        for (const record of records) waiting.set(Item.key(record), record)
        for (const item of removed) waiting.set(Item.key(item), item)
        if (waiting.size > 0) filled.openUnsafe()
      },
      flush: Effect.ignore(write)
    }
  }
)
