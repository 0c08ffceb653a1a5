/** The lanes: one per connector whose instance runs here; admitted when a slot is free (law 1). */
import * as HashSet from "effect/HashSet"
import * as Lane from "../Lane.ts"
import type * as Plan from "../Plan.ts"
import type * as World from "../World.ts"
import type { Draft } from "./draft.ts"
import * as Fifo from "./fifo.ts"
import * as planStatus from "./planStatus.ts"

/** The policies of a connector, read from its config once per revision. */
export const policies = (draft: Draft, name: string): World.ConnectorPolicies | undefined => {
  const asked = draft.logged(name).connector
  if (asked === undefined) return undefined
  const connector = draft.connector(name)
  const known = connector.policies
  if (known?.of.incarnation === asked.incarnation && known.of.revision === asked.revision) return known.value
  const value = draft.world.settings.policies(name, asked.incarnation, asked.config)
  draft.setConnector(name, { ...connector, policies: { of: asked, value } })
  return value
}

/** Sends an event to the lane of a connector, and carries out what does not leave the world. */
const send = (draft: Draft, name: string, event: Lane.Event): void => {
  const policy = policies(draft, name)?.lane ?? gone
  const connector = draft.connector(name)
  const [lane, commands] = Lane.machine.step(connector.lane, event, {
    now: draft.now,
    attempt: draft.world.attempts + 1,
    policy,
    leader: draft.world.leader
  })
  if (lane === connector.lane) return
  draft.setConnector(name, { ...connector, lane })
  draft.dirty.add(name)
  tell(draft, name, connector.lane, event, lane)
  for (const command of commands) carryOut(draft, name, command)
}

/** Of a connector that is gone: its lane is cancelled, and no delay is ever asked for. */
const gone: Lane.Policy = { delayMillis: () => undefined, maxDefects: 1, failsWhenExhausted: false }

const tell = (draft: Draft, name: string, from: Lane.Lane, event: Lane.Event, to: Lane.Lane): void => {
  draft.transitions.push({
    machine: "reconfiguration",
    connector: name,
    from: from._tag,
    event: event._tag,
    to: to._tag
  })
  const shown = planStatus.reconfiguration(to)
  draft.events.push({
    _tag: "LaneChanged",
    at: draft.now,
    connector: name,
    from: from._tag,
    event: event._tag,
    to: to._tag,
    attempt: shown.attempt,
    ...(shown.failure === undefined ? {} : { failure: shown.failure }),
    ...(shown.delayMillis === undefined ? {} : { delayMillis: shown.delayMillis }),
    ...(shown.nextAttemptAt === undefined ? {} : { nextAttemptAt: shown.nextAttemptAt })
  })
}

const carryOut = (draft: Draft, name: string, command: Lane.Command): void => {
  const connector = draft.connector(name)
  switch (command._tag) {
    case "Generate": {
      const run = connector.connector.run
      if (run._tag !== "Running") return
      draft.nextAttempt()
      const slot = connector.slow ? "generateSlow" : "generate"
      const { slots } = draft.world
      draft.world.slots = { ...slots, [slot]: slots[slot] + 1 }
      draft.setConnector(name, {
        ...connector,
        live: { attempt: command.attempt, laneKey: connector.laneKey, slot, orphan: false }
      })
      draft.commands.push({
        _tag: "Generate",
        connector: name,
        attempt: command.attempt,
        number: connector.lane._tag === "Running" ? connector.lane.tries.failures + 1 : 1,
        run: run.run,
        revision: connector.connector.revision ?? 0
      })
      return
    }
    case "Interrupt":
      // one that has its outcome already is left alone: it is over, or an orphan
      if (connector.live?.attempt === command.attempt && !connector.live.orphan) {
        draft.commands.push({ _tag: "Interrupt", connector: name, attempt: command.attempt })
      }
      return
    case "Recovered": {
      const { failures, firstAt } = command.tries
      const seconds = (draft.now - (firstAt ?? draft.now)) / 1000
      draft.commands.push({
        _tag: "Log",
        level: "Info",
        connector: name,
        message: `reconfiguration recovered after ${failures} failed attempts in ${seconds} s`
      })
      return
    }
    case "Report":
      return report(draft, name, command)
  }
}

