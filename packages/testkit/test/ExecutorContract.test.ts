import { describe, it } from "@effect/vitest"
import { Executor } from "@kelpie/core"
import { ExecutorContract, type ExecutorWorld, TestExecutor } from "@kelpie/testkit"
import { Effect, Fiber, Scope, Semaphore } from "effect"
import { breaks, keeps } from "./brokenLaws.ts"

const of = (make: Executor.Make) => ExecutorContract(Effect.succeed({ make }))
/** Changes the jobs of the executor of fibers. */
const changing = (change: (job: Executor.Job) => Effect.Effect<void>) =>
  of(Effect.map(Executor.fibers, ({ submit }) => ({ submit: (job) => submit({ ...job, run: change(job) }) })))

describe("ExecutorContract", () => {
  it("is kept by the executor of fibers", () => keeps(of(Executor.fibers)))

  it("is kept by the synchronous executor", () => keeps(of(TestExecutor.sync)))

  it("is kept by the manual executor, when everything is released", () =>
    keeps(ExecutorContract(Effect.map(TestExecutor.manual, (manual): ExecutorWorld => ({
      make: manual.make,
      settle: manual.releaseAll
    })))))

  it("is kept in every order that is drawn", () => {
    for (const seed of [1, 2, 3]) keeps(of(TestExecutor.shuffled(seed)))
  })

  it("finds one that waits for its jobs", () =>
    breaks(
      of(Effect.map(Executor.fibers, ({ submit }) => ({ submit: (job) => Effect.tap(submit(job), Fiber.await) }))),
      "does not wait for a job"
    ))

  it("finds one that runs one job at a time", () =>
    breaks(
      of(Effect.flatMap(Semaphore.make(1), (line) =>
        Effect.map(Executor.fibers, ({ submit }) => ({
          submit: ({ label, run }) => submit({ label, run: line.withPermits(1)(run) })
        })))),
      "does not wait for a job",
      "lets jobs wait for each other"
    ))

  it("finds one that leaves jobs running", () =>
    breaks(
      of(Effect.succeed({ submit: ({ run }) => Effect.forkDetach(run) })),
      "ends every job when its scope is closed"
    ))

  it("finds one that does not wait for what jobs clean up", () =>
    breaks(
      of(Effect.gen(function*() {
        const jobs = new Set<Fiber.Fiber<void>>()
        yield* Effect.addFinalizer(() => Effect.sync(() => jobs.forEach((fiber) => fiber.interruptUnsafe())))
        return {
          submit: ({ run }) => Effect.tap(Effect.forkDetach(run), (fiber) => Effect.sync(() => jobs.add(fiber)))
        }
      })),
      "and waits for them"
    ))

  it("finds one that runs jobs twice, in part, or not at all", () => {
    breaks(changing(({ run }) => Effect.andThen(run, run)), "to its end, once")
    breaks(changing(() => Effect.void), "to its end, once", "takes jobs from jobs")
    breaks(changing(({ run }) => Effect.asVoid(Effect.forkChild(run))), "to its end, once")
  })

  it("finds one that cannot be interrupted, or hides how a job ended", () => {
    breaks(changing(({ run }) => Effect.uninterruptible(run)), "interrupting it ends the job")
    breaks(changing(({ run }) => Effect.ignore(Effect.sandbox(run))), "its fiber tells")
  })

  it("finds one that all runtimes share", () => {
    breaks(
      ExecutorContract(Effect.gen(function*() {
        let shared: Executor.Executor | undefined
        const make: Executor.Make = Effect.gen(function*() {
          if (shared === undefined) {
            const scope = yield* Effect.scope
            shared = yield* Scope.provide(Executor.fibers, scope)
          }
          return shared
        })
        return { make }
      })),
      "belongs to one runtime"
    )
  })
})
