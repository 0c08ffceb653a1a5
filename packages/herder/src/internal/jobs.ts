/**
 * Jobs with a deadline: every one settles in one named outcome (I16).
 *
 * At its deadline a job is interrupted and its outcome is `TimedOut`, whether its code returns or not. Code that does
 * not return is an orphan; when it does return after all, that is told too.
 */
import type * as Executor from "@kelpie/core/Executor"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

/** How a job ended. */
export type Outcome<A, E> =
  | { readonly _tag: "Success"; readonly value: A }
  | { readonly _tag: "Failure"; readonly cause: Cause.Cause<E> }
  | { readonly _tag: "Interrupted" }
  | { readonly _tag: "TimedOut" }

/** What to run. */
export interface Job<A, E> {
  readonly label: string
  readonly deadline: Duration.Input
  readonly run: Effect.Effect<A, E>
  /** Told the outcome, once; `ended` is false when the code has not returned. */
  readonly settled: (outcome: Outcome<A, E>, ended: boolean) => Effect.Effect<void>
  /** Told when code that had not returned did so. */
  readonly ended?: Effect.Effect<void> | undefined
}

const fromExit = <A, E>(exit: Exit.Exit<A, E>): Outcome<A, E> =>
  exit._tag === "Success"
    ? { _tag: "Success", value: exit.value }
    : Cause.hasInterruptsOnly(exit.cause)
    ? { _tag: "Interrupted" }
    : { _tag: "Failure", cause: exit.cause }

/** Submits a job; the handle interrupts it and does not wait. */
export const submit = Effect.fnUntraced(
  function*<A, E>(executor: Executor.Executor, job: Job<A, E>): Effect.fn.Return<Effect.Effect<void>> {
    const interrupted = Deferred.makeUnsafe<void>()
    const run = Effect.gen(function*() {
      // interrupted before its turn: its code is not called any more
      if (Deferred.isDoneUnsafe(interrupted)) return yield* job.settled({ _tag: "Interrupted" }, true)
      const fiber = yield* Effect.forkDetach(job.run, { startImmediately: true })
      const done = fiber.pollUnsafe()
      if (done !== undefined) return yield* job.settled(fromExit(done), true)
      const first = yield* Effect.raceFirst(
        Effect.map(Fiber.await(fiber), fromExit),
        Effect.raceFirst(
          Effect.as(Effect.sleep(job.deadline), { _tag: "TimedOut" } as const),
          Effect.as(Deferred.await(interrupted), { _tag: "Interrupted" } as const)
        )
      ).pipe(Effect.onInterrupt(() => Effect.sync(() => fiber.interruptUnsafe())))
      if (fiber.pollUnsafe() !== undefined) return yield* job.settled(first, true)
      fiber.interruptUnsafe()
      // code that listens ends within a turn or two of the run queue
      for (let turn = 0; turn < 8 && fiber.pollUnsafe() === undefined; turn++) yield* Effect.yieldNow
      if (fiber.pollUnsafe() !== undefined) return yield* job.settled(first, true)
      yield* job.settled(first, false)
      yield* Fiber.await(fiber)
      if (job.ended !== undefined) yield* job.ended
    })
    yield* executor.submit({ label: job.label, run })
    return Effect.sync(() => {
      Deferred.doneUnsafe(interrupted, Effect.void)
    })
  }
)
