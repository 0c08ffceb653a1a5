/**
 * What the leader answers to a command: the writes that carry it out, or why it is refused. Pure.
 *
 * A command's guard is checked against the state that the leader has read to its end (I3). Placement follows in the same
 * commit: an item is placed only when nobody owns it (I5), and the tasks of a connector only when every task that its
 * set removed or changed is released (I6). A balancing that is under way goes on in the commit that ends its last move, so
 * that every state says whether one is.
 */
import * as ClusterState from "@kelpie/core/ClusterState"
import * as ConfigRecord from "@kelpie/core/ConfigRecord"
import * as Item from "@kelpie/core/Item"
import { type LeaderCommand, LeaderError } from "@kelpie/core/LeaderCommand"
import type { Membership } from "@kelpie/core/Membership"
import type { OffsetStore } from "@kelpie/core/OffsetStore"
import { PlacementPolicy, type PlacementSettings } from "@kelpie/core/Policies"
import * as HashMap from "effect/HashMap"
import * as Result from "effect/Result"
import * as Placement from "./Placement.ts"

/** What a decision may use besides the state. */
export interface Context {
  /** The members that may own items, oldest first. */
  readonly members: ReadonlyArray<Membership.Member>
  /** When and how much is balanced. Left out: the defaults of `PlacementPolicy`. */
  readonly placement?: PlacementSettings | undefined
  /** An id that no incarnation has. */
  readonly incarnation: string
}

/** The writes of a command; none when the state is as asked already. */
export interface Decision {
  readonly writes: ReadonlyArray<ConfigRecord.Write>
  readonly created?: boolean | undefined
}

type Refusable = Result.Result<Decision, LeaderError>
type Of<T extends LeaderCommand["_tag"]> = Extract<LeaderCommand, { readonly _tag: T }>

/** A refusal. */
export const refuse = (kind: LeaderError["kind"], message: string): Refusable =>
  Result.fail(new LeaderError({ kind, message }))
const notFound = (name: string) => refuse("NotFound", `Connector ${name} not found`)
/** Of a connector without an entry: there is none, or its record cannot be read; then only a new config or a delete helps. */
const missing = (state: ClusterState.ClusterState, name: string): Refusable => {
  const reason = ClusterState.unreadable(state, name)
  return reason === undefined ? notFound(name) : refuse("Stale", `${reason}; put its config again, or delete it`)
}
const accept = (writes: ReadonlyArray<ConfigRecord.Write>, created?: boolean): Refusable =>
  Result.succeed({ writes, created })

/** What placing needs of the group. */
export type Placing = Pick<Context, "members" | "placement">

/** Decides one command. */
export const decide = (state: ClusterState.ClusterState, command: LeaderCommand, context: Context): Refusable =>
  Result.map(decideAlone(state, command, context), ({ created, writes }) => ({
    writes: goOn(state, writes, context),
    created
  }))

const decideAlone = (state: ClusterState.ClusterState, command: LeaderCommand, context: Context): Refusable => {
  switch (command._tag) {
    case "PutConnector":
      return putConnector(state, command, context)
    case "DeleteConnector":
      return deleteConnector(state, command.name)
    case "SetTarget":
      return setTarget(state, command)
    case "PublishTaskSet":
      return publishTaskSet(state, command, context)
    case "Restart":
      return restart(state, command)
    case "ConfirmRelease":
      return confirmRelease(state, command, context)
    case "RetryReconfiguration":
      return retry(state, command.name)
    case "HoldReconfiguration":
      return changeConnector(state, command.name, { held: command.held })
    case "SetLogLevel":
      // written even if it is so already: a worker may have been told otherwise since
      return accept([ConfigRecord.logLevel(command.logger, { level: command.level })])
  }
}

/** The sessions that own something, or are asked to let it go. */
export const owners = (state: ClusterState.ClusterState): ReadonlyArray<string> => {
  const sessions = new Set<string>()
  for (const items of HashMap.values(state.placements)) {
    for (const record of items.values()) if (record._tag !== "Released") sessions.add(record.session)
  }
  return [...sessions]
}

/** The newest runs that some sessions may have of what they own: every one of its token, whatever its number. */
export const runsOf = (
  state: ClusterState.ClusterState,
  sessions: ReadonlySet<string>
): ReadonlyArray<OffsetStore.ItemRun> => {
  const runs: Array<OffsetStore.ItemRun> = []
  for (const [name, items] of HashMap.entries(state.placements)) {
    for (const [item, record] of items) {
      if (record._tag === "Released" || !sessions.has(record.session)) continue
      // the token of one that is asked to let go is older than that record
      runs.push({ item: toItem(name, item), run: { token: record.position, start: Number.MAX_SAFE_INTEGER } })
    }
  }
  return runs
}

