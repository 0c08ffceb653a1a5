/**
 * The hand-written loop in memory: what a program would do that needs no framework, with the same batches, the same
 * promises and the same records at its end.
 */
import { batchSize, type Counter, sourceRecords, topic } from "./Records.ts"

interface Stored {
  readonly partition: number | undefined
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: ReadonlyArray<never>
  readonly timestampMillis: number
}

interface Run {
  readonly token: number
  readonly start: number
}

const noHeaders: ReadonlyArray<never> = []

const check = (floors: ReadonlyMap<string, Run>, item: string, run: Run): void => {
  const floor = floors.get(item)
  if (floor !== undefined && (run.token - floor.token || run.start - floor.start) < 0) throw new Error("fenced")
}

const bytesOf = (value: unknown): Uint8Array | null => {
  if (value instanceof Uint8Array) return value
  if (value === null || value === undefined) return null
  throw new Error("these are no bytes")
}

/** Moves `count` records: batch after batch into the log with its offset, out again, to the sink, and its position. */
export const run = (count: number, counter: Counter): void => {
  const source = { token: 1, start: 1 }
  const sink = { token: 2, start: 2 }
  const floors = new Map<string, Run>([["0/source", source], ["0/sink", sink]])
  const offsets = new Map<string, string>()
  const positions = new Map<string, number>()
  const log: Array<ReadonlyArray<Stored>> = []
  let end = 0
  for (let at = batchSize; at <= count; at += batchSize) {
    const now = Date.now()
    const appended: Array<Stored> = []
    for (const { key, partition, timestampMillis, value } of sourceRecords()) {
      appended.push({
        partition,
        key: bytesOf(key),
        value: bytesOf(value),
        headers: noHeaders,
        timestampMillis: timestampMillis ?? now
      })
    }
    check(floors, "0/source", source)
    log.push(appended)
    offsets.set("{}", JSON.stringify({ at }))
    const records = []
    for (const { key, timestampMillis, value } of log[log.length - 1] ?? []) {
      records.push({
        topic,
        partition: 0,
        offset: end++,
        originalTopic: topic,
        timestampMillis,
        key,
        keySchema: undefined,
        value,
        valueSchema: undefined,
        headers: noHeaders
      })
    }
    counter.put(records)
    check(floors, "0/sink", sink)
    positions.set("0", end)
  }
}
