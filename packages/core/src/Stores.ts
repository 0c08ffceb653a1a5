/** The four stores that an engine brings, together. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ConfigStore } from "./ConfigStore.ts"
import * as configMemory from "./internal/configStoreMemory.ts"
import * as Newest from "./Newest.ts"
import { OffsetStore } from "./OffsetStore.ts"
import type { StatusRecord } from "./Status.ts"
import { StatusStore } from "./StatusStore.ts"
import { TopicLog } from "./TopicLog.ts"

/** What a runtime keeps its state in. */
export type Stores = ConfigStore | StatusStore | OffsetStore | TopicLog

/** Everything in memory; nothing is kept. */
export const layerMemory: Layer.Layer<Stores> = Layer.mergeAll(
  ConfigStore.layerMemory,
  StatusStore.layerMemory,
  OffsetStore.layerMemory,
  TopicLog.layerMemory
)

/**
 * Everything in memory, for several runtimes in one process: each build of the layer is the view of one of them on the same
 * data. Nothing is kept beyond the scope.
 */
export const makeSharedMemory: Effect.Effect<Layer.Layer<Stores>, never, Scope.Scope> = Effect.gen(function*() {
  const kept = yield* Layer.build(
    Layer.mergeAll(StatusStore.layerMemory, OffsetStore.layerMemory, TopicLog.layerMemory)
  )
  const log = yield* configMemory.make
  const appended = Newest.make<void>(undefined)
  const configStore = ConfigStore.makeEncoded({
    ...log,
    append: (claim, writes) => Effect.tap(log.append(claim, writes), () => Effect.sync(() => appended.set())),
    changed: appended.changes
  })
  const statuses = sharedStatuses(Context.get(kept, StatusStore))
  return Layer.mergeAll(
    Layer.fresh(Layer.effect(ConfigStore, Effect.orDie(configStore))),
    Layer.fresh(Layer.effect(StatusStore, statuses)),
    Layer.succeedContext(Context.omit(StatusStore)(kept))
  )
})

/** Views on one store of statuses: each is told what the others store. */
const sharedStatuses = (below: StatusStore["Service"]) => {
  const views = new Set<View>()
  return Effect.gen(function*() {
    const view: View = { untold: [], arrived: Newest.make<void>(undefined) }
    yield* Effect.acquireRelease(Effect.sync(() => views.add(view)), () => Effect.sync(() => views.delete(view)))
    const tell = (records: ReadonlyArray<StatusRecord>) => {
      for (const other of views) {
        if (other === view) continue
        other.untold.push(...records)
        other.arrived.set()
      }
    }
    return {
      ...below,
      put: (records: ReadonlyArray<StatusRecord>) =>
        Effect.tap(below.put(records), () => Effect.sync(() => tell(records))),
      changes: Stream.map(view.arrived.changes, () => view.untold.splice(0))
    }
  })
}

interface View {
  readonly untold: Array<StatusRecord>
  readonly arrived: Newest.Newest<void>
}
