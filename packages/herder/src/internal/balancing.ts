/** What a balanced cluster looks like: where every item is, where it may be, and how far the members are apart. */
import * as ClusterState from "@kelpie/core/ClusterState"
import type * as Item from "@kelpie/core/Item"
import type { Membership } from "@kelpie/core/Membership"
import * as HashMap from "effect/HashMap"
import * as Ability from "./ability.ts"
import * as Evenly from "./evenly.ts"

type Members = ReadonlyArray<Membership.Member>

/** Items that the same members may own. Members are numbers: their places in the list of members. */
export interface Kind {
  readonly able: ReadonlyArray<number>
  /** By member: what it owns and could give away. */
  readonly items: ReadonlyArray<Array<Item.Item>>
  /** Items that will be placed: those that nobody owns, that are let go, or that cannot stay. */
  free: number
}

/** Every item of a state among some members. */
export interface Survey {
  readonly members: Members
  readonly kinds: ReadonlyArray<Kind>
  /** By member: what it owns and nobody else may. */
  readonly fixed: ReadonlyArray<number>
  /** By member: what it owns. */
  readonly owned: ReadonlyArray<number>
  /** Owned by a member that should not: it drains, or is not able any more. Counted as free. */
  readonly misplaced: ReadonlyArray<{ readonly item: Item.Item; readonly owner: number }>
}

/** What tells a kind from others. */
export const kindKey = (able: ReadonlyArray<number>): string => able.join()

/** How many items there should be. */
export const total = (state: ClusterState.ClusterState): number => {
  let count = 0
  for (const name of HashMap.keys(state.connectors)) count += 1 + (ClusterState.taskSet(state, name)?.tasks.length ?? 0)
  return count
}

/**
 * Looks at every item. One that is asked to let go counts as free: it is placed anew. What a session owned that is no
 * member is free as well, for it soon will be.
 */
export const survey = (state: ClusterState.ClusterState, members: Members): Survey => {
  const places = new Map(members.map(({ session }, place) => [session, place]))
  const ableFor = Ability.among(members)
  const kinds = new Map<string, Kind>()
  const fixed = members.map(() => 0)
  const owned = members.map(() => 0)
  const misplaced: Array<Survey["misplaced"][number]> = []

  const kindOf = (able: ReadonlyArray<number>): Kind => {
    const found = kinds.get(kindKey(able)) ?? { able, items: members.map(() => []), free: 0 }
    kinds.set(kindKey(able), found)
    return found
  }
  const count = (item: Item.Item, kind: Kind, owner: number | undefined) => {
    if (owner !== undefined) owned[owner] = (owned[owner] ?? 0) + 1
    if (owner === undefined) kind.free++
    else if (kind.able.length === 0 || kind.able.includes(owner) && members[owner]?.draining === true) {
      fixed[owner] = (fixed[owner] ?? 0) + 1
    } else if (kind.able.includes(owner)) kind.items[owner]?.push(item)
    else {
      kind.free++
      misplaced.push({ item, owner })
    }
  }

  for (const [name, { config }] of state.connectors) {
    const kind = kindOf(ableFor(config))
    const records = ClusterState.placements(state, name)
    for (const item of ClusterState.items(state, name)) {
      const record = records.get(item.task ?? "connector")
      count(item, kind, record?._tag === "Owned" ? places.get(record.session) : undefined)
    }
  }
  // what a connector has left that cannot be read runs on where it is
  for (const [name, records] of state.placements) {
    if (HashMap.has(state.connectors, name)) continue
    for (const record of records.values()) {
      const owner = record._tag === "Owned" ? places.get(record.session) : undefined
      if (owner === undefined) continue
      owned[owner] = (owned[owner] ?? 0) + 1
      fixed[owner] = (fixed[owner] ?? 0) + 1
    }
  }
  // the order of a map's entries says where its writes came from; nothing may depend on it
  const sorted = [...kinds].sort(([a], [b]) => a < b ? -1 : 1).map(([, kind]) => kind)
  return { members, kinds: sorted.filter((kind) => kind.able.length > 0), fixed, owned, misplaced }
}

const counted = ({ items }: Kind): ReadonlyArray<number> => items.map((list) => list.length)

/** How it comes out when nothing is moved but what has to be. */
export const asItStands = ({ fixed, kinds }: Survey): Evenly.Distribution => {
  const staying = Evenly.loadsOf(fixed, kinds.map(counted))
  const nothing = fixed.map(() => 0)
  const placed = Evenly.spread(staying, kinds.map(({ able, free }) => ({ able, free, at: nothing })))
  return kinds.map(({ items }, kind) => items.map((list, place) => list.length + (placed[kind]?.[place] ?? 0)))
}

/** How it comes out when it is balanced with the fewest moves. */
export const balanced = ({ fixed, kinds }: Survey): Evenly.Distribution =>
  Evenly.spread(fixed, kinds.map((kind) => ({ able: kind.able, free: kind.free, at: counted(kind) })))

/** By kind and member, what a distribution adds to what is there. */
export const arrivals = (
  { kinds }: Survey,
  distribution: Evenly.Distribution
): ReadonlyArray<{ readonly kind: Kind; readonly counts: ReadonlyArray<number> }> =>
  kinds.map((kind, k) => ({
    kind,
    counts: kind.items.map((list, place) => (distribution[k]?.[place] ?? 0) - list.length)
  }))

/** The members that load of a member can reach, also over others. */
const reachable = (from: number, { kinds }: Survey, distribution: Evenly.Distribution): ReadonlyArray<number> => {
  const found = [from]
  for (const place of found) {
    kinds.forEach(({ able }, kind) => {
      if ((distribution[kind]?.[place] ?? 0) === 0) return
      for (const next of able) if (!found.includes(next)) found.push(next)
    })
  }
  return found
}

/**
 * How much more some member has than one that could take from it: the most of all, and the most than one that owns
 * nothing. Members that cannot take from each other may differ as they like.
 */
export const differences = (
  view: Survey,
  distribution: Evenly.Distribution
): { readonly most: number; readonly toEmpty: number; readonly average: number } => {
  const loads = Evenly.loadsOf(view.fixed, distribution)
  let [most, toEmpty] = [0, 0]
  loads.forEach((load, from) => {
    for (const to of reachable(from, view, distribution)) {
      const difference = load - (loads[to] ?? 0)
      most = Math.max(most, difference)
      if (view.owned[to] === 0) toEmpty = Math.max(toEmpty, difference)
    }
  })
  const staying = view.members.flatMap((member, place) => member.draining === true ? [] : [loads[place] ?? 0])
  return { most, toEmpty, average: staying.reduce((sum, load) => sum + load, 0) / Math.max(1, staying.length) }
}
