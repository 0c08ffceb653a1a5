/**
 * Statuses in `data.db`: the latest of each item. A status with an older token than the stored one is dropped. `changes`
 * shows what other processes stored: within five seconds, or at once in a directory that is shared.
 */
import * as Identity from "@kelpie/core/Identity"
import * as Item from "@kelpie/core/Item"
import { StatusRecord } from "@kelpie/core/Status"
import { StatusStore } from "@kelpie/core/StatusStore"
import type { StoreError } from "@kelpie/core/StoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { DataEngine } from "./internal/DataEngine.ts"
import type { Options } from "./Sqlite.ts"

const decode = Schema.decodeUnknownExit(Schema.fromJsonString(StatusRecord))

/** A status that cannot be read is left out: its owner stores it again. */
const decodeAll = (records: ReadonlyArray<string>): ReadonlyArray<StatusRecord> =>
  records.flatMap((json) => {
    const exit = decode(json)
    return exit._tag === "Success" ? [exit.value] : []
  })

const make = Effect.fnUntraced(function*(data: DataEngine["Service"]) {
  const writer = yield* Identity.draw
  const after = (after: number | undefined) =>
    data.call("statusesAfter", { writer, after }, { operation: "read statuses" })
  /** The first look marks the place, the others are slow; one that failed is made again. */
  const changes = Stream.unwrap(Effect.sync(() => {
    let last: number | undefined
    const moment = data.news.reader()
    const look = Effect.gen(function*() {
      if (last !== undefined) yield* moment
      const answer = yield* after(last)
      last = answer.last
      return decodeAll(answer.records)
    })
    return Stream.fromEffectRepeat(Effect.catch(look, () => Effect.as(moment, [])))
  }))
  return StatusStore.of({
    load: Effect.map(data.call("loadStatuses", null, { operation: "load statuses" }), decodeAll),
    put: (records) =>
      Effect.asVoid(Effect.suspend(() =>
        data.call("putStatuses", {
          writer,
          // plain data by its schema, so its text is its encoding
          records: records.map((record) => ({
            item: Item.key(record),
            token: record.token,
            json: JSON.stringify(record)
          }))
        }, { operation: "store statuses" })
      )),
    remove: (items) =>
      Effect.asVoid(data.call("removeStatuses", { items: items.map(Item.key) }, { operation: "remove statuses" })),
    changes: Stream.filter(changes, (records) => records.length > 0)
  })
})

/** @internal Over an engine that is shared. */
export const layerEngine: Layer.Layer<StatusStore, never, DataEngine> = Layer.effect(StatusStore, DataEngine.use(make))

/** The status store alone. */
export const layer = (options: Options): Layer.Layer<StatusStore, StoreError> =>
  Layer.provide(layerEngine, DataEngine.layer(options))
