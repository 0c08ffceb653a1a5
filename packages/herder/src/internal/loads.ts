/**
 * How many items each session has, carried along from state to state: a scan of all placements is made once, and every
 * further record changes the counts by what it changes.
 */
import * as ClusterState from "@kelpie/core/ClusterState"
import * as ConfigRecord from "@kelpie/core/ConfigRecord"
import * as HashMap from "effect/HashMap"

/** What the placement records of a state come to. */
export interface Loads {
  /** By session: what it owns, and what it most likely gets again once it has let go. */
  readonly sessions: ReadonlyMap<string, number>
  /** Items that are asked to move. */
  readonly moving: number
}

const known = new WeakMap<ClusterState.ClusterState["placements"], Loads>()

/** The session that has an item in its load: not what moves away or goes for good. */
const holder = (record: ConfigRecord.PlacementEntry | undefined): string | undefined =>
  record?._tag === "Owned" ||
    record?._tag === "Releasing" && (record.reason === "restart" || record.reason === "changed")
    ? record.session
    : undefined

const isMoving = (record: ConfigRecord.PlacementEntry | undefined): boolean =>
  record?._tag === "Releasing" && record.reason === "moved"

const add = (counts: Map<string, number>, session: string | undefined, by: number): void => {
  if (session === undefined) return
  const count = (counts.get(session) ?? 0) + by
  if (count === 0) counts.delete(session)
  else counts.set(session, count)
}

const scan = (placements: ClusterState.ClusterState["placements"]): Loads => {
  const sessions = new Map<string, number>()
  let moving = 0
  for (const records of HashMap.values(placements)) {
    for (const record of records.values()) {
      add(sessions, holder(record), 1)
      if (isMoving(record)) moving++
    }
  }
  return { sessions, moving }
}

/** How many items of one connector each session has. */
export const holders = (state: ClusterState.ClusterState, name: string): ReadonlyMap<string, number> => {
  const sessions = new Map<string, number>()
  for (const record of ClusterState.placements(state, name).values()) add(sessions, holder(record), 1)
  return sessions
}

/** The counts of a state. */
export const of = ({ placements }: ClusterState.ClusterState): Loads => {
  const found = known.get(placements) ?? scan(placements)
  known.set(placements, found)
  return found
}

/** The state after a write; its counts follow from those of the state before, if they are known. */
export const write = (
  state: ClusterState.ClusterState,
  write: ConfigRecord.Write,
  position: number
): ClusterState.ClusterState => {
  const next = ClusterState.write(state, write, position)
  const before = known.get(state.placements)
  const about = ConfigRecord.subject(write.key)
  if (before === undefined || about._tag !== "placement") return next
  const [from, to] = [ClusterState.placement(state, about.item), ClusterState.placement(next, about.item)]
  const sessions = new Map(before.sessions)
  add(sessions, holder(from), -1)
  add(sessions, holder(to), 1)
  known.set(next.placements, { sessions, moving: before.moving - Number(isMoving(from)) + Number(isMoving(to)) })
  return next
}

/** Says that two states hold the same placements: one that was foreseen, and the same once it is stored. */
export const carry = (from: ClusterState.ClusterState, to: ClusterState.ClusterState): void => {
  const found = known.get(from.placements)
  if (found !== undefined) known.set(to.placements, found)
}
