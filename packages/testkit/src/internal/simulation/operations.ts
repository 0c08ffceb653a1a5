/** What a simulation does, as data: drawn from a seed before it starts, so that a run can be repeated and made shorter. */
import * as Backoff from "@kelpie/core/Backoff"

/** One step. Durations are milliseconds of virtual time. */
export type Operation =
  | { readonly _tag: "Create"; readonly name: string; readonly tasks: number }
  | { readonly _tag: "CreateSink"; readonly name: string; readonly tasks: number }
  | { readonly _tag: "Update"; readonly name: string; readonly tasks: number; readonly note: number }
  | {
    readonly _tag: "Pause" | "Resume" | "Stop" | "Delete" | "Ask" | "Retry" | "Park" | "Unpark"
    readonly name: string
  }
  | { readonly _tag: "Restart"; readonly name: string; readonly onlyFailed: boolean }
  | { readonly _tag: "Emit"; readonly name: string; readonly task: number; readonly count: number }
  /** The next calls of a hook fail, die or hang. */
  | {
    readonly _tag: "Break"
    readonly name: string
    readonly hook: "start" | "taskConfigs" | "poll" | "put"
    readonly how: "transient" | "permanent" | "die" | "hang" | "slow"
    readonly times: number
  }
  | { readonly _tag: "Compact" }
  | { readonly _tag: "Crash" | "Shutdown" | "Boot"; readonly worker?: number }
  /** The stores fail, lose answers or are slow for a while, with that chance a call. */
  | { readonly _tag: "Trouble"; readonly chance: number; readonly millis: number }
  /** The worker does nothing while time goes on, and then goes on as if nothing had been. */
  | { readonly _tag: "Freeze"; readonly worker?: number; readonly millis: number }
  /** A worker reaches neither the group nor other workers for a while. */
  | { readonly _tag: "Cut"; readonly worker: number; readonly millis: number }
  /** A worker takes its time with everything for a while. */
  | { readonly _tag: "Slow"; readonly worker: number; readonly millis: number }
  /** Messages between workers, or their answers, are lost for a while, with that chance. */
  | { readonly _tag: "Lose"; readonly chance: number; readonly millis: number }
  | { readonly _tag: "Advance"; readonly millis: number }

const names = ["a", "b", "a/b", "ü %"]
const sinks = ["sink"]

/** Draws the operations of a run. */
export const draw = (seed: number, count: number, workers: number): ReadonlyArray<Operation> => {
  let drawn = 0
  const next = () => Backoff.draw("operations", seed, drawn++)
  const below = (bound: number) => Math.floor(next() * bound)
  const pick = <A>(values: ReadonlyArray<A>): A => values[below(values.length)] as A
  const name = () => pick(names)
  const any = () => pick([...names, ...sinks])
  // a single worker has no number
  const worker = () => workers === 1 ? {} : { worker: below(workers) }
  const between: ReadonlyArray<readonly [weight: number, make: () => Operation]> = workers === 1 ? [] : [
    [2, () => ({ _tag: "Cut", worker: below(workers), millis: pick([500, 5000, 20_000]) })],
    [2, () => ({ _tag: "Slow", worker: below(workers), millis: pick([500, 5000, 20_000]) })],
    [2, () => ({ _tag: "Lose", chance: pick([0.3, 1]), millis: pick([500, 5000, 20_000]) })]
  ]
  const kinds: ReadonlyArray<readonly [weight: number, make: () => Operation]> = [
    ...between,
    [6, () => ({ _tag: "Create", name: name(), tasks: 1 + below(3) })],
    [2, () => ({ _tag: "CreateSink", name: pick(sinks), tasks: 1 + below(3) })],
    [5, () => ({ _tag: "Update", name: name(), tasks: 1 + below(3), note: below(3) })],
    [2, () => ({ _tag: "Pause", name: any() })],
    [3, () => ({ _tag: "Resume", name: any() })],
    [2, () => ({ _tag: "Stop", name: any() })],
    [2, () => ({ _tag: "Delete", name: any() })],
    [4, () => ({ _tag: "Ask", name: name() })],
    [1, () => ({ _tag: "Retry", name: name() })],
    [1, () => ({ _tag: "Park", name: name() })],
    [1, () => ({ _tag: "Unpark", name: name() })],
    [3, () => ({ _tag: "Restart", name: any(), onlyFailed: next() < 0.5 })],
    [12, () => ({ _tag: "Emit", name: name(), task: below(3), count: 1 + below(5) })],
    [5, () => ({
      _tag: "Break",
      name: any(),
      hook: pick(["start", "taskConfigs", "poll", "put"] as const),
      how: pick(["transient", "transient", "permanent", "die", "hang", "slow"] as const),
      times: 1 + below(4)
    })],
    [2, () => ({ _tag: "Crash", ...worker() })],
    [1, () => ({ _tag: "Shutdown", ...worker() })],
    [4, () => ({ _tag: "Boot", ...worker() })],
    [1, () => ({ _tag: "Compact" })],
    [2, () => ({ _tag: "Trouble", chance: pick([0.1, 0.3, 1]), millis: pick([100, 2000, 20_000]) })],
    [2, () => ({ _tag: "Freeze", ...worker(), millis: pick([500, 5000, 60_000]) })],
    [12, () => ({ _tag: "Advance", millis: pick([1, 10, 100, 250, 1000, 5000, 60_000]) })]
  ]
  const total = kinds.reduce((sum, [weight]) => sum + weight, 0)
  const one = (): Operation => {
    let place = next() * total
    for (const [weight, make] of kinds) {
      place -= weight
      if (place < 0) return make()
    }
    return { _tag: "Advance", millis: 1 }
  }
  const boots = workers === 1
    ? [{ _tag: "Boot" } as const]
    : Array.from({ length: workers }, (_, worker): Operation => ({ _tag: "Boot", worker }))
  return [...boots, ...Array.from({ length: count }, one)]
}

/** One line. */
export const format = (operation: Operation): string => {
  const { _tag, ...rest } = operation
  const details = Object.entries(rest).map(([key, value]) => `${key}=${value}`)
  return [_tag, ...details].join(" ")
}
