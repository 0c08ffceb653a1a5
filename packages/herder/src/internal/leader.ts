/**
 * The leader on this worker: claims the config log, decides commands one after the other and commits them in groups.
 *
 * While a commit is under way, commands gather; the next commit takes all of them. After a commit with an unknown
 * outcome it claims again and reads: nobody else can have written meanwhile, so what is in the log tells (I1). A command
 * id takes effect once; its outcome is told again for ten minutes (I10).
 */
import type * as ClusterState from "@kelpie/core/ClusterState"
import type * as ConfigRecord from "@kelpie/core/ConfigRecord"
import type { ConfigStore } from "@kelpie/core/ConfigStore"
import type { ConnectorError } from "@kelpie/core/ConnectorError"
import * as Identity from "@kelpie/core/Identity"
import { type Envelope, LeaderError, type Outcome } from "@kelpie/core/LeaderCommand"
import type { Membership } from "@kelpie/core/Membership"
import type * as Middleware from "@kelpie/core/Middleware"
import { PlacementPolicy } from "@kelpie/core/Policies"
import { StoreError } from "@kelpie/core/StoreError"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as LeaderDecision from "../LeaderDecision.ts"
import * as Placement from "../Placement.ts"

/** Executes commands as the leader. */
export interface Leader {
  /** Fails with `NotLeader` when this worker should not lead. */
  readonly execute: (envelope: Envelope) => Effect.Effect<Outcome, LeaderError>
  /** Claims the log and places what nobody alive owns. */
  readonly claim: Effect.Effect<void, StoreError>
}

interface Pending {
  readonly envelope: Envelope
  readonly incarnation: string
  readonly done: Deferred.Deferred<Outcome, LeaderError>
}

interface Decided {
  readonly pending: Pending
  readonly writes: ReadonlyArray<ConfigRecord.Write>
  readonly created: boolean | undefined
}

type CommitError = StoreError | ConnectorError

const rememberMillis = 10 * 60_000
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

