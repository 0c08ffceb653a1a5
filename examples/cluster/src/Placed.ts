/** Who runs what, as the workers tell it, and how it moved. */

/** Items by name (`orders`, `orders-0`), with the worker that runs each; those that nobody runs are left out. */
export type Placed = ReadonlyMap<string, string>

interface Answer {
  readonly [connector: string]: {
    readonly status?: {
      readonly connector: { readonly state: string; readonly worker_id: string }
      readonly tasks: ReadonlyArray<{ readonly id: number; readonly state: string; readonly worker_id: string }>
    } | undefined
  }
}

/** Reads the answer to `GET /connectors?expand=status`. */
export const read = (answer: Answer): Placed => {
  const placed = new Map<string, string>()
  for (const [name, { status }] of Object.entries(answer)) {
    if (status === undefined) continue
    if (status.connector.state === "RUNNING") placed.set(name, status.connector.worker_id)
    for (const { id, state, worker_id } of status.tasks) if (state === "RUNNING") placed.set(`${name}-${id}`, worker_id)
  }
  return placed
}

/** Items of a worker. */
export const of = (placed: Placed, worker: string): ReadonlyArray<string> =>
  [...placed].flatMap(([item, owner]) => owner === worker ? [item] : [])

/** Items that another worker runs than before. */
export const moved = (before: Placed, after: Placed): ReadonlyArray<string> =>
  [...after].flatMap(([item, owner]) => before.has(item) && before.get(item) !== owner ? [item] : [])
