/** The runs of items: what should run is started, what should not is stopped, what failed waits for its restart. */
import * as Item from "@kelpie/core/Item"
import type * as Plan from "../Plan.ts"
import * as RunMachine from "../RunMachine.ts"
import * as World from "../World.ts"
import type { Draft } from "./draft.ts"
import * as Fifo from "./fifo.ts"
import { policies } from "./planLane.ts"

const get = (draft: Draft, item: Item.Item): World.ItemWorld => {
  const connector = draft.connector(item.connector)
  return (item.task === undefined ? connector.connector : connector.tasks.get(item.task)) ?? World.emptyItem()
}

const set = (draft: Draft, item: Item.Item, next: World.ItemWorld): void => {
  const connector = draft.connector(item.connector)
  if (item.task === undefined) return draft.setConnector(item.connector, { ...connector, connector: next })
  draft.setConnector(item.connector, { ...connector, tasks: new Map(connector.tasks).set(item.task, next) })
}

/** Sends an event to the machine of an item, and carries out what does not leave the world. */
const send = (draft: Draft, item: Item.Item, event: RunMachine.Event, run: Item.Run): void => {
  const before = get(draft, item)
  const context: RunMachine.Context = {
    now: draft.now,
    run,
    restartAt: (failure) => restartAt(draft, item, before, failure)
  }
  const [state, commands] = RunMachine.machine.step(before.run, event, context)
  if (state === before.run) return
  const retrying = state._tag === "Running" ? before.retrying : undefined
  set(draft, item, { ...before, run: state, retrying })
  draft.dirty.add(item.connector)
  draft.transitions.push({
    machine: "run",
    connector: item.connector,
    ...(item.task === undefined ? {} : { task: item.task }),
    from: before.run._tag,
    event: event._tag,
    to: state._tag
  })
  if (before.run._tag === "Starting" && state._tag !== "Starting") freeSlot(draft)
  for (const command of commands) draft.commands.push(interpret(draft, item, command, before))
}

const interpret = (
  draft: Draft,
  item: Item.Item,
  command: RunMachine.Command,
  before: World.ItemWorld
): Plan.Command => {
  if (command._tag === "Stop") return { _tag: "StopRun", item, run: command.run, lost: isLost(draft, item) }
  const { connector, task } = item
  return task === undefined
    ? { _tag: "StartConnector", connector, run: command.run, revision: before.revision ?? 0 }
    : { _tag: "StartTask", connector, task, run: command.run }
}

/** Whether the item is not this session's to let go. */
const isLost = (draft: Draft, item: Item.Item): boolean => {
  const record = draft.logged(item.connector).placements.get(item.task ?? "connector")
  return record === undefined || record._tag === "Released" || record.session !== draft.world.session
}

const freeSlot = (draft: Draft): void => {
  const { slots } = draft.world
  draft.world.slots = { ...slots, start: slots.start - 1 }
}

/** Compares what should run with what does. */
export const plan = (draft: Draft, item: Item.Item, wanted: World.Wanted | undefined): void => {
  const runs = wanted?.mode === "run"
  const unused: Item.Run = { token: 0, start: 0 }
  let entry = get(draft, item)
  if (entry.run._tag !== "Idle" && (!runs || entry.identity !== wanted.identity)) {
    send(draft, item, { _tag: "Unwanted" }, unused)
    entry = get(draft, item)
  }
  if (entry.run._tag === "Failed" && entry.run.restartAt !== undefined && entry.run.restartAt <= draft.now) {
    set(draft, item, { ...entry, restarts: [...entry.restarts, draft.now] })
    send(draft, item, { _tag: "Due" }, unused)
    return enqueue(draft, item)
  }
  if (entry.run._tag === "Idle" && runs) {
    const same = entry.identity === wanted.identity
    set(draft, item, {
      ...entry,
      identity: wanted.identity,
      revision: wanted.revision,
      restarts: same ? entry.restarts : []
    })
    send(draft, item, { _tag: "Wanted" }, unused)
    return enqueue(draft, item)
  }
  if (wanted === undefined && entry.run._tag === "Idle" && item.task !== undefined) return drop(draft, item)
  // a newer task set may move the revision of a task that goes on as it is
  if (runs && entry.revision !== wanted.revision) set(draft, item, { ...entry, revision: wanted.revision })
}