/** Law 14: the first failure, then when the class changes or the attempt is a power of two. */
const report = (draft: Draft, name: string, command: Extract<Lane.Command, { _tag: "Report" }>): void => {
  const { failures, last } = command.tries
  const powerOfTwo = (failures & (failures - 1)) === 0
  if (last === undefined || !(powerOfTwo || command.classChanged || command.parked)) return
  const parked = command.parked ? "; it is parked" : ""
  draft.commands.push({
    _tag: "Log",
    level: "Warn",
    connector: name,
    message: `reconfiguration attempt ${failures} failed while ${last.stage} (${last.class}): ${last.message}${parked}`
  })
}

/** Compares the lane with the instance and the request that it should belong to (laws 2, 3, 11, 12). */
export const plan = (draft: Draft, name: string, wanted: World.Wanted | undefined): void => {
  const { connector, lane, laneKey } = draft.connector(name)
  const asked = draft.logged(name).connector
  const runs = wanted?.mode === "run" && connector.run._tag === "Running" && connector.identity === wanted.identity
  if (asked === undefined || !runs || connector.run._tag !== "Running") {
    if (laneKey !== undefined) draft.setConnector(name, { ...draft.connector(name), laneKey: undefined })
    if (lane._tag !== "Idle") send(draft, name, { _tag: "Cancelled" })
    return
  }
  const key = `${asked.incarnation}/${connector.identity}/${connector.run.run.start}/${asked.retries}`
  const parkedByOperator = lane._tag === "Parked" && lane.reason === "operator"
  if (key !== laneKey) draft.setConnector(name, { ...draft.connector(name), laneKey: key })
  if (asked.held) {
    if (!parkedByOperator) send(draft, name, { _tag: "Held" })
  } else if (key !== laneKey || parkedByOperator) send(draft, name, { _tag: "Renewed" })
  const due = draft.connector(name).lane
  if (due._tag === "Waiting" && due.wakeAt <= draft.now) send(draft, name, { _tag: "Due" })
  enqueue(draft, name)
}

/** A queued lane stands in the queue of its pool once, when its previous attempt has ended (law 1). */
const enqueue = (draft: Draft, name: string): void => {
  const connector = draft.connector(name)
  if (connector.lane._tag !== "Queued" || connector.inQueue || blocked(connector)) return
  const pool = connector.slow ? "generateSlow" : "generate"
  draft.setConnector(name, { ...connector, inQueue: true })
  const { queues } = draft.world
  draft.world.queues = { ...queues, [pool]: Fifo.push(queues[pool], name) }
}

/** Law 4: a lane does not start beside its own orphan unless the config changed. */
const blocked = ({ laneKey, live }: World.ConnectorWorld): boolean =>
  live !== undefined && (!live.orphan || live.laneKey === laneKey)

/** Law 4: hangs wait behind hangs only, and not too many of them are left behind. */
const hasRoom = (
  { world: { orphans, settings: { limits }, slots } }: Draft,
  pool: "generate" | "generateSlow"
): boolean => slots[pool] < limits[pool] && (pool === "generate" || HashSet.size(orphans) < limits.orphans)

/** Gives free slots to the lanes that wait for one, in order. */
export const admit = (draft: Draft): void => {
  for (const pool of ["generate", "generateSlow"] as const) {
    while (hasRoom(draft, pool)) {
      const next = Fifo.pop(draft.world.queues[pool])
      if (next === undefined) break
      const [name, rest] = next
      draft.world.queues = { ...draft.world.queues, [pool]: rest }
      const connector = draft.connector(name)
      if (connector.inQueue) draft.setConnector(name, { ...connector, inQueue: false })
      if (connector.lane._tag === "Queued" && !blocked(connector)) send(draft, name, { _tag: "Admitted" })
    }
  }
}

