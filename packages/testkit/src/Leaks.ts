/**
 * Finds what outlives the effect that made it: fibers, scopes, timers, and handles of the platform.
 *
 * | kind     | how it is seen                                                                                                |
 * | -------- | ------------------------------------------------------------------------------------------------------------- |
 * | `fiber`  | every fiber that is forked inside tells when it starts and when it ends                                        |
 * | `scope`  | Effect tells nobody of scopes: put a `probe` into those that matter, such as the connections of a fake         |
 * | `timer`  | a raw timer, by `handles`; `Effect.sleep` is part of its fiber                                                 |
 * | `handle` | by `handles`, a function that names what the platform holds open; the rest of this module knows no platform    |
 *
 * What is started with `Effect.runFork` from a callback belongs to nobody, and is not seen unless the platform sees it.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Scheduler from "effect/Scheduler"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

/** One thing that is left. */
export const Leak = Schema.Struct({
  kind: Schema.Literals(["fiber", "scope", "timer", "handle"]),
  /** A fiber's functions, innermost first; a probe's name; the platform's word for a handle. */
  name: Schema.String
})
/** One thing that is left. */
export type Leak = typeof Leak.Type

/** Something is left. */
export class Leaked extends Schema.TaggedError<Leaked>("@kelpie/testkit/Leaked")("Leaked", {
  leaks: Schema.Array(Leak)
}) {
  override get message() {
    return `left behind: ${describe(this.leaks)}`
  }
}

/** The leaks as a text: `fiber poll; timer Timeout (2)`. */
export const describe = (leaks: ReadonlyArray<Leak>): string =>
  Array.from(
    counts(leaks.map(({ kind, name }) => `${kind} ${name}`)),
    ([leak, count]) => count === 1 ? leak : `${leak} (${count})`
  ).join("; ")

/** How to look. */
export interface Options {
  /**
   * Names what the platform holds open, one entry for each. Only what is there more often after the effect than before it
   * counts. Left out: nothing is looked at.
   */
  readonly handles?: (() => ReadonlyArray<string>) | undefined
  /** How long what was told to end may take. Default one second. */
  readonly grace?: Duration.Input | undefined
  /** Waits 10 ms between two looks. Left out: by the clock of the effect, so somebody has to move a `TestClock`. */
  readonly pause?: Effect.Effect<void> | undefined
}

const pauseMillis = 10

/** How an effect ended, and what it left behind. */
export interface Watched<out A, out E> {
  readonly exit: Exit.Exit<A, E>
  readonly leaks: ReadonlyArray<Leak>
}

/** Where probes note themselves. Whoever watches provides a set: by default nobody does. */
const Probes = Context.Reference<Set<{ readonly name: string }> | undefined>("@kelpie/testkit/Leaks/Probes", {
  defaultValue: () => undefined
})

/** Shows that the scope it is put into is open: a connection of a fake, a subscription, an instance. */
export const probe = (name: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Probes, (probes) => {
    const one = { name }
    return Effect.asVoid(Effect.acquireRelease(
      Effect.sync(() => probes?.add(one)),
      () => Effect.sync(() => probes?.delete(one))
    ))
  })