const drop = (draft: Draft, item: Item.Item): void => {
  const connector = draft.connector(item.connector)
  if (item.task === undefined || !connector.tasks.has(item.task)) return
  const tasks = new Map(connector.tasks)
  tasks.delete(item.task)
  draft.setConnector(item.connector, { ...connector, tasks })
  // of a task that moved the new owner tells
  const count = draft.logged(item.connector).set?.tasks.length ?? 0
  if (item.task >= count) draft.removeStatus(item)
}

const enqueue = (draft: Draft, item: Item.Item): void => {
  draft.world.starts = Fifo.push(draft.world.starts, Item.key(item))
}

/** Gives free start slots to the items that wait for one, in order. */
export const admit = (draft: Draft): void => {
  while (draft.world.slots.start < draft.world.settings.limits.start) {
    const next = Fifo.pop(draft.world.starts)
    if (next === undefined) return
    const [key, starts] = next
    draft.world.starts = starts
    const item = Item.fromKey(key)
    const entry = get(draft, item)
    if (entry.run._tag !== "Queued") continue // it was not wanted any more, or waits a second time
    const { slots } = draft.world
    draft.world.slots = { ...slots, start: slots.start + 1 }
    send(draft, item, { _tag: "Admitted" }, draft.nextRun(Number(entry.identity?.split("/")[0])))
  }
}

/** When a failed run is started anew: within its budget, with growing delays; what is permanent never. */
const restartAt = (
  draft: Draft,
  item: Item.Item,
  entry: World.ItemWorld,
  failure: RunMachine.Failure
): number | undefined => {
  // a newer run has opened the item's writers: look again soon whether this worker still owns it
  if (failure.class === "fenced") return draft.now + 1000
  if (failure.class === "permanent") return undefined
  const policy = policies(draft, item.connector)?.restart
  if (policy === undefined) return undefined
  const recent = recentRestarts(draft, entry, policy.windowMillis)
  const delay = policy.delayMillis(recent.length + 1)
  return delay === undefined || recent.length >= policy.budget ? undefined : draft.now + delay
}

/** The restarts that count: none after a run that was healthy for a whole window. */
const recentRestarts = (draft: Draft, entry: World.ItemWorld, windowMillis: number): ReadonlyArray<number> =>
  entry.run._tag === "Running" && draft.now - entry.run.since >= windowMillis
    ? []
    : entry.restarts.filter((at) => draft.now - at < windowMillis)

type RunMessage = Extract<Plan.Message, { _tag: "RunStarted" | "RunFailed" | "RunStopped" | "RunRetrying" }>

/** A job of a run has an outcome. That of an older run changes nothing. */
export const message = (draft: Draft, message: RunMessage): void => {
  const { item, run } = message
  const entry = get(draft, item)
  const state = entry.run
  if (state._tag === "Idle" || state._tag === "Queued" || Item.compareRun(state.run, run) !== 0) return
  draft.dirty.add(item.connector)
  switch (message._tag) {
    case "RunStarted":
      // its task may have failed before its start was told
      if (state._tag !== "Starting") return
      set(draft, item, { ...entry, version: message.version })
      return send(draft, item, { _tag: "Started" }, run)
    case "RunFailed": {
      // the end of one that stops is told by `RunStopped`
      if (state._tag === "Failed" || state._tag === "Stopping") return
      const policy = policies(draft, item.connector)?.restart
      const restarts = policy === undefined ? [] : recentRestarts(draft, entry, policy.windowMillis)
      set(draft, item, { ...entry, restarts })
      return send(draft, item, { _tag: "Failed", failure: message.failure }, run)
    }
    case "RunStopped":
      return state._tag === "Stopping" ? send(draft, item, { _tag: "Stopped" }, run) : undefined
    case "RunRetrying":
      return state._tag === "Running" ? set(draft, item, { ...entry, retrying: message.retrying }) : undefined
  }
}
