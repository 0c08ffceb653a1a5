/**
 * The config log in `control.db`: the last record of each key. A claim is a counter that every append is checked against
 * in its own transaction (I1); positions grow and are never used again, not after removals and not after a restart.
 *
 * Tombstones are kept for at least 24 hours and dropped when the file is opened later. While another process may write
 * too, its commits are seen within five seconds (in a directory that is shared: at once), or at once by `refresh`.
 */
import { ConfigStore } from "@kelpie/core/ConfigStore"
import type { StoreError } from "@kelpie/core/StoreError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { ControlEngine } from "./internal/ControlEngine.ts"
import type { Options } from "./Sqlite.ts"

/** Records that are read in one message: a large log does not hold up the threads. */
const readAtOnce = 5000

const engine = (control: ControlEngine["Service"]): ConfigStore.Encoded => {
  /** Open while other processes may write: not while this one holds the directory. */
  const shared = Latch.makeUnsafe(true)
  const moment = control.news.reader()
  const look = Effect.gen(function*() {
    yield* shared.await
    yield* moment
    return yield* Effect.orElseSucceed(control.call("look", null, { operation: "look" }), () => false)
  })
  return {
    clusterId: control.opened.clusterId ?? undefined,
    claim: control.call("claim", null, { operation: "claim" }),
    append: Effect.fnUntraced(function*(claim, entries) {
      const nowMillis = yield* Clock.currentTimeMillis
      return yield* control.call("append", { claim, entries, nowMillis }, { operation: "append" })
    }),
    read: Effect.fnUntraced(function*(after) {
      const ask = (after: number) => control.call("read", { after, limit: readAtOnce }, { operation: "read" })
      let part = yield* ask(after)
      const records = [...part]
      // a commit between two parts moves its keys behind what was read, so the fold of all parts is a state that was
      while (part.length === readAtOnce) {
        part = yield* ask(part.at(-1)?.position ?? after)
        for (const record of part) records.push(record)
      }
      return records
    }),
    changed: Stream.fromEffectRepeat(look).pipe(Stream.filter((changed) => changed), Stream.map(() => undefined)),
    exclusive: Effect.asVoid(Effect.acquireRelease(
      Effect.gen(function*() {
        const nowMillis = yield* Clock.currentTimeMillis
        yield* control.call("lock", { nowMillis }, { operation: "exclusive" })
        shared.closeUnsafe()
      }),
      () =>
        Effect.suspend(() => {
          shared.openUnsafe()
          return Effect.ignore(control.call("unlock", null, { operation: "unlock" })) // gone with the store otherwise
        })
    ))
  }
}

/** @internal Over an engine that is shared. */
export const layerEngine: Layer.Layer<ConfigStore, StoreError, ControlEngine> = Layer.effect(
  ConfigStore,
  ControlEngine.use((control) => ConfigStore.makeEncoded(engine(control)))
)

/** The config store alone. */
export const layer = (options: Options): Layer.Layer<ConfigStore, StoreError> =>
  Layer.provide(layerEngine, ControlEngine.layer(options))
