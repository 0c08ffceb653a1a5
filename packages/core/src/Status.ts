/** Statuses: what is stored about an item, what is derived from it, and the events of their changes. */
import * as Schema from "effect/Schema"

/** Connect's words; a task is never STOPPED. */
export const State = Schema.Literals(["RUNNING", "PAUSED", "STOPPED", "FAILED", "UNASSIGNED", "RESTARTING"])
export type State = typeof State.Type

/** How well a connector or task does, derived from one snapshot. */
export const Health = Schema.Literals(["healthy", "recovering", "degraded", "failed", "paused", "stopped"])
export type Health = typeof Health.Type

/** How a failed attempt is treated. */
export const FailureClass = Schema.Literals([
  "transient",
  "throttled",
  "not-leader",
  "no-leader",
  "expired-key",
  "clock-skew",
  "permanent",
  "defect",
  "timed-out"
])
export type FailureClass = typeof FailureClass.Type

/** Where in an attempt it failed. */
export const Stage = Schema.Literals(["generating", "comparing", "sending", "writing"])
export type Stage = typeof Stage.Type

/** A failure as it is shown: times are epoch milliseconds, the message holds no secret. */
export const Failure = Schema.Struct({
  class: FailureClass,
  stage: Stage,
  message: Schema.String,
  firstAt: Schema.Finite,
  lastAt: Schema.Finite,
  /** Failures in a row. */
  occurrences: Schema.Int
})
export type Failure = typeof Failure.Type

/** The lane of a connector as it is shown. */
export const Reconfiguration = Schema.Struct({
  state: Schema.Literals(["Idle", "Queued", "Running", "Waiting", "Parked"]),
  /** The number of the attempt that runs or comes next in this row of attempts, from 1; 0 when idle. */
  attempt: Schema.Int,
  stage: Schema.optionalKey(Stage),
  /** Since when the attempt is in that stage; epoch milliseconds. */
  since: Schema.optionalKey(Schema.Finite),
  delayMillis: Schema.optionalKey(Schema.Finite),
  /** Epoch milliseconds. */
  nextAttemptAt: Schema.optionalKey(Schema.Finite),
  parked: Schema.optionalKey(Schema.Literals(["permanent", "exhausted", "operator"])),
  failure: Schema.optionalKey(Failure)
})
export type Reconfiguration = typeof Reconfiguration.Type

/** A failing step of a running task that is tried again. */
export const Retrying = Schema.Struct({
  message: Schema.String,
  attempt: Schema.Int,
  since: Schema.Finite,
  nextAttemptAt: Schema.Finite
})
export type Retrying = typeof Retrying.Type

/** What the owner of an item stores. */
export const StatusRecord = Schema.Struct({
  connector: Schema.String,
  /** Absent for the connector instance. */
  task: Schema.optionalKey(Schema.Int),
  /** The owner's token: a status is visible only with the item's present one (I8). */
  token: Schema.Finite,
  state: State,
  workerId: Schema.String,
  /** Of the plugin; `null` before it is known. */
  version: Schema.NullOr(Schema.String),
  trace: Schema.optionalKey(Schema.String),
  /** The revision of the config that it runs. */
  revision: Schema.optionalKey(Schema.Int),
  /** When the state word was entered; epoch milliseconds. */
  since: Schema.Finite,
  /** Of a task that runs but cannot go on at the moment. */
  retrying: Schema.optionalKey(Retrying),
  /** Of a failed one: when the restart policy starts it anew. */
  restartAt: Schema.optionalKey(Schema.Finite),
  /** Of a connector: how many tasks its last generation gave. */
  generated: Schema.optionalKey(Schema.Int),
  reconfiguration: Schema.optionalKey(Reconfiguration)
})
export type StatusRecord = typeof StatusRecord.Type

/** Why the health is what it is. */
export const Condition = Schema.Struct({
  reason: Schema.String,
  message: Schema.String,
  /** Epoch milliseconds; left out when it is not known. */
  since: Schema.optionalKey(Schema.Finite),
  nextAttemptAt: Schema.optionalKey(Schema.Finite)
})
export type Condition = typeof Condition.Type

/** A change of a state word, or of a lane: what listeners and events tell. */
export interface StatusChange {
  readonly connector: string
  readonly task?: number | undefined
  readonly from: State
  readonly to: State
  readonly trace?: string | undefined
  /** Epoch milliseconds. */
  readonly at: number
}
