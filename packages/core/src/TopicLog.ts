/**
 * Topics: records as bytes, appended in batches, read by groups that remember their positions.
 *
 * Partitions of a topic are dealt over the members of a group by number, without negotiation: member m of n reads
 * partition p of the topic of rank r when r + p is m modulo n; the rank is the place in the list, or in the order of
 * creation. Who changes the number of members lets go of every member first (I6).
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as memory from "./internal/topicLogMemory.ts"
import type * as Item from "./Item.ts"
import type { OffsetStore } from "./OffsetStore.ts"
import type { StoreError } from "./StoreError.ts"

/** The port. */
export class TopicLog extends Context.Service<TopicLog, {
  /** Every topic with its number of partitions, in the order of creation. */
  readonly topics: Effect.Effect<ReadonlyArray<TopicLog.Topic>, StoreError>
  /** Creates a topic if there is none of that name. Topics are also created, with one partition, by their first append. */
  readonly create: (topic: TopicLog.Topic) => Effect.Effect<void, StoreError>
  /**
   * Raises the item's floor to the run and gives its writer. `Fenced` when a newer run has opened or fenced it. Closing the
   * scope closes the writer, after the append that is under way: from then on it appends nothing more (`Fenced`).
   */
  readonly open: (
    item: Item.Item,
    run: Item.Run,
    options?: TopicLog.UsageOptions
  ) => Effect.Effect<TopicLog.Writer, StoreError, Scope.Scope>
  /** Raises floors without opening a writer. */
  readonly fence: (runs: ReadonlyArray<OffsetStore.ItemRun>) => Effect.Effect<void, StoreError>
  /**
   * Reads as a member of a group, from the stored positions, or from the first record. Raises the item's floor; `Fenced`
   * when a newer run has opened or fenced it. Closing the scope ends the subscription: it commits nothing more.
   */
  readonly subscribe: (
    options: TopicLog.SubscribeOptions
  ) => Effect.Effect<TopicLog.Subscription, StoreError, Scope.Scope>
  /** The stored positions of a group. */
  readonly positions: (group: string) => Effect.Effect<ReadonlyArray<TopicLog.Position>, StoreError>
  /**
   * Stores positions of the group of a connector that nobody runs, durably, on an operator's behalf. In one step with
   * raising the floors of all its items, as `OffsetStore.alter` does; `Fenced`, without effect, when a run of a later owner
   * has opened (I7).
   */
  readonly alterPositions: (alteration: TopicLog.Alteration) => Effect.Effect<void, StoreError>
  /** The topics that were appended to, or whose positions were stored, under a usage, in any order. */
  readonly usedTopics: (usage: string) => Effect.Effect<ReadonlyArray<string>, StoreError>
  /** Forgets what was used so far; what is used again is remembered again. */
  readonly forgetTopics: (usage: string) => Effect.Effect<void, StoreError>
}>()("@kelpie/core/TopicLog") {
  /** In memory; nothing is kept. `retainRecords` bounds each partition: the oldest records go first, default 1,000,000. */
  static readonly layerMemoryWith = (options: { readonly retainRecords?: number | undefined }): Layer.Layer<TopicLog> =>
    Layer.fresh(Layer.effect(this, memory.make(options)))

  /** In memory; nothing is kept. */
  static readonly layerMemory: Layer.Layer<TopicLog> = this.layerMemoryWith({})
}

export declare namespace TopicLog {
  /** A topic. */
  export interface Topic {
    readonly name: string
    readonly partitions: number
  }
  /** A record as bytes. */
  export interface LogRecord {
    /** Left out: chosen by the hash of the key, without a key in turn. */
    readonly partition?: number | undefined
    readonly key: Uint8Array | null
    readonly value: Uint8Array | null
    readonly headers: ReadonlyArray<readonly [name: string, value: Uint8Array | null]>
    /** Epoch milliseconds. */
    readonly timestampMillis: number
  }
  /** Records for one topic. */
  export interface Append {
    readonly topic: string
    readonly records: ReadonlyArray<LogRecord>
  }
  /** The handle by which a run appends. */
  export interface Writer {
    /**
     * Appends all, durably, then stores the offsets that stand for them: in one transaction when both are of one engine.
     * `Fenced`, without effect, when a newer run has opened the item.
     */
    readonly append: (
      appends: ReadonlyArray<Append>,
      offsets?: OffsetStore.Prepared
    ) => Effect.Effect<void, StoreError>
  }
  /** What is remembered of the topics that a handle uses. */
  export interface UsageOptions {
    /** The name under which they are remembered, together with what is stored; left out: they are not. */
    readonly usage?: string | undefined
  }
  /** How to read. */
  export interface SubscribeOptions extends OffsetStore.ItemRun, UsageOptions {
    /** Positions are stored under this name. */
    readonly group: string
    readonly topics: { readonly list: ReadonlyArray<string> } | { readonly pattern: RegExp }
    /** This member's number, from 0, of `members`. */
    readonly member: number
    readonly members: number
  }
  /** Where a group goes on: the offset of the next record to read. */
  export interface Position {
    readonly topic: string
    readonly partition: number
    readonly offset: number
  }
  /** Positions that an operator wants. */
  export interface Alteration {
    readonly connector: string
    /** Position of the config log at which nobody ran the connector. */
    readonly position: number
    readonly group: string
    /** An offset of `null` forgets the position. */
    readonly positions: ReadonlyArray<Omit<Position, "offset"> & { readonly offset: number | null }>
  }
  /** Records of one partition; record i has the offset `firstOffset + i`. */
  export interface Batch {
    readonly topic: string
    readonly partition: number
    readonly firstOffset: number
    readonly records: ReadonlyArray<LogRecord>
  }
  /** A member of a group. */
  export interface Subscription {
    /**
     * The next records, in order per partition, about `maxRecords` at most; waits until there is one. Interruptible, and a
     * read that is interrupted takes nothing. No partition waits for ever behind a busy one.
     */
    readonly read: (maxRecords: number) => Effect.Effect<ReadonlyArray<Batch>, StoreError>
    /** Stores positions, durably. `Fenced` when a newer run has opened the item. */
    readonly commit: (positions: ReadonlyArray<Position>) => Effect.Effect<void, StoreError>
  }
}
