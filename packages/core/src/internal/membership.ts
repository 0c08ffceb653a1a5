/** Membership over an engine that keeps rows: joins, renews, watches the others, and ends whose lease ran out. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Identity from "../Identity.ts"
import type { Membership } from "../Membership.ts"
import * as Newest from "../Newest.ts"
import { MembershipPolicy } from "../Policies.ts"
import { StoreError } from "../StoreError.ts"
import * as Lease from "./lease.ts"

const millis = (input: Duration.Input): number => Duration.toMillis(Duration.fromInputUnsafe(input))

const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

/** The oldest that does not want to be drained; else the oldest. */
const hint = (members: ReadonlyArray<Membership.Member>): string | undefined =>
  (members.find((member) => member.draining !== true) ?? members[0])?.session

const memberOf = ({ counter: _, ...member }: Membership.Row): Membership.Member => member

const sameGroup = (a: Membership.Group, b: Membership.Group): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Makes the service. */
export const make = Effect.fnUntraced(function*(
  worker: Membership.Worker,
  engine: Membership.Encoded
): Effect.fn.Return<Membership["Service"], StoreError, Scope.Scope> {
  const policy = yield* MembershipPolicy
  const terms: Lease.Terms = {
    lease: millis(policy.lease),
    renewal: millis(policy.renewal),
    margin: millis(policy.margin)
  }
  let rows: ReadonlyArray<Membership.Row> = []
  let sightings = Lease.unseen
  let own: { readonly session: string; sent: number } | undefined
  /** Own sessions that may not be used again and have not ended for all that is known. */
  const left = new Set<string>()
  const group = Newest.make<Membership.Group>({ self: undefined, members: [], leader: undefined })

  /** An engine that does not answer must not hold up the watch. */
  const asked = <A>(operation: string, effect: Effect.Effect<A, StoreError>): Effect.Effect<A, StoreError> =>
    Effect.timeoutOrElse(effect, {
      duration: terms.renewal,
      orElse: () => Effect.fail(new StoreError({ kind: "Unavailable", operation, detail: "no answer" }))
    })

  const publish = () => {
    const members = rows.map(memberOf)
    const self = members.find(({ session }) => session === own?.session)
    // who may not act does not lead, and does not know who does
    const next = { self, members, leader: self === undefined ? undefined : hint(members) }
    if (!sameGroup(next, group.get())) group.set(next)
  }

  const read = Effect.gen(function*() {
    const found = yield* asked("read members", engine.read)
    sightings = Lease.see(sightings, found, yield* now, terms)
    rows = found
    if (own !== undefined && !found.some(({ session }) => session === own?.session)) own = undefined
    publish()
  })

  const lose = () => {
    own = undefined
    publish()
  }

  const join: Effect.Effect<void, StoreError> = Effect.gen(function*() {
    for (const session of left) {
      yield* asked("leave", engine.leave(session))
      left.delete(session)
    }
    const session = yield* Identity.draw
    const sent = yield* now
    yield* asked("join", engine.join(worker, session))
    own = { session, sent }
    yield* read
  })

  /** Ends sessions that are proved to be gone or whose lease ran out; whoever renews meanwhile stays. */
  const endOthers = Effect.fnUntraced(function*(ended: ReadonlyArray<Lease.Counted>) {
    const others = ended.filter(({ session }) => session !== own?.session)
    if (others.length === 0) return
    for (const { counter, session } of others) yield* asked("end", engine.end(session, counter))
    yield* read
  })

  const endExpired = Effect.flatMap(now, (at) => endOthers(Lease.ranOut(sightings, at, terms)))

  const gone = Effect.gen(function*() {
    const proof = engine.gone
    if (proof === undefined) return
    const others = rows.filter(({ session }) => session !== own?.session)
    yield* endOthers(yield* Effect.filter(others, ({ session }) => proof(session)))
  })

  const renew = Effect.gen(function*() {
    if (own === undefined) return yield* join
    const renewing = own
    const sent = yield* now
    if (yield* asked("renew", engine.renew(renewing.session))) renewing.sent = sent
    else if (own === renewing) lose()
    yield* read
    yield* endExpired
  })

  /** Stops to act in time, whatever the engine does. */
  const expire: Effect.Effect<void> = Effect.gen(function*() {
    const held = own
    const at = yield* now
    if (held === undefined) return yield* Effect.sleep(terms.margin)
    const until = Lease.actsUntil(held.sent, terms)
    if (at < until) return yield* Effect.sleep(until - at)
    left.add(held.session)
    lose()
    yield* Effect.ignore(join)
  })

  /** Joins in place of a session of the same worker once that is known to have ended; refuses beside one that renews. */
  const joinFirst: Effect.Effect<void, StoreError> = Effect.catch(join, (error) =>
    Effect.gen(function*() {
      if (error.kind !== "Conflict") return yield* error
      const holder = (yield* engine.read).find(({ workerId }) => workerId === worker.workerId)
      if (holder === undefined) return yield* joinFirst
      yield* awaitEnd(holder)
      return yield* joinFirst
    }))

  const awaitEnd = Effect.fnUntraced(function*(holder: Membership.Row) {
    const since = yield* now
    while ((yield* now) - since < terms.lease) {
      if (engine.gone !== undefined && (yield* engine.gone(holder.session))) break
      yield* Effect.sleep(Math.min(terms.renewal, goneMillis))
      const seen = (yield* engine.read).find(({ session }) => session === holder.session)
      if (seen === undefined) return
      if (seen.counter !== holder.counter) {
        return yield* new StoreError({
          kind: "Conflict",
          operation: "join",
          detail: `the worker id ${worker.workerId} is in use by session ${holder.session}, which renews; give this ` +
            "worker another id, or stop the other"
        })
      }
    }
    yield* engine.end(holder.session, holder.counter)
  })

  const again = (effect: Effect.Effect<void, StoreError>, pause: Duration.Input) =>
    Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(pause), Effect.ignore(effect))))

  yield* joinFirst
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => own === undefined ? Effect.void : Effect.ignore(asked("leave", engine.leave(own.session))))
  )
  yield* again(renew, terms.renewal)
  yield* Effect.forkScoped(Effect.forever(expire))
  if (engine.gone !== undefined) yield* again(gone, goneMillis)
  if (engine.changed !== undefined) {
    yield* Effect.forkScoped(Stream.runForEach(engine.changed, () => Effect.ignore(read)), { startImmediately: true })
  }
  return {
    workerId: worker.workerId,
    group: Effect.sync(group.get),
    changes: group.changes,
    refresh: Effect.andThen(read, Effect.sync(group.get)),
    drain: Effect.suspend(() =>
      own === undefined
        ? Effect.fail(new StoreError({ kind: "Unavailable", operation: "drain", detail: "this worker has no session" }))
        : Effect.andThen(asked("drain", engine.drain(own.session)), read)
    )
  }
})

/** How often it is asked whether processes are gone. */
const goneMillis = 250
