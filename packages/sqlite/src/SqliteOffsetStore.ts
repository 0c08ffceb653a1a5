/**
 * Source offsets in `data.db`. Floors are rows of the same file, checked in the transaction of the write (I7). Offsets
 * that a topic log of the same file appends records for are stored in one transaction with them (I9).
 */
import { OffsetStore } from "@kelpie/core/OffsetStore"
import type { StoreError } from "@kelpie/core/StoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Closing, closing, unlessClosed } from "./internal/closing.ts"
import { DataEngine } from "./internal/DataEngine.ts"
import { toMessage } from "./internal/itemRun.ts"
import type { Options } from "./Sqlite.ts"

/** What a log of the same file looks at before it stores offsets itself. */
interface OwnPrepared extends OffsetStore.Prepared, Closing {}

const make = (data: DataEngine["Service"]) => {
  const writer = (itemRun: OffsetStore.ItemRun, closing: Closing): OffsetStore.Writer => {
    const run = toMessage(itemRun)
    const { connector } = itemRun.item
    return {
      prepare: (entries): OwnPrepared => ({
        ...closing,
        engine: data,
        item: itemRun.item,
        run: itemRun.run,
        entries,
        commit: unlessClosed(
          closing,
          "store offsets",
          () => Effect.asVoid(data.call("storeOffsets", { ...run, connector, entries }, { operation: "store offsets" }))
        )
      })
    }
  }
  return OffsetStore.of({
    open: Effect.fnUntraced(function*(item, run) {
      const runs = [toMessage({ item, run })]
      yield* data.call("raise", { of: "offsets", runs, strict: true }, { operation: "open offsets" })
      return writer({ item, run }, yield* closing(data))
    }),
    fence: (runs) =>
      Effect.asVoid(
        data.call("raise", { of: "offsets", runs: runs.map(toMessage), strict: false }, { operation: "fence offsets" })
      ),
    read: (connector, partitions) => data.call("readOffsets", { connector, partitions }, { operation: "read offsets" }),
    alter: (alteration) => Effect.asVoid(data.call("alterOffsets", alteration, { operation: "alter offsets" })),
    list: (connector) => data.call("listOffsets", { connector }, { operation: "list offsets" })
  })
}

/** @internal Over an engine that is shared. */
export const layerEngine: Layer.Layer<OffsetStore, never, DataEngine> = Layer.effect(
  OffsetStore,
  Effect.map(DataEngine, make)
)

/** The offset store alone. */
export const layer = (options: Options): Layer.Layer<OffsetStore, StoreError> =>
  Layer.provide(layerEngine, DataEngine.layer(options))
