/** The four stores that an engine brings, together. */
import * as Layer from "effect/Layer"
import { ConfigStore } from "./ConfigStore.ts"
import { OffsetStore } from "./OffsetStore.ts"
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
