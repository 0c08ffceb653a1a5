/**
 * Runs an effect to its end on the caller's stack: virtual time, one run queue for all its fibers, no event loop.
 *
 * A promise, a real timer or a socket never answers here, so what waits for one is found at once, and named.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { type PendingJob, PendingJobs } from "./internal/pendingJobs.ts"
import { SyncScheduler } from "./internal/syncScheduler.ts"

/** The effect waits for something that cannot come: a promise, a real timer, or time that nobody moves. */
export class Blocked extends Schema.TaggedError<Blocked>("@kelpie/testkit/Blocked")("Blocked", {
  /** Labels of the jobs of a `TestExecutor` that have not ended, oldest first. */
  jobs: Schema.Array(Schema.String)
}) {
  override get message() {
    const jobs = this.jobs.map((label) => JSON.stringify(label)).join(", ")
    return "did not end on the caller's stack: it waits for a promise, a real timer, or time that nobody moves" +
      (jobs === "" ? "" : `; jobs that have not ended: ${jobs}`)
  }
}

/** How to run. */
export interface Options {
  /**
   * How far time moves by itself when everybody waits. Left out: not at all, the effect moves it with
   * `TestClock.adjust`.
   */
  readonly advance?: Duration.Input | undefined
}

/** A time in growing steps of milliseconds, so that little is waited for after the end. */
const steps = (advance: Duration.Input | undefined): ReadonlyArray<number> => {
  const all: Array<number> = []
  let left = advance === undefined ? 0 : Duration.toMillis(Duration.fromInputUnsafe(advance))
  for (let step = 1; left > 0; step *= 2) {
    all.push(Math.min(step, left))
    left -= step
  }
  return all
}

/** Runs an effect and gives how it ended, or `Blocked`. */
export const runSyncExit = <A, E>(
  effect: Effect.Effect<A, E, Scope.Scope>,
  options: Options = {}
): Exit.Exit<A, E | Blocked> => {
  const scheduler = new SyncScheduler()
  const jobs = new Set<PendingJob>()
  let adjust: ((duration: Duration.Input) => Effect.Effect<void>) | undefined
  const program = TestClock.testClockWith((clock) => {
    adjust = (duration) => clock.adjust(duration)
    return Effect.scoped(effect)
  }).pipe(Effect.provideService(PendingJobs, jobs), Effect.provide(TestClock.layer()))

  const run = <B, F>(effect: Effect.Effect<B, F>): Fiber.Fiber<B, F> => {
    const fiber = Effect.runFork(effect, { scheduler })
    scheduler.flush()
    return fiber
  }
  const root = run(program)
  for (const step of steps(options.advance)) {
    if (root.pollUnsafe() !== undefined || adjust === undefined) break
    const moved = run(adjust(step))
    moved.interruptUnsafe() // one that did not end waits for somebody who moves time already
  }
  const exit = root.pollUnsafe()
  if (exit !== undefined) return exit
  const blocked = new Blocked({ jobs: Array.from(jobs, (job) => job.label) })
  root.interruptUnsafe()
  scheduler.flush()
  return Exit.fail(blocked)
}

/** Runs an effect and gives its value; throws its error, its defect, or `Blocked`. */
export const runSync = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>, options?: Options): A => {
  const exit = runSyncExit(effect, options)
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}
