/**
 * Which topics a connector has used. The log remembers them under the incarnation of the connector, in the step that stores
 * what was used: they are right on every worker, and a name that is made again begins without any.
 */
import * as ClusterState from "@kelpie/core/ClusterState"
import type { ConfigStore } from "@kelpie/core/ConfigStore"
import type { StoreError } from "@kelpie/core/StoreError"
import type { TopicLog } from "@kelpie/core/TopicLog"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Herder } from "../Herder.ts"
import { HerderError, Unavailable } from "../HerderError.ts"

/** What the operations need. */
export interface Context {
  readonly configStore: ConfigStore["Service"]
  readonly topicLog: TopicLog["Service"]
  readonly scope: Scope.Scope
  readonly budgetMillis: number
}

/** The operations. */
export interface TopicUse extends Pick<Herder["Service"], "topics" | "resetTopics"> {
  /** Deletes a connector, then what was remembered of it. */
  readonly forgetAfter: <E>(name: string, deletion: Effect.Effect<unknown, E>) => Effect.Effect<void, E>
}

/** Makes the operations. */
export const make = ({ budgetMillis, configStore, scope, topicLog }: Context): TopicUse => {
  const usageOf = (name: string) =>
    Effect.map(configStore.state, (state) => ClusterState.connector(state, name)?.incarnation)
  const within = <A>(outcome: "none" | "unknown", effect: Effect.Effect<A, StoreError>) =>
    Effect.mapError(effect, ({ kind, message }) =>
      new HerderError({
        reason: new Unavailable({ message, outcome: kind === "Unavailable" ? outcome : "none" })
      })).pipe(
        Effect.timeoutOrElse({
          duration: budgetMillis,
          orElse: () => {
            const message = `the topic log did not answer within ${budgetMillis} ms`
            return Effect.fail(new HerderError({ reason: new Unavailable({ message, outcome }) }))
          }
        })
      )
  return {
    topics: Effect.fnUntraced(function*(name) {
      const usage = yield* usageOf(name)
      return usage === undefined ? [] : (yield* within("none", topicLog.usedTopics(usage))).toSorted()
    }),
    resetTopics: Effect.fnUntraced(function*(name) {
      const usage = yield* usageOf(name)
      // to be asked again does no harm
      if (usage !== undefined) yield* within("none", topicLog.forgetTopics(usage))
    }),
    forgetAfter: Effect.fnUntraced(function*(name, deletion) {
      const usage = yield* usageOf(name)
      yield* deletion
      // nobody reads it any more: that it may stay costs a row
      if (usage !== undefined) yield* Effect.forkIn(Effect.ignore(topicLog.forgetTopics(usage)), scope)
    })
  }
}
