/**
 * Who is alive, and who should lead.
 *
 * A session is one life of a worker. Its lease is the time in which it may act, counted by itself from the sending of its
 * last good renewal. A group lists the sessions that have not ended; an ended one cannot renew, so what it owned may be
 * given away (I12, I13). A worker whose lease ran out has no session until it has joined anew.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Identity from "./Identity.ts"
import * as encoded from "./internal/membership.ts"
import type { StoreError } from "./StoreError.ts"

/** The port. A hint names the session that should claim the config log; only the claim makes it the leader. */
export class Membership extends Context.Service<Membership, {
  /** What people call this worker: `host:port` as clients reach it. */
  readonly workerId: string
  /** The newest group this worker knows; no I/O. */
  readonly group: Effect.Effect<Membership.Group>
  /** The group after changes, newest only. */
  readonly changes: Stream.Stream<Membership.Group>
  /** Asks the engine for the group: every session that joined before is in it, unless it has ended. */
  readonly refresh: Effect.Effect<Membership.Group, StoreError>
  /** Asks that everything this worker owns be moved to others; it stays a member. */
  readonly drain: Effect.Effect<void, StoreError>
}>()("@kelpie/core/Membership") {
  /** A membership over an engine that keeps rows: leases, renewals and watching are Kelpie's. */
  static readonly makeEncoded = (
    worker: Membership.Worker,
    engine: Membership.Encoded
  ): Effect.Effect<Membership["Service"], StoreError, Scope.Scope> => encoded.make(worker, engine)

  /** A membership in a group that somebody else keeps, and tells of when asked. */
  static readonly given = (workerId: string, group: Effect.Effect<Membership.Group>): Membership["Service"] => ({
    workerId,
    group,
    changes: Stream.never,
    refresh: group,
    drain: Effect.void
  })

  /** One worker that leads itself. Its lease does not end: the store's `exclusive` holds it (design, section 3). */
  static readonly layerSolo = (options?: { readonly workerId?: string | undefined }): Layer.Layer<Membership> =>
    Layer.fresh(Layer.effect(
      this,
      Effect.map(Identity.draw, (session) => {
        const workerId = options?.workerId ?? "127.0.0.1:8083"
        const self: Membership.Member = { workerId, session }
        return this.given(workerId, Effect.succeed({ self, members: [self], leader: session }))
      })
    ))
}

export declare namespace Membership {
  /** What a worker tells of itself when it joins. */
  export interface Worker {
    readonly workerId: string
    /** Where its commands are sent to: `http://host:port`. Left out: nowhere. */
    readonly address?: string | undefined
    /** The connector classes it can run. Left out: all. */
    readonly plugins?: ReadonlyArray<string> | undefined
    /** What connectors may ask for with `placement.labels`. */
    readonly labels?: Readonly<Record<string, string>> | undefined
  }
  /** One life of a worker. */
  export interface Member extends Worker {
    /** Drawn for this life. */
    readonly session: string
    /** It asked that everything be moved away from it. */
    readonly draining?: boolean | undefined
  }
  /** A member as an engine keeps it. */
  export interface Row extends Member {
    /** How often it was renewed. */
    readonly counter: number
  }
  /** What an engine has to offer. Sessions that have ended are never listed again. */
  export interface Encoded {
    /** Adds a session. Fails with `Conflict` while another session of the same worker id has not ended. */
    readonly join: (worker: Worker, session: string) => Effect.Effect<void, StoreError>
    /** Counts a renewal; `false` when the session has ended. */
    readonly renew: (session: string) => Effect.Effect<boolean, StoreError>
    /** Ends a session if it was not renewed since it had this counter; in one step with that check. */
    readonly end: (session: string, counter: number) => Effect.Effect<void, StoreError>
    /** Ends the own session. */
    readonly leave: (session: string) => Effect.Effect<void, StoreError>
    /** Notes that the session wants to be drained. */
    readonly drain: (session: string) => Effect.Effect<void, StoreError>
    /** The sessions that have not ended, in the order in which they joined. */
    readonly read: Effect.Effect<ReadonlyArray<Row>, StoreError>
    /** Tells that rows have changed; saves waiting for the next renewal. */
    readonly changed?: Stream.Stream<void> | undefined
    /** Whether the operating system proves that the session's process is gone. */
    readonly gone?: ((session: string) => Effect.Effect<boolean, StoreError>) | undefined
  }
  /** The members, oldest first, and the session that should lead. */
  export interface Group {
    /** This worker; `undefined` while it has no session. */
    readonly self: Member | undefined
    readonly members: ReadonlyArray<Member>
    readonly leader: string | undefined
  }
}
