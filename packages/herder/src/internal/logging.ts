/** What operators do with log levels: of this worker, or of every worker by a record of the config log. */
import * as ClusterState from "@kelpie/core/ClusterState"
import type { ConfigStore } from "@kelpie/core/ConfigStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Herder } from "../Herder.ts"
import type { HerderError } from "../HerderError.ts"
import type { LogLevels } from "./logLevels.ts"

/** The operations, and what keeps them up to date. */
export interface Logging extends Pick<Herder["Service"], "loggers" | "logger"> {
  readonly setLogLevel: (
    send: Effect.Effect<unknown, HerderError>,
    ...args: Parameters<Herder["Service"]["setLogLevel"]>
  ) => ReturnType<Herder["Service"]["setLogLevel"]>
  /** Takes over the levels that are set for every worker, as they come. */
  readonly follow: Effect.Effect<void, never, Scope.Scope>
}

/**
 * Makes the operations. Levels that were set for every worker before this one started do not count, as in Connect: it starts
 * with what its host says.
 */
export const make = Effect.fnUntraced(function*(configStore: ConfigStore["Service"], levels: LogLevels) {
  const begin = yield* configStore.state
  let applied = begin.position
  let seen = begin.logLevels

  /** Costs nothing unless a level changed. */
  const apply = (state: ClusterState.ClusterState) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (state.logLevels === seen) return
      seen = state.logLevels
      const fresh = [...HashMap.entries(seen)].filter(([, { position }]) => position > applied)
      for (const [name, { level, position }] of fresh.sort(([, a], [, b]) => a.position - b.position)) {
        levels.set(name, level, now)
        applied = position
      }
    })

  const self: Logging = {
    loggers: Effect.sync(levels.all),
    logger: (name) =>
      Effect.map(configStore.state, (state) => {
        const isConnector = name.startsWith("connector.") &&
          ClusterState.connector(state, name.slice("connector.".length)) !== undefined
        return isConnector || levels.isKnown(name) ? levels.effective(name) : undefined
      }),
    setLogLevel: (send, name, level, options) =>
      options?.scope === "cluster"
        // what was answered is seen on this worker at once (I14)
        ? Effect.andThen(send, Effect.andThen(Effect.flatMap(configStore.state, apply), Effect.succeed([])))
        : Effect.map(Clock.currentTimeMillis, (now) => levels.set(name, level, now)),
    // listens before it looks: what changes in between is told of
    follow: Stream.runForEach(configStore.changes, apply).pipe(
      Effect.forkScoped({ startImmediately: true }),
      Effect.andThen(Effect.flatMap(configStore.state, apply))
    )
  }
  return self
})
