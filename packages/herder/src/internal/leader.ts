/**
 * The leader on this worker: claims the config log, decides commands one after the other and commits them in groups.
 *
 * While a commit is under way, commands gather; the next commit takes all of them. After a commit with an unknown
 * outcome it claims again, reads, and looks whether what it wrote is there (I1). A command id takes effect once; its
 * outcome is told again for ten minutes, then the id is refused (I10). What sessions owned that have ended is given to
 * others, once the stores refuse what these may still write.
 */
import * as ClusterState from "@kelpie/core/ClusterState"
import type * as ConfigRecord from "@kelpie/core/ConfigRecord"
import type { ConfigStore } from "@kelpie/core/ConfigStore"
import type { ConnectorError } from "@kelpie/core/ConnectorError"
import * as Identity from "@kelpie/core/Identity"
import { type Envelope, LeaderError, type Outcome } from "@kelpie/core/LeaderCommand"
import type { Membership } from "@kelpie/core/Membership"
import type * as Middleware from "@kelpie/core/Middleware"
import type { OffsetStore } from "@kelpie/core/OffsetStore"
import { PlacementPolicy } from "@kelpie/core/Policies"
import { StoreError } from "@kelpie/core/StoreError"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import type * as Scope from "effect/Scope"
import * as LeaderDecision from "../LeaderDecision.ts"
import * as Placement from "../Placement.ts"
import * as Outcomes from "./outcomes.ts"

/** Executes commands as the leader. */
export interface Leader {
  /** Fails with `NotLeader` when this worker should not lead. */
  readonly execute: (envelope: Envelope) => Effect.Effect<Outcome, LeaderError>
  /** Claims the log and attends to it. */
  readonly claim: Effect.Effect<void, StoreError>
  /** Places what nobody owns, takes away what ended sessions own, balances; claims the log first if need be. */
  readonly attend: Effect.Effect<void, StoreError>
  /** What became of a command, as far as this worker knows. */
  readonly outcome: (id: string) => Effect.Effect<Outcome | undefined>
}

/** What a leader stands on. */
export interface Ports {
  readonly store: ConfigStore["Service"]
  readonly membership: Membership["Service"]
  readonly middleware: Middleware.Middleware
  /**
   * Has the data stores refuse what these runs may still write. Left out: whoever ended can write nothing any more, as where
   * one process holds the stores alone.
   */
  readonly fence?: ((runs: ReadonlyArray<OffsetStore.ItemRun>) => Effect.Effect<void, StoreError>) | undefined
}

interface Pending {
  readonly envelope: Envelope
  readonly incarnation: string
  /** When its commit has to have begun, in milliseconds of the monotonic clock. */
  readonly endsAt: number
  readonly done: Deferred.Deferred<Outcome, LeaderError>
}

interface Decided {
  readonly pending: Pending
  readonly writes: ReadonlyArray<ConfigRecord.Write>
  readonly created: boolean | undefined
}

type CommitError = StoreError | ConnectorError

/** Records in one commit, at most, beyond the first command. */
const maxBatch = 4096

/** How long the store may take to answer: one that never does must not hold up every later command. */
const storeDeadline = "30 seconds"

const answered = <A>(operation: string, effect: Effect.Effect<A, StoreError>): Effect.Effect<A, StoreError> =>
  Effect.timeoutOrElse(effect, {
    duration: storeDeadline,
    orElse: () =>
      Effect.fail(new StoreError({ kind: "Unavailable", operation, detail: `no answer within ${storeDeadline}` }))
  })

const monotonicMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

