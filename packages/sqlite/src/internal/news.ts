/**
 * When to look whether another process wrote to a file: the operating system tells of changes of the directory, a slow look
 * makes up for what it does not tell.
 *
 * Own writes are told of as well; whoever looks sees that they are its own.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import { watch } from "node:fs"

/** Moments to look. */
export interface News {
  /** Waits for a moment after the one that the reader saw last; every reader has a place of its own. */
  readonly reader: () => Effect.Effect<void>
}

/** While nobody else should write: a look now and then. */
export const slow: News = { reader: () => Effect.sleep("5 seconds") }

const atLeastEvery = "1 second"
/** Looks are this far apart, so that a busy file does not keep the threads busy with looking. */
const apart = "10 millis"

/** Watches a file and its log. */
export const make = (directory: string, file: string): Effect.Effect<News, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const readers = new Set<Latch.Latch>()
        const watcher = watch(directory, { persistent: false }, (_, name) => {
          if (name !== null && !name.startsWith(file)) return
          for (const latch of readers) latch.openUnsafe()
        })
        // the slow look goes on
        watcher.on("error", () => watcher.close())
        return { readers, watcher }
      }),
      ({ watcher }) => Effect.sync(() => watcher.close())
    ),
    ({ readers }) => ({
      reader: () => {
        const latch = Latch.makeUnsafe(false)
        readers.add(latch)
        return Effect.raceFirst(latch.await, Effect.sleep(atLeastEvery)).pipe(
          Effect.andThen(Effect.sync(() => latch.closeUnsafe())),
          Effect.andThen(Effect.sleep(apart))
        )
      }
    })
  )
