/**
 * Spreads items over places as evenly as their kinds allow, with the fewest moves.
 *
 * It is a flow of least cost: first the sum of the squared loads counts (the least one is within one of each other wherever
 * that can be), then the number of items that leave their place. A distribution is the best one when no cycle of moves
 * makes it better; so cycles are found and moved along until there is none. Items of a kind are not told apart.
 */

/** Items that may be at the same places. */
export interface Kind {
  /** The places where they may be. */
  readonly able: ReadonlyArray<number>
  /** How many are at each place now; each of them counts when it leaves. */
  readonly at: ReadonlyArray<number>
  /** How many are nowhere. */
  readonly free: number
}

/** How many items of each kind are at each place. */
export type Distribution = ReadonlyArray<ReadonlyArray<number>>

/** What each place has, beside so many that cannot move. */
export const loadsOf = (fixed: ReadonlyArray<number>, distribution: Distribution): Array<number> =>
  fixed.map((load, place) => distribution.reduce((sum, counts) => sum + (counts[place] ?? 0), load))

/** A cheapest step from one place to another: one item of this kind goes. */
interface Arc {
  readonly cost: number
  readonly kind: number
}

/** The best distribution. */
export const spread = (fixed: ReadonlyArray<number>, kinds: ReadonlyArray<Kind>): Distribution => {
  const counts = kinds.map((kind) => [...kind.at])
  const loads = loadsOf(fixed, counts)
  kinds.forEach((kind, k) => fill(kind, counts[k] ?? [], loads))
  const graph = new Graph(kinds, counts, loads)
  while (graph.improve());
  return counts
}

/** Puts what is nowhere to the least loaded places, one after the other. */
const fill = ({ able, free }: Kind, counts: Array<number>, loads: Array<number>): void => {
  const [first] = able
  if (first === undefined) return
  for (let item = 0; item < free; item++) {
    let least = first
    for (const place of able) if ((loads[place] ?? 0) < (loads[least] ?? 0)) least = place
    loads[least] = (loads[least] ?? 0) + 1
    counts[least] = (counts[least] ?? 0) + 1
  }
}

/** The steps that a distribution allows, between the places and from and to the outside, where loads are paid for. */
class Graph {
  readonly #kinds: ReadonlyArray<Kind>
  readonly #counts: ReadonlyArray<Array<number>>
  readonly #loads: Array<number>
  readonly #outside: number
  /** By place and place. */
  readonly #arcs: Array<Array<Arc | undefined>>

  constructor(kinds: ReadonlyArray<Kind>, counts: ReadonlyArray<Array<number>>, loads: Array<number>) {
    this.#kinds = kinds
    this.#counts = counts
    this.#loads = loads
    this.#outside = loads.length
    this.#arcs = loads.map((_, from) => loads.map((_, to) => this.#arc(from, to)))
  }

  /** Moves along one cycle that makes the distribution better; `false` when there is none. */
  improve(): boolean {
    const cycle = this.#cycle()
    if (cycle === undefined) return false
    const steps = cycle.flatMap((from, at) => {
      const to = cycle[(at + 1) % cycle.length] ?? from
      const arc = this.#arcs[from]?.[to]
      return arc === undefined ? [] : [{ from, to, kind: arc.kind }]
    })
    const many = Math.min(this.#levelling(cycle), ...steps.map(({ from, kind, to }) => this.#alike(kind, from, to)))
    for (const { from, kind, to } of steps) {
      this.#change(kind, from, -many)
      this.#change(kind, to, many)
    }
    for (const { from, to } of steps) this.#refresh(from, to)
    return true
  }

  #change(kind: number, place: number, by: number): void {
    const counts = this.#counts[kind] ?? []
    counts[place] = (counts[place] ?? 0) + by
    this.#loads[place] = (this.#loads[place] ?? 0) + by
  }

