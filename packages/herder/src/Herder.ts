/** Runs connectors: the service that a host application talks to. */
import type { ConfigInfos } from "@kelpie/core/ConfigInfos"
import type { KeyProblem } from "@kelpie/core/ConfigKey"
import type { TargetState } from "@kelpie/core/ConfigRecord"
import type { HerderEvent } from "@kelpie/core/HerderEvent"
import { LeaderClient } from "@kelpie/core/LeaderClient"
import type { Outcome } from "@kelpie/core/LeaderCommand"
import { Membership } from "@kelpie/core/Membership"
import type * as Plugin from "@kelpie/core/Plugin"
import type { Plugins } from "@kelpie/core/Plugins"
import type * as Status from "@kelpie/core/Status"
import type { StoreError } from "@kelpie/core/StoreError"
import * as Stores from "@kelpie/core/Stores"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { LogLevel } from "effect/LogLevel"
import type * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { HerderError } from "./HerderError.ts"
import * as internal from "./internal/herder.ts"
import { LeaderReceiver } from "./LeaderReceiver.ts"

/**
 * The port of hosts and of the REST API. Reads are answered from memory and never wait for a leader or a store, but for
 * offsets and used topics, which only their stores know.
 */
export class Herder extends Context.Service<Herder, {
  /** Names, sorted. */
  readonly list: Effect.Effect<ReadonlyArray<string>>
  readonly info: (name: string) => Effect.Effect<Herder.ConnectorInfo, HerderError>
  readonly status: (name: string) => Effect.Effect<Herder.ConnectorStatus, HerderError>
  readonly tasks: (name: string) => Effect.Effect<ReadonlyArray<Herder.TaskInfo>, HerderError>
  /** Creates; fails with `ConnectorExists`. */
  readonly create: (
    name: string,
    config: Plugin.ConnectorConfig,
    options?: { readonly initialState?: "RUNNING" | "PAUSED" | "STOPPED" | undefined }
  ) => Effect.Effect<Herder.Written, HerderError>
  /** Creates, or replaces the whole config. An equal config changes nothing. */
  readonly put: (name: string, config: Plugin.ConnectorConfig) => Effect.Effect<Herder.Written, HerderError>
  /** Changes some keys; `null` removes one. */
  readonly patch: (
    name: string,
    changes: Readonly<Record<string, string | null>>
  ) => Effect.Effect<Herder.Written, HerderError>
  /** Stops and forgets the connector; its offsets stay. */
  readonly delete: (name: string) => Effect.Effect<void, HerderError>
  readonly pause: (name: string) => Effect.Effect<void, HerderError>
  readonly resume: (name: string) => Effect.Effect<void, HerderError>
  readonly stop: (name: string) => Effect.Effect<void, HerderError>
  /** Starts the connector, its tasks, or those of them that failed, anew; gives the status with what is restarted. */
  readonly restart: (
    name: string,
    options?: {
      /** Whether the connector's tasks are restarted with it; default false. */
      readonly includeTasks?: boolean | undefined
      readonly onlyFailed?: boolean | undefined
    }
  ) => Effect.Effect<Herder.ConnectorStatus, HerderError>
  readonly restartTask: (name: string, task: number) => Effect.Effect<void, HerderError>
  /** An operator's "retry now" of the reconfiguration. */
  readonly retry: (name: string) => Effect.Effect<void, HerderError>
  /** "Retry now" for every started connector that waits or is parked and matches; gives their names. */
  readonly retryAll: (filter: {
    /** `*` stands for any characters. */
    readonly name?: string | undefined
    readonly class?: Status.FailureClass | undefined
  }) => Effect.Effect<ReadonlyArray<string>, HerderError>
  /** Parks the reconfiguration until `unpark`, `resume` or a delete. */
  readonly park: (name: string) => Effect.Effect<void, HerderError>
  readonly unpark: (name: string) => Effect.Effect<void, HerderError>
  /** Checks a config as `put` does, without an effect, and answers in Connect's shape. */
  readonly validate: (
    config: Plugin.ConnectorConfig
  ) => Effect.Effect<Herder.Validated, HerderError>
  /** The registry. */
  readonly plugins: Effect.Effect<ReadonlyArray<Plugin.Any>>
  /** The identity of the cluster, as the config store keeps it. */
  readonly clusterId: Effect.Effect<string>
  /** Whether this worker is up: it has read its stores and its tick moves. */
  readonly health: Effect.Effect<Herder.WorkerHealth>
  /** The place in the config log up to which the reads of this worker go. */
  readonly position: Effect.Effect<number>
  /** Waits until the reads of this worker hold a position, at most as long as a command may take. */
  readonly reached: (position: number) => Effect.Effect<void, HerderError>
  /** What became of a change whose outcome was unknown; none when it had no effect, so far, or ten minutes ago. */
  readonly operation: (id: string) => Effect.Effect<Option.Option<Outcome>>
  /** The workers, as this one knows them. */
  readonly group: Effect.Effect<Membership.Group>
  /** Has everything that this worker owns moved to others. */
  readonly drain: Effect.Effect<void, HerderError>
  /** Every event from now on; a slow consumer loses the oldest of 4,096. */
  readonly events: Stream.Stream<HerderEvent>
  /** The stored offsets of a source, or the positions of a sink, in Connect's shape. */
  readonly offsets: (name: string) => Effect.Effect<ReadonlyArray<Herder.OffsetEntry>, HerderError>
  /**
   * Changes some offsets of a stopped connector, all or nothing; waits for tasks that still stop. Fails with `NotStopped`,
   * and with `StateConflict`, without effect, when somebody resumes it meanwhile.
   */
  readonly alterOffsets: (
    name: string,
    entries: ReadonlyArray<Herder.OffsetEntry>
  ) => Effect.Effect<Herder.OffsetsChanged, HerderError>
  /** Removes all offsets of a stopped connector; otherwise as `alterOffsets`. */
  readonly resetOffsets: (name: string) => Effect.Effect<Herder.OffsetsChanged, HerderError>
  /** The topics that a connector has used since it was created or they were reset, sorted; none of one that is not there. */
  readonly topics: (name: string) => Effect.Effect<ReadonlyArray<string>, HerderError>
  /** Forgets the topics that a connector has used so far. */
  readonly resetTopics: (name: string) => Effect.Effect<void, HerderError>
  /** The loggers of this worker that have a level of their own, are a part of Kelpie, or are above one of these. */
  readonly loggers: Effect.Effect<ReadonlyArray<Herder.Logger>>
  /** One of them, or `connector.<name>` of a connector that exists; `undefined` for any other. */
  readonly logger: (name: string) => Effect.Effect<Herder.Logger | undefined>
  /**
   * Sets which lines a logger and those below it write, until this worker ends; any name will do. Tells which loggers have
   * the level now. `cluster`: on every worker that runs; then it tells none.
   */
  readonly setLogLevel: (
    name: string,
    level: LogLevel,
    options?: { readonly scope?: "worker" | "cluster" | undefined }
  ) => Effect.Effect<ReadonlyArray<string>, HerderError>
}>()("@kelpie/herder/Herder") {
  // `Layer.fresh`: two runtimes in one layer graph must not share the herder of whoever was built first
  /** Every port from outside: one worker among others. What they send to it as the leader comes in by `LeaderReceiver`. */
  static readonly layer: Layer.Layer<
    Herder | LeaderReceiver,
    StoreError,
    Plugins | Stores.Stores | Membership | LeaderClient
  > = Layer.fresh(Layer.effectContext(
    Effect.map(
      internal.make,
      ({ leader, service }) =>
        Context.make(Herder, service).pipe(Context.add(LeaderReceiver, {
          // whoever sent it may send it to the next leader too
          execute: (envelope) => leader.execute({ ...envelope, remembered: true })
        }))
    )
  ))

  /** One worker that holds its stores alone and leads itself; `workerId` is what statuses call it, `host:port`. */
  static readonly layerSoloAs = (
    options: { readonly workerId?: string | undefined }
  ): Layer.Layer<Herder, StoreError, Plugins | Stores.Stores> =>
    Layer.fresh(
      Layer.effect(this, internal.makeSolo).pipe(
        Layer.provide([Membership.layerSolo(options), LeaderClient.layerSolo])
      )
    )

  /** One worker that holds its stores alone and leads itself. */
  static readonly layerSolo: Layer.Layer<Herder, StoreError, Plugins | Stores.Stores> = this.layerSoloAs({})

  /** One worker; nothing is kept. */
  static readonly layerMemory: Layer.Layer<Herder, never, Plugins> = Layer.fresh(
    Layer.effect(this, Effect.orDie(internal.makeSolo)).pipe(
      Layer.provide([Membership.layerSolo(), LeaderClient.layerSolo, Stores.layerMemory])
    )
  )
}

