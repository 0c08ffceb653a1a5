/**
 * The group of the workers that share a data directory, on one machine and a local disk: a row for each session in
 * `control.db`, and a lock for each process, so that a death is known within a moment. One that is only stopped keeps its
 * lock; there its lease decides (`MembershipPolicy`).
 */
import { Membership } from "@kelpie/core/Membership"
import { SessionKeys } from "@kelpie/core/SessionKeys"
import type { StoreError } from "@kelpie/core/StoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ControlEngine } from "./internal/ControlEngine.ts"
import type { Options } from "./Sqlite.ts"

const Worker = Schema.Struct({
  workerId: Schema.String,
  address: Schema.optionalKey(Schema.String),
  plugins: Schema.optionalKey(Schema.Array(Schema.String)),
  labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})

const decode = Schema.decodeUnknownExit(Schema.fromJsonString(Worker))

const engine = (control: ControlEngine["Service"]): Membership.Encoded => ({
  join: (worker, session) =>
    Effect.asVoid(
      control.call(
        "joinGroup",
        { session, workerId: worker.workerId, worker: JSON.stringify(worker) },
        { operation: "join the group" }
      )
    ),
  renew: (session) => control.call("renewSession", { session }, { operation: "renew" }),
  end: (session, counter) =>
    Effect.asVoid(control.call("endSession", { session, counter }, { operation: "end a session" })),
  leave: (session) => Effect.asVoid(control.call("leaveGroup", { session }, { operation: "leave the group" })),
  drain: (session) => Effect.asVoid(control.call("drainSession", { session }, { operation: "drain" })),
  read: Effect.map(
    control.call("sessions", null, { operation: "read the group" }),
    (rows) =>
      rows.map(({ counter, draining, session, worker }): Membership.Row => {
        const exit = decode(worker)
        // one that cannot be read is of another version: it is a member all the same
        const told = exit._tag === "Success" ? exit.value : { workerId: session }
        return { ...told, session, counter, ...(draining ? { draining } : {}) }
      })
  ),
  changed: Stream.suspend(() => Stream.fromEffectRepeat(control.news.reader())),
  gone: (session) => control.call("isGone", { session }, { operation: "look for a process" })
})

/** @internal Over an engine that is shared. */
export const layerEngine = (worker: Membership.Worker): Layer.Layer<Membership, StoreError, ControlEngine> =>
  Layer.effect(Membership, ControlEngine.use((control) => Membership.makeEncoded(worker, engine(control))))

/** @internal The cluster's keys, over an engine that is shared. */
export const layerKeys: Layer.Layer<SessionKeys, never, ControlEngine> = Layer.effect(
  SessionKeys,
  ControlEngine.use((control) =>
    SessionKeys.makeEncoded({
      load: control.call("loadKeys", null, { operation: "load keys" }),
      add: (key, after) => control.call("addKey", { key, after }, { operation: "add a key" }),
      drop: (before) => Effect.asVoid(control.call("dropKeys", { before }, { operation: "drop keys" }))
    })
  )
)

/** The membership alone. */
export const layer = (
  options: Options & { readonly worker: Membership.Worker }
): Layer.Layer<Membership, StoreError> => Layer.provide(layerEngine(options.worker), ControlEngine.layerShared(options))
