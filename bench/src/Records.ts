/** What the pipeline benchmark moves: batches of byte records, their source, and the sink that counts them. */
import { ConfigKey, SinkConnector, type SinkRecord, SourceConnector, type SourceRecord } from "@kelpie/core"
import { Deferred, Effect, Option, Schema, Stream } from "effect"

/** Records in a batch. */
export const batchSize = 1000
/** Bytes of a record. */
export const recordBytes = 100
/** The topic. */
export const topic = "bench"

/** A thousand different values, made once: what is measured moves them, it does not make bytes. */
const values = Array.from({ length: batchSize }, (_, i) => {
  const bytes = new Uint8Array(recordBytes)
  for (let at = 0; at < recordBytes; at++) bytes[at] = (i * 31 + at * 7) % 256
  return bytes
})

/** One batch as a source gives it: the record objects are new. */
export const sourceRecords = (): ReadonlyArray<SourceRecord> => {
  const records: Array<SourceRecord> = []
  for (const value of values) records.push({ topic, value })
  return records
}

/** Counts records and bytes where they arrive, and tells when all have. */
export class Counter {
  records = 0
  bytes = 0
  readonly expected: number
  readonly done = Deferred.makeUnsafe<void>()
  constructor(expected: number) {
    this.expected = expected
  }
  put(records: ReadonlyArray<SinkRecord>): void {
    for (const { value } of records) if (value instanceof Uint8Array) this.bytes += value.length
    this.records += records.length
    if (this.records >= this.expected) Deferred.doneUnsafe(this.done, Effect.void)
  }
  /** Throws unless everything arrived, once. */
  check(): void {
    if (this.records !== this.expected || this.bytes !== this.expected * recordBytes) {
      throw new Error(`${this.records} records and ${this.bytes} bytes arrived, not ${this.expected} records`)
    }
  }
}

/** Gives `count` records in batches, and resumes behind the stored offset. */
export const Source = SourceConnector.make("BenchSource", {
  version: "1.0.0",
  config: { count: ConfigKey.Int("count") },
  offset: Schema.Struct({ at: Schema.Int }),
  task: ({ config, offsets }) =>
    Stream.unwrap(
      Effect.map(offsets.get(), (stored) =>
        Stream.unfold(
          Option.match(stored, {
            onNone: () => 0,
            onSome: ({ at }) => at
          }),
          (from) => {
            const at = from + batchSize
            return Effect.succeed(
              at > config.count ? undefined : [{ records: sourceRecords(), offset: { at } }, at] as const
            )
          }
        ))
    )
})

/** A sink that hands its records to a counter. */
export const sink = (counter: () => Counter) =>
  SinkConnector.make("BenchSink", {
    version: "1.0.0",
    config: {},
    task: () => Effect.succeed({ put: (records) => Effect.sync(() => counter().put(records)) })
  })
