/** What an item's owner says of it: Connect's state words, and the lane in full (law 10). */
import * as Item from "@kelpie/core/Item"
import type * as Status from "@kelpie/core/Status"
import type * as Lane from "../Lane.ts"
import type * as World from "../World.ts"
import type { Draft } from "./draft.ts"

/** Brings the statuses of a connector and its tasks up to what is; items of others are theirs to tell. */
export const plan = (draft: Draft, name: string, wanted: ReadonlyMap<"connector" | number, World.Wanted>): void => {
  const connector = draft.connector(name)
  const own = wanted.get("connector")
  if (own === undefined) gone(draft, Item.connector(name))
  else put(draft, Item.connector(name), own, connector.connector, connector)
  for (const [item, want] of wanted) {
    const task = item === "connector" ? undefined : connector.tasks.get(item)
    if (item !== "connector") put(draft, Item.task(name, item), want, task, undefined)
  }
}

/** Forgets a status of an item that does not exist, by a log that is newer than it. */
export const prune = (draft: Draft, record: Status.StatusRecord): void => {
  const { connector, set } = draft.logged(record.connector)
  const exists = connector !== undefined && (record.task === undefined || record.task < (set?.tasks.length ?? 0))
  if (!exists && record.token <= draft.world.state.position) draft.removeStatus(record)
}

/** Of a connector that was deleted, or lost tasks: who owned them may not be there any more to forget their statuses. */
export const pruneAll = (draft: Draft, name: string): void => {
  for (const record of draft.statuses(name)) prune(draft, record)
}

/** A status of an item that is no longer this worker's is forgotten once nothing of it runs here. */
const gone = (draft: Draft, item: Item.Item): void => {
  // of one that moved the new owner tells
  if (draft.logged(item.connector).connector !== undefined) return
  const known = draft.status(item)
  if (known !== undefined && known.workerId === draft.world.settings.workerId && isForgotten(draft, item)) {
    draft.removeStatus(item)
  }
}

const isForgotten = (draft: Draft, item: Item.Item): boolean => {
  const connector = draft.connector(item.connector)
  return connector.connector.run._tag === "Idle" && connector.tasks.size === 0
}

interface Word {
  readonly state: Status.State
  readonly trace?: string | undefined
}

/** The state word of an item; `undefined` while it has none yet. */
const word = (want: World.Wanted, item: World.ItemWorld | undefined, lane: Lane.Lane | undefined): Word | undefined => {
  const run = item?.run
  if (run === undefined || run._tag === "Idle") {
    return want.mode === "paused" ? { state: "PAUSED" } : want.mode === "stopped" ? { state: "STOPPED" } : undefined
  }
  if (run._tag === "Failed") return { state: "FAILED", trace: run.failure.trace }
  if (run._tag !== "Running") return undefined
  if (lane?._tag === "Parked" && lane.fails) return { state: "FAILED", trace: lane.tries.last?.message ?? "" }
  return { state: "RUNNING" }
}

const put = (
  draft: Draft,
  item: Item.Item,
  want: World.Wanted,
  world: World.ItemWorld | undefined,
  connector: World.ConnectorWorld | undefined
): void => {
  const known = draft.status(item)
  const before = known?.token === want.token ? known : undefined
  const now = word(want, world, connector?.lane) ?? before
  if (now === undefined) return
  const lane = connector === undefined || connector.lane._tag === "Idle" ? undefined : reconfiguration(connector.lane)
  const restartAt = world?.run._tag === "Failed" ? world.run.restartAt : undefined
  const record: Status.StatusRecord = {
    connector: item.connector,
    ...(item.task === undefined ? {} : { task: item.task }),
    token: want.token,
    state: now.state,
    workerId: draft.world.settings.workerId,
    version: world?.version ?? null,
    since: before !== undefined && before.state === now.state ? before.since : draft.now,
    ...(now.trace === undefined ? {} : { trace: now.trace }),
    ...(world?.revision === undefined ? {} : { revision: world.revision }),
    ...(world?.retrying === undefined ? {} : { retrying: world.retrying }),
    ...(restartAt === undefined ? {} : { restartAt }),
    ...(connector?.generated === undefined ? {} : { generated: connector.generated }),
    ...(lane === undefined ? {} : { reconfiguration: lane })
  }
  if (before === undefined || !same(before, record)) draft.setStatus(record)
}

const same = (a: Status.StatusRecord, b: Status.StatusRecord): boolean =>
  a.state === b.state && a.trace === b.trace && a.revision === b.revision && a.version === b.version &&
  a.generated === b.generated && a.retrying === b.retrying && a.restartAt === b.restartAt &&
  sameLane(a.reconfiguration, b.reconfiguration)

const sameLane = (a: Status.Reconfiguration | undefined, b: Status.Reconfiguration | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.state === b.state && a.attempt === b.attempt &&
    a.stage === b.stage && a.since === b.since && a.nextAttemptAt === b.nextAttemptAt && a.parked === b.parked &&
    a.failure?.occurrences === b.failure?.occurrences)

const failureOf = ({ failures, firstAt, last, lastAt }: Lane.Tries): Status.Failure | undefined =>
  last === undefined || firstAt === undefined || lastAt === undefined
    ? undefined
    : { class: last.class, stage: last.stage, message: last.message, firstAt, lastAt, occurrences: failures }

/** The lane as it is shown. */
export const reconfiguration = (lane: Lane.Lane): Status.Reconfiguration => {
  if (lane._tag === "Idle") return { state: "Idle", attempt: 0 }
  const failure = failureOf(lane.tries)
  const base = {
    state: lane._tag,
    attempt: lane._tag === "Parked" ? lane.tries.failures : lane.tries.failures + 1,
    ...(failure === undefined ? {} : { failure })
  }
  switch (lane._tag) {
    case "Queued":
      return base
    case "Running":
      return { ...base, stage: lane.stage, since: lane.since }
    case "Waiting":
      return { ...base, delayMillis: lane.delayMillis, nextAttemptAt: lane.wakeAt }
    case "Parked":
      return { ...base, parked: lane.reason }
  }
}
