/** How often connectors and tasks changed their state, as the worker's metrics tell. */
import type { ConnectClient } from "@kelpie/rest"
import * as Effect from "effect/Effect"

/** `from->to` -> count, since the worker was started. */
export type StateChanges = ReadonlyMap<string, number>

const line = /^kelpie_status_changes_total\{from="(\w+)",to="(\w+)"\} (\d+)/gm

/** All that there were. */
export const read = (client: ConnectClient["Service"]) =>
  Effect.map(
    client.worker.metrics(),
    (text): StateChanges =>
      new Map(Array.from(text.matchAll(line), ([, from, to, count]) => [`${from}->${to}`, Number(count)]))
  )

/** Those that came between two readings. */
export const between = (before: StateChanges, after: StateChanges): ReadonlyArray<string> =>
  [...after].flatMap(([change, count]) => {
    const more = count - (before.get(change) ?? 0)
    return more === 0 ? [] : [`${change} ${more} time${more === 1 ? "" : "s"}`]
  })
