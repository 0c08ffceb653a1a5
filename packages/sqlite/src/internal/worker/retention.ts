/**
 * Drops old records, a little at a time, after answers are on their way.
 *
 * Age counts from when records were stored, not from their own timestamps: a source that reads ten-year-old lines would
 * lose them before anybody has read them. The last batch of a partition stays, so that its offsets go on.
 */
import type { DatabaseSync } from "node:sqlite"
import type { Retention } from "../calls.ts"

/** Time between two sweeps, and batches dropped in one transaction. */
const everyMillis = 60_000
const maxBatches = 200

/** A sweeper. */
export interface Sweeper {
  /** Tells the time, as the main thread knows it. */
  readonly at: (nowMillis: number) => void
  /** Sweeps one step if it is due. */
  readonly sweep: () => void
}

/** Batches stored before a time, oldest first. Ids grow with every append, since the newest batch is never dropped. */
const findOld = (database: DatabaseSync) => {
  const oldest = database.prepare("SELECT id, topic, topic_partition, end_offset, stored_at FROM batches ORDER BY id")
  const isLast = database.prepare(`
    SELECT NOT EXISTS (SELECT 1 FROM batches WHERE topic = ? AND topic_partition = ? AND end_offset > ?) AS last
  `)
  return (beforeMillis: number): ReadonlyArray<number> => {
    const ids: Array<number> = []
    for (const { end_offset, id, stored_at, topic, topic_partition } of oldest.iterate()) {
      if (ids.length >= maxBatches || Number(stored_at) >= beforeMillis) break
      if (isLast.get(Number(topic), Number(topic_partition), Number(end_offset))?.last === 0) ids.push(Number(id))
    }
    return ids
  }
}

/** Batches that make their partitions larger than `bytes`, oldest first. */
const findLarge = (database: DatabaseSync, bytes: number) => {
  const topics = database.prepare("SELECT id, partitions FROM topics")
  const end = database.prepare(
    "SELECT end_bytes FROM batches WHERE topic = ? AND topic_partition = ? ORDER BY end_offset DESC LIMIT 1"
  )
  const oldest = database.prepare(`
    SELECT id, end_bytes, end_bytes - length(data) AS start_bytes FROM batches
    WHERE topic = ? AND topic_partition = ? ORDER BY end_offset
  `)
  return (): ReadonlyArray<number> => {
    const ids: Array<number> = []
    for (const topic of topics.all()) {
      for (let partition = 0; partition < Number(topic.partitions); partition++) {
        const total = Number(end.get(Number(topic.id), partition)?.end_bytes ?? 0)
        for (const { end_bytes, id, start_bytes } of oldest.iterate(Number(topic.id), partition)) {
          if (ids.length >= maxBatches) return ids
          if (total - Number(start_bytes) <= bytes || Number(end_bytes) === total) break
          ids.push(Number(id))
        }
      }
    }
    return ids
  }
}

/** Over an open database. */
export const sweeper = (database: DatabaseSync, retention: Retention, openedMillis: number): Sweeper => {
  const old = findOld(database)
  const large = retention.bytes === undefined ? () => [] : findLarge(database, retention.bytes)
  const remove = database.prepare("DELETE FROM batches WHERE id = ?")
  let now = openedMillis
  let next = openedMillis
  const drop = (): boolean => {
    const steps = [old(now - retention.millis), large()]
    for (const id of new Set(steps.flat())) remove.run(id)
    return steps.some((ids) => ids.length >= maxBatches)
  }
  return {
    at: (nowMillis) => {
      now = nowMillis
    },
    sweep: () => {
      if (now < next) return
      try {
        database.exec("BEGIN IMMEDIATE")
        const more = drop()
        database.exec("COMMIT")
        if (!more) next = now + everyMillis
      } catch {
        // old records are in nobody's way: tried again with the next sweep
        if (database.isTransaction) database.exec("ROLLBACK")
        next = now + everyMillis
      }
    }
  }
}
