/** What the parts of one herder share: its ports, its policies, and the inbox of its tick. */
import type { ConfigStore } from "@kelpie/core/ConfigStore"
import type * as Executor from "@kelpie/core/Executor"
import type { LeaderCommand, LeaderError, Outcome } from "@kelpie/core/LeaderCommand"
import type { Membership } from "@kelpie/core/Membership"
import type * as Middleware from "@kelpie/core/Middleware"
import type { OffsetStore } from "@kelpie/core/OffsetStore"
import type { ConnectorConfig } from "@kelpie/core/Plugin"
import type { Plugins } from "@kelpie/core/Plugins"
import type { FlowSettings, ReconfigurationSettings, StopSettings } from "@kelpie/core/Policies"
import type { StatusStore } from "@kelpie/core/StatusStore"
import type { TopicLog } from "@kelpie/core/TopicLog"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Plan from "../Plan.ts"
import type * as Variables from "./variables.ts"

/** The surroundings of one herder. */
export interface Runtime {
  readonly scope: Scope.Scope
  readonly configStore: ConfigStore["Service"]
  readonly statusStore: StatusStore["Service"]
  readonly offsetStore: OffsetStore["Service"]
  readonly topicLog: TopicLog["Service"]
  readonly membership: Membership["Service"]
  readonly plugins: Plugins["Service"]
  readonly middleware: Middleware.Middleware
  readonly executor: Executor.Executor
  readonly variables: Variables.Resolve
  readonly defaults: ConnectorConfig
  readonly stop: StopSettings
  readonly flow: FlowSettings
  readonly reconfiguration: ReconfigurationSettings
  /** Sends a command to whoever leads now, this worker or another, once. */
  readonly send: (connector: string, command: LeaderCommand) => Effect.Effect<Outcome, LeaderError>
  /** Has a command carried out within the budget; its effect is in the state of this worker then (I14). */
  readonly change: (connector: string, command: LeaderCommand) => Effect.Effect<Outcome, LeaderError>
  /** Whether this worker leads, as far as it knows. */
  readonly leads: Effect.Effect<boolean>
  /** Puts a message into the inbox and wakes the tick. */
  readonly post: (message: Plan.Message) => void
}
