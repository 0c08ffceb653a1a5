/**
 * Hands batches from the fiber that makes them to the fiber that stores them: bounded, in order, and nothing is lost
 * when either is interrupted, since a batch is taken without a step in between.
 */
import * as Effect from "effect/Effect"
import * as Signal from "./signal.ts"

/** The hand-over of one task. */
export interface Handoff<A> {
  /** Waits for room. */
  readonly offer: (value: A) => Effect.Effect<void>
  /** Waits until there is something to take. */
  readonly ready: Effect.Effect<void>
  /** Takes what is there, at most `max`; it counts as under way until `settled`. */
  readonly takeUnsafe: (max: number) => ReadonlyArray<A>
  /** What was taken is done with. */
  readonly settled: () => void
  /** Waits until nothing waits and nothing is under way. */
  readonly drained: Effect.Effect<void>
}

/** An empty hand-over for `capacity` values. `filled` is open while something waits, and may have other reasons to be. */
export const make = <A>(capacity: number, filled: Signal.Signal = Signal.make(false)): Handoff<A> => {
  let waiting: Array<A> = []
  let taken = 0
  const room = Signal.make(true)
  const drained = Signal.make(true)
  const offer = (value: A): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (waiting.length >= capacity) return Effect.andThen(room.await, offer(value))
      waiting.push(value)
      drained.closeUnsafe()
      filled.openUnsafe()
      if (waiting.length >= capacity) room.closeUnsafe()
      return Effect.void
    })
  return {
    offer,
    ready: filled.await,
    takeUnsafe: (max) => {
      const values = waiting.length <= max ? waiting : waiting.slice(0, max)
      waiting = waiting.slice(values.length)
      taken += values.length
      if (waiting.length === 0) filled.closeUnsafe()
      if (waiting.length < capacity) room.openUnsafe()
      return values
    },
    settled: () => {
      taken = 0
      if (waiting.length === 0) drained.openUnsafe()
    },
    drained: Effect.suspend(() => taken === 0 && waiting.length === 0 ? Effect.void : drained.await)
  }
}
