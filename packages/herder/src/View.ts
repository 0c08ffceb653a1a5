/**
 * What is shown of a connector: a join of the config log and the statuses, from one snapshot, so that REST, lists,
 * metrics and events say the same (design, section 7). A status counts only with its item's present token (I8).
 */
import * as ClusterState from "@kelpie/core/ClusterState"
import type { TargetState } from "@kelpie/core/ConfigRecord"
import * as Item from "@kelpie/core/Item"
import type * as Status from "@kelpie/core/Status"
import type { Herder } from "./Herder.ts"
import * as World from "./World.ts"

/** The part of the world that reads need. */
export type Snapshot = Pick<World.World, "state" | "statuses" | "settings">

const idleLane: Status.Reconfiguration = { state: "Idle", attempt: 0 }

/** The visible status of an item. */
const visible = (self: Snapshot, item: Item.Item): Status.StatusRecord | undefined => {
  const record = World.status(self, item)
  return record !== undefined && record.token === ClusterState.token(self.state, item) ? record : undefined
}

/** The state word of an item without a visible status. */
const hidden = (self: Snapshot, item: Item.Item): Status.State => {
  const placement = ClusterState.placement(self.state, item)
  if (placement?._tag === "Owned") return placement.restarting === true ? "RESTARTING" : "UNASSIGNED"
  return placement !== undefined && placement.reason === "restart" ? "RESTARTING" : "UNASSIGNED"
}

/** What the config log and the statuses say of a connector; warnings come from its definition. */
export type ConnectorStatus = Omit<Herder.ConnectorStatus, "warnings">

/** A connector in full; `undefined` when there is none of that name. */
export const status = (
  self: Snapshot,
  name: string,
  typeOf: (connectorClass: string) => Herder.ConnectorStatus["type"]
): ConnectorStatus | undefined => {
  const connector = ClusterState.connector(self.state, name)
  if (connector === undefined) return unreadable(self, name)
  const set = ClusterState.taskSet(self.state, name)
  const record = visible(self, Item.connector(name))
  const tasks = (set?.tasks ?? []).map((_, task) => taskStatus(self, name, task))
  return {
    name,
    type: typeOf(connector.config["connector.class"] ?? ""),
    state: record?.state ?? hidden(self, Item.connector(name)),
    workerId: record?.workerId ?? self.settings.workerId,
    version: record?.version ?? null,
    trace: record?.state === "FAILED" ? record.trace ?? "" : undefined,
    tasks,
    ...health(self, name),
    reconfiguration: record?.reconfiguration ?? idleLane,
    revision: { stored: connector.revision, applied: set?.revision },
    taskCounts: {
      requested: Number(connector.config["tasks.max"] ?? 1),
      generated: record?.generated,
      running: tasks.filter((task) => task.state === "RUNNING").length
    }
  }
}

const taskStatus = (self: Snapshot, name: string, task: number): Herder.TaskStatus => {
  const item = Item.task(name, task)
  const record = visible(self, item)
  return {
    task,
    state: record?.state ?? hidden(self, item),
    workerId: record?.workerId ?? self.settings.workerId,
    version: record?.version ?? null,
    trace: record?.state === "FAILED" ? record.trace ?? "" : undefined,
    revision: record?.revision
  }
}

const unreadable = (self: Snapshot, name: string): ConnectorStatus | undefined => {
  const reason = ClusterState.unreadable(self.state, name)
  if (reason === undefined) return undefined
  return {
    name,
    type: "unknown",
    state: "FAILED",
    workerId: self.settings.workerId,
    version: null,
    trace: `${reason}; put its config again, or delete it`,
    tasks: [],
    health: "failed",
    conditions: [{ reason: "Unreadable", message: reason }],
    reconfiguration: idleLane,
    revision: { stored: 0, applied: undefined },
    taskCounts: { requested: 0, generated: undefined, running: 0 }
  }
}

interface HealthAndConditions {
  readonly health: Status.Health
  readonly conditions: ReadonlyArray<Status.Condition>
}

const health = (self: Snapshot, name: string): HealthAndConditions =>
  healthOf({
    target: ClusterState.connector(self.state, name)?.target,
    connector: visible(self, Item.connector(name)),
    tasks: (ClusterState.taskSet(self.state, name)?.tasks ?? []).map((_, task) => visible(self, Item.task(name, task)))
  })

