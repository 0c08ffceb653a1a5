/**
 * The cluster's keys for requests between workers.
 *
 * Workers share what their engine keeps, and so they share secrets. A key replaces the one before it, which is accepted a
 * little longer and then forgotten (`SessionKeyPolicy`). No worker is in charge: whoever needs a key and finds the newest
 * one too old adds another, if nobody else did.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as encoded from "./internal/sessionKeys.ts"
import * as memory from "./internal/sessionKeysMemory.ts"
import type { StoreError } from "./StoreError.ts"

/** The port. Secrets are in no error, log or span. */
export class SessionKeys extends Context.Service<SessionKeys, {
  /** The key to sign with; adds one when there is none, or none that is young enough. */
  readonly current: Effect.Effect<SessionKeys.Key, StoreError>
  /**
   * The key that a request names, if it is still accepted. Reads anew for an id that is not known, at most once a second:
   * whoever comes earlier waits for the next time.
   */
  readonly find: (id: string) => Effect.Effect<Option.Option<SessionKeys.Key>, StoreError>
  /** Reads anew: whoever was told that a key is out of date does so before signing again. */
  readonly refresh: Effect.Effect<void, StoreError>
}>()("@kelpie/core/SessionKeys") {
  /** Keys over an engine that keeps strings: secrets, rotation and grace are Kelpie's. Reads with the first use. */
  static readonly makeEncoded = (engine: SessionKeys.Encoded): Effect.Effect<SessionKeys["Service"]> =>
    encoded.make(engine)

  /** For runtimes of one process: those that are built with this layer together share its keys. */
  static readonly layerMemory: Layer.Layer<SessionKeys> = Layer.effect(
    this,
    Effect.flatMap(memory.make, encoded.make)
  )
}

export declare namespace SessionKeys {
  /** A key. */
  export interface Key {
    /** Names the key in requests; no secret. */
    readonly id: string
    /** 256 bits, as a text. */
    readonly secret: Redacted.Redacted
    readonly createdAtMillis: number
  }
  /** A key as an engine keeps it: whoever reads the secret can speak for every worker. */
  export interface EncodedKey {
    readonly id: string
    readonly secret: string
    /** Milliseconds since 1970, by the clock of the worker that made it. */
    readonly createdAt: number
  }
  /** What an engine has to offer. */
  export interface Encoded {
    /** All keys, in the order in which they were added. */
    readonly load: Effect.Effect<ReadonlyArray<EncodedKey>, StoreError>
    /** Adds a key if the one that was added last has this id (`undefined`: there is none); tells whether it did. */
    readonly add: (key: EncodedKey, after: string | undefined) => Effect.Effect<boolean, StoreError>
    /** Removes the keys that were created before, but never the one that was added last. */
    readonly drop: (before: number) => Effect.Effect<void, StoreError>
  }
}
