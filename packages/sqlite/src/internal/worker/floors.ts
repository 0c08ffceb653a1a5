/** Floors in `data.db`: read and raised in the transaction of the write that they guard (I7). */
import * as Item from "@kelpie/core/Item"
import type { DatabaseSync } from "node:sqlite"
import type { FencedConnector, FloorOf, ItemRun } from "../calls.ts"
import { Refusal } from "../failure.ts"

/** The floors of both stores. */
export interface Floors {
  /** Refuses the run when a newer one has opened or fenced the item. */
  readonly check: (of: FloorOf, run: ItemRun) => void
  /** Raises the floor to the run; refuses it when a newer one stands. */
  readonly raise: (of: FloorOf, run: ItemRun) => void
  /** Raises the floor to the run unless a newer one stands. */
  readonly fence: (of: FloorOf, run: ItemRun) => void
  /** Raises every floor of a connector; refuses when a run of a later owner stands. Looks at all floors. */
  readonly raiseAll: (of: FloorOf, fenced: FencedConnector) => void
}

/** Over an open database. */
export const floors = (database: DatabaseSync): Floors => {
  const get = database.prepare("SELECT token, start FROM floors WHERE store = ? AND item = ?")
  const set = database.prepare(`
    INSERT INTO floors (store, item, token, start) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET token = excluded.token, start = excluded.start
  `)
  const ofConnector = database.prepare(`
    SELECT item, token FROM floors WHERE store = ? AND substr(item, instr(item, '/') + 1) = ?
  `)
  const stands = (of: FloorOf, { item, start, token }: ItemRun): boolean => {
    const floor = get.get(of, item)
    return floor === undefined || (token - Number(floor.token) || start - Number(floor.start)) >= 0
  }
  const check = (of: FloorOf, run: ItemRun) => {
    if (!stands(of, run)) throw new Refusal("Fenced", "a newer run has opened or fenced this item")
  }
  const put = (of: FloorOf, { item, start, token }: ItemRun) => {
    set.run(of, item, token, start)
  }
  return {
    check,
    raise: (of, run) => {
      check(of, run)
      put(of, run)
    },
    fence: (of, run) => {
      if (stands(of, run)) put(of, run)
    },
    raiseAll: (of, { connector, position }) => {
      const raised = ofConnector.all(of, connector)
      if (raised.some(({ token }) => Number(token) > position)) {
        throw new Refusal("Fenced", "a run of a later owner has opened an item of this connector")
      }
      for (const { item } of raised) put(of, { item: String(item), ...Item.lastRunUntil(position) })
    }
  }
}