/** Makes the leader of this worker. */
export const make = Effect.fnUntraced(function*(
  { fence, membership, middleware, store }: Ports
): Effect.fn.Return<Leader, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const placement = yield* PlacementPolicy
  let pending: Array<Pending> = []
  /** Who waits for the next look at the members. */
  let attention: Array<Deferred.Deferred<void, StoreError>> = []
  let working = false
  let claimed: ConfigStore.Claim | undefined
  const outcomes = Outcomes.make()
  /** Commands without an outcome so far, by id: one that is sent again meanwhile waits for the same outcome (I10). */
  const underWay = new Map<string, Pending>()

  const finish = ({ done, envelope }: Pending, outcome: Effect.Effect<Outcome, LeaderError>) => {
    underWay.delete(envelope.id)
    Deferred.doneUnsafe(done, outcome)
  }

  const shouldLead = Effect.map(membership.group, ({ leader, self }) => self !== undefined && leader === self.session)
  const placing = Effect.map(membership.group, ({ members }) => ({ members, placement }))

  /** Becomes the writer of the log for this worker's present life. */
  const claimLog = Effect.gen(function*() {
    claimed = undefined
    const { self } = yield* membership.group
    if (self === undefined) {
      return yield* new StoreError({ kind: "Fenced", operation: "claim", detail: "this worker has no session" })
    }
    claimed = yield* answered("claim", store.claim(self.session, shouldLead))
    outcomes.read(yield* store.state)
    return claimed
  })

  /**
   * The sessions that have ended. Whoever owns something was a member when the log said so: it is read first, so that a
   * session is not taken for ended because the group was asked too early.
   */
  const endedSessions = Effect.gen(function*() {
    const state = yield* store.state
    const { members } = yield* membership.refresh
    const alive = new Set(members.map((member) => member.session))
    return { state, ended: LeaderDecision.owners(state).filter((session) => !alive.has(session)) }
  })

  const look = Effect.gen(function*() {
    const current = claimed ?? (yield* claimLog)
    const { ended, state } = yield* answered("refresh", endedSessions)
    if (fence !== undefined && ended.length > 0) {
      yield* answered("fence", fence(LeaderDecision.runsOf(state, new Set(ended))))
    }
    const clusterId = store.clusterId ?? (yield* Identity.draw)
    const now = yield* store.state
    const writes = LeaderDecision.attend(now, yield* placing, clusterId, new Set(ended))
    if (writes.length === 0) return
    yield* Effect.onError(current.commit(writes.map((write) => ({ write }))), () =>
      Effect.sync(() => {
        claimed = undefined
      }))
  })

  /** Takes commands from the front until their records fill a commit; decides each on what the ones before it write. */
  const decideGroup = (state: ClusterState.ClusterState, context: LeaderDecision.Placing, now: Now) => {
    const decided: Array<Decided> = []
    const refused: Array<readonly [Pending, LeaderError]> = []
    let tentative = state
    let records = 0
    let taken = 0
    for (const one of pending) {
      if (records > maxBatch) break
      taken++
      const known = outcomes.get(one.envelope.id)
      if (known !== undefined) {
        finish(one, Effect.succeed(known))
        continue
      }
      const result = one.endsAt < now.monotonic
        ? expired
        : LeaderDecision.decide(tentative, one.envelope.command, { ...context, incarnation: one.incarnation })
      if (result._tag === "Failure") {
        refused.push([one, result.failure])
        continue
      }
      const { created } = result.success
      const writes = isLogged(one.envelope) && result.success.writes.length > 0
        ? [...result.success.writes, Outcomes.write(one.envelope.id, now.wall, created)]
        : result.success.writes
      decided.push({ pending: one, writes, created })
      records += writes.length
      // positions within a commit are not known yet; a decision that needs an exact one waits for the next commit
      for (const write of writes) tentative = LeaderDecision.after(tentative, write)
    }
    pending = pending.slice(taken)
    return { decided, refused, tentative }
  }

  const commitGroup: Effect.Effect<void, StoreError> = Effect.gen(function*() {
    const current = claimed ?? (yield* claimLog)
    const state = yield* store.state
    const now = { monotonic: yield* monotonicMillis, wall: yield* Clock.currentTimeMillis }
    const { decided, refused, tentative } = decideGroup(state, yield* placing, now)
    const own = decided.flatMap((one) => one.writes)
    const writes = own.length === 0 ? own : [...own, ...outcomes.forget(now.wall)]
    const committed = writes.length === 0
      ? Effect.succeed(state.position)
      : middleware(
        { _tag: "CommitRecords", connector: "", records: writes.length },
        Effect.asVoid(answered("commit", current.commit(writes.map((write) => ({ write })))))
      ).pipe(
        Effect.andThen(Effect.map(store.state, (after) => {
          // nobody else can have written meanwhile (I1): these are the placements that were decided
          Placement.carry(tentative, after)
          return after.position
        })),
        // what a middleware dies of is its own: the log tells what became of the commit
        Effect.catchDefect((cause) => Effect.fail(new StoreError({ kind: "Unavailable", operation: "commit", cause }))),
        Effect.catch((error) => settle(error, state.position, writes))
      )
    const result = yield* Effect.result(committed)
    for (const { created, pending: one } of decided) {
      if (result._tag === "Failure") {
        finish(one, Effect.fail(result.failure))
        continue
      }
      const outcome: Outcome = { position: result.success, ...(created === undefined ? {} : { created }) }
      outcomes.set(one.envelope.id, now.wall, outcome, isLogged(one.envelope))
      finish(one, Effect.succeed(outcome))
    }
    // what they were refused for may stand in the same commit
    for (const [one, error] of refused) {
      finish(one, Effect.fail(result._tag === "Failure" && own.length > 0 ? result.failure : error))
    }
    // what has arrived makes room for the next to move
    if (Placement.isMoving(yield* store.state)) attention.push(Deferred.makeUnsafe())
  })

  /** What became of a commit that failed: claims again, which reads to the end, and looks whether it is there. */
  const settle = Effect.fnUntraced(function*(
    error: CommitError,
    before: number,
    writes: ReadonlyArray<ConfigRecord.Write>
  ) {
    claimed = undefined
    // both are final: nothing was written
    if ("kind" in error && error.kind === "Conflict") {
      return yield* new LeaderError({ kind: "Store", message: error.message })
    }
    if ("kind" in error && error.kind === "Fenced") {
      return yield* new LeaderError({ kind: "NotLeader", message: error.message })
    }
    const again = yield* Effect.result(claimLog)
    if (again._tag === "Failure") return yield* new LeaderError({ kind: "Unknown", message: error.message })
    const { keys, state } = yield* store.changedSince(before)
    const moved = new Set(keys)
    // whole commits only: one of its records is there, or none ever was
    if (writes.some((write) => moved.has(write.key) && ClusterState.holds(state, write))) return state.position
    // somebody else may have written over all of it
    const alone = [...moved].every((key) => key === "leader")
    return yield* new LeaderError({ kind: alone ? "Store" : "Unknown", message: error.message })
  })

  const failAll = (error: StoreError) => {
    const all = pending
    pending = []
    const kind = error.kind === "Fenced" ? "NotLeader" : "Store"
    for (const one of all) finish(one, Effect.fail(new LeaderError({ kind, message: error.message })))
  }

  const lookForAll = Effect.suspend(() => {
    const waiting = attention
    attention = []
    return Effect.flatMap(Effect.exit(look), (exit) =>
      Effect.sync(() => {
        for (const one of waiting) Deferred.doneUnsafe(one, exit)
      }))
  })

  const drain: Effect.Effect<void> = Effect.suspend(() => {
    if (attention.length > 0) return Effect.andThen(lookForAll, drain)
    if (pending.length > 0) {
      return Effect.andThen(Effect.catch(commitGroup, (error) => Effect.sync(() => failAll(error))), drain)
    }
    working = false
    return Effect.void
  })

  const work = Effect.suspend(() => {
    if (working) return Effect.void
    working = true
    return Effect.asVoid(Effect.forkIn(drain, scope))
  })

  const attend = Effect.suspend(() => {
    const done = Deferred.makeUnsafe<void, StoreError>()
    attention.push(done)
    return Effect.andThen(work, Deferred.await(done))
  })

  const execute = Effect.fnUntraced(function*(envelope: Envelope) {
    if (!(yield* shouldLead)) {
      return yield* new LeaderError({ kind: "NotLeader", message: "this worker does not lead" })
    }
    const same = underWay.get(envelope.id)
    if (same !== undefined) return yield* Deferred.await(same.done)
    if (Outcomes.isForgotten(envelope.id, yield* Clock.currentTimeMillis)) {
      return yield* new LeaderError({ kind: "Stale", message: "this command was sent more than ten minutes ago" })
    }
    const incarnation = envelope.command._tag === "PutConnector" ? yield* Identity.draw : ""
    const endsAt = envelope.budgetMillis === undefined ? Infinity : (yield* monotonicMillis) + envelope.budgetMillis
    const done = Deferred.makeUnsafe<Outcome, LeaderError>()
    const one = { envelope, incarnation, endsAt, done }
    underWay.set(envelope.id, one)
    pending.push(one)
    yield* work
    return yield* Deferred.await(done)
  })

  return {
    execute,
    claim: Effect.andThen(
      Effect.sync(() => {
        claimed = undefined
      }),
      attend
    ),
    attend,
    outcome: (id) =>
      Effect.map(store.state, (state) => {
        const logged = HashMap.get(state.outcomes, id)
        return logged._tag === "Some" ? Outcomes.of(logged.value) : outcomes.get(id)
      })
  }
})

/** A task set and a release are guarded by what they name: sent again, they change nothing. */
const isLogged = ({ command, remembered }: Envelope): boolean =>
  remembered === true && command._tag !== "PublishTaskSet" && command._tag !== "ConfirmRelease"

interface Now {
  readonly monotonic: number
  readonly wall: number
}

const expired = LeaderDecision.refuse(
  "Expired",
  "the time for this change ended before its commit began: nothing was changed"
)
