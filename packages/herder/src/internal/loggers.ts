/** The loggers of the parts of this package, by which their lines can be turned on and off. */
import type * as Item from "@kelpie/core/Item"
import * as Effect from "effect/Effect"

const parts = {
  tick: "kelpie.herder.tick",
  leader: "kelpie.herder.leader",
  statuses: "kelpie.herder.statuses",
  listeners: "kelpie.herder.listeners"
} as const

/** All of them, that of operations (`Middleware.logging`), and what connectors say. */
export const names: ReadonlyArray<string> = [...Object.values(parts), "kelpie.operations", "connector"]

/** Says about which item an effect logs: the lines belong to the logger of its connector. */
export const about = (
  { connector, task }: Item.Item
): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> =>
  Effect.annotateLogs(task === undefined ? { connector } : { connector, task })

/** Names the logger of what an effect logs. */
export const as = (part: keyof typeof parts): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> =>
  Effect.annotateLogs("logger", parts[part])
