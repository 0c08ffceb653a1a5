/**
 * The decision: pure. What should run is compared with what runs, for every connector that something happened to; the
 * answer is a new world and commands as data. Cost follows what changed, not what exists.
 */
import * as ClusterState from "@kelpie/core/ClusterState"
import * as ConfigRecord from "@kelpie/core/ConfigRecord"
import type { HerderEvent } from "@kelpie/core/HerderEvent"
import type * as Item from "@kelpie/core/Item"
import type * as Status from "@kelpie/core/Status"
import * as Deadlines from "./internal/deadlines.ts"
import { Draft } from "./internal/draft.ts"
import * as planConnector from "./internal/planConnector.ts"
import * as planStatus from "./internal/planStatus.ts"
import type * as Lane from "./Lane.ts"
import type * as RunMachine from "./RunMachine.ts"
import type * as World from "./World.ts"

/** What came in since the last round. */
export type Message =
  /** The config log moved on. */
  | { readonly _tag: "StateChanged"; readonly state: ClusterState.ClusterState; readonly keys: ReadonlyArray<string> }
  /** Statuses from the store; with `prune` those of items that do not exist any more are forgotten. */
  | { readonly _tag: "StatusesRead"; readonly records: ReadonlyArray<Status.StatusRecord>; readonly prune?: boolean }
  | { readonly _tag: "GroupChanged"; readonly session: string | undefined; readonly leader: string | undefined }
  /** A connector instance asks for new task configs. */
  | { readonly _tag: "Asked"; readonly connector: string; readonly run: Item.Run }
  /** An attempt moved on to its next stage. */
  | { readonly _tag: "Advanced"; readonly connector: string; readonly attempt: number; readonly stage: Status.Stage }
  /** An attempt has its outcome; `ended` is false when its code has not returned (an orphan). */
  | {
    readonly _tag: "Settled"
    readonly connector: string
    readonly attempt: number
    readonly ended: boolean
    readonly outcome: Extract<Lane.Event, { _tag: "Succeeded" | "Failed" }> | { readonly _tag: "Interrupted" }
    readonly generated?: number | undefined
  }
  /** The code of an attempt returned after its outcome. */
  | { readonly _tag: "AttemptEnded"; readonly connector: string; readonly attempt: number }
  | { readonly _tag: "RunStarted"; readonly item: Item.Item; readonly run: Item.Run; readonly version: string }
  | {
    readonly _tag: "RunFailed"
    readonly item: Item.Item
    readonly run: Item.Run
    readonly failure: RunMachine.Failure
  }
  | { readonly _tag: "RunStopped"; readonly item: Item.Item; readonly run: Item.Run }
  /** A running task cannot go on at the moment, or can again. */
  | {
    readonly _tag: "RunRetrying"
    readonly item: Item.Item
    readonly run: Item.Run
    readonly retrying: Status.Retrying | undefined
  }
  /** The leader answered, or could not be told, that items are released. */
  | { readonly _tag: "Confirmed"; readonly items: ReadonlyArray<Item.Item>; readonly ok: boolean }
  /** Look at every connector: counts what that heals. */
  | { readonly _tag: "Resync" }

/** What is to be done. */
export type Command =
  | { readonly _tag: "StartConnector"; readonly connector: string; readonly run: Item.Run; readonly revision: number }
  | { readonly _tag: "StartTask"; readonly connector: string; readonly task: number; readonly run: Item.Run }
  | {
    readonly _tag: "StopRun"
    readonly item: Item.Item
    readonly run: Item.Run
    /** Another session may own the item already: what is under way could not be stored any more, so it is not waited for. */
    readonly lost: boolean
  }
  | {
    readonly _tag: "Generate"
    readonly connector: string
    readonly attempt: number
    /** Attempts in this row, from 1. */
    readonly number: number
    readonly run: Item.Run
    readonly revision: number
  }
  | { readonly _tag: "Interrupt"; readonly connector: string; readonly attempt: number }
  | {
    readonly _tag: "ConfirmRelease"
    readonly items: ReadonlyArray<Item.Item & { readonly position: number }>
  }
  | { readonly _tag: "Log"; readonly level: "Warn" | "Info"; readonly connector: string; readonly message: string }