/**
 * What a leader writes when it begins, and when the group has changed: the cluster's identity, and a new owner for what
 * nobody owns. What ended sessions owned is released. A hand-over that is under way goes on (I6).
 */
export const recover = (
  state: ClusterState.ClusterState,
  context: Placing,
  clusterId: string,
  ended: ReadonlySet<string>
): ReadonlyArray<ConfigRecord.Write> => {
  // sorted: the order of a map's keys says where its writes came from
  const names = [...new Set([...HashMap.keys(state.connectors), ...HashMap.keys(state.placements)])].sort()
  const releases = names.flatMap((name) => releaseEnded(state, name, ended))
  const released = releases.reduce(after, state)
  const placer = new Placement.Placer(released, context.members)
  const placed = names.flatMap((name) => [
    ...placeConnector(released, name, placer),
    ...placeTasks(released, name, placer)
  ])
  const writes: ReadonlyArray<ConfigRecord.Write> = [
    ...(state.cluster === undefined ? [{ key: "cluster", entry: { id: clusterId } } as const] : []),
    ...(releases.length === 0 ? placed : lastOfEachKey([...releases, ...placed]))
  ]
  return goOn(state, writes, context)
}

/** Recovers, and balances what that comes to. */
export const attend = (
  state: ClusterState.ClusterState,
  context: Placing,
  clusterId: string,
  ended: ReadonlySet<string>
): ReadonlyArray<ConfigRecord.Write> => {
  const writes = recover(state, context, clusterId, ended)
  const moved = balance(writes.reduce(after, state), context)
  return moved.length === 0 ? writes : lastOfEachKey([...writes, ...moved])
}

/** Asks the owners of items that should move to let go; nothing when the members are balanced, or enough is on its way. */
export const balance = (state: ClusterState.ClusterState, context: Placing): ReadonlyArray<ConfigRecord.Write> =>
  moves(state, context, false)

const moves = (
  state: ClusterState.ClusterState,
  { members, placement = PlacementPolicy.defaults }: Placing,
  underWay: boolean
): ReadonlyArray<ConfigRecord.Write> =>
  Placement.balance(state, members, placement, underWay).flatMap((item) => release(state, item, "moved"))

/** Adds the next moves to writes that end the last one that was under way. */
const goOn = (
  state: ClusterState.ClusterState,
  writes: ReadonlyArray<ConfigRecord.Write>,
  context: Placing
): ReadonlyArray<ConfigRecord.Write> => {
  if (writes.length === 0 || context.members.length < 2 || !Placement.isMoving(state)) return writes
  const now = writes.reduce(after, state)
  return Placement.isMoving(now) ? writes : lastOfEachKey([...writes, ...moves(now, context, true)])
}

/** Releases what ended sessions owned, and forgets releases of what is not wanted any more. */
const releaseEnded = (
  state: ClusterState.ClusterState,
  name: string,
  ended: ReadonlySet<string>
): ReadonlyArray<ConfigRecord.Write> => {
  const placements = ClusterState.placements(state, name)
  if (placements.size === 0) return []
  const wanted = new Set(ClusterState.items(state, name).map(Item.key))
  const writes: Array<ConfigRecord.Write> = []
  for (const [item, record] of placements) {
    const unit = toItem(name, item)
    if (record._tag !== "Released" && !ended.has(record.session)) continue
    if (!wanted.has(Item.key(unit))) writes.push(ConfigRecord.placement(unit, undefined))
    else if (record._tag !== "Released") {
      const reason = record._tag === "Owned" ? "moved" : record.reason
      writes.push(ConfigRecord.placement(unit, { _tag: "Released", reason }))
    }
  }
  return writes
}

const toItem = (name: string, item: "connector" | number): Item.Item =>
  item === "connector" ? Item.connector(name) : Item.task(name, item)

/** Gives an item to a member, if nobody owns it and one is able. */
const own = (
  item: Item.Item,
  record: ConfigRecord.PlacementEntry | undefined,
  placer: Placement.Placer
): ReadonlyArray<ConfigRecord.Write> => {
  const session = placer.place(item, record?._tag === "Released" && record.reason === "moved")
  const restarting = record?._tag === "Released" && record.reason === "restart"
  return session === undefined
    ? []
    : [ConfigRecord.placement(item, { _tag: "Owned", session, ...(restarting ? { restarting } : {}) })]
}

/** Asks the owner of an item to let go; nothing when nobody owns it. */
const release = (
  state: ClusterState.ClusterState,
  item: Item.Item,
  reason: ConfigRecord.ReleaseReason
): ReadonlyArray<ConfigRecord.Write> => {
  const record = ClusterState.placement(state, item)
  if (record?._tag === "Owned") {
    return [ConfigRecord.placement(item, { _tag: "Releasing", session: record.session, reason })]
  }
  // an owner that lets go anyway does so for the stronger reason: what waits for it has to see it (I6)
  const stronger = reason === "changed" || reason === "removed"
  return record?._tag === "Releasing" && stronger && (record.reason === "restart" || record.reason === "moved")
    ? [ConfigRecord.placement(item, { _tag: "Releasing", session: record.session, reason })]
    : []
}

