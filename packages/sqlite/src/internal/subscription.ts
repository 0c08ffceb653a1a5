/** A member of a group: reads its partitions ahead by whole stored batches, and gives out as much as is asked for. */
import { StoreError } from "@kelpie/core/StoreError"
import * as TopicDealing from "@kelpie/core/TopicDealing"
import type { TopicLog } from "@kelpie/core/TopicLog"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ReadBatch, ReadFrom } from "./calls.ts"
import { closing, unlessClosed } from "./closing.ts"
import type { DataEngine } from "./DataEngine.ts"
import { toMessage } from "./itemRun.ts"
import type { Reader } from "./readers.ts"
import { decode } from "./recordBatch.ts"

/** Bounds what one question brings to the main thread, unless a single batch is larger. */
const maxBytes = 8 * 1024 * 1024

interface Assigned extends ReadFrom {
  readonly name: string
  /** The next record that is not read from the file yet. */
  offset: number
}

/** The partitions of a member, dealt anew when topics were added. */
const dealer = (
  data: DataEngine["Service"],
  options: TopicLog.SubscribeOptions,
  reader: Reader,
  stored: ReadonlyArray<TopicLog.Position>
) => {
  const starts = new Map(
    stored.map(({ offset, partition, topic }) => [TopicDealing.key(topic, partition), offset])
  )
  const assigned = new Map<string, Assigned>()
  let known = -1
  let turn = 0
  return (): ReadonlyArray<Assigned> => {
    if (known !== data.topics.length) {
      known = data.topics.length
      for (const { partition, topic: name } of TopicDealing.deal(options, data.topics)) {
        const key = TopicDealing.key(name, partition)
        const topic = data.topic(name)
        if (topic === undefined || assigned.has(key)) continue
        assigned.set(key, { name, topic: topic.id, partition, offset: starts.get(key) ?? 0 })
        reader.watch(name)
      }
    }
    const all = [...assigned.values()]
    // another partition is first each time, so that a busy one does not keep the others waiting
    turn = all.length === 0 ? 0 : (turn + 1) % all.length
    return [...all.slice(turn), ...all.slice(0, turn)]
  }
}

/** Decodes what was read, without records before the place where the reader stood, and moves that on. */
const take = (at: Assigned | undefined, { count, data, endOffset }: ReadBatch): TopicLog.Batch | undefined => {
  if (at === undefined || endOffset <= at.offset) return undefined
  const first = endOffset - count
  const firstOffset = Math.max(first, at.offset)
  const records = decode(data, count, firstOffset - first)
  at.offset = endOffset
  return { topic: at.name, partition: at.partition, firstOffset, records }
}

/** Takes about `maxRecords` off the front of what is read already. */
const giveOut = (ready: Array<TopicLog.Batch>, maxRecords: number): ReadonlyArray<TopicLog.Batch> => {
  const given: Array<TopicLog.Batch> = []
  let room = Math.max(1, maxRecords)
  let whole = 0
  for (const batch of ready) {
    if (room <= 0) break
    const { firstOffset, records } = batch
    if (records.length <= room) {
      given.push(batch)
      room -= records.length
      whole++
      continue
    }
    given.push({ ...batch, records: records.slice(0, room) })
    ready[whole] = { ...batch, firstOffset: firstOffset + room, records: records.slice(room) }
    room = 0
  }
  ready.splice(0, whole)
  return given
}

/** Joins the group; the scope's end leaves it. */
export const subscribe = Effect.fnUntraced(function*(
  data: DataEngine["Service"],
  options: TopicLog.SubscribeOptions
): Effect.fn.Return<TopicLog.Subscription, StoreError, Scope.Scope> {
  const { group, usage } = options
  const run = toMessage(options)
  const reader = yield* Effect.acquireRelease(Effect.sync(data.readers.join), (reader) => Effect.sync(reader.leave))
  const end = yield* closing(data)
  const stored = yield* data.call("subscribe", { run, group }, { operation: "subscribe" })
  const deal = dealer(data, options, reader, stored)
  const ready: Array<TopicLog.Batch> = []

  const fetch = (maxRecords: number): Effect.Effect<boolean, StoreError> =>
    Effect.suspend(() => {
      reader.forget()
      const from = deal()
      if (from.length === 0) return Effect.succeed(false)
      // a copy: an answer that comes after an interruption must not find moved places
      const places = from.map(({ offset, partition, topic }) => ({ offset, partition, topic }))
      return Effect.flatMap(
        data.call("readBatches", { from: places, maxRecords, maxBytes }, { operation: "read" }),
        (batches) =>
          Effect.try({
            try: () => {
              for (const batch of batches) {
                const taken = take(from[batch.from], batch)
                if (taken !== undefined) ready.push(taken)
              }
              return ready.length > 0
            },
            catch: (cause) =>
              new StoreError({
                kind: "Corrupt",
                operation: "read",
                detail: "a stored batch of records cannot be read: data.db is damaged, or of a newer Kelpie",
                cause
              })
          })
      )
    })
  const read = (maxRecords: number): Effect.Effect<ReadonlyArray<TopicLog.Batch>, StoreError> =>
    Effect.suspend(() =>
      ready.length > 0
        ? Effect.succeed(giveOut(ready, maxRecords))
        : Effect.flatMap(fetch(maxRecords), (found) =>
          found ? read(maxRecords) : Effect.andThen(reader.wait, read(maxRecords)))
    )
  return {
    read,
    commit: (positions) =>
      unlessClosed(
        end,
        "commit positions",
        () =>
          Effect.asVoid(
            data.call("commitPositions", { run, usage, group, positions }, { operation: "commit positions" })
          )
      )
  }
})
