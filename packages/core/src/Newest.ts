/**
 * A value that changes, and a stream of it after changes: a reader that is slow skips to the newest. For engines that tell of
 * changes (`changed`, `changes` of the ports).
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Stream from "effect/Stream"

/** The value. */
export interface Newest<A> {
  readonly get: () => A
  readonly set: (value: A) => void
  readonly changes: Stream.Stream<A>
}

/** A value that has not changed so far. */
export const make = <A>(initial: A): Newest<A> => {
  let value = initial
  const readers = new Set<Latch.Latch>()
  return {
    get: () => value,
    set: (next) => {
      value = next
      // of a copy: who goes on may come back at once, for what comes next
      for (const latch of Array.from(readers)) latch.openUnsafe()
    },
    changes: Stream.scoped(Stream.fromPull(Effect.gen(function*() {
      const latch = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const latch = Latch.makeUnsafe(false)
          readers.add(latch)
          return latch
        }),
        (latch) => Effect.sync(() => readers.delete(latch))
      )
      return Effect.map(Effect.andThen(latch.await, latch.close), () => [value] as const)
    })))
  }
}
