/** Everything a herder knows, as one immutable value. Only `Plan` makes a new one; everybody else reads snapshots. */
import * as ClusterState from "@kelpie/core/ClusterState"
import type { ConnectorEntry, TaskSetEntry } from "@kelpie/core/ConfigRecord"
import type * as Item from "@kelpie/core/Item"
import type * as Status from "@kelpie/core/Status"
import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import * as Option from "effect/Option"
import * as Deadlines from "./internal/deadlines.ts"
import * as Fifo from "./internal/fifo.ts"
import type * as Lane from "./Lane.ts"
import type * as RunMachine from "./RunMachine.ts"

/** The policies of one connector: the runtime's, changed by the keys of its config. */
export interface ConnectorPolicies {
  readonly lane: Lane.Policy
  readonly restart: {
    /** The delay before restart number n of a row; `undefined`: no restart. */
    readonly delayMillis: (restarts: number) => number | undefined
    readonly budget: number
    readonly windowMillis: number
  }
}

/** What does not change while a herder runs. */
export interface Settings {
  readonly workerId: string
  readonly limits: {
    readonly generate: number
    readonly generateSlow: number
    readonly start: number
    readonly orphans: number
  }
  /** Reads the policies of a connector from its config; pure. */
  readonly policies: (name: string, incarnation: string, config: Readonly<Record<string, string>>) => ConnectorPolicies
  /** Delay before a release is confirmed again. */
  readonly confirmDelayMillis: (failures: number) => number
}

/** An item on this worker. */
export interface ItemWorld {
  readonly run: RunMachine.RunState
  /** What the run is a run of: it starts anew when this differs from what is wanted. */
  readonly identity: string | undefined
  readonly version: string | null
  /** The revision of the config that runs. */
  readonly revision: number | undefined
  readonly retrying: Status.Retrying | undefined
  /** When it was restarted by the policy, since it was last healthy for a whole window. */
  readonly restarts: ReadonlyArray<number>
}

/** A release that the leader has to be told of. */
export interface Confirm {
  /** Position of the `Releasing` record. */
  readonly position: number
  readonly failures: number
  /** `undefined`: it was sent and is not answered yet. */
  readonly retryAt: number | undefined
}

/** An attempt that has not ended yet, whether its lane still wants it or not. */
export interface Live {
  readonly attempt: number
  readonly laneKey: string | undefined
  /** It holds a slot: of the small pool of those that timed out last time, or of the large one. */
  readonly slot: "generate" | "generateSlow" | undefined
  /** Its outcome is known, but its code has not returned. */
  readonly orphan: boolean
}

/** What an item should be, when this worker owns it. */
export interface Wanted {
  readonly token: number
  readonly mode: "run" | "paused" | "stopped"
  /** What a run is a run of. */
  readonly identity: string
  readonly revision: number
}

/** What the log says of a connector, and of it to this worker. */
export interface Logged {
  readonly session: string | undefined
  readonly connector: ClusterState.At<ConnectorEntry> | undefined
  /** Of the present incarnation. */
  readonly set: ClusterState.At<TaskSetEntry> | undefined
  readonly placements: ClusterState.Placements
  readonly wanted: ReadonlyMap<"connector" | number, Wanted>
}

/** The latest statuses of a connector and its tasks, by item. */
export type Statuses = ReadonlyMap<"connector" | number, Status.StatusRecord>

/** A connector on this worker. */
export interface ConnectorWorld {
  /** Kept while the log does not move there: it is asked for often, and changes rarely. */
  readonly logged: Logged | undefined
  readonly connector: ItemWorld
  readonly tasks: ReadonlyMap<number, ItemWorld>
  readonly lane: Lane.Lane
  /** The instance, config and request that the lane belongs to (law 3). */
  readonly laneKey: string | undefined
  readonly live: Live | undefined
  /** The last attempt timed out (law 4). */
  readonly slow: boolean
  /** The lane stands in a queue for a slot. */
  readonly inQueue: boolean
  /** Task configs that the last generation gave. */
  readonly generated: number | undefined
  /** By `Item.key`. */
  readonly confirms: ReadonlyMap<string, Confirm>
  readonly policies: { readonly of: ConnectorEntry; readonly value: ConnectorPolicies } | undefined
  readonly health: Status.Health | undefined
}