/** A leader is known: who waits for one goes on at once (law 7). */
export const leaderKnown = (draft: Draft, name: string): void => {
  if (draft.connector(name).lane._tag !== "Waiting") return
  send(draft, name, { _tag: "LeaderKnown" })
  draft.dirty.add(name)
}

const interrupted: Lane.Event = {
  _tag: "Failed",
  failure: { class: "defect", stage: "generating", message: "the attempt was interrupted" }
}

type LaneMessage = Extract<Plan.Message, { _tag: "Asked" | "Advanced" | "Settled" | "AttemptEnded" }>

/** Something happened to an attempt, or the connector asks. What belongs to another attempt changes nothing (law 3). */
export const message = (draft: Draft, message: LaneMessage): void => {
  const name = message.connector
  const connector = draft.connector(name)
  draft.dirty.add(name)
  if (message._tag === "Asked") {
    const run = connector.connector.run
    const present = run._tag === "Running" && run.run.start === message.run.start && connector.laneKey !== undefined
    return present ? send(draft, name, { _tag: "Asked" }) : undefined
  }
  const wanted = connector.lane._tag === "Running" && connector.lane.attempt === message.attempt
  if (message._tag === "Advanced") {
    // sending has a limit of its own
    if (connector.live?.attempt === message.attempt && message.stage !== "comparing") freeSlot(draft, name)
    return wanted ? send(draft, name, { _tag: "Advanced", stage: message.stage }) : undefined
  }
  if (message._tag === "AttemptEnded") return returned(draft, name, message.attempt)
  if (connector.live?.attempt === message.attempt && !connector.live.orphan) end(draft, name, message)
  if (!wanted) return
  // who was interrupted by its lane is not wanted any more: this one was interrupted by somebody else
  const outcome = message.outcome._tag === "Interrupted" ? interrupted : message.outcome
  draft.setConnector(name, {
    ...draft.connector(name),
    slow: outcome._tag === "Failed" && outcome.failure.class === "timed-out",
    ...(outcome._tag === "Succeeded" && message.generated !== undefined ? { generated: message.generated } : {})
  })
  // law 3: a refusal as stale is no failure when this round renews or cancels the lane anyway
  if (outcome._tag === "Failed" && isOutdated(draft, name)) return
  send(draft, name, outcome)
}

/** Whether the log has moved on from the config and the owner that the instance belongs to. */
const isOutdated = (draft: Draft, name: string): boolean => {
  const wanted = draft.logged(name).wanted.get("connector")
  return wanted?.mode !== "run" || draft.connector(name).connector.identity !== wanted.identity
}

const freeSlot = (draft: Draft, name: string): void => {
  const connector = draft.connector(name)
  const slot = connector.live?.slot
  if (slot === undefined || connector.live === undefined) return
  const { slots } = draft.world
  draft.world.slots = { ...slots, [slot]: slots[slot] - 1 }
  draft.setConnector(name, { ...connector, live: { ...connector.live, slot: undefined } })
}

/** The live attempt gives its slot back; it is over when its code has returned. */
const end = (draft: Draft, name: string, { attempt, ended }: Extract<LaneMessage, { _tag: "Settled" }>): void => {
  freeSlot(draft, name)
  const connector = draft.connector(name)
  if (connector.live === undefined) return
  draft.setConnector(name, { ...connector, live: ended ? undefined : { ...connector.live, orphan: true } })
  if (!ended) orphans(draft, name, HashSet.add(draft.world.orphans, attempt), false)
}

/** The code of an orphan has returned; its lane may have gone on without it, and its connector may be gone. */
const returned = (draft: Draft, name: string, attempt: number): void => {
  if (!HashSet.has(draft.world.orphans, attempt)) return
  const connector = draft.connector(name)
  if (connector.live?.attempt === attempt) draft.setConnector(name, { ...connector, live: undefined })
  orphans(draft, name, HashSet.remove(draft.world.orphans, attempt), true)
}

const orphans = (draft: Draft, connector: string, orphans: HashSet.HashSet<number>, ended: boolean): void => {
  draft.world.orphans = orphans
  draft.events.push({ _tag: "OrphanChanged", at: draft.now, connector, label: "generating task configs", ended })
}
