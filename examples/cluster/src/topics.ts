/** Reads the topics of a data directory that no worker uses any more. */
import type { StoreError } from "@kelpie/core/StoreError"
import { TopicLog } from "@kelpie/core/TopicLog"
import { SqliteTopicLog } from "@kelpie/sqlite"
import * as Effect from "effect/Effect"

/** The values of a topic's records, in their order. */
export const values = (
  directory: string,
  topic: string,
  records: number
): Effect.Effect<ReadonlyArray<string>, StoreError> =>
  Effect.scoped(Effect.gen(function*() {
    const log = yield* TopicLog
    const item = { connector: `count-${topic}`, task: 0 }
    const reader = yield* log.subscribe({
      group: `count-${topic}`,
      item,
      run: { token: Number.MAX_SAFE_INTEGER, start: 1 },
      topics: { list: [topic] },
      member: 0,
      members: 1
    })
    const decoder = new TextDecoder()
    const all: Array<string> = []
    // what is stored is read at once: who waits longer waits for records that are not there
    for (;;) {
      const batches = yield* Effect.timeoutOption(reader.read(5000), all.length < records ? "5 seconds" : "200 millis")
      if (batches._tag === "None") return all
      for (const batch of batches.value) {
        for (const { value } of batch.records) all.push(value === null ? "" : JSON.parse(decoder.decode(value)))
      }
    }
  })).pipe(Effect.provide(SqliteTopicLog.layer({ directory })))
