/**
 * Who waits for records: woken by the answer to an append, per topic, so that nobody polls and an append wakes only the
 * readers of its topics.
 *
 * What other processes append has no answer here. While somebody waits, one slow look for all of them asks whether
 * another process wrote; while nobody waits there is no timer.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

/** One reader: told of new topics, and of records in the topics that it watches. */
export interface Reader {
  readonly watch: (topic: string) => void
  /** From here on `wait` returns at once if there was news. */
  readonly forget: () => void
  readonly wait: Effect.Effect<void>
  readonly leave: () => void
}

/** The readers of one engine. */
export interface Readers {
  readonly join: () => Reader
  readonly wake: (topic: string) => void
  readonly wakeAll: () => void
  /** Looks at every moment to look, for as long as the engine lives. */
  readonly watch: <E>(moment: Effect.Effect<void>, look: Effect.Effect<boolean, E>) => Effect.Effect<never>
}

/** Nobody waits. */
export const make = (): Readers => {
  const all = new Set<Latch.Latch>()
  const byTopic = new Map<string, Set<Latch.Latch>>()
  const someone = Latch.makeUnsafe(false)
  let waiting = 0
  const arrive = () => {
    waiting++
    someone.openUnsafe()
  }
  const depart = () => {
    waiting--
    if (waiting === 0) someone.closeUnsafe()
  }
  const wakeAll = () => {
    for (const latch of all) latch.openUnsafe()
  }
  return {
    join: () => {
      const latch = Latch.makeUnsafe(false)
      const watched = new Set<string>()
      all.add(latch)
      return {
        watch: (topic) => {
          watched.add(topic)
          const readers = byTopic.get(topic)
          if (readers === undefined) byTopic.set(topic, new Set([latch]))
          else readers.add(latch)
        },
        forget: () => latch.closeUnsafe(),
        wait: Effect.acquireUseRelease(Effect.sync(arrive), () => latch.await, () => Effect.sync(depart)),
        leave: () => {
          all.delete(latch)
          for (const topic of watched) byTopic.get(topic)?.delete(latch)
        }
      }
    },
    wake: (topic) => {
      const readers = byTopic.get(topic)
      if (readers !== undefined) { for (const latch of readers) latch.openUnsafe() }
    },
    wakeAll,
    watch: (moment, look) =>
      Effect.forever(Effect.gen(function*() {
        yield* someone.await
        yield* moment
        // a look that failed is as good as none: the next read says why
        if (yield* Effect.orElseSucceed(look, () => false)) wakeAll()
      }))
  }
}
