/** A group in memory, for several runtimes in one process. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Membership } from "./Membership.ts"
import * as Newest from "./Newest.ts"
import { StoreError } from "./StoreError.ts"

/** The group. Leases run by `MembershipPolicy`. */
export interface MemoryGroup {
  /** Joins with a worker; the scope of the layer leaves. */
  readonly layer: (worker: Membership.Worker) => Layer.Layer<Membership, StoreError>
  /** The engine below: simulations put faults around it. */
  readonly engine: Membership.Encoded
}

/** An empty group. */
export const make: Effect.Effect<MemoryGroup> = Effect.sync(() => {
  const rows = Newest.make<ReadonlyArray<Membership.Row>>([])
  const change = (session: string, f: (row: Membership.Row) => Membership.Row | undefined) =>
    rows.set(rows.get().flatMap((row) => row.session === session ? f(row) ?? [] : [row]))
  const engine: Membership.Encoded = {
    join: (worker, session) =>
      Effect.suspend(() => {
        const holder = rows.get().find(({ workerId }) => workerId === worker.workerId)
        if (holder !== undefined) {
          const detail = `the worker id ${worker.workerId} is in use by session ${holder.session}`
          return Effect.fail(new StoreError({ kind: "Conflict", operation: "join", detail }))
        }
        rows.set([...rows.get(), { ...worker, session, counter: 0 }])
        return Effect.void
      }),
    renew: (session) =>
      Effect.sync(() => {
        const lives = rows.get().some((row) => row.session === session)
        if (lives) change(session, (row) => ({ ...row, counter: row.counter + 1 }))
        return lives
      }),
    end: (session, counter) => Effect.sync(() => change(session, (row) => row.counter === counter ? undefined : row)),
    leave: (session) => Effect.sync(() => change(session, () => undefined)),
    drain: (session) => Effect.sync(() => change(session, (row) => ({ ...row, draining: true }))),
    read: Effect.sync(rows.get),
    changed: Stream.map(rows.changes, () => undefined)
  }
  return {
    engine,
    layer: (worker) => Layer.fresh(Layer.effect(Membership, Membership.makeEncoded(worker, engine)))
  }
})
