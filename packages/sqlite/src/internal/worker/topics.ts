/** Topics in `data.db`: batches of records by offset, and the positions of groups. */
import type { DatabaseSync } from "node:sqlite"
import type { DataCalls, EncodedBatch, ReadBatch, ReadFrom, StoredTopic } from "../calls.ts"
import type { Floors } from "./floors.ts"
import type { offsets } from "./offsets.ts"
import type { Handlers } from "./serve.ts"

/** The topics that exist; they are only ever added, in the order of their ids. */
export interface TopicList {
  /** Creates it if there is none of that name. */
  readonly create: (name: string, partitions: number) => StoredTopic
  /** Looks for topics that other processes created. */
  readonly reload: () => void
  /** Topics since the last call, committed ones only; call it outside of a transaction. */
  readonly news: () => ReadonlyArray<StoredTopic> | undefined
}

const toTopic = (row: Record<string, unknown>): StoredTopic => ({
  id: Number(row.id),
  name: String(row.name),
  partitions: Number(row.partitions)
})

/** The list of an open database. */
export const topicList = (database: DatabaseSync): TopicList => {
  const byName = database.prepare("SELECT id, name, partitions FROM topics WHERE name = ?")
  const after = database.prepare("SELECT id, name, partitions FROM topics WHERE id > ? ORDER BY id")
  const insert = database.prepare("INSERT INTO topics (name, partitions) VALUES (?, ?) RETURNING id, name, partitions")
  /** Known to be committed; a topic of a transaction that may yet be taken back is not in it. */
  const known = new Map<string, StoredTopic>()
  let told = 0
  let stale = true
  return {
    create: (name, partitions) => {
      const topic = known.get(name)
      if (topic !== undefined) return topic
      stale = true
      return toTopic(byName.get(name) ?? insert.get(name, partitions) ?? {})
    },
    reload: () => {
      stale = true
    },
    news: () => {
      if (!stale) return undefined
      stale = false
      const added = after.all(told).map(toTopic)
      for (const topic of added) known.set(topic.name, topic)
      told = added.at(-1)?.id ?? told
      return added.length === 0 ? undefined : added
    }
  }
}

const writer = (database: DatabaseSync) => {
  const newest = database.prepare(`
    SELECT end_offset, end_bytes FROM batches
    WHERE topic = ? AND topic_partition = ? ORDER BY end_offset DESC LIMIT 1
  `)
  const insert = database.prepare(`
    INSERT INTO batches (topic, topic_partition, end_offset, count, end_bytes, max_timestamp, stored_at, data)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  `)
  return (topic: StoredTopic, batch: EncodedBatch, nowMillis: number) => {
    const { count, data, maxTimestampMillis, partition } = batch
    const last = newest.get(topic.id, partition)
    const endOffset = Number(last?.end_offset ?? 0) + count
    const endBytes = Number(last?.end_bytes ?? 0) + data.length
    insert.run(topic.id, partition, endOffset, count, endBytes, maxTimestampMillis, nowMillis, data)
  }
}

const reader = (database: DatabaseSync) => {
  const after = database.prepare(`
    SELECT end_offset, count, data FROM batches
    WHERE topic = ? AND topic_partition = ? AND end_offset > ? ORDER BY end_offset
  `)
  /** Reads partitions in the order given until there is enough, but at least one batch. */
  return (from: ReadonlyArray<ReadFrom>, maxRecords: number, maxBytes: number): ReadonlyArray<ReadBatch> => {
    const batches: Array<ReadBatch> = []
    let records = 0
    let bytes = 0
    for (let index = 0; index < from.length; index++) {
      const at = from[index]
      if (at === undefined || records >= maxRecords || bytes >= maxBytes) break
      for (const row of after.iterate(at.topic, at.partition, at.offset)) {
        const { count, data, end_offset: endOffset } = row
        if (typeof count !== "number" || typeof endOffset !== "number" || !(data instanceof Uint8Array)) continue
        batches.push({ from: index, count, endOffset, data })
        records += Math.min(count, endOffset - at.offset)
        bytes += data.length
        if (records >= maxRecords || bytes >= maxBytes) break
      }
    }
    return batches
  }
}

/** Which topics were used, by usage. */
interface Usages {
  readonly use: (usage: string | undefined, topic: string) => void
  readonly handlers: Pick<Handlers<DataCalls>, "usedTopics" | "forgetTopics">
}

