/**
 * The reconfiguration lane of one connector: asking it for task configs and publishing them when they differ.
 *
 * The table is the specification; the laws are those of the design, section 6. Laws 1 and 3 stand before the table: only
 * the result of the attempt that a lane runs reaches it, and a lane is admitted only when a slot is free and its previous
 * attempt has ended.
 */
import * as Machine from "@kelpie/core/Machine"
import type * as Status from "@kelpie/core/Status"

/** A failed attempt. */
export interface Failure {
  readonly class: Status.FailureClass
  readonly stage: Status.Stage
  /** Holds no secret. */
  readonly message: string
  /** What the other side asked to wait. */
  readonly retryAfterMillis?: number | undefined
}

/** What failed so far, in a row. */
export interface Tries {
  readonly failures: number
  /** Defects in a row. */
  readonly defects: number
  /** Epoch milliseconds of the first failure in the row. */
  readonly firstAt?: number | undefined
  /** Epoch milliseconds of the last one. */
  readonly lastAt?: number | undefined
  readonly last?: Failure | undefined
  /** The key was refreshed for the last failure: once at once, then by the schedule. */
  readonly refreshed?: boolean | undefined
}

/** Why a lane is parked. */
export type ParkReason = "permanent" | "exhausted" | "operator"

/** The lane. Times are epoch milliseconds. */
export type Lane =
  | { readonly _tag: "Idle" }
  | { readonly _tag: "Queued"; readonly tries: Tries }
  | {
    readonly _tag: "Running"
    readonly tries: Tries
    /** Identifies the attempt among all of the runtime. */
    readonly attempt: number
    readonly stage: Status.Stage
    readonly since: number
    /** Somebody asked meanwhile. */
    readonly again: boolean
    /** The leader that was known when the attempt entered its stage. */
    readonly leader: string | undefined
  }
  | { readonly _tag: "Waiting"; readonly tries: Tries; readonly delayMillis: number; readonly wakeAt: number }
  | {
    readonly _tag: "Parked"
    readonly tries: Tries
    readonly reason: ParkReason
    /** The connector is FAILED with the failure as its trace. */
    readonly fails: boolean
  }

/** What happens to a lane. */
export type Event =
  /** The connector asks for new task configs. */
  | { readonly _tag: "Asked" }
  /** A config change, a resume, a regained item or an operator's retry: what failed before no longer counts. */
  | { readonly _tag: "Renewed" }
  /** A slot is free. */
  | { readonly _tag: "Admitted" }
  | { readonly _tag: "Advanced"; readonly stage: Status.Stage }
  | { readonly _tag: "Succeeded" }
  | { readonly _tag: "Failed"; readonly failure: Failure }
  | { readonly _tag: "Due" }
  /** A leader is known that was not when the attempt failed. */
  | { readonly _tag: "LeaderKnown" }
  /** An operator parks it. */
  | { readonly _tag: "Held" }
  /** Stop, pause, delete, loss of the item, shutdown. */
  | { readonly _tag: "Cancelled" }

/** What a transition may use besides the lane. */
export interface Context {
  readonly now: number
  /** The number of the next attempt. */
  readonly attempt: number
  readonly policy: Policy
  /** The session that should lead, as far as is known. */
  readonly leader: string | undefined
}

/** The delays and bounds of one connector. */
export interface Policy {
  /** The delay in milliseconds after these tries, or `undefined` when they are exhausted. */
  readonly delayMillis: (tries: Tries) => number | undefined
  readonly maxDefects: number
  readonly failsWhenExhausted: boolean
}

/** What follows from a transition. */
export type Command =
  | { readonly _tag: "Generate"; readonly attempt: number }
  | { readonly _tag: "Interrupt"; readonly attempt: number }
  | { readonly _tag: "Recovered"; readonly tries: Tries }
  | { readonly _tag: "Report"; readonly tries: Tries; readonly classChanged: boolean; readonly parked: boolean }

const idle = { _tag: "Idle" } as const
/** Nothing failed yet. */
export const fresh: Tries = { failures: 0, defects: 0 }
const queued = (tries: Tries) => ({ _tag: "Queued", tries }) as const
const held = (tries: Tries) => ({ _tag: "Parked", tries, reason: "operator", fails: false }) as const
const unasked = "only a running lane has an attempt"

/** The tries after one more failure. */
const failedOnce = (tries: Tries, failure: Failure, now: number): Tries => ({
  failures: tries.failures + 1,
  defects: failure.class === "defect" ? tries.defects + 1 : 0,
  firstAt: tries.firstAt ?? now,
  lastAt: now,
  last: failure,
  refreshed: false
})

/** Who waits for a leader goes on when another one is known. */
const followsLeader = (failure: Status.FailureClass | undefined): boolean =>
  failure === "not-leader" || failure === "no-leader"

