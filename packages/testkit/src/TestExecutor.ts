/**
 * Executors whose order is known: `sync` runs each job at once, `manual` when it is told to, `shuffled` in an order drawn
 * from a seed. Each is a recipe for `Executor.layer`.
 *
 * Their jobs, and whatever these fork, share one run queue that is emptied on the caller's stack. So a job is over when
 * `submit` returns, as long as it waits for nothing but other jobs. A job that waits for virtual time goes on, on the stack
 * of whoever moves it; one that waits for a promise goes on when the event loop does.
 */
import * as Backoff from "@kelpie/core/Backoff"
import type * as Executor from "@kelpie/core/Executor"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import type * as Scope from "effect/Scope"
import { note, PendingJobs } from "./internal/pendingJobs.ts"
import { SyncScheduler } from "./internal/syncScheduler.ts"
import { drawn, type TaskQueue } from "./internal/taskQueue.ts"

interface Starter {
  readonly scheduler: SyncScheduler
  /** Forks a job into the executor's scope; it runs until it first waits. */
  readonly fork: (label: string, run: Effect.Effect<void>) => Effect.Effect<Fiber.Fiber<void>>
}

/** A scheduler of one executor. What happens to its fibers from outside is run by the scheduler around it. */
const makeStarter = Effect.fnUntraced(function*(queue?: TaskQueue): Effect.fn.Return<Starter, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const jobs = yield* PendingJobs
  const around = (yield* Scheduler.Scheduler).makeDispatcher()
  const scheduler: SyncScheduler = new SyncScheduler({
    queue,
    onWork: () => around.scheduleTask(() => scheduler.flush(), 0)
  })
  return {
    scheduler,
    fork: (label, run) =>
      Effect.map(
        Effect.forkIn(Effect.provideService(run, Scheduler.Scheduler, scheduler), scope, { startImmediately: true }),
        (fiber) => {
          note(jobs, label, fiber)
          return fiber
        }
      )
  }
})

/** Runs every job inside `submit`, on the caller's stack, to its end or until it waits for something that is no job. */
export const sync: Executor.Make = Effect.map(makeStarter(), ({ fork, scheduler }) => ({
  submit: ({ label, run }) => Effect.tap(fork(label, run), () => Effect.sync(() => scheduler.flush()))
}))

/** Draws the order of jobs, and of their steps where they wait for each other, from a seed: the same one every time. */
export const shuffled = (seed: number | string): Executor.Make =>
  Effect.suspend(() => {
    let draws = 0
    const queue = drawn((count) => Math.floor(Backoff.draw(seed, draws++) * count))
    // the first thing a job does is to take its place in the queue
    return Effect.map(makeStarter(queue), ({ fork }) => ({
      submit: ({ label, run }) => fork(label, Effect.andThen(Effect.yieldNow, run))
    }))
  })

/** Jobs that wait to be released. */
export interface Manual {
  /** The executor; one that is made twice shares its handle, not its scope. */
  readonly make: Executor.Make
  /** Labels of the jobs that wait, oldest first. */
  readonly waiting: Effect.Effect<ReadonlyArray<string>>
  /**
   * Runs the oldest job of a label on the caller's stack, to its end or until it waits for something that is no job. A
   * defect that lists the waiting jobs when none has that label.
   */
  readonly release: (label: string) => Effect.Effect<void>
  /** Releases everything that waits, oldest first, also what these jobs submit; at most 10,000 jobs. */
  readonly releaseAll: Effect.Effect<void>
}

interface WaitingJob {
  readonly label: string
  readonly release: Effect.Effect<void>
}

const maxReleases = 10_000

/** An executor that runs nothing by itself. */
export const manual: Effect.Effect<Manual> = Effect.sync(() => {
  const waiting = new Set<WaitingJob>()
  const labels = () => Array.from(waiting, (job) => job.label)
  const releaseFirst = (label?: string) =>
    Effect.suspend(() => {
      for (const job of waiting) if (label === undefined || job.label === label) return job.release
      return Effect.die(
        new Error(`no job waits under the label ${JSON.stringify(label)}; waiting: ${JSON.stringify(labels())}`)
      )
    })
  const releaseUpTo = (count: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (waiting.size === 0) return Effect.void
      return count > 0
        ? Effect.andThen(releaseFirst(), releaseUpTo(count - 1))
        : Effect.die(new Error(`stopped after ${maxReleases} jobs; waiting: ${JSON.stringify(labels())}`))
    })
  return {
    make: Effect.map(makeStarter(), ({ fork, scheduler }) => ({
      submit: ({ label, run }) =>
        Effect.suspend(() => {
          const gate = Deferred.makeUnsafe<void>()
          const job: WaitingJob = {
            label,
            release: Effect.sync(() => {
              Deferred.doneUnsafe(gate, Effect.void)
              scheduler.flush()
            })
          }
          waiting.add(job)
          const leave = () => void waiting.delete(job)
          const released = Effect.andThen(Deferred.await(gate), Effect.sync(leave))
          // one that is interrupted first, or comes after the end of the scope, waits no more
          return Effect.tap(fork(label, Effect.andThen(released, run)), (fiber) =>
            Effect.sync(() => void fiber.addObserver(leave)))
        })
    })),
    waiting: Effect.sync(labels),
    release: releaseFirst,
    releaseAll: releaseUpTo(maxReleases)
  }
})