/** Makes the leader of this worker. */
export const make = Effect.fnUntraced(function*(
  store: ConfigStore["Service"],
  membership: Membership["Service"],
  middleware: Middleware.Middleware
): Effect.fn.Return<Leader, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const placement = yield* PlacementPolicy
  let pending: Array<Pending> = []
  let committing = false
  let claimed: ConfigStore.Claim | undefined
  const outcomes = new Map<string, { readonly at: number; readonly outcome: Outcome }>()
  /** Commands without an outcome so far, by id: one that is sent again meanwhile waits for the same outcome (I10). */
  const underWay = new Map<string, Pending>()

  const finish = ({ done, envelope }: Pending, outcome: Effect.Effect<Outcome, LeaderError>) => {
    underWay.delete(envelope.id)
    Deferred.doneUnsafe(done, outcome)
  }

  const shouldLead = Effect.map(membership.group, ({ leader, self }) => self !== undefined && leader === self.session)
  /** Becomes the writer of the log for this worker's present life. */
  const claimLog = Effect.flatMap(membership.group, ({ self }) =>
    self === undefined
      ? Effect.fail(new StoreError({ kind: "Fenced", operation: "claim", detail: "this worker has no session" }))
      : store.claim(self.session, shouldLead))
  const placing = Effect.map(membership.group, ({ members }) => ({ members, placement }))

  const claim = Effect.gen(function*() {
    claimed = undefined
    const next = yield* answered("claim", claimLog)
    const clusterId = store.clusterId ?? (yield* Identity.draw)
    const writes = LeaderDecision.recover(yield* store.state, yield* placing, clusterId)
    if (writes.length > 0) yield* next.commit(writes.map((write) => ({ write })))
    claimed = next
    return next
  })

  const remember = (id: string, at: number, outcome: Outcome) => {
    outcomes.set(id, { at, outcome })
    for (const [old, { at: then }] of outcomes) {
      if (at - then < rememberMillis) break
      outcomes.delete(old)
    }
  }

  /** Takes commands from the front until their records fill a commit; decides each on what the ones before it write. */
  const decideGroup = (
    state: ClusterState.ClusterState,
    placing: Pick<LeaderDecision.Context, "members" | "placement">
  ) => {
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
        finish(one, Effect.succeed(known.outcome))
        continue
      }
      const result = LeaderDecision.decide(tentative, one.envelope.command, {
        ...placing,
        incarnation: one.incarnation
      })
      if (result._tag === "Failure") {
        refused.push([one, result.failure])
        continue
      }
      const { created, writes } = result.success
      decided.push({ pending: one, writes, created })
      records += writes.length
      // positions within a commit are not known yet; a decision that needs an exact one waits for the next commit
      for (const write of writes) tentative = LeaderDecision.after(tentative, write)
    }
    pending = pending.slice(taken)
    return { decided, refused, tentative }
  }

  const commitGroup: Effect.Effect<void, StoreError> = Effect.gen(function*() {
    const current = claimed ?? (yield* claim)
    const state = yield* store.state
    const { decided, refused, tentative } = decideGroup(state, yield* placing)
    for (const [one, error] of refused) finish(one, Effect.fail(error))
    const writes = decided.flatMap((one) => one.writes.map((write) => ({ write })))
    const committed = writes.length === 0
      ? Effect.succeed(state.position)
      : middleware(
        { _tag: "CommitRecords", connector: "", records: writes.length },
        Effect.asVoid(answered("commit", current.commit(writes)))
      ).pipe(
        Effect.andThen(Effect.map(store.state, (after) => {
          // nobody else can have written meanwhile (I1): these are the placements that were decided
          Placement.carry(tentative, after)
          return after.position
        })),
        // what a middleware dies of is its own: the log tells what became of the commit
        Effect.catchDefect((cause) => Effect.fail(new StoreError({ kind: "Unavailable", operation: "commit", cause }))),
        Effect.catch((error) => settle(error, state.position))
      )
    const result = yield* Effect.result(committed)
    const now = yield* Clock.currentTimeMillis
    for (const { created, pending: one } of decided) {
      if (result._tag === "Failure") {
        finish(one, Effect.fail(result.failure))
        continue
      }
      const outcome: Outcome = { position: result.success, ...(created === undefined ? {} : { created }) }
      remember(one.envelope.id, now, outcome)
      finish(one, Effect.succeed(outcome))
    }
  })

  /** What became of a commit that failed: claims again, which reads to the end, and looks whether the log moved. */
  const settle = Effect.fnUntraced(function*(error: CommitError, before: number) {
    claimed = undefined
    // both are final: nothing was written
    if ("kind" in error && error.kind === "Conflict") {
      return yield* new LeaderError({ kind: "Store", message: error.message })
    }
    if ("kind" in error && error.kind === "Fenced") {
      return yield* new LeaderError({ kind: "NotLeader", message: error.message })
    }
    const again = yield* Effect.result(answered("claim", claimLog))
    if (again._tag === "Failure") return yield* new LeaderError({ kind: "Unknown", message: error.message })
    claimed = again.success
    const { keys, state } = yield* store.changedSince(before)
    // the claim's own record is the only one that follows an append without effect
    for (const key of keys) if (key !== "leader") return state.position
    return yield* new LeaderError({ kind: "Store", message: error.message })
  })

  const failAll = (error: StoreError) => {
    const all = pending
    pending = []
    const kind = error.kind === "Fenced" ? "NotLeader" : "Store"
    for (const one of all) finish(one, Effect.fail(new LeaderError({ kind, message: error.message })))
  }

  const drain: Effect.Effect<void> = Effect.suspend(() => {
    if (pending.length === 0) {
      committing = false
      return Effect.void
    }
    return Effect.andThen(Effect.catch(commitGroup, (error) => Effect.sync(() => failAll(error))), drain)
  })

  const execute = Effect.fnUntraced(function*(envelope: Envelope) {
    if (!(yield* shouldLead)) {
      return yield* new LeaderError({ kind: "NotLeader", message: "this worker does not lead" })
    }
    const incarnation = envelope.command._tag === "PutConnector" ? yield* Identity.draw : ""
    const same = underWay.get(envelope.id)
    if (same !== undefined) return yield* Deferred.await(same.done)
    const done = Deferred.makeUnsafe<Outcome, LeaderError>()
    const one = { envelope, incarnation, done }
    underWay.set(envelope.id, one)
    pending.push(one)
    if (!committing) {
      committing = true
      yield* Effect.forkIn(drain, scope)
    }
    return yield* Deferred.await(done)
  })

  return { execute, claim: Effect.asVoid(claim) }
})
