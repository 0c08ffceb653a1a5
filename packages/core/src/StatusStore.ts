/** The latest status of each item, with the token of the owner that wrote it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Item from "./Item.ts"
import type { StatusRecord } from "./Status.ts"
import type { StoreError } from "./StoreError.ts"

/** The port. Who may be seen is decided when reading (I8), so an engine need not refuse a late write. */
export class StatusStore extends Context.Service<StatusStore, {
  /** Every status, the latest of each item. */
  readonly load: Effect.Effect<ReadonlyArray<StatusRecord>, StoreError>
  /** Stores all, durably; the last of an item counts. A record with an older token than the stored one is dropped. */
  readonly put: (records: ReadonlyArray<StatusRecord>) => Effect.Effect<void, StoreError>
  /** Forgets items. */
  readonly remove: (items: ReadonlyArray<Item.Item>) => Effect.Effect<void, StoreError>
  /** What other workers stored meanwhile. */
  readonly changes: Stream.Stream<ReadonlyArray<StatusRecord>>
}>()("@kelpie/core/StatusStore") {
  /** In memory; nothing is kept. */
  static readonly layerMemory: Layer.Layer<StatusStore> = Layer.fresh(Layer.sync(this, () => {
    const records = new Map<string, StatusRecord>()
    return {
      load: Effect.sync(() => [...records.values()]),
      put: (changed) =>
        Effect.sync(() => {
          for (const record of changed) {
            const key = Item.key(record)
            if ((records.get(key)?.token ?? 0) <= record.token) records.set(key, record)
          }
        }),
      remove: (items) =>
        Effect.sync(() => {
          for (const item of items) records.delete(Item.key(item))
        }),
      changes: Stream.never
    }
  }))
}
