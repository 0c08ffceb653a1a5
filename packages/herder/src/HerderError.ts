/** The one error of the herder's operations; the case is in `reason`. */
import type * as ConfigKey from "@kelpie/core/ConfigKey"
import * as Schema from "effect/Schema"

export type KeyProblem = ConfigKey.KeyProblem

/** No connector of that name. */
export class ConnectorNotFound extends Schema.TaggedError<ConnectorNotFound>("@kelpie/herder/ConnectorNotFound")(
  "ConnectorNotFound",
  { name: Schema.String }
) {
  override get message() {
    return `Connector ${this.name} not found`
  }
}

/** The connector has no task of that number. */
export class TaskNotFound extends Schema.TaggedError<TaskNotFound>("@kelpie/herder/TaskNotFound")("TaskNotFound", {
  name: Schema.String,
  task: Schema.Int
}) {
  override get message() {
    return `Unknown task: ${this.name}-${this.task}`
  }
}

/** A connector of that name exists. */
export class ConnectorExists extends Schema.TaggedError<ConnectorExists>("@kelpie/herder/ConnectorExists")(
  "ConnectorExists",
  { name: Schema.String }
) {
  override get message() {
    return `Connector ${this.name} already exists`
  }
}

/** The configuration is refused; every key's errors are in `problems`. */
export class InvalidConfig extends Schema.TaggedError<InvalidConfig>("@kelpie/herder/InvalidConfig")("InvalidConfig", {
  message: Schema.String,
  problems: Schema.Array(Schema.Struct({ key: Schema.String, errors: Schema.Array(Schema.String) }))
}) {}

/** What was asked contradicts the state, or somebody changed it meanwhile. */
export class StateConflict extends Schema.TaggedError<StateConflict>("@kelpie/herder/StateConflict")("StateConflict", {
  message: Schema.String
}) {}

/** What was asked needs the connector to be STOPPED. */
export class NotStopped extends Schema.TaggedError<NotStopped>("@kelpie/herder/NotStopped")("NotStopped", {
  name: Schema.String
}) {
  override get message() {
    return `Connector ${this.name} has to be stopped before its offsets can be modified`
  }
}

/** Offsets that do not fit the connector; names the entry. */
export class InvalidOffsets extends Schema.TaggedError<InvalidOffsets>("@kelpie/herder/InvalidOffsets")(
  "InvalidOffsets",
  { message: Schema.String }
) {}

/** No plugin of that name. */
export class PluginNotFound extends Schema.TaggedError<PluginNotFound>("@kelpie/herder/PluginNotFound")(
  "PluginNotFound",
  { name: Schema.String, near: Schema.Array(Schema.String) }
) {
  override get message() {
    return `Unknown plugin ${this.name}.` +
      (this.near.length === 0 ? "" : ` Did you mean ${this.near.join(" or ")}?`)
  }
}

/** The leader or the store could not be reached; `outcome` says whether the operation may have had an effect. */
export class Unavailable extends Schema.TaggedError<Unavailable>("@kelpie/herder/Unavailable")("Unavailable", {
  message: Schema.String,
  outcome: Schema.Literals(["none", "unknown"]),
  retryAfterMillis: Schema.optionalKey(Schema.Finite),
  /** By which an unknown outcome can be asked for. */
  operationId: Schema.optionalKey(Schema.String)
}) {}

/** The case of a failed operation. */
export const Reason = Schema.Union([
  ConnectorNotFound,
  TaskNotFound,
  ConnectorExists,
  InvalidConfig,
  StateConflict,
  NotStopped,
  InvalidOffsets,
  PluginNotFound,
  Unavailable
])
export type Reason = typeof Reason.Type

/** Match `reason`, with `Effect.catchReason("HerderError", "ConnectorNotFound", ...)`. */
export class HerderError extends Schema.TaggedError<HerderError>("@kelpie/herder/HerderError")("HerderError", {
  reason: Reason
}) {
  override get message(): string {
    return this.reason.message
  }
}