  #refresh(...places: ReadonlyArray<number>): void {
    for (const place of places) {
      this.#arcs.forEach((row, other) => {
        row[place] = this.#arc(other, place)
        const own = this.#arcs[place]
        if (own !== undefined) own[other] = this.#arc(place, other)
      })
    }
  }

  /** The items of a kind at a place, how many were there, and whether it may be there. */
  #of(kind: number, place: number): readonly [now: number, before: number] {
    return [this.#counts[kind]?.[place] ?? 0, this.#kinds[kind]?.at[place] ?? 0]
  }

  #arc(from: number, to: number): Arc | undefined {
    if (from === to) return undefined
    let best: Arc | undefined
    for (let kind = 0; kind < this.#kinds.length; kind++) {
      const [left, leftBefore] = this.#of(kind, from)
      if (left === 0 || this.#kinds[kind]?.able.includes(to) !== true) continue
      const [there, thereBefore] = this.#of(kind, to)
      const cost = (left <= leftBefore ? 1 : 0) - (there < thereBefore ? 1 : 0)
      if (best === undefined || cost < best.cost) best = { cost, kind }
    }
    return best
  }

  /** How many items of a kind may take a step before its cost changes. */
  #alike(kind: number, from: number, to: number): number {
    const [left, leftBefore] = this.#of(kind, from)
    const [there, thereBefore] = this.#of(kind, to)
    return Math.min(
      left > leftBefore ? left - leftBefore : left,
      there < thereBefore ? thereBefore - there : Infinity
    )
  }

  /** How many items may go along a cycle until the loads at its ends are level. */
  #levelling(cycle: ReadonlyArray<number>): number {
    const outside = cycle.indexOf(this.#outside)
    if (outside < 0) return Infinity
    const high = this.#loads[cycle[(outside + 1) % cycle.length] ?? 0] ?? 0
    const low = this.#loads[cycle[(outside + cycle.length - 1) % cycle.length] ?? 0] ?? 0
    return Math.max(1, Math.floor((high - low) / 2))
  }

  /** No cycle has so many moves: loads come first. */
  get #weight(): number {
    return this.#outside + 2
  }

  #cost(from: number, to: number): number | undefined {
    if (from === this.#outside) return -(2 * (this.#loads[to] ?? 0) - 1) * this.#weight
    if (to === this.#outside) return (2 * (this.#loads[from] ?? 0) + 1) * this.#weight
    return this.#arcs[from]?.[to]?.cost
  }

  /** A cycle of negative cost, by Bellman and Ford. */
  #cycle(): ReadonlyArray<number> | undefined {
    const size = this.#outside + 1
    const distance = new Array<number>(size).fill(0)
    const parent = new Array<number>(size).fill(-1)
    for (let round = 0; round < size; round++) {
      let changed = false
      for (let from = 0; from < size; from++) {
        for (let to = 0; to < size; to++) {
          const cost = from === to ? undefined : this.#cost(from, to)
          if (cost === undefined || (distance[from] ?? 0) + cost >= (distance[to] ?? 0)) continue
          distance[to] = (distance[from] ?? 0) + cost
          parent[to] = from
          changed = true
        }
      }
      const found = changed ? loop(parent) : undefined
      if (found !== undefined || !changed) return found
    }
    return undefined
  }
}

/** A loop among parents, in the order of its steps. */
const loop = (parent: ReadonlyArray<number>): ReadonlyArray<number> | undefined => {
  const seen = new Array<number>(parent.length).fill(-1)
  for (let start = 0; start < parent.length; start++) {
    let node = start
    while (node >= 0 && (seen[node] ?? 0) < 0) {
      seen[node] = start
      node = parent[node] ?? -1
    }
    if (node < 0 || seen[node] !== start) continue
    const found = [node]
    for (let before = parent[node] ?? -1; before !== node; before = parent[before] ?? -1) found.push(before)
    return found.reverse()
  }
  return undefined
}
