/** The records that sources give, transforms change and sinks take. */
import type { ConnectSchema } from "./ConnectSchema.ts"

/** A header: name, value, and the value's schema when it has one. Names may repeat; order is kept. */
export type Header = readonly [name: string, value: unknown, schema?: ConnectSchema | undefined]

/** What transforms and predicates see: the part that source and sink records have in common. */
export interface ConnectRecord<out V = unknown> {
  readonly topic: string
  /** A partition of the topic; left out: chosen by the key. */
  readonly partition?: number | undefined
  readonly key?: unknown
  readonly keySchema?: ConnectSchema | undefined
  /** `null` is a tombstone. */
  readonly value: V
  readonly valueSchema?: ConnectSchema | undefined
  readonly headers?: ReadonlyArray<Header> | undefined
  /** Epoch milliseconds; left out: the time of the append. */
  readonly timestampMillis?: number | undefined
}

/** What a source gives. */
export interface SourceRecord<out V = unknown> extends ConnectRecord<V> {}

/** What a sink takes: a record with its place in the log. */
export interface SinkRecord<out V = unknown> extends ConnectRecord<V> {
  readonly partition: number
  readonly offset: number
  readonly timestampMillis: number
  /** Where it came from, before transforms changed its topic. */
  readonly originalTopic: string
}
