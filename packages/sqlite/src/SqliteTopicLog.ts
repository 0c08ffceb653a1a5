/**
 * Topics in `data.db`. Records are stored as they are appended, one row for each partition of an append, so a batch of a
 * thousand costs one insert. Readers are woken by appends of this process at once, and look for those of other processes
 * every five seconds while they wait.
 *
 * Keys and values that a reader gets are views of their batch: who keeps one for long copies it.
 */
import type { StoreError } from "@kelpie/core/StoreError"
import { TopicLog } from "@kelpie/core/TopicLog"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { appender } from "./internal/appending.ts"
import { closing } from "./internal/closing.ts"
import { DataEngine } from "./internal/DataEngine.ts"
import { toMessage } from "./internal/itemRun.ts"
import { subscribe } from "./internal/subscription.ts"
import type { Options } from "./Sqlite.ts"

const make = (data: DataEngine["Service"]) => {
  const writer = appender(data)
  return TopicLog.of({
    topics: Effect.map(
      data.call("topics", null, { operation: "list topics" }),
      () => data.topics.map(({ name, partitions }) => ({ name, partitions }))
    ),
    create: ({ name, partitions }) =>
      Number.isSafeInteger(partitions) && partitions > 0
        ? Effect.asVoid(data.call("createTopic", { name, partitions }, { operation: "create topic" }))
        : Effect.die(new RangeError(`the topic "${name}" needs at least one partition, not ${partitions}`)),
    open: Effect.fnUntraced(function*(item, run, options) {
      const runs = [toMessage({ item, run })]
      yield* data.call("raise", { of: "topics", runs, strict: true }, { operation: "open topics" })
      return writer({ item, run }, yield* closing(data), options?.usage)
    }),
    fence: (runs) =>
      Effect.asVoid(
        data.call("raise", { of: "topics", runs: runs.map(toMessage), strict: false }, { operation: "fence topics" })
      ),
    subscribe: (options) => subscribe(data, options),
    positions: (group) => data.call("positions", { group }, { operation: "read positions" }),
    alterPositions: (alteration) =>
      Effect.asVoid(data.call("alterPositions", alteration, { operation: "alter positions" })),
    usedTopics: (usage) => data.call("usedTopics", { usage }, { operation: "list used topics" }),
    forgetTopics: (usage) => Effect.asVoid(data.call("forgetTopics", { usage }, { operation: "forget used topics" }))
  })
}

/** @internal Over an engine that is shared. */
export const layerEngine: Layer.Layer<TopicLog, never, DataEngine> = Layer.effect(
  TopicLog,
  Effect.map(DataEngine, make)
)

/** The topic log alone. */
export const layer = (options: Options): Layer.Layer<TopicLog, StoreError> =>
  Layer.provide(layerEngine, DataEngine.layer(options))
