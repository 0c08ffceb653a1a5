/** Appends of a run: deals records to partitions, encodes them, and stores them with their offsets in one transaction. */
import type { OffsetStore } from "@kelpie/core/OffsetStore"
import type { StoreError } from "@kelpie/core/StoreError"
import { partitionFor } from "@kelpie/core/TopicDealing"
import type { TopicLog } from "@kelpie/core/TopicLog"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { DataCalls, EncodedBatch, ItemRun, StoredOffsets } from "./calls.ts"
import { type Closing, unlessClosed } from "./closing.ts"
import type { DataEngine } from "./DataEngine.ts"
import { toMessage } from "./itemRun.ts"
import { encode } from "./recordBatch.ts"

/** The records of each partition, in their order. */
const deal = (
  records: ReadonlyArray<TopicLog.LogRecord>,
  partitions: number,
  turn: () => number
): ReadonlyArray<ReadonlyArray<TopicLog.LogRecord>> => {
  if (partitions === 1) return [records]
  const dealt = Array.from({ length: partitions }, (): Array<TopicLog.LogRecord> => [])
  for (const record of records) dealt[partitionFor(record, partitions, turn)]?.push(record)
  return dealt
}

const storedOffsets = (prepared: OffsetStore.Prepared): StoredOffsets => ({
  ...toMessage(prepared),
  connector: prepared.item.connector,
  entries: prepared.entries
})

/** Offsets of this engine tell when their writer is closed. */
const hasEnd = (offsets: OffsetStore.Prepared): offsets is OffsetStore.Prepared & Closing => "isClosed" in offsets

/** Who appends, and what is stored with it. */
interface Writing {
  readonly run: ItemRun
  readonly usage: string | undefined
  readonly closings: ReadonlyArray<Closing>
  readonly offsets: StoredOffsets | undefined
}

/** Makes the writers of an engine. */
export const appender = (
  data: DataEngine["Service"]
): (itemRun: OffsetStore.ItemRun, closing: Closing, usage: string | undefined) => TopicLog.Writer => {
  /** Turns of records without a key, by topic. */
  const turns = new Map<string, number>()
  /** What other processes made of a topic that this one does not know yet is found out by trying. */
  const partitionsOf = (topic: string) => data.topic(topic)?.partitions ?? data.partitions

  const encodeAll = (appends: ReadonlyArray<TopicLog.Append>) => {
    const batches: Array<EncodedBatch> = []
    const partitions = new Map<string, number>()
    for (const { records, topic } of appends) {
      const count = partitionsOf(topic)
      partitions.set(topic, count)
      let turn = turns.get(topic) ?? 0
      const dealt = deal(records, count, () => turn++)
      if (count > 1) turns.set(topic, turn % count)
      for (const [partition, part] of dealt.entries()) {
        for (const batch of encode(part)) batches.push({ topic, partition, ...batch })
      }
    }
    return { batches, partitions: [...partitions] }
  }

  const attempt = (
    { closings, offsets, run, usage }: Writing,
    appends: ReadonlyArray<TopicLog.Append>
  ): Effect.Effect<boolean, StoreError> =>
    Effect.flatMap(
      Clock.currentTimeMillis,
      (nowMillis) =>
        unlessClosed({ isClosed: () => closings.some(({ isClosed }) => isClosed()) }, "append", () => {
          const request: DataCalls["append"]["request"] = { run, usage, ...encodeAll(appends), offsets, nowMillis }
          return data.call("append", request, {
            operation: "append",
            transfer: request.batches.flatMap(({ data }) => data.buffer instanceof ArrayBuffer ? [data.buffer] : []),
            onAnswer: (stored) => {
              if (stored) { for (const [topic] of request.partitions) data.readers.wake(topic) }
            }
          })
        })
    )

  /** A topic's number of partitions never changes, so each further attempt knows at least one topic more. */
  const store = (writing: Writing, appends: ReadonlyArray<TopicLog.Append>): Effect.Effect<void, StoreError> =>
    Effect.flatMap(attempt(writing, appends), (stored) => stored ? Effect.void : store(writing, appends))

  return (itemRun, closing, usage) => {
    const alone: Writing = { run: toMessage(itemRun), usage, closings: [closing], offsets: undefined }
    return {
      append: (appends, offsets) => {
        if (offsets === undefined) return store(alone, appends)
        if (offsets.engine !== data) return Effect.andThen(store(alone, appends), offsets.commit)
        const closings = hasEnd(offsets) ? [closing, offsets] : [closing]
        return store({ ...alone, closings, offsets: storedOffsets(offsets) }, appends)
      }
    }
  }
}