export declare namespace Herder {
  /** A connector as it was asked for. */
  export interface ConnectorInfo {
    readonly name: string
    readonly config: Plugin.ConnectorConfig
    readonly type: "source" | "sink" | "unknown"
    /** Numbers of its tasks. */
    readonly tasks: ReadonlyArray<number>
    readonly target: TargetState
    /** Of the stored config. */
    readonly revision: number
    /** Of the task set that counts at present, if any. */
    readonly appliedRevision: number | undefined
  }
  /** The answer to a write. */
  export interface Written {
    readonly info: ConnectorInfo
    readonly created: boolean
    /** The place in the config log after which the write is in every read. */
    readonly position: number
    /** Keys that nobody defines, with their near matches. */
    readonly warnings: ReadonlyArray<{ readonly key: string; readonly message: string }>
  }
  /** One task. */
  export interface TaskInfo {
    readonly task: number
    /** Flat, as Connect shows it; variables are not resolved. */
    readonly config: Plugin.ConnectorConfig
  }
  /** The state of a task. */
  export interface TaskStatus {
    readonly task: number
    readonly state: Status.State
    readonly workerId: string
    readonly version: string | null
    /** Of a FAILED one. */
    readonly trace: string | undefined
    /** The revision of the config that it runs. */
    readonly revision: number | undefined
  }
  /** The state of a connector and its tasks, from one snapshot. */
  export interface ConnectorStatus {
    readonly name: string
    readonly type: "source" | "sink" | "unknown"
    readonly state: Status.State
    readonly workerId: string
    readonly version: string | null
    readonly trace: string | undefined
    readonly tasks: ReadonlyArray<TaskStatus>
    readonly health: Status.Health
    readonly conditions: ReadonlyArray<Status.Condition>
    readonly reconfiguration: Status.Reconfiguration
    readonly revision: { readonly stored: number; readonly applied: number | undefined }
    /** `requested` is `tasks.max`, `generated` what the connector gave last, `running` those in state RUNNING. */
    readonly taskCounts: {
      readonly requested: number
      readonly generated: number | undefined
      readonly running: number
    }
    /** Keys of the stored config that nobody reads, with their near matches. */
    readonly warnings: Written["warnings"]
  }
  /** The answer of a validation. */
  export interface Validated {
    /** Connect's shape. */
    readonly infos: ConfigInfos
    readonly problems: ReadonlyArray<KeyProblem>
    readonly warnings: ReadonlyArray<{ readonly key: string; readonly message: string }>
  }
  /**
   * An offset of a source by source partition, as its tasks store them; of a sink `{ kafka_topic, kafka_partition }` and
   * `{ kafka_offset }`, the offset of the next record. A null offset removes what is stored.
   */
  export interface OffsetEntry {
    readonly partition: typeof Schema.Json.Type
    readonly offset: typeof Schema.Json.Type
  }
  /** The answer to a change of offsets. */
  export interface OffsetsChanged {
    /** Whether the connector's definition says what its offsets look like; else it may keep its own somewhere else. */
    readonly checked: boolean
  }
  /**
   * Log lines belong to the logger that their annotation `logger` names, else to `connector.<name>` of their annotation
   * `connector`, else to `kelpie`. Dots make a tree, below `root`.
   */
  export interface Logger {
    readonly name: string
    /** Its own, or that of the next logger above it that has one. */
    readonly level: LogLevel
    /** When somebody set that level, in epoch milliseconds. */
    readonly lastModified: number | undefined
  }
  /** How this worker does. */
  export interface WorkerHealth {
    readonly status: "starting" | "healthy" | "unhealthy"
    readonly message: string
  }
}
