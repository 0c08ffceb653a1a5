/**
 * Topics in memory: the engine of `TopicLog.layerMemory`.
 *
 * A partition keeps the arrays that were appended, as they are, and a reader gets the same arrays: a batch of a thousand
 * costs one entry, and nothing is copied unless a read or the bound cuts through an array.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Floors from "../Floors.ts"
import { StoreError } from "../StoreError.ts"
import type { TopicLog } from "../TopicLog.ts"
import * as Dealing from "./dealing.ts"
import { partitionFor } from "./partitioner.ts"

type Records = ReadonlyArray<TopicLog.LogRecord>

/** Records that were appended together. */
interface Segment {
  /** The offset of its first record. */
  readonly first: number
  readonly records: Records
}
interface Partition {
  segments: Array<Segment>
  /** The offset of the first record that is kept. */
  first: number
  /** The offset of the next record. */
  end: number
}
interface Topic {
  readonly name: string
  readonly partitions: ReadonlyArray<Partition>
  /** Turn of records without a key. */
  turn: number
  /** Who waits for records of this topic. */
  readonly readers: Set<Latch.Latch>
}

/** The place of the segment that holds an offset, which has to be kept. */
const segmentOf = ({ segments }: Partition, offset: number): number => {
  let low = 0
  let high = segments.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((segments[middle]?.first ?? Infinity) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

const append = (partition: Partition, records: Records, retain: number): void => {
  if (records.length === 0) return
  partition.segments.push({ first: partition.end, records })
  partition.end += records.length
  // cut rarely, so that the cost of a cut is spread over as many appends
  if (partition.end - partition.first > 2 * retain) forget(partition, partition.end - retain)
}

/** Drops the records before an offset. */
const forget = (partition: Partition, offset: number): void => {
  const place = segmentOf(partition, offset)
  const kept = partition.segments.slice(place)
  const cut = kept[0]
  if (cut !== undefined) kept[0] = { first: offset, records: cut.records.slice(offset - cut.first) }
  partition.segments = kept
  partition.first = offset
}

/** The records of each partition, in their order. */
const deal = (topic: Topic, records: Records): ReadonlyArray<Records> => {
  const { partitions } = topic
  if (partitions.length === 1) return [records]
  const dealt = partitions.map((): Array<TopicLog.LogRecord> => [])
  const turn = () => topic.turn++
  for (const record of records) dealt[partitionFor(record, partitions.length, turn)]?.push(record)
  return dealt
}

const describe = ({ name, partitions }: Topic): TopicLog.Topic => ({ name, partitions: partitions.length })

/** A fresh, empty log. */
export const make = (options: { readonly retainRecords?: number | undefined }): Effect.Effect<TopicLog["Service"]> =>
  Effect.sync(() => {
    const retain = options.retainRecords ?? 1_000_000
    const floors = Floors.make()
    const topics = new Map<string, Topic>()
    const groups = new Map<string, Map<string, TopicLog.Position>>()
    const usages = new Map<string, Set<string>>()
    const use = (usage: string | undefined, topic: string) => {
      if (usage === undefined) return
      const used = usages.get(usage)
      if (used === undefined) usages.set(usage, new Set([topic]))
      else used.add(topic)
    }
    /** Everybody who reads: told of new topics. */
    const readers = new Set<Latch.Latch>()

    const topicOf = (name: string, partitions: number): Topic => {
      const known = topics.get(name)
      if (known !== undefined) return known
      const topic: Topic = {
        name,
        partitions: Array.from({ length: partitions }, () => ({ segments: [], first: 0, end: 0 })),
        turn: 0,
        readers: new Set()
      }
      topics.set(name, topic)
      for (const latch of readers) latch.openUnsafe()
      return topic
    }
    const appendTo = ({ records, topic: name }: TopicLog.Append, usage: string | undefined) => {
      const topic = topicOf(name, 1)
      if (records.length > 0) use(usage, name)
      deal(topic, records).forEach((part, partition) => {
        const log = topic.partitions[partition]
        if (log !== undefined) append(log, part, retain)
      })
      for (const latch of topic.readers) latch.openUnsafe()
    }
    const positionsOf = (group: string): Map<string, TopicLog.Position> => {
      let positions = groups.get(group)
      if (positions === undefined) groups.set(group, positions = new Map())
      return positions
    }
    const fenced = (operation: string) => new StoreError({ kind: "Fenced", operation })

    /** Begins at partition `turn` of the assigned ones, so that a full one does not starve those behind it. */
    const read = (
      assigned: ReadonlyArray<Dealing.Assigned>,
      turn: number,
      next: Map<string, number>,
      maxRecords: number
    ) => {
      const batches: Array<TopicLog.Batch> = []
      let room = maxRecords
      for (let place = 0; place < assigned.length && room > 0; place++) {
        const { partition, topic } = assigned[(turn + place) % assigned.length] ?? { partition: 0, topic: "" }
        const log = topics.get(topic)?.partitions[partition]
        if (log === undefined) continue
        const key = Dealing.key(topic, partition)
        let offset = Math.max(next.get(key) ?? 0, log.first)
        for (let at = segmentOf(log, offset); offset < log.end && room > 0; at++) {
          const { first, records: all } = log.segments[at] ?? { first: offset, records: [] }
          const whole = offset === first && all.length <= room
          const records = whole ? all : all.slice(offset - first, offset - first + room)
          batches.push({ topic, partition, firstOffset: offset, records })
          offset += records.length
          room -= records.length
        }
        next.set(key, offset)
      }
      return batches
    }

    return {
      topics: Effect.sync(() => Array.from(topics.values(), describe)),
      create: ({ name, partitions }) => Effect.sync(() => void topicOf(name, partitions)),
      open: (item, run, options) =>
        Effect.gen(function*() {
          if (!floors.raise(item, run)) return yield* fenced("open topics")
          const scope = yield* Effect.scope
          return {
            append: (appends, offsets) =>
              Effect.suspend(() => {
                if (Floors.isClosed(scope) || !floors.accepts(item, run)) return Effect.fail(fenced("append"))
                for (const one of appends) appendTo(one, options?.usage)
                return offsets === undefined ? Effect.void : offsets.commit
              })
          }
        }),
      fence: (runs) => Effect.sync(() => runs.forEach(({ item, run }) => floors.raise(item, run))),
      positions: (group) => Effect.sync(() => [...groups.get(group)?.values() ?? []]),
      alterPositions: ({ connector, group, position, positions }) =>
        Effect.suspend(() => {
          if (!floors.raiseAll(connector, position)) return Effect.fail(fenced("alter positions"))
          const stored = positionsOf(group)
          for (const { offset, partition, topic } of positions) {
            const key = Dealing.key(topic, partition)
            if (offset === null) stored.delete(key)
            else stored.set(key, { topic, partition, offset })
          }
          return Effect.void
        }),
      usedTopics: (usage) => Effect.sync(() => [...usages.get(usage) ?? []]),
      forgetTopics: (usage) => Effect.sync(() => void usages.delete(usage)),
      subscribe: Effect.fnUntraced(function*(options) {
        const { group, item, run } = options
        if (!floors.raise(item, run)) return yield* fenced("subscribe")
        const scope = yield* Effect.scope
        const latch = yield* Effect.acquireRelease(
          Effect.sync(() => {
            const latch = Latch.makeUnsafe(false)
            readers.add(latch)
            return latch
          }),
          (latch) =>
            Effect.sync(() => {
              readers.delete(latch)
              for (const topic of topics.values()) topic.readers.delete(latch)
            })
        )
        const stored = positionsOf(group)
        const next = new Map(Array.from(stored, ([key, position]) => [key, position.offset]))
        let assigned: ReadonlyArray<Dealing.Assigned> = []
        let known = -1
        let turn = 0
        /** Dealt anew only when a topic was added. */
        const deal = () => {
          if (known !== topics.size) {
            known = topics.size
            assigned = Dealing.deal(options, Array.from(topics.values(), describe))
            for (const { topic } of assigned) topics.get(topic)?.readers.add(latch)
          }
          return assigned
        }
        const attempt = (maxRecords: number): Effect.Effect<ReadonlyArray<TopicLog.Batch>> =>
          Effect.suspend(() => {
            latch.closeUnsafe()
            const batches = read(deal(), turn++, next, maxRecords)
            return batches.length > 0 ? Effect.succeed(batches) : Effect.andThen(latch.await, attempt(maxRecords))
          })
        return {
          read: attempt,
          commit: (changed) =>
            Effect.suspend(() => {
              if (Floors.isClosed(scope) || !floors.accepts(item, run)) return Effect.fail(fenced("commit positions"))
              for (const position of changed) {
                stored.set(Dealing.key(position.topic, position.partition), position)
                use(options.usage, position.topic)
              }
              return Effect.void
            })
        }
      })
    }
  })
