/** The four stores that an engine brings, together. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ConfigStore } from "./ConfigStore.ts"
import * as configMemory from "./internal/configStoreMemory.ts"
import * as Newest from "./internal/newest.ts"
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
    Layer.fresh(Layer.sync(StatusStore, statuses)),
    Layer.succeedContext(Context.omit(StatusStore)(kept))
  )
})

interface Told {
  readonly by: number
  readonly records: ReadonlyArray<StatusRecord>
}

/** Views on one store of statuses: each is told what the others store. */
const sharedStatuses = (below: StatusStore["Service"]) => {
  const put = Newest.make<Told>({ by: 0, records: [] })
  let views = 0
  return (): StatusStore["Service"] => {
    const view = ++views
    return {
      ...below,
      put: (records) => Effect.tap(below.put(records), () => Effect.sync(() => put.set({ by: view, records }))),
      changes: put.changes.pipe(
        Stream.filter(({ by }) => by !== view),
        // a slow reader skips some: it looks at all
        Stream.mapEffect(() => Effect.orDie(below.load))
      )
    }
  }
}