/** What the health of a connector depends on: what was asked for, and the visible statuses of it and its tasks. */
export interface HealthInput {
  readonly target: TargetState | undefined
  readonly connector: Status.StatusRecord | undefined
  readonly tasks: ReadonlyArray<Status.StatusRecord | undefined>
}

/** How well a connector does, and why. Without the tasks that it should have it is never `healthy`. */
export const healthOf = ({ connector: record, target, tasks }: HealthInput): HealthAndConditions => {
  if (target === "STOPPED") return { health: "stopped", conditions: [] }
  if (target === "PAUSED") return { health: "paused", conditions: [] }
  if (record === undefined) return { health: "recovering", conditions: [starting] }
  const conditions = [...connectorConditions(record), ...tasks.flatMap(taskConditions)]
  if (record.state === "FAILED") return { health: "failed", conditions }
  const failed = conditions.filter((condition) => condition.reason === "TaskFailed").length
  if (failed > 0 && failed === tasks.length) return { health: "failed", conditions }
  if (failed > 0 || conditions.some((condition) => condition.reason === "ReconfigurationParked")) {
    return { health: "degraded", conditions }
  }
  return { health: conditions.length > 0 ? "recovering" : "healthy", conditions }
}

const starting: Status.Condition = { reason: "Starting", message: "the connector has not started yet" }

const connectorConditions = (record: Status.StatusRecord): ReadonlyArray<Status.Condition> => {
  if (record.state === "FAILED") {
    return [{ reason: "ConnectorFailed", message: firstLine(record.trace), since: record.since, ...restart(record) }]
  }
  // resumed, and not running again so far
  if (record.state !== "RUNNING") return [starting]
  const lane = record.reconfiguration
  if (lane === undefined) return []
  const failure = lane.failure
  if (lane.state === "Parked") {
    const message = failure?.message ?? "an operator parked the reconfiguration"
    return [{ reason: "ReconfigurationParked", message, since: failure?.firstAt ?? record.since }]
  }
  if (failure === undefined) {
    // a first generation without failures so far is part of starting
    return [{ reason: "Reconfiguring", message: "task configs are generated", since: lane.since ?? record.since }]
  }
  return [{
    reason: "ReconfigurationFailing",
    message: failure.message,
    since: failure.firstAt,
    ...(lane.nextAttemptAt === undefined ? {} : { nextAttemptAt: lane.nextAttemptAt })
  }]
}

const taskConditions = (record: Status.StatusRecord | undefined, task: number): ReadonlyArray<Status.Condition> => {
  // one that was paused has not started again so far
  if (record === undefined || (record.state !== "FAILED" && record.state !== "RUNNING")) {
    return [{ reason: "TaskStarting", message: `task ${task} has not started yet` }]
  }
  if (record.state === "FAILED") {
    const message = `task ${task}: ${firstLine(record.trace)}`
    return [{ reason: "TaskFailed", message, since: record.since, ...restart(record) }]
  }
  if (record.retrying === undefined) return []
  const { message, nextAttemptAt, since } = record.retrying
  return [{ reason: "TaskRetrying", message: `task ${task}: ${message}`, since, nextAttemptAt }]
}

const restart = ({ restartAt }: Status.StatusRecord): { readonly nextAttemptAt?: number } =>
  restartAt === undefined ? {} : { nextAttemptAt: restartAt }

const firstLine = (trace: string | undefined): string => (trace ?? "").split("\n", 1)[0] ?? ""

/** A connector as it was asked for; `undefined` when there is none of that name. */
export const info = (
  self: Snapshot,
  name: string,
  typeOf: (connectorClass: string) => Herder.ConnectorStatus["type"]
): Herder.ConnectorInfo | undefined => {
  const connector = ClusterState.connector(self.state, name)
  if (connector === undefined) {
    return ClusterState.unreadable(self.state, name) === undefined
      ? undefined
      : { name, config: {}, type: "unknown", tasks: [], target: "STOPPED", revision: 0, appliedRevision: undefined }
  }
  const set = ClusterState.taskSet(self.state, name)
  return {
    name,
    config: connector.config,
    type: typeOf(connector.config["connector.class"] ?? ""),
    tasks: (set?.tasks ?? []).map((_, task) => task),
    target: connector.target,
    revision: connector.revision,
    appliedRevision: set?.revision
  }
}
