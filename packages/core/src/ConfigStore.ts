/**
 * The config log: one writer at a time, whole commits, and the state they fold to.
 *
 * `claim` makes a session the one that may append (I1): it fences every earlier claim, asks once more whether this
 * session should lead, appends the leader's record and reads up to it. Whoever holds the claim has read everything before
 * its first decision, and decides on `state`.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as ClusterState from "./ClusterState.ts"
import type * as ConfigRecord from "./ConfigRecord.ts"
import * as encoded from "./internal/configStore.ts"
import * as memory from "./internal/configStoreMemory.ts"
import type { StoreError } from "./StoreError.ts"

/** The port. */
export class ConfigStore extends Context.Service<ConfigStore, {
  /** The newest state this worker has applied; no I/O. */
  readonly state: Effect.Effect<ClusterState.ClusterState>
  /** Reads to the end of the log. */
  readonly refresh: Effect.Effect<ClusterState.ClusterState, StoreError>
  /** The state now, and the keys that changed after a position (all keys when that is too long ago); no I/O. */
  readonly changedSince: (position: number) => Effect.Effect<ConfigStore.Change>
  /** The state after applied commits, newest only: a slow reader skips. A hint to look, as `changedSince` tells what. */
  readonly changes: Stream.Stream<ClusterState.ClusterState>
  /** Becomes the only writer. Fails with `Fenced` when `confirm` says that the session should not lead. */
  readonly claim: (session: string, confirm: Effect.Effect<boolean>) => Effect.Effect<ConfigStore.Claim, StoreError>
  /** Holds the store for this process alone; a second holder gets `Unavailable` at once, with a detail that says so. */
  readonly exclusive: Effect.Effect<void, StoreError, Scope.Scope>
  /** The cluster that it belongs to when that is given from outside; left out: the first leader draws it. */
  readonly clusterId?: string | undefined
  /** The largest record in bytes of its JSON text. */
  readonly maxRecordBytes: number
}>()("@kelpie/core/ConfigStore") {
  /** A store over an engine that keeps strings: the fold, the guards and the codecs are Kelpie's. */
  static readonly makeEncoded = (
    engine: ConfigStore.Encoded
  ): Effect.Effect<ConfigStore["Service"], StoreError, Scope.Scope> => encoded.make(engine)

  /** In memory; nothing is kept. */
  static readonly layerMemory: Layer.Layer<ConfigStore> = Layer.fresh(
    Layer.effect(this, Effect.orDie(Effect.flatMap(memory.make, encoded.make)))
  )
}

export declare namespace ConfigStore {
  /** What changed after a position. */
  export interface Change {
    readonly state: ClusterState.ClusterState
    readonly keys: Iterable<string>
  }
  /** A write with its guard: the position of the key's last record that it was decided on, 0 for none. */
  export interface GuardedWrite {
    readonly write: ConfigRecord.Write
    readonly expect?: number | undefined
  }
  /** The right to append. */
  export interface Claim {
    /** Position of the claim's leader record. */
    readonly term: number
    /**
     * Appends all or nothing, durably, applies it and gives the position of its last record. `Fenced`: somebody claimed
     * after this; `Conflict`: a guard does not hold; both without effect. After `Unavailable`, or when the commit was
     * interrupted, the outcome is unknown: this claim appends nothing more (`Fenced`); claim again and look.
     */
    readonly commit: (writes: ReadonlyArray<GuardedWrite>) => Effect.Effect<number, StoreError>
  }
  /** What an engine has to offer: three functions on strings. */
  export interface Encoded {
    /** Fences every earlier claim and gives a number above all earlier ones. */
    readonly claim: Effect.Effect<number, StoreError>
    /**
     * Appends all or nothing, durably, and gives each record's position, growing and never reused. Fails with `Fenced`,
     * without effect, when a newer claim exists.
     */
    readonly append: (
      claim: number,
      records: ReadonlyArray<ConfigRecord.EncodedWrite>
    ) => Effect.Effect<ReadonlyArray<number>, StoreError>
    /** The records after a position, in order, at least the last of each key, whole commits only. */
    readonly read: (after: number) => Effect.Effect<ReadonlyArray<ConfigRecord.Encoded>, StoreError>
    /** Tells that somebody else may have appended; saves polling. */
    readonly changed?: Stream.Stream<void> | undefined
    /** The cluster that it belongs to when that is given from outside. */
    readonly clusterId?: string | undefined
    /** Left out: nothing to hold. */
    readonly exclusive?: Effect.Effect<void, StoreError, Scope.Scope> | undefined
    /** Left out: 1 MiB. */
    readonly maxRecordBytes?: number | undefined
  }
}