const sameConfig = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean => {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key])
}

const entryOf = (
  { config, held, incarnation, retries, revision, target }: ConfigRecord.ConnectorEntry
): ConfigRecord.ConnectorEntry => ({ incarnation, revision, config, target, retries, held })

const putConnector = (
  state: ClusterState.ClusterState,
  { config, expect, name, target }: Of<"PutConnector">,
  context: Context
): Refusable => {
  const existing = ClusterState.connector(state, name)
  const exists = existing !== undefined || ClusterState.unreadable(state, name) !== undefined
  if (expect === "absent" && exists) return refuse("Exists", `Connector ${name} already exists`)
  if (typeof expect === "object") {
    if (existing === undefined) return missing(state, name)
    if (existing.incarnation !== expect.incarnation || existing.revision !== expect.revision) {
      return refuse("Stale", `Connector ${name} was changed meanwhile`)
    }
  }
  if (existing !== undefined) {
    return sameConfig(existing.config, config)
      ? accept([])
      : accept([ConfigRecord.connector(name, { ...entryOf(existing), config, revision: existing.revision + 1 })])
  }
  const entry: ConfigRecord.ConnectorEntry = {
    incarnation: context.incarnation,
    revision: 1,
    config,
    target: target ?? "STARTED",
    retries: 0,
    held: false
  }
  const created = ConfigRecord.connector(name, entry)
  // a record that could not be read has left its items with their owners
  const left = [...ClusterState.placements(state, name).keys()].flatMap((item) =>
    release(state, toItem(name, item), "removed")
  )
  const now = after(state, created)
  // I5, across incarnations: what was there before is released first
  return accept([created, ...left, ...placeConnector(now, name, new Placement.Placer(now, context.members))], true)
}

const deleteConnector = (state: ClusterState.ClusterState, name: string): Refusable => {
  const known = ClusterState.connector(state, name) !== undefined || ClusterState.unreadable(state, name) !== undefined
  if (!known) return notFound(name)
  const writes: Array<ConfigRecord.Write> = [ConfigRecord.connector(name, undefined)]
  if (HashMap.has(state.taskSets, name)) writes.push(ConfigRecord.taskSet(name, undefined))
  for (const [item, record] of ClusterState.placements(state, name)) {
    const unit = toItem(name, item)
    if (record._tag === "Released") writes.push(ConfigRecord.placement(unit, undefined))
    else writes.push(...release(state, unit, "removed"))
  }
  return accept(writes)
}

const setTarget = (state: ClusterState.ClusterState, { name, target }: Of<"SetTarget">): Refusable => {
  const existing = ClusterState.connector(state, name)
  if (existing === undefined) return missing(state, name)
  // a resume also lets go a lane that an operator had parked
  const held = target === "STARTED" ? false : existing.held
  if (existing.target === target && existing.held === held) return accept([])
  const writes: Array<ConfigRecord.Write> = [ConfigRecord.connector(name, { ...entryOf(existing), target, held })]
  const set = ClusterState.taskSet(state, name)
  if (target === "STOPPED" && set !== undefined && set.tasks.length > 0) {
    writes.push(ConfigRecord.taskSet(name, emptySet(existing)))
    set.tasks.forEach((_, task) => writes.push(...release(state, Item.task(name, task), "removed")))
  }
  return accept(writes)
}

const emptySet = (connector: ConfigRecord.ConnectorEntry): ConfigRecord.TaskSetEntry => ({
  incarnation: connector.incarnation,
  revision: connector.revision,
  digest: "",
  config: connector.config,
  tasks: []
})

const publishTaskSet = (
  state: ClusterState.ClusterState,
  { config, digest, incarnation, name, revision, tasks, token }: Of<"PublishTaskSet">,
  context: Context
): Refusable => {
  const connector = ClusterState.connector(state, name)
  if (connector === undefined) return notFound(name)
  if (
    connector.incarnation !== incarnation || connector.revision !== revision ||
    ClusterState.token(state, Item.connector(name)) !== token
  ) {
    return refuse("Stale", `the task set of ${name} was made from an older config, or by an older owner`)
  }
  if (connector.target !== "STARTED") return refuse("Stopped", `Connector ${name} is not started`)
  const old = ClusterState.taskSet(state, name)
  const set: ConfigRecord.TaskSetEntry = { incarnation, revision, digest, config, tasks }
  const oldTasks = old?.tasks ?? []
  const writes: Array<ConfigRecord.Write> = [ConfigRecord.taskSet(name, set)]
  oldTasks.forEach((task, number) => {
    const next = tasks[number]
    if (next?.digest === task.digest) return
    writes.push(...release(state, Item.task(name, number), next === undefined ? "removed" : "changed"))
  })
  const now = writes.reduce(after, state)
  return accept([...writes, ...placeTasks(now, name, new Placement.Placer(now, context.members))])
}