/** An edge that was taken. */
export interface Transition {
  readonly machine: "reconfiguration" | "run"
  readonly connector: string
  readonly task?: number | undefined
  readonly from: string
  readonly event: string
  readonly to: string
}

/** The answer. */
export interface Plan {
  readonly world: World.World
  readonly commands: ReadonlyArray<Command>
  /** Statuses to store, the last of each item. */
  readonly statusChanges: ReadonlyArray<Status.StatusRecord>
  /** Items whose status is to be forgotten. */
  readonly removed: ReadonlyArray<Item.Item>
  readonly events: ReadonlyArray<HerderEvent>
  readonly transitions: ReadonlyArray<Transition>
  /** Epoch milliseconds; `Infinity` when nothing is due. */
  readonly nextWakeAt: number
}

/** One round: takes the messages in, looks at whatever they touch and whatever is due, and decides. */
export const plan = (world: World.World, inbox: ReadonlyArray<Message>, now: number): Plan => {
  const draft = new Draft(world, now)
  for (const message of inbox) take(draft, message)
  takeDue(draft)
  planConnector.planDirty(draft)
  return draft.finish()
}

const take = (draft: Draft, message: Message): void => {
  switch (message._tag) {
    case "StateChanged":
      draft.world.state = message.state
      for (const key of message.keys) touch(draft, ConfigRecord.subject(key))
      return
    case "StatusesRead":
      for (const record of message.records) {
        draft.readStatus(record)
        if (message.prune === true || draft.leads) planStatus.prune(draft, record)
        // the health of a connector depends on its tasks elsewhere
        if (draft.has(record.connector)) draft.dirty.add(record.connector)
      }
      return
    case "GroupChanged": {
      const led = draft.leads
      sessionChanged(draft, message.session)
      leaderHinted(draft, message.leader)
      // statuses may be left of what was deleted while somebody else led
      if (draft.leads && !led) { for (const name of draft.statusNames) draft.dirty.add(name) }
      return
    }
    case "Confirmed":
      return planConnector.confirmed(draft, message.items, message.ok)
    case "Resync":
      for (const name of ClusterState.names(draft.world.state)) draft.dirty.add(name)
      for (const name of draft.names) draft.look(name)
      return
    case "Asked":
    case "Advanced":
    case "Settled":
    case "AttemptEnded":
      return planConnector.laneMessage(draft, message)
    case "RunStarted":
    case "RunFailed":
    case "RunStopped":
    case "RunRetrying":
      return planConnector.runMessage(draft, message)
  }
}

const touch = (draft: Draft, subject: ConfigRecord.Subject): void => {
  switch (subject._tag) {
    case "connector":
    case "tasks":
      draft.look(subject.name)
      return
    case "placement":
      draft.look(subject.item.connector)
      return
    default:
  }
}

/** I12: what the old life of this worker owned is not its own any more. */
const sessionChanged = (draft: Draft, session: string | undefined): void => {
  if (draft.world.session === session) return
  draft.world.session = session
  for (const name of draft.names) draft.look(name)
}

const leaderHinted = (draft: Draft, leader: string | undefined): void => {
  if (draft.world.leader === leader) return
  draft.world.leader = leader
  if (leader === undefined) return
  // rare, and each of them may wait for just this
  for (const name of draft.names) planConnector.leaderKnown(draft, name)
}

/** Looks at whatever has a deadline now; a deadline that does not count any more is dropped. */
const takeDue = (draft: Draft): void => {
  for (let due = Deadlines.first(draft.world.deadlines); due !== undefined && due.at <= draft.now;) {
    draft.dirty.add(due.key)
    draft.world.deadlines = Deadlines.rest(draft.world.deadlines)
    due = Deadlines.first(draft.world.deadlines)
  }
}
