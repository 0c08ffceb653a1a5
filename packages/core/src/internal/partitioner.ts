/** Chooses the partition of a record: the record's own, by Kafka's hash of the key, or in turn. */
import type { TopicLog } from "../TopicLog.ts"

/** Kafka's murmur2 (seed 0x9747b28c), as its clients compute it. */
export const murmur2 = (bytes: Uint8Array): number => {
  const m = 0x5bd1e995
  const length = bytes.length
  let hash = 0x9747b28c ^ length
  const words = length >> 2
  const at = (index: number) => bytes[index] ?? 0
  for (let word = 0; word < words; word++) {
    const i = word * 4
    let k = at(i) | (at(i + 1) << 8) | (at(i + 2) << 16) | (at(i + 3) << 24)
    k = Math.imul(k, m)
    k ^= k >>> 24
    k = Math.imul(k, m)
    hash = Math.imul(hash, m) ^ k
  }
  const rest = words * 4
  const left = length - rest
  if (left >= 3) hash ^= at(rest + 2) << 16
  if (left >= 2) hash ^= at(rest + 1) << 8
  if (left >= 1) hash = Math.imul(hash ^ at(rest), m)
  hash ^= hash >>> 13
  hash = Math.imul(hash, m)
  return hash ^ (hash >>> 15)
}

/** The partition of a record, of `partitions`. `turn` counts records without a key. */
export const partitionFor = (record: TopicLog.LogRecord, partitions: number, turn: () => number): number => {
  // a number that the topic does not have is taken around, also a negative one: no record may be lost
  if (record.partition !== undefined) return ((record.partition % partitions) + partitions) % partitions
  return record.key === null ? turn() % partitions : (murmur2(record.key) & 0x7fffffff) % partitions
}