/** The state after a write of the same commit; its position is not known yet, so it counts as the present one. */
export const after = (state: ClusterState.ClusterState, write: ConfigRecord.Write): ClusterState.ClusterState =>
  Placement.write(state, write, state.position)

/** Places the connector instance if nobody owns it. */
const placeConnector = (
  state: ClusterState.ClusterState,
  name: string,
  placer: Placement.Placer
): ReadonlyArray<ConfigRecord.Write> => {
  if (ClusterState.connector(state, name) === undefined) return []
  const record = ClusterState.placement(state, Item.connector(name))
  return record === undefined || record._tag === "Released"
    ? own(Item.connector(name), record, placer)
    : []
}

/** Places the tasks that nobody owns, once all that the set removed or changed is released (I6). */
const placeTasks = (
  state: ClusterState.ClusterState,
  name: string,
  placer: Placement.Placer
): ReadonlyArray<ConfigRecord.Write> => {
  const placements = ClusterState.placements(state, name)
  for (const [item, record] of placements) {
    const handOver = record._tag === "Releasing" && (record.reason === "changed" || record.reason === "removed")
    if (item !== "connector" && handOver) return []
  }
  return (ClusterState.taskSet(state, name)?.tasks ?? []).flatMap((_, task) => {
    const record = placements.get(task)
    return record === undefined || record._tag === "Released"
      ? own(Item.task(name, task), record, placer)
      : []
  })
}

const restart = (state: ClusterState.ClusterState, { connector, name, tasks }: Of<"Restart">): Refusable => {
  if (ClusterState.connector(state, name) === undefined) return missing(state, name)
  const count = ClusterState.taskSet(state, name)?.tasks.length ?? 0
  const unknown = tasks.find((task) => task >= count)
  if (unknown !== undefined) return refuse("NotFound", `Unknown task: ${name}-${unknown}`)
  const items = [...(connector ? [Item.connector(name)] : []), ...tasks.map((task) => Item.task(name, task))]
  return accept(items.flatMap((item) => release(state, item, "restart")))
}

const confirmRelease = (
  state: ClusterState.ClusterState,
  { items }: Of<"ConfirmRelease">,
  context: Context
): Refusable => {
  const writes: Array<ConfigRecord.Write> = []
  const names = new Set<string>()
  for (const { position, ...item } of items) {
    const record = ClusterState.placement(state, item)
    if (record?._tag !== "Releasing" || record.position !== position) continue // answered before
    const wanted = item.task === undefined
      ? ClusterState.connector(state, item.connector) !== undefined
      : item.task < (ClusterState.taskSet(state, item.connector)?.tasks.length ?? 0)
    writes.push(ConfigRecord.placement(item, wanted ? { _tag: "Released", reason: record.reason } : undefined))
    names.add(item.connector)
  }
  const released = writes.reduce(after, state)
  const placer = new Placement.Placer(released, context.members, true)
  for (const name of names) {
    writes.push(...placeConnector(released, name, placer), ...placeTasks(released, name, placer))
  }
  return accept(lastOfEachKey(writes))
}

/** An item that is released and placed in one commit needs the last record only. */
const lastOfEachKey = (writes: ReadonlyArray<ConfigRecord.Write>): ReadonlyArray<ConfigRecord.Write> => {
  const last = new Map<string, ConfigRecord.Write>()
  for (const write of writes) last.set(write.key, write)
  return [...last.values()]
}

const notStarted = (target: ConfigRecord.TargetState, name: string): Refusable =>
  refuse("Stopped", `Connector ${name} is ${target}: it has no reconfiguration to change until it is resumed`)

const retry = (state: ClusterState.ClusterState, name: string): Refusable => {
  const existing = ClusterState.connector(state, name)
  if (existing === undefined) return missing(state, name)
  if (existing.target !== "STARTED") {
    return notStarted(existing.target, name)
  }
  return changeConnector(state, name, { retries: existing.retries + 1, held: false })
}

const changeConnector = (
  state: ClusterState.ClusterState,
  name: string,
  change: Partial<ConfigRecord.ConnectorEntry>
): Refusable => {
  const existing = ClusterState.connector(state, name)
  if (existing === undefined) return missing(state, name)
  if (existing.target !== "STARTED") {
    return notStarted(existing.target, name)
  }
  const changed = { ...entryOf(existing), ...change }
  return changed.held === existing.held && changed.retries === existing.retries
    ? accept([])
    : accept([ConfigRecord.connector(name, changed)])
}
