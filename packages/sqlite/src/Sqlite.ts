/**
 * All four stores in one directory, durable, without a server: what a worker on one machine runs on.
 *
 * | file         | holds                                                                                          |
 * | ------------ | ---------------------------------------------------------------------------------------------- |
 * | `control.db` | the config log                                                                                 |
 * | `data.db`    | statuses, offsets, topics and positions: records and their offsets are stored in one transaction |
 * | `lock.db`    | nothing; who holds the directory holds a lock on it (`ConfigStore.exclusive`)                  |
 * | `lock.json`  | the process that holds it, for people                                                          |
 * | `sessions/`  | a lock for each process of those that share the directory (`layerShared`)                      |
 *
 * `node:sqlite` runs on one worker thread per file, never on the main thread. What is asked while a transaction is on its
 * way to the disk shares the next one. With `synchronous: "full"` an answered write survives a power failure; with
 * `"normal"` it survives the end of the process, and a power failure may take the last ones.
 *
 * **Which files belong together.** A directory's id is drawn when `control.db` is created, and `data.db` takes it over;
 * a `data.db` with another one is refused as `Corrupt`. The cluster's id is a second one: that of the option `clusterId`,
 * or of the `cluster` record once it is written. Opening for another cluster is refused as `Corrupt` too.
 *
 * The directory has to be on a local disk: SQLite's log and its locks do not work over a network.
 */
import type { Membership } from "@kelpie/core/Membership"
import type { SessionKeys } from "@kelpie/core/SessionKeys"
import type { StoreError } from "@kelpie/core/StoreError"
import type { Stores } from "@kelpie/core/Stores"
import type * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import { ControlEngine } from "./internal/ControlEngine.ts"
import { DataEngine } from "./internal/DataEngine.ts"
import * as configStore from "./SqliteConfigStore.ts"
import * as membership from "./SqliteMembership.ts"
import * as offsetStore from "./SqliteOffsetStore.ts"
import * as statusStore from "./SqliteStatusStore.ts"
import * as topicLog from "./SqliteTopicLog.ts"

/** Where and how to store. */
export interface Options {
  /** Created when it is missing. */
  readonly directory: string
  /** The cluster that the directory has to belong to; a new directory becomes its. Left out: any. */
  readonly clusterId?: string | undefined
  /** Whether a commit waits for the disk. Default "full". */
  readonly synchronous?: "full" | "normal" | undefined
  /** How long records are kept after they were stored; the newest batch of a partition always is. */
  readonly retention?: {
    /** Default 7 days. */
    readonly millis?: number | undefined
    /** Of each partition, as stored. Default: no bound. */
    readonly bytes?: number | undefined
  } | undefined
  /** Partitions of a topic that its first append creates. Default 1. */
  readonly partitions?: number | undefined
  /** How long a lock of another process is waited for; then `Unavailable`. Default 5 seconds. */
  readonly busyTimeout?: Duration.Input | undefined
}

/** The four stores. Building fails when the directory cannot be used, and says why and what to do. */
export const layer = (options: Options): Layer.Layer<Stores, StoreError> => {
  return Layer.provide(stores(options, false), ControlEngine.layer(options))
}

const stores = (options: Options, shared: boolean) =>
  Layer.mergeAll(
    configStore.layerEngine,
    Layer.mergeAll(statusStore.layerEngine, offsetStore.layerEngine, topicLog.layerEngine).pipe(
      Layer.provide(DataEngine.layerBeside(options, shared))
    )
  )

/** A directory that several processes share. */
export interface SharedOptions extends Options {
  /** This process among them. */
  readonly worker: Membership.Worker
}

/**
 * The four stores for several processes of one machine that share the directory, with their group and the keys by which they
 * know each other's requests. Building waits for the end of an earlier life of the same worker, and fails while another
 * process has its id, or holds the directory alone.
 */
export const layerShared = (
  options: SharedOptions
): Layer.Layer<Stores | Membership | SessionKeys, StoreError> =>
  Layer.mergeAll(stores(options, true), membership.layerEngine(options.worker), membership.layerKeys).pipe(
    Layer.provide(ControlEngine.layerShared(options))
  )
