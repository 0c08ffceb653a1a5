/**
 * Decides who gets an item, and which items move. Pure: the same state and members give the same answer on every worker, so
 * a new leader goes on where the last one was.
 *
 * An item goes to the least loaded member that is able: one that has the connector's plugin and carries the labels that it
 * asks for (`placement.labels`). Of equals it goes to the one with fewest items of that connector, then to the oldest.
 *
 * Nothing moves because something was deleted. Balancing starts when a member drains or cannot run any more what it owns,
 * when one that owns nothing could take from others, or when members differ by more than the threshold; it goes on as long
 * as an item is on its way, until those that can take from each other are within one of each other.
 */
import * as ClusterState from "@kelpie/core/ClusterState"
import type * as Item from "@kelpie/core/Item"
import type { Membership } from "@kelpie/core/Membership"
import type { ConnectorConfig } from "@kelpie/core/Plugin"
import type { PlacementSettings } from "@kelpie/core/Policies"
import * as Ability from "./internal/ability.ts"
import * as Balancing from "./internal/balancing.ts"
import * as Evenly from "./internal/evenly.ts"
import * as Loads from "./internal/loads.ts"

type Members = ReadonlyArray<Membership.Member>

/** Why no member may own a connector's items; `undefined` when one may. Shown as it is. */
export const whyUnplaced = (members: Members, config: ConnectorConfig): string | undefined =>
  Ability.whyNone(members, config)

/** How a state looks after a write; what is known of its loads follows without another look at all placements. */
export const write: typeof Loads.write = Loads.write

/** Says that a state holds the placements that were foreseen for it: what is known of their loads is known of it. */
export const carry: typeof Loads.carry = Loads.carry

/** Whether an item is on its way: asked to let go so that another member gets it. */
export const isMoving = (state: ClusterState.ClusterState): boolean => Loads.of(state).moving > 0

/**
 * Gives items of one state to members, one after the other, and counts what it gives. While it is `balancing`, an item that
 * was let go to be moved goes to a member that is to get one: where abilities differ, the least loaded one may not be.
 */
export class Placer {
  readonly #state: ClusterState.ClusterState
  readonly #members: Members
  readonly #balancing: boolean
  readonly #able: (config: ConnectorConfig) => ReadonlyArray<number>
  #loads: Array<number> | undefined
  /** By connector name and member: how many of its items. */
  readonly #own = new Map<string, Array<number>>()
  /** By kind and member: how many items balancing has for it. */
  #room: ReadonlyMap<string, Array<number>> | undefined

  constructor(state: ClusterState.ClusterState, members: Members, balancing = false) {
    this.#state = state
    this.#members = members
    this.#balancing = balancing
    this.#able = Ability.among(members)
  }

