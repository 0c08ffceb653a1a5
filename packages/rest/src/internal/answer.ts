/** What the herder tells, as the API answers it. */
import type { Herder } from "@kelpie/herder/Herder"
import type * as ConnectApi from "../ConnectApi.ts"

/** Keys that nobody reads, told when there are any. */
export const warned = (warnings: Herder.Written["warnings"]): { readonly warnings?: Herder.Written["warnings"] } =>
  warnings.length === 0 ? {} : { warnings }

/** A connector. */
export const info = (
  connector: Herder.ConnectorInfo,
  warnings: Herder.Written["warnings"] = []
): ConnectApi.ConnectorInfo => ({
  name: connector.name,
  config: connector.config,
  tasks: connector.tasks.map((task) => ({ connector: connector.name, task })),
  type: connector.type,
  revision: { stored: connector.revision, applied: connector.appliedRevision ?? null },
  ...warned(warnings)
})

/** A FAILED item has a trace always, for watchers read it unasked. */
const trace = (item: { readonly state: string; readonly trace: string | undefined }): { readonly trace?: string } =>
  item.trace !== undefined ? { trace: item.trace } : item.state === "FAILED" ? { trace: "" } : {}

/** A task. */
export const taskStatus = (task: Herder.TaskStatus): ConnectApi.TaskStatus => ({
  id: task.task,
  state: task.state,
  worker_id: task.workerId,
  ...trace(task),
  version: task.version,
  ...(task.revision === undefined ? {} : { revision: task.revision })
})

/** A connector and its tasks. */
export const status = (connector: Herder.ConnectorStatus): ConnectApi.ConnectorStatus => ({
  name: connector.name,
  connector: {
    state: connector.state,
    worker_id: connector.workerId,
    ...trace(connector),
    version: connector.version
  },
  tasks: connector.tasks.map(taskStatus),
  type: connector.type,
  health: connector.health,
  conditions: connector.conditions,
  reconfiguration: connector.reconfiguration,
  revision: { stored: connector.revision.stored, applied: connector.revision.applied ?? null },
  taskCounts: {
    requested: connector.taskCounts.requested,
    generated: connector.taskCounts.generated ?? null,
    running: connector.taskCounts.running
  },
  ...warned(connector.warnings)
})
