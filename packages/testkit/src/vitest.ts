/** Contracts as Vitest suites, and a test's look back at what it left behind. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { describe, it } from "vitest"
import type { Law } from "./Contract.ts"
import * as Leaks from "./Leaks.ts"
import * as Simulation from "./Simulation.ts"

/** Registers every law as a test of a suite of that name: one test per law, with the live clock. */
export const describeContract = (name: string, laws: ReadonlyArray<Law>): void => {
  describe(name, () => {
    for (const law of laws) {
      // a law has its own limit and says so when it is over it
      const options = law.alone === true ? { timeout: 0, concurrent: false } : { timeout: 0 }
      it(law.name, options, () => Effect.runPromise(law.run))
    }
  })
}

/** Registers simulations of the seeds from 1 on as one test, which fails with the shortest run that breaks a law. */
export const describeSimulation = (
  name: string,
  options: Omit<Simulation.Options, "seed"> & { readonly seeds: number }
): void => {
  it(name, { timeout: 0 }, () => {
    for (let seed = 1; seed <= options.seeds; seed++) {
      const result = Effect.runSync(Simulation.run({ seed, operations: options.operations }))
      if (result._tag === "Failed") throw new Error(Simulation.format(result))
    }
  })
}

/**
 * What keeps Node's event loop alive: timers, sockets, threads. What is marked to keep nothing alive (`unref`), and open
 * files, Node does not tell of.
 */
export const nodeHandles = (): ReadonlyArray<string> => process.getActiveResourcesInfo()

/** By the real clock, whatever the clock of the test is. */
const pause = Effect.provideService(Effect.sleep(10), Clock.Clock, Context.get(Context.empty(), Clock.Clock))

/**
 * Fails with `Leaks.Leaked` when a test that is done leaves a fiber, a probed scope, a timer or a handle behind.
 *
 * Handles are those of the whole process: where the tests of a file run side by side, run those with handles of their own
 * in a `describe(name, { concurrent: false }, ...)`.
 */
export const withoutLeaks = <A, E, R>(
  test: Effect.Effect<A, E, R>,
  options: Leaks.Options = {}
): Effect.Effect<A, E | Leaks.Leaked, Exclude<R, Scope.Scope>> =>
  Leaks.check(test, { handles: nodeHandles, pause, ...options })
