/** Who is alive, and who should lead. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Identity from "./Identity.ts"

/** The port. Sessions are lives of worker processes; a hint names the one that should claim the config log. */
export class Membership extends Context.Service<Membership, {
  /** This worker. */
  readonly self: Membership.Member
  /** The newest group this worker knows; no I/O. */
  readonly group: Effect.Effect<Membership.Group>
  /** The group after changes, newest only. */
  readonly changes: Stream.Stream<Membership.Group>
}>()("@kelpie/core/Membership") {
  /** One worker that leads itself. Its lease does not end: the store's `exclusive` holds it (design, section 3). */
  static readonly layerSolo = (options?: { readonly workerId?: string | undefined }): Layer.Layer<Membership> =>
    Layer.fresh(Layer.effect(
      this,
      Effect.map(Identity.draw, (session) => {
        const self: Membership.Member = { workerId: options?.workerId ?? "127.0.0.1:8083", session }
        const group: Membership.Group = { members: [self], leader: session }
        return { self, group: Effect.succeed(group), changes: Stream.never }
      })
    ))
}

export declare namespace Membership {
  /** One life of a worker. */
  export interface Member {
    /** What people call the worker: `host:port` as clients reach it. */
    readonly workerId: string
    /** Drawn for this life. */
    readonly session: string
  }
  /** The members, and the session that should lead. */
  export interface Group {
    readonly members: ReadonlyArray<Member>
    readonly leader: string | undefined
  }
}
