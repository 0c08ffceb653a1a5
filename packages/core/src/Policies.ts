/** The settings of a runtime, each a reference with defaults and a `layer` that changes some of them. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Backoff from "./Backoff.ts"
import * as Policy from "./internal/policy.ts"
import type { FailureClass } from "./Status.ts"

/** A delay: after how many failures in a row, how long after the first of them, and what the last one was. */
export type ReconfigurationDelay = (
  failures: number,
  elapsedMillis: number,
  failure: { readonly class: FailureClass; readonly message: string }
) => number | undefined

/** How failed reconfigurations are retried (design, section 6). */
export interface ReconfigurationSettings {
  /**
   * Milliseconds to wait before cap and jitter, or `undefined` to give up; pure, so that the delay is shown before it is
   * waited for. `Backoff.fromSchedule` makes one of any `Schedule` whose delay depends on the attempt only.
   */
  readonly delay: ReconfigurationDelay
  /** No delay is longer, but for what a throttled failure asked for. */
  readonly cap: Duration.Input
  /** `none` is Connect's curve; `equal` draws from half to full delay, so that a storm spreads. */
  readonly jitter: "none" | "equal"
  /** Seed of the jitter; left out: drawn per runtime. */
  readonly seed: string | undefined
  /** How long generating task configs may take. */
  readonly deadline: Duration.Input
  /** How long the leader may take. */
  readonly sendDeadline: Duration.Input
  /** Attempts in a row before the lane is exhausted. */
  readonly maxAttempts: number
  /** Time since the first failure in a row after which the lane is exhausted. */
  readonly maxElapsed: Duration.Input
  /** Defects in a row before the lane is parked. */
  readonly maxDefects: number
  /** What exhaustion means for the connector: `fail` marks it FAILED as well. */
  readonly onExhausted: "fail" | "park"
}

/** How failed connectors and tasks are restarted: off by default, as in Connect; on per connector by `restart.policy`. */
export interface RestartSettings {
  readonly enabled: boolean
  readonly delay: Backoff.Backoff
  readonly cap: Duration.Input
  /** Restarts within `window`, then it stays FAILED; refilled after a healthy time as long as the window. */
  readonly budget: number
  readonly window: Duration.Input
}

/** How long things may take to stop; then they are interrupted, and what does not return is an orphan. */
export interface StopSettings {
  readonly connector: Duration.Input
  readonly task: Duration.Input
  /** Starting a connector or a task. */
  readonly start: Duration.Input
  /** A connector's own validation. */
  readonly validate: Duration.Input
}

/** How many jobs of a kind run at the same time in one runtime. */
export interface ExecutorSettings {
  readonly generate: number
  /** For connectors whose last generation timed out: hangs wait behind hangs only (law 4). */
  readonly generateSlow: number
  readonly send: number
  readonly start: number
  readonly validate: number
  /** Generations that did not return by their deadline; while so many are left, none that timed out before is tried. */
  readonly orphans: number
}

/** When positions are stored, and how much is under way between the stages of a task. */
export interface FlowSettings {
  /** How often a sink's positions are flushed and stored while records flow. */
  readonly offsetFlushInterval: Duration.Input
  /** Records that a sink reads at once, at most. */
  readonly maxPollRecords: number
  /** Batches of a source that wait for the log. */
  readonly batchesInFlight: number
}

/** How a worker stays a member (design, I12 and I13). */
export interface MembershipSettings {
  /** How long a session may act after the sending of its last good renewal. */
  readonly lease: Duration.Input
  /** Time between two renewals. */
  readonly renewal: Duration.Input
  /** How long before its lease ends a session stops to act. */
  readonly margin: Duration.Input
}

/** How long whoever asked for a change waits. */
export interface CommandSettings {
  /** For a leader and its answer. A change whose budget ends before its commit begins has no effect (I15). */
  readonly budget: Duration.Input
}

/** How requests between workers are signed (`SessionKeys`). */
export interface SessionKeySettings {
  /** Whoever needs a key and finds the newest one older than this adds a new one. */
  readonly rotation: Duration.Input
  /** How long a key is accepted after it was replaced: what is under way then, and who has not noticed yet, is not refused. */
  readonly grace: Duration.Input
  /**
   * How far the clocks of two workers may differ, either way. A signature is accepted for twice this time, so it is how long
   * seen requests are remembered too.
   */
  readonly skew: Duration.Input
}

/** Where connectors and tasks run. */
export interface PlacementSettings {
  /** Balancing starts when the most and the least loaded worker differ by more than this share of the average load. */
  readonly rebalanceThreshold: number
  /** The share of all items that is moved at the same time, at most; at least one is. */
  readonly rebalanceMoves: number
  /** How long the items of a lost worker wait for its return. Left out: they are placed anew at once. */
  readonly rebalanceDelay: Duration.Input | undefined
}

