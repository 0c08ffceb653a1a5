/**
 * The unit of placement: a connector instance, or task n of a connector name. And its runs.
 *
 * A run is one start of an item: the token of its owner (the position of the placement record that made it owner) and
 * the number of the start. Runs are ordered; a newer run fences an older one (design, I7).
 */

/** A connector instance (`task` absent) or one of its tasks. */
export interface Item {
  readonly connector: string
  readonly task?: number | undefined
}

/** One start of an item. */
export interface Run {
  /** Position of the `Owned` record. */
  readonly token: number
  /** Counts the starts under that token, from 1. */
  readonly start: number
}

/** The item of a connector instance. */
export const connector = (name: string): Item => ({ connector: name })

/** The item of a task. */
export const task = (name: string, task: number): Item => ({ connector: name, task })

/** A text that names the item and no other: names may hold any character, so the task stands in front. */
export const key = (item: Item): string => `${item.task ?? "connector"}/${item.connector}`

/** The item that a text names. */
export const fromKey = (key: string): Item => {
  const slash = key.indexOf("/")
  const first = key.slice(0, slash)
  const name = key.slice(slash + 1)
  return first === "connector" ? connector(name) : task(name, Number(first))
}

/** What people call it: `orders`, or `orders-0` for a task. */
export const format = (item: Item): string =>
  item.task === undefined ? item.connector : `${item.connector}-${item.task}`

/** The newest run that an owner up to a position can have: every run of a later owner is newer. */
export const lastRunUntil = (position: number): Run => ({ token: position, start: Number.MAX_SAFE_INTEGER })

/** Negative when `a` is older than `b`. */
export const compareRun = (a: Run, b: Run): number => a.token - b.token || a.start - b.start