/** The world. */
export interface World {
  readonly settings: Settings
  readonly state: ClusterState.ClusterState
  readonly connectors: HashMap.HashMap<string, ConnectorWorld>
  /** By connector name. */
  readonly statuses: HashMap.HashMap<string, Statuses>
  /** Keys are connector names. */
  readonly deadlines: Deadlines.Deadlines
  readonly queues: { readonly generate: Fifo.Fifo<string>; readonly generateSlow: Fifo.Fifo<string> }
  /** Items that wait for a start slot, by `Item.key`. */
  readonly starts: Fifo.Fifo<string>
  readonly slots: { readonly generate: number; readonly generateSlow: number; readonly start: number }
  /** Numbers of the attempts that are over and whose code has not returned; a lane may have gone on without them. */
  readonly orphans: HashSet.HashSet<number>
  /** Numbers of attempts and of starts given so far. */
  readonly attempts: number
  readonly runs: number
  /** The present life of this worker; what another one owned is not ours. `undefined`: it may not act. */
  readonly session: string | undefined
  /** The session that should lead, as far as is known. */
  readonly leader: string | undefined
}

/** Before the first tick. */
export const make = (settings: Settings): World => ({
  settings,
  state: ClusterState.empty,
  connectors: HashMap.empty(),
  statuses: HashMap.empty(),
  deadlines: Deadlines.empty,
  queues: { generate: Fifo.empty, generateSlow: Fifo.empty },
  starts: Fifo.empty,
  slots: { generate: 0, generateSlow: 0, start: 0 },
  orphans: HashSet.empty(),
  attempts: 0,
  runs: 0,
  session: undefined,
  leader: undefined
})

const idleItem: ItemWorld = {
  run: { _tag: "Idle" },
  identity: undefined,
  version: null,
  revision: undefined,
  retrying: undefined,
  restarts: []
}

/** An item of which nothing is known. */
export const emptyItem = (): ItemWorld => idleItem

/** Of a connector of which nothing is known. */
export const nothing: ConnectorWorld = {
  logged: undefined,
  connector: idleItem,
  tasks: new Map(),
  lane: { _tag: "Idle" },
  laneKey: undefined,
  live: undefined,
  slow: false,
  inQueue: false,
  generated: undefined,
  confirms: new Map(),
  policies: undefined,
  health: undefined
}

/** A connector, or one of which nothing is known. */
export const connector = (self: World, name: string): ConnectorWorld =>
  Option.getOrElse(HashMap.get(self.connectors, name), () => nothing)

/** The latest status of an item, whether it counts or not. */
export const status = (
  self: Pick<World, "statuses">,
  { connector, task }: Item.Item
): Status.StatusRecord | undefined =>
  Option.getOrUndefined(HashMap.get(self.statuses, connector))?.get(task ?? "connector")

/** When this connector has to be looked at again: the earliest of its timers, `Infinity` for none. */
export const nextAt = (self: ConnectorWorld): number => {
  let at = self.lane._tag === "Waiting" ? self.lane.wakeAt : Infinity
  const restart = (item: ItemWorld) =>
    item.run._tag === "Failed" && item.run.restartAt !== undefined ? item.run.restartAt : Infinity
  at = Math.min(at, restart(self.connector))
  for (const task of self.tasks.values()) at = Math.min(at, restart(task))
  for (const confirm of self.confirms.values()) at = Math.min(at, confirm.retryAt ?? Infinity)
  return at
}

const modes = { STARTED: "run", PAUSED: "paused", STOPPED: "stopped" } as const

/** Reads what the log says of a connector, and what a session's items of it should be. */
export const logged = (state: ClusterState.ClusterState, session: string | undefined, name: string): Logged => {
  const connector = ClusterState.connector(state, name)
  const set = ClusterState.taskSet(state, name)
  const placements = ClusterState.placements(state, name)
  const wanted = new Map<"connector" | number, Wanted>()
  if (connector === undefined) return { session, connector, set, placements, wanted }
  for (const [item, record] of placements) {
    if (record._tag !== "Owned" || record.session !== session) continue
    const made = item === "connector" ? connector : set
    if (made === undefined || (item !== "connector" && item >= (set?.tasks.length ?? 0))) continue
    wanted.set(item, {
      token: record.position,
      mode: modes[connector.target],
      // a task's token moves with its config; an instance starts anew with each revision
      identity: item === "connector" ? `${record.position}/${connector.revision}` : `${record.position}`,
      revision: made.revision
    })
  }
  return { session, connector, set, placements, wanted }
}

/** Whether nothing moved. */
export const sameLogged = (a: Logged, b: Logged): boolean =>
  a.session === b.session && a.connector === b.connector && a.set === b.set && a.placements === b.placements
