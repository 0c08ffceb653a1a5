/**
 * What changes the state, as data. A command carries an id, the same on every retry, and the guard it was decided on; the
 * leader refuses one whose guard does not hold (I3).
 */
import * as Schema from "effect/Schema"
import * as ConfigRecord from "./ConfigRecord.ts"

const Name = { name: Schema.String }

/** Creates a connector, or replaces its config. */
export const PutConnector = Schema.TaggedStruct("PutConnector", {
  ...Name,
  config: ConfigRecord.Config,
  /** `absent`: fails when it exists. A revision: fails when it has another. */
  expect: Schema.Union([
    Schema.Literals(["absent", "any"]),
    Schema.Struct({ incarnation: Schema.String, revision: Schema.Int })
  ]),
  /** Of a connector that is created. */
  target: Schema.optionalKey(ConfigRecord.TargetState)
})
/** Deletes a connector; its offsets stay. */
export const DeleteConnector = Schema.TaggedStruct("DeleteConnector", Name)
/** Pauses, resumes or stops; stopping removes the tasks. */
export const SetTarget = Schema.TaggedStruct("SetTarget", { ...Name, target: ConfigRecord.TargetState })
/** The owner of a connector publishes a whole task set. */
export const PublishTaskSet = Schema.TaggedStruct("PublishTaskSet", {
  ...Name,
  incarnation: Schema.String,
  revision: Schema.Int,
  /** The owner's token of the connector instance. */
  token: Schema.Finite,
  digest: Schema.String,
  config: ConfigRecord.Config,
  tasks: Schema.Array(ConfigRecord.TaskEntry)
})
/** Lets the owner of a connector and its tasks, or of some, start them anew. */
export const Restart = Schema.TaggedStruct("Restart", {
  ...Name,
  connector: Schema.Boolean,
  tasks: Schema.Array(Schema.Int)
})
/** Owners tell that no write of these runs can be accepted any more. */
export const ConfirmRelease = Schema.TaggedStruct("ConfirmRelease", {
  items: Schema.Array(Schema.Struct({
    connector: Schema.String,
    task: Schema.optionalKey(Schema.Int),
    /** Position of the `Releasing` record that it answers. */
    position: Schema.Finite
  }))
})
/** An operator's "retry now" (law 12). */
export const RetryReconfiguration = Schema.TaggedStruct("RetryReconfiguration", Name)
/** An operator parks the lane, or lets it go on. */
export const HoldReconfiguration = Schema.TaggedStruct("HoldReconfiguration", { ...Name, held: Schema.Boolean })

/** Sets the level of a logger on every worker that runs. */
export const SetLogLevel = Schema.TaggedStruct("SetLogLevel", { logger: Schema.String, level: ConfigRecord.LogLevel })

/** Every command. */
export const LeaderCommand = Schema.Union([
  PutConnector,
  DeleteConnector,
  SetTarget,
  PublishTaskSet,
  Restart,
  ConfirmRelease,
  RetryReconfiguration,
  HoldReconfiguration,
  SetLogLevel
])
export type LeaderCommand = typeof LeaderCommand.Type

/** A command with its id. */
export interface Envelope {
  /** The same on every retry. One that was drawn by `drawId` says when; it is refused once its outcome is forgotten. */
  readonly id: string
  readonly command: LeaderCommand
  /**
   * Milliseconds that were left for it when it was handed on; once they are over it must have no effect any more (I15). A
   * length and no point in time, since clocks differ. Left out: nobody gives up on it.
   */
  readonly budgetMillis?: number | undefined
  /** Its outcome has to outlive the leader: it came from elsewhere, or may be asked for. */
  readonly remembered?: boolean | undefined
}

/** What a command did. */
export interface Outcome {
  /** The position after which its effect is in the state. */
  readonly position: number
  /** Whether the connector was created. */
  readonly created?: boolean | undefined
}

/** Who leads instead, as far as the one who was asked knows. */
export const Leader = Schema.Struct({
  workerId: Schema.String,
  session: Schema.String,
  address: Schema.optionalKey(Schema.String)
})
export type Leader = typeof Leader.Type

/**
 * Why a command had no effect, or may have had one (`Unknown`). `NotFound`, `Exists`, `Stale`, `Stopped` and `Invalid` are answers
 * of the leader; the others say that the leader was not reached, or could not write.
 */
export class LeaderError extends Schema.TaggedError<LeaderError>("@kelpie/core/LeaderError")("LeaderError", {
  kind: Schema.Literals([
    "NotFound",
    "Exists",
    "Stale",
    "Stopped",
    "Invalid",
    "NoLeader",
    "NotLeader",
    "Unreachable",
    "TimedOut",
    "Rebalancing",
    "ExpiredKey",
    "ClockSkew",
    "Throttled",
    /** Its budget ended before its commit began: it had no effect. */
    "Expired",
    "Store",
    "Unknown"
  ]),
  message: Schema.String,
  /** Milliseconds to wait, when the other side asked for it. */
  retryAfterMillis: Schema.optionalKey(Schema.Finite),
  /** By which the outcome can be asked for, when it is not known. */
  commandId: Schema.optionalKey(Schema.String),
  /** Of `NotLeader`: whom to ask instead. */
  leader: Schema.optionalKey(Leader),
  cause: Schema.optionalKey(Schema.Defect())
}) {}