/** Runs an effect in a fiber and a scope of its own, and looks at what is left when both have ended. */
export const watch = Effect.fnUntraced(function*<A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options: Options = {}
): Effect.fn.Return<Watched<A, E>, never, Exclude<R, Scope.Scope>> {
  const { handles = () => [], pause = Effect.sleep(pauseMillis) } = options
  const looks = Duration.toMillis(Duration.fromInputUnsafe(options.grace ?? "1 second")) / pauseMillis
  const fibers = observe(yield* Scheduler.Scheduler, yield* Metric.FiberRuntimeMetrics)
  const probes = new Set<{ readonly name: string }>()
  const before = counts(handles())
  const exit = yield* Effect.forkChild(Effect.scoped(effect), { startImmediately: true }).pipe(
    Effect.flatMap(Fiber.await),
    Effect.provideService(Scheduler.Scheduler, fibers.scheduler),
    Effect.provideService(Metric.FiberRuntimeMetrics, fibers.metrics),
    Effect.provideService(Probes, probes)
  )
  const look = () => [
    ...fibers.left(),
    ...Array.from(probes, ({ name }): Leak => ({ kind: "scope", name })),
    ...more(before, counts(handles()))
  ]
  // what was forked last has not started yet
  for (let turn = 0; turn < 3; turn++) yield* Effect.yieldNow
  let leaks = look()
  for (let n = 0; n < looks && leaks.length > 0; n++) {
    yield* pause
    leaks = look()
  }
  return { exit, leaks }
})

/** Fails with `Leaked` when an effect that succeeded leaves something behind. */
export const check = Effect.fnUntraced(function*<A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options: Options = {}
): Effect.fn.Return<A, E | Leaked, Exclude<R, Scope.Scope>> {
  const { exit, leaks } = yield* watch(effect, options)
  const value = yield* exit
  return leaks.length === 0 ? value : yield* new Leaked({ leaks })
})

/**
 * Sees the fibers of whoever is provided with it. The metrics count every fiber, from its making to its end; the scheduler
 * is asked about each fiber before each of its steps, and so knows which they are, unless they run on another one.
 */
const observe = (
  below: Scheduler.Scheduler,
  belowMetrics: Metric.FiberRuntimeMetricsService | undefined
) => {
  const seen = new Set<Fiber.Fiber<unknown, unknown>>()
  let last: Fiber.Fiber<unknown, unknown> | undefined
  let running = 0
  const note = (fiber: Fiber.Fiber<unknown, unknown>) => {
    last = fiber
    if (seen.has(fiber)) return
    seen.add(fiber)
    fiber.addObserver(() => seen.delete(fiber))
  }
  const scheduler: Scheduler.Scheduler = {
    executionMode: below.executionMode,
    makeDispatcher: () => below.makeDispatcher(),
    shouldYield: (fiber) => {
      if (fiber !== last) note(fiber)
      return below.shouldYield(fiber)
    }
  }
  const metrics: Metric.FiberRuntimeMetricsService = {
    recordFiberStart: (context) => {
      running++
      belowMetrics?.recordFiberStart(context)
    },
    recordFiberEnd: (context, exit) => {
      running--
      belowMetrics?.recordFiberEnd(context, exit)
    }
  }
  return {
    scheduler,
    metrics,
    left: (): ReadonlyArray<Leak> => {
      const inside = Array.from(seen).filter((fiber) => fiber.cache.runtimeMetrics === metrics)
      return Array.from(
        { length: Math.max(0, running) },
        (_, index) => ({ kind: "fiber", name: nameOf(inside[index]) })
      )
    }
  }
}

/** The functions that a fiber is in, innermost first. */
const nameOf = (fiber: Fiber.Fiber<unknown, unknown> | undefined): string => {
  const names: Array<string> = []
  for (let frame = fiber?.cache.stackFrame; frame !== undefined && names.length < 3; frame = frame.parent) {
    if (!frame.name.endsWith("(definition)")) names.push(frame.name)
  }
  return names.length === 0 ? "without a name" : names.join(" in ")
}

const counts = (names: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const all = new Map<string, number>()
  for (const name of names) all.set(name, (all.get(name) ?? 0) + 1)
  return all
}

/** What there is more of than before. An `Immediate` is over with the turn of the event loop. */
const more = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): ReadonlyArray<Leak> =>
  Array.from(after).flatMap(([name, count]) =>
    name === "Immediate"
      ? []
      : Array.from({ length: Math.max(0, count - (before.get(name) ?? 0)) }, (): Leak => ({
        kind: name === "Timeout" ? "timer" : "handle",
        name
      }))
  )