/** The converters of connectors that name none: JSON without schemas, and Connect's own for headers. */
export const ConverterDefaults = Context.Reference<Readonly<Record<string, string>>>(
  "@kelpie/core/ConverterDefaults",
  {
    defaultValue: () => ({
      "key.converter": "JsonConverter",
      "key.converter.schemas.enable": "false",
      "value.converter": "JsonConverter",
      "value.converter.schemas.enable": "false",
      "header.converter": "SimpleHeaderConverter"
    })
  }
)

/** Delays, bounds and deadlines of reconfiguration. */
export const ReconfigurationPolicy: Policy.Policy<ReconfigurationSettings> = Policy.make<ReconfigurationSettings>(
  "@kelpie/core/ReconfigurationPolicy",
  {
    delay: Backoff.fromSchedule(Backoff.defaultSchedule),
    cap: Duration.seconds(60),
    jitter: "none",
    seed: undefined,
    deadline: Duration.seconds(30),
    sendDeadline: Duration.seconds(10),
    maxAttempts: Infinity,
    maxElapsed: Duration.infinity,
    maxDefects: 10,
    onExhausted: "fail"
  }
)

/** Restarts of failed connectors and tasks. */
export const RestartPolicy: Policy.Policy<RestartSettings> = Policy.make<RestartSettings>(
  "@kelpie/core/RestartPolicy",
  {
    enabled: false,
    delay: Backoff.exponential(1000, 300_000),
    cap: Duration.minutes(5),
    budget: 5,
    window: Duration.minutes(10)
  }
)

/** Deadlines of the life cycle. */
export const StopPolicy: Policy.Policy<StopSettings> = Policy.make<StopSettings>("@kelpie/core/StopPolicy", {
  connector: Duration.seconds(5),
  task: Duration.seconds(5),
  start: Duration.seconds(60),
  validate: Duration.seconds(30)
})

/** Slots of the executor. */
export const ExecutorLimits: Policy.Policy<ExecutorSettings> = Policy.make<ExecutorSettings>(
  "@kelpie/core/ExecutorLimits",
  {
    generate: 64,
    generateSlow: 8,
    send: 16,
    start: 64,
    validate: 16,
    orphans: 1000
  }
)

/** The flow of records. */
export const FlowPolicy: Policy.Policy<FlowSettings> = Policy.make<FlowSettings>("@kelpie/core/FlowPolicy", {
  offsetFlushInterval: Duration.seconds(1),
  maxPollRecords: 2000,
  batchesInFlight: 4
})

/** Settings of variable providers by name, as `config.providers.<name>.param.*` in Connect. */
export const VariableSettings = Context.Reference<Readonly<Record<string, Readonly<Record<string, string>>>>>(
  "@kelpie/core/VariableSettings",
  { defaultValue: () => ({}) }
)

const membershipFit = ({ lease, margin, renewal }: MembershipSettings): string | undefined => {
  const [leaseMillis = 0, renewalMillis = 0, marginMillis = 0] = [lease, renewal, margin].map((input) =>
    Duration.toMillis(Duration.fromInputUnsafe(input))
  )
  // one renewal may be lost
  return 2 * renewalMillis + marginMillis <= leaseMillis
    ? undefined
    : `MembershipPolicy: two renewals (2 x ${renewalMillis} ms) and the margin (${marginMillis} ms) must fit into the lease (${leaseMillis} ms)`
}

/** Leases of workers. */
export const MembershipPolicy: Policy.Policy<MembershipSettings> = Policy.make<MembershipSettings>(
  "@kelpie/core/MembershipPolicy",
  { lease: Duration.seconds(10), renewal: Duration.seconds(3), margin: Duration.seconds(1) },
  membershipFit
)

/** Keys for requests between workers. */
export const SessionKeyPolicy: Policy.Policy<SessionKeySettings> = Policy.make<SessionKeySettings>(
  "@kelpie/core/SessionKeyPolicy",
  { rotation: Duration.hours(1), grace: Duration.minutes(10), skew: Duration.seconds(30) }
)

/** Placement and balancing. */
export const PlacementPolicy: Policy.Policy<PlacementSettings> = Policy.make<PlacementSettings>(
  "@kelpie/core/PlacementPolicy",
  { rebalanceThreshold: 0.2, rebalanceMoves: 0.1, rebalanceDelay: undefined }
)

/** Budgets of commands: some clients of Connect's API give up after 5 seconds. */
export const CommandPolicy: Policy.Policy<CommandSettings> = Policy.make<CommandSettings>(
  "@kelpie/core/CommandPolicy",
  { budget: Duration.seconds(4) }
)