/** Law 7: the class of a failure decides what comes next. */
const failed = (
  lane: Extract<Lane, { _tag: "Running" }>,
  failure: Failure,
  { leader, now, policy }: Context
): Machine.Step<Extract<Lane, { _tag: "Waiting" | "Parked" | "Queued" }>, Command> => {
  const tries = failedOnce(lane.tries, failure, now)
  const classChanged = lane.tries.last?.class !== failure.class
  const park = (reason: ParkReason, fails: boolean) =>
    [{ _tag: "Parked", tries, reason, fails }, [{ _tag: "Report", tries, classChanged, parked: true }]] as const
  if (failure.class === "permanent") return park("permanent", true)
  if (tries.defects >= policy.maxDefects) return park("exhausted", policy.failsWhenExhausted)
  const report: ReadonlyArray<Command> = [{ _tag: "Report", tries, classChanged, parked: false }]
  // an expired key is refreshed and tried again at once, but only once
  if (failure.class === "expired-key" && lane.tries.last?.class !== "expired-key") {
    return [queued({ ...tries, refreshed: true }), report]
  }
  // law 7: another leader became known while the one that refused was asked
  if (followsLeader(failure.class) && leader !== undefined && leader !== lane.leader) return [queued(tries), report]
  const delayMillis = policy.delayMillis(tries)
  // law 2: the retry serves who asked meanwhile; were they served at once, the lane would never back off
  return delayMillis === undefined
    ? park("exhausted", policy.failsWhenExhausted)
    : [{ _tag: "Waiting", tries, delayMillis, wakeAt: now + delayMillis }, report]
}

/** The transition table. */
export const machine = Machine.make<Lane, Event, Context, Command>("reconfiguration", ({ illegal, stay, to }) => ({
  Idle: {
    Asked: to("Queued")(() => [queued(fresh), []]),
    Renewed: to("Queued")(() => [queued(fresh), []]),
    Admitted: illegal("an idle lane asks for no slot"),
    Advanced: illegal(unasked),
    Succeeded: illegal(unasked),
    Failed: illegal(unasked),
    Due: illegal("an idle lane has no timer"),
    LeaderKnown: stay,
    Held: to("Parked")(() => [held(fresh), []]),
    Cancelled: stay
  },
  Queued: {
    Asked: stay, // law 2: one run serves all who asked before it
    Renewed: to("Queued")(() => [queued(fresh), []]),
    Admitted: to("Running")(({ tries }, _, { attempt, leader, now }) => [
      { _tag: "Running", tries, attempt, stage: "generating", since: now, again: false, leader },
      [{ _tag: "Generate", attempt }]
    ]),
    Advanced: illegal(unasked),
    Succeeded: illegal(unasked),
    Failed: illegal(unasked),
    Due: illegal("a queued lane has no timer"),
    LeaderKnown: stay,
    Held: to("Parked")(({ tries }) => [held(tries), []]),
    Cancelled: to("Idle")(() => [idle, []])
  },
  Running: {
    Asked: to("Running")((lane) => [{ ...lane, again: true }, []]), // law 2: exactly one more run
    // its result could not be used any more
    Renewed: to("Queued")(({ attempt }) => [queued(fresh), [{ _tag: "Interrupt", attempt }]]),
    Admitted: illegal("law 1: single flight"),
    Advanced: to("Running")((lane, { stage }, { leader, now }) => [{ ...lane, stage, since: now, leader }, []]),
    Succeeded: to("Idle", "Queued")(({ again, tries }) => [
      again ? queued(fresh) : idle,
      tries.failures > 0 ? [{ _tag: "Recovered", tries }] : [] // law 14
    ]),
    Failed: to("Waiting", "Parked", "Queued")((lane, { failure }, context) => failed(lane, failure, context)),
    Due: illegal("a running lane has no timer"),
    LeaderKnown: stay,
    Held: to("Parked")(({ attempt, tries }) => [held(tries), [{ _tag: "Interrupt", attempt }]]),
    Cancelled: to("Idle")(({ attempt }) => [idle, [{ _tag: "Interrupt", attempt }]])
  },
  Waiting: {
    Asked: stay, // law 2: the connector's own request keeps the schedule
    Renewed: to("Queued")(() => [queued(fresh), []]),
    Admitted: illegal("a waiting lane asks for no slot"),
    Advanced: illegal(unasked),
    Succeeded: illegal(unasked),
    Failed: illegal(unasked),
    Due: to("Queued")(({ tries }) => [queued(tries), []]),
    // law 7: who waits for a leader follows a new one at once; the schedule is a ceiling
    LeaderKnown: to("Queued", "Waiting")((
      lane
    ) => [followsLeader(lane.tries.last?.class) ? queued(lane.tries) : lane, []]),
    Held: to("Parked")(({ tries }) => [held(tries), []]),
    Cancelled: to("Idle")(() => [idle, []])
  },
  Parked: {
    Asked: stay,
    Renewed: to("Queued")(() => [queued(fresh), []]),
    Admitted: illegal("a parked lane asks for no slot"),
    Advanced: illegal(unasked),
    Succeeded: illegal(unasked),
    Failed: illegal(unasked),
    Due: illegal("a parked lane has no timer"),
    LeaderKnown: stay,
    Held: to("Parked")(({ tries }) => [held(tries), []]),
    Cancelled: to("Idle")(() => [idle, []])
  }
}))
