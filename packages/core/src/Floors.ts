/** Floors: per item the newest run that opened a writer, or fenced it. Only its writes are accepted (I7). */
import type * as Scope from "effect/Scope"
import * as Item from "./Item.ts"

/** The floors of one store in memory. */
export interface Floors {
  /** Raises the floor; `false`, without effect, when a newer run stands. */
  readonly raise: (item: Item.Item, run: Item.Run) => boolean
  /** Whether a write of the run is accepted. */
  readonly accepts: (item: Item.Item, run: Item.Run) => boolean
  /**
   * Raises every floor of a connector's items above the runs of owners up to a position; `false`, without effect, when a
   * run of a later owner stands. Looks at all floors: for what operators do.
   */
  readonly raiseAll: (connector: string, position: number) => boolean
}

/** No floor is set. */
export const make = (): Floors => {
  const floors = new Map<string, Item.Run>()
  return {
    raise: (item, run) => {
      const key = Item.key(item)
      const floor = floors.get(key)
      if (floor !== undefined && Item.compareRun(run, floor) < 0) return false
      floors.set(key, run)
      return true
    },
    accepts: (item, run) => {
      const floor = floors.get(Item.key(item))
      return floor === undefined || Item.compareRun(run, floor) >= 0
    },
    raiseAll: (connector, position) => {
      const run = Item.lastRunUntil(position)
      const raised = [...floors].filter(([key]) => Item.fromKey(key).connector === connector)
      if (raised.some(([, floor]) => Item.compareRun(run, floor) < 0)) return false
      for (const [key] of raised) floors.set(key, run)
      return true
    }
  }
}

/** Whether a scope is closed, or closing: a writer that was opened in it writes nothing more, whoever still holds it. */
export const isClosed = (scope: Scope.Scope): boolean => scope.state._tag === "Closed"
