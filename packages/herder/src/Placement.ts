/** Decides which session gets an item. Pure: the same state and members give the same answer on every worker. */
import type * as ClusterState from "@kelpie/core/ClusterState"
import * as HashMap from "effect/HashMap"

/** How many items each session owns. */
export type Load = Map<string, number>

/** Counts what the members own. A single member needs no counting: it gets everything. */
export const load = (state: ClusterState.ClusterState, sessions: ReadonlyArray<string>): Load => {
  const counts: Load = new Map(sessions.map((session) => [session, 0]))
  if (sessions.length < 2) return counts
  for (const items of HashMap.values(state.placements)) {
    for (const record of items.values()) {
      if (record._tag === "Released") continue
      const count = counts.get(record.session)
      if (count !== undefined) counts.set(record.session, count + 1)
    }
  }
  return counts
}

/** The least loaded session, the first of equals; counts the item for it. `undefined` when there is no member. */
export const choose = (counts: Load): string | undefined => {
  let chosen: string | undefined
  let least = Infinity
  for (const [session, count] of counts) {
    if (count < least) {
      least = count
      chosen = session
    }
  }
  if (chosen !== undefined) counts.set(chosen, least + 1)
  return chosen
}