const usages = (database: DatabaseSync): Usages => {
  const list = database.prepare("SELECT topic FROM used_topics WHERE usage = ?")
  const add = database.prepare("INSERT INTO used_topics (usage, topic) VALUES (?, ?) ON CONFLICT DO NOTHING")
  const remove = database.prepare("DELETE FROM used_topics WHERE usage = ?")
  return {
    use: (usage, topic) => {
      if (usage !== undefined) add.run(usage, topic)
    },
    handlers: {
      usedTopics: { kind: "read", run: ({ usage }) => list.all(usage).map(({ topic }) => String(topic)) },
      forgetTopics: {
        kind: "write",
        run: ({ usage }) => {
          remove.run(usage)
          return null
        }
      }
    }
  }
}

const positions = (database: DatabaseSync, list: TopicList, floors: Floors, { use }: Usages) => {
  const get = database.prepare("SELECT topic, topic_partition, next_offset FROM positions WHERE reader = ?")
  const put = database.prepare(`
    INSERT INTO positions (reader, topic, topic_partition, next_offset) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET next_offset = excluded.next_offset
  `)
  const remove = database.prepare("DELETE FROM positions WHERE reader = ? AND topic = ? AND topic_partition = ?")
  const of = (group: string) =>
    get.all(group).map((row) => ({
      topic: String(row.topic),
      partition: Number(row.topic_partition),
      offset: Number(row.next_offset)
    }))
  return {
    subscribe: {
      kind: "write",
      run: ({ group, run }) => {
        floors.raise("topics", run)
        list.reload() // who subscribes deals from all topics there are
        return of(group)
      }
    },
    positions: { kind: "read", run: ({ group }) => of(group) },
    commitPositions: {
      kind: "write",
      run: ({ group, positions, run, usage }) => {
        floors.check("topics", run)
        for (const { offset, partition, topic } of positions) {
          put.run(group, topic, partition, offset)
          use(usage, topic)
        }
        return null
      }
    },
    alterPositions: {
      kind: "write",
      run: ({ group, positions, ...fenced }) => {
        floors.raiseAll("topics", fenced)
        for (const { offset, partition, topic } of positions) {
          if (offset === null) remove.run(group, topic, partition)
          else put.run(group, topic, partition, offset)
        }
        return null
      }
    }
  } satisfies Partial<Handlers<DataCalls>>
}

type TopicCalls =
  | "topics"
  | "createTopic"
  | "append"
  | "readBatches"
  | "subscribe"
  | "positions"
  | "commitPositions"
  | "alterPositions"
  | "usedTopics"
  | "forgetTopics"

/** The operations of the topic log. */
export const topics = (
  database: DatabaseSync,
  list: TopicList,
  floors: Floors,
  store: ReturnType<typeof offsets>["store"]
): Pick<Handlers<DataCalls>, TopicCalls> => {
  const write = writer(database)
  const read = reader(database)
  const used = usages(database)
  return {
    ...positions(database, list, floors, used),
    ...used.handlers,
    topics: {
      kind: "read",
      run: () => {
        list.reload()
        return null
      }
    },
    createTopic: {
      kind: "write",
      run: ({ name, partitions }) => {
        list.create(name, partitions)
        return null
      }
    },
    append: {
      kind: "write",
      run: ({ batches, nowMillis, offsets, partitions, run, usage }) => {
        floors.check("topics", run)
        const targets = new Map<string, StoredTopic>()
        for (const [name, dealt] of partitions) {
          const topic = list.create(name, dealt)
          if (topic.partitions !== dealt) return false
          targets.set(name, topic)
        }
        if (offsets !== undefined) store(offsets)
        for (const batch of batches) {
          const topic = targets.get(batch.topic)
          if (topic !== undefined) write(topic, batch, nowMillis)
        }
        for (const topic of new Set(batches.map(({ topic }) => topic))) used.use(usage, topic)
        return true
      }
    },
    readBatches: {
      kind: "read",
      run: ({ from, maxBytes, maxRecords }) => read(from, maxRecords, maxBytes),
      transfer: (batches) => batches.map(({ data }) => data.buffer).filter((buffer) => buffer instanceof ArrayBuffer)
    }
  }
}
