/**
 * Source offsets per connector and source partition, written through writers with floors.
 *
 * A run opens its writer before it reads offsets; from then on only writes of that run, or of a newer one, are accepted
 * (I7). Offsets survive the deletion of their connector. Partitions and offsets are JSON texts, partitions with sorted
 * members, so that equal partitions are equal texts.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Floors from "./Floors.ts"
import type * as Item from "./Item.ts"
import { StoreError } from "./StoreError.ts"

/** The port. */
export class OffsetStore extends Context.Service<OffsetStore, {
  /**
   * Raises the item's floor to the run. Fails with `Fenced` when a newer run has opened or fenced it. Closing the scope
   * closes the writer, after the write that is under way: from then on what it stores is refused with `Fenced`.
   */
  readonly open: (item: Item.Item, run: Item.Run) => Effect.Effect<OffsetStore.Writer, StoreError, Scope.Scope>
  /** Raises floors without opening a writer: what older runs still write is refused. */
  readonly fence: (runs: ReadonlyArray<OffsetStore.ItemRun>) => Effect.Effect<void, StoreError>
  /** The offsets of some partitions, in their order; `undefined` for none. */
  readonly read: (
    connector: string,
    partitions: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string | undefined>, StoreError>
  /** Every partition of a connector with its offset. */
  readonly list: (connector: string) => Effect.Effect<ReadonlyArray<OffsetStore.Entry>, StoreError>
  /**
   * Stores offsets of a connector that nobody runs, durably, on an operator's behalf. In one step with raising the floors
   * of all its items above the runs of owners up to `position`, so that none of those overwrites it; `Fenced`, without
   * effect, when a run of a later owner has opened (I7).
   */
  readonly alter: (alteration: OffsetStore.Alteration) => Effect.Effect<void, StoreError>
}>()("@kelpie/core/OffsetStore") {
  /** In memory; nothing is kept. */
  static readonly layerMemory: Layer.Layer<OffsetStore> = Layer.fresh(Layer.sync(this, () => {
    const floors = Floors.make()
    const connectors = new Map<string, Map<string, string>>()
    const store = (connector: string, entries: ReadonlyArray<OffsetStore.Entry>) => {
      let offsets = connectors.get(connector)
      if (offsets === undefined) connectors.set(connector, offsets = new Map())
      for (const { offset, partition } of entries) {
        if (offset === null) offsets.delete(partition)
        else offsets.set(partition, offset)
      }
    }
    const fenced = (operation: string) => new StoreError({ kind: "Fenced", operation })
    return {
      open: (item, run) =>
        Effect.gen(function*() {
          if (!floors.raise(item, run)) return yield* fenced("open offsets")
          const scope = yield* Effect.scope
          return {
            prepare: (entries) => ({
              engine: undefined,
              item,
              run,
              entries,
              commit: Effect.suspend(() => {
                if (Floors.isClosed(scope) || !floors.accepts(item, run)) return Effect.fail(fenced("store offsets"))
                store(item.connector, entries)
                return Effect.void
              })
            })
          }
        }),
      fence: (runs) => Effect.sync(() => runs.forEach(({ item, run }) => floors.raise(item, run))),
      read: (connector, partitions) =>
        Effect.sync(() => {
          const offsets = connectors.get(connector)
          return partitions.map((partition) => offsets?.get(partition))
        }),
      alter: ({ connector, entries, position }) =>
        Effect.suspend(() => {
          if (!floors.raiseAll(connector, position)) return Effect.fail(fenced("alter offsets"))
          store(connector, entries)
          return Effect.void
        }),
      list: (connector) =>
        Effect.sync(() => Array.from(connectors.get(connector) ?? [], ([partition, offset]) => ({ partition, offset })))
    }
  }))
}

export declare namespace OffsetStore {
  /** JSON texts; an offset of `null` removes the partition. */
  export interface Entry {
    readonly partition: string
    readonly offset: string | null
  }
  /** Offsets that an operator wants. */
  export interface Alteration {
    readonly connector: string
    /** Position of the config log at which nobody ran the connector. */
    readonly position: number
    readonly entries: ReadonlyArray<Entry>
  }
  /** An item with a run of it. */
  export interface ItemRun {
    readonly item: Item.Item
    readonly run: Item.Run
  }
  /** The handle by which a run stores offsets. */
  export interface Writer {
    /** Offsets ready to be stored: alone, or by `TopicLog` in one transaction with the records that they stand for. */
    readonly prepare: (entries: ReadonlyArray<Entry>) => Prepared
  }
  /** Offsets that are not stored yet. */
  export interface Prepared extends ItemRun {
    /** Who made it: a log of the same engine stores both in one transaction, any other log runs `commit` afterwards. */
    readonly engine: unknown
    readonly entries: ReadonlyArray<Entry>
    /** Stores them, durably. `Fenced` when a newer run has opened or fenced the item, or the writer is closed. */
    readonly commit: Effect.Effect<void, StoreError>
  }
}