  /** The session that gets an item that nobody owns; `undefined` when no member is able. */
  place(item: Item.Item, moved: boolean): string | undefined {
    const config = ClusterState.connector(this.#state, item.connector)?.config
    const able = config === undefined ? [] : this.#able(config)
    const counting = this.#members.length > 1
    const chosen = counting
      ? this.#least(item.connector, moved && this.#balancing ? this.#takers(able) : able)
      : able[0]
    if (chosen === undefined) return undefined
    if (counting) this.#count(item.connector, able, chosen)
    return this.#members[chosen]?.session
  }

  get #load(): Array<number> {
    if (this.#loads === undefined) {
      const { sessions } = Loads.of(this.#state)
      this.#loads = this.#members.map(({ session }) => sessions.get(session) ?? 0)
    }
    return this.#loads
  }

  #ownOf(name: string): Array<number> {
    const found = this.#own.get(name)
    if (found !== undefined) return found
    const holders = Loads.holders(this.#state, name)
    const counts = this.#members.map(({ session }) => holders.get(session) ?? 0)
    this.#own.set(name, counts)
    return counts
  }

  #least(name: string, among: ReadonlyArray<number>): number | undefined {
    const [loads, own] = [this.#load, this.#ownOf(name)]
    let [best] = among
    for (const place of among) {
      const difference = (loads[place] ?? 0) - (loads[best ?? place] ?? 0)
      if (difference < 0 || difference === 0 && (own[place] ?? 0) < (own[best ?? place] ?? 0)) best = place
    }
    return best
  }

  #count(name: string, able: ReadonlyArray<number>, place: number): void {
    for (const counts of [this.#load, this.#ownOf(name), this.#room?.get(Balancing.kindKey(able))]) {
      if (counts !== undefined) counts[place] = (counts[place] ?? 0) + 1
    }
  }

  /** Those of the able ones that are to get such an item. */
  #takers(able: ReadonlyArray<number>): ReadonlyArray<number> {
    if (able.length < 2 || Ability.uniform(this.#members)) return able
    this.#room ??= roomOf(this.#state, this.#members)
    const counts = this.#room.get(Balancing.kindKey(able))
    const takers = able.filter((place) => (counts?.[place] ?? 0) < 0)
    return takers.length > 0 ? takers : able
  }
}

/** By kind and member, what it has above what it should have: below zero there is room. */
const roomOf = (state: ClusterState.ClusterState, members: Members): ReadonlyMap<string, Array<number>> => {
  const view = Balancing.survey(state, members)
  return new Map(
    Balancing.arrivals(view, Balancing.balanced(view)).map(({ counts, kind }) => [
      Balancing.kindKey(kind.able),
      counts.map((count) => -count)
    ])
  )
}

/**
 * The items whose owners should be asked to let go now, so that they move; at most `rebalanceMoves` of all items are on
 * their way. Those of draining members come first, then those of the fullest member. `underWay`: balancing had begun
 * already, though no item is on its way at this moment.
 */
export const balance = (
  state: ClusterState.ClusterState,
  members: Members,
  policy: Pick<PlacementSettings, "rebalanceMoves" | "rebalanceThreshold">,
  underWay = false
): ReadonlyArray<Item.Item> => {
  if (members.length < 2) return []
  const { moving } = Loads.of(state)
  const atOnce = Math.max(1, Math.floor(policy.rebalanceMoves * Balancing.total(state))) - moving
  if (atOnce <= 0) return []
  const view = Balancing.survey(state, members)
  const first = inOrder(view.misplaced)
  if (first.length >= atOnce) return first.slice(0, atOnce)
  const present = Balancing.asItStands(view)
  const { average, most, toEmpty } = Balancing.differences(view, present)
  const begun = underWay || moving > 0 || first.length > 0 || toEmpty > 1 ||
    most > Math.max(2, policy.rebalanceThreshold * average)
  return begun && most > 1 ? [...first, ...leaving(state, view, present)].slice(0, atOnce) : first
}

/** By connector name; the last task first, the instance last. */
const compareItems = (a: Item.Item, b: Item.Item): number =>
  a.connector === b.connector ? (b.task ?? -1) - (a.task ?? -1) : a.connector < b.connector ? -1 : 1

const inOrder = (misplaced: Balancing.Survey["misplaced"]): ReadonlyArray<Item.Item> =>
  [...misplaced].sort((a, b) => a.owner - b.owner || compareItems(a.item, b.item)).map(({ item }) => item)

/** The items that leave their members: the next one of the fullest member first. */
const leaving = (
  state: ClusterState.ClusterState,
  view: Balancing.Survey,
  present: Evenly.Distribution
): ReadonlyArray<Item.Item> => {
  const loads = Evenly.loadsOf(view.fixed, present)
  const found: Array<{ readonly item: Item.Item; readonly load: number; readonly owner: number }> = []
  for (const { counts, kind } of Balancing.arrivals(view, Balancing.balanced(view))) {
    const takers = view.members.filter((_, place) => (counts[place] ?? 0) > 0).map(({ session }) => session)
    counts.forEach((count, owner) => {
      if (count >= 0) return
      for (const item of spreading(state, kind.items[owner] ?? [], takers).slice(0, -count)) {
        const load = loads[owner] ?? 0
        loads[owner] = load - 1
        found.push({ item, load, owner })
      }
    })
  }
  // a sort keeps the order of equals
  return found.sort((a, b) => b.load - a.load || a.owner - b.owner).map(({ item }) => item)
}

/**
 * Items of one member, those first whose move spreads the items of their connector most: each is worth what its connector
 * has more at its owner than at the best of the takers, when those before it have moved.
 */
const spreading = (
  state: ClusterState.ClusterState,
  items: ReadonlyArray<Item.Item>,
  takers: ReadonlyArray<string>
): ReadonlyArray<Item.Item> => {
  const ofConnectors = new Map<string, Array<Item.Item>>()
  for (const item of items) {
    const list = ofConnectors.get(item.connector)
    if (list === undefined) ofConnectors.set(item.connector, [item])
    else list.push(item)
  }
  const found: Array<{ readonly item: Item.Item; readonly worth: number }> = []
  for (const [name, list] of ofConnectors) {
    const holders = Loads.holders(state, name)
    const there = Math.min(...takers.map((taker) => holders.get(taker) ?? 0))
    list.sort(compareItems).forEach((item, at) => found.push({ item, worth: list.length - there - 2 * at }))
  }
  return found.sort((a, b) => b.worth - a.worth || compareItems(a.item, b.item)).map(({ item }) => item)
}
