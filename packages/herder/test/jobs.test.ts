import { assert, describe, it } from "@effect/vitest"
import { Executor } from "@kelpie/core"
import { Cause, Deferred, Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Jobs from "../src/internal/jobs.ts"

/** Lets every fiber go on until it waits. */
const settle = Effect.repeat(Effect.yieldNow, { times: 30 })

/** Submits a job with a deadline of a second, and keeps what it tells. */
const submit = Effect.fnUntraced(function*<A, E>(run: Effect.Effect<A, E>) {
  const told: Array<string> = []
  const executor = yield* Executor.fibers
  const interrupt = yield* Jobs.submit(executor, {
    label: "work",
    deadline: "1 second",
    run,
    settled: (outcome, ended) =>
      Effect.sync(() => {
        const more = outcome._tag === "Success"
          ? ` ${String(outcome.value)}`
          : outcome._tag === "Failure"
          ? ` ${outcome.cause.reasons.map((reason) => reason._tag).join()}`
          : ""
        told.push(`${outcome._tag}${more}${ended ? "" : ", not ended"}`)
      }),
    ended: Effect.sync(() => told.push("ended"))
  })
  yield* settle
  return { told, interrupt: Effect.andThen(interrupt, settle) }
})

describe("a job settles in one outcome (I16)", () => {
  it.effect("succeeds, at once or later", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* submit(Effect.succeed(1))).told, ["Success 1"])
      const slow = yield* submit(Effect.as(Effect.sleep(999), 2))
      assert.deepStrictEqual(slow.told, [])
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(slow.told, ["Success 2"])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(slow.told, ["Success 2"])
    }))

  it.effect("fails, with a typed error or a defect", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* submit(Effect.fail("no"))).told, ["Failure Fail"])
      assert.deepStrictEqual((yield* submit(Effect.die("no"))).told, ["Failure Die"])
      const late = yield* submit(Effect.andThen(
        Effect.sleep(10),
        Effect.sync((): never => {
          throw new Error("no")
        })
      ))
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(late.told, ["Failure Die"])
    }))

  it.effect("times out at its deadline, to the millisecond, and is interrupted", () =>
    Effect.gen(function*() {
      let interrupted = false
      const job = yield* submit(Effect.onInterrupt(Effect.never, () => Effect.sync(() => (interrupted = true))))
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(job.told, [])
      assert.isFalse(interrupted)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(job.told, ["TimedOut"])
      assert.isTrue(interrupted)
    }))

  it.effect("is interrupted by its handle, without waiting for it", () =>
    Effect.gen(function*() {
      const job = yield* submit(Effect.never)
      yield* job.interrupt
      yield* job.interrupt
      assert.deepStrictEqual(job.told, ["Interrupted"])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(job.told, ["Interrupted"])
    }))

  it.effect("is interrupted when it interrupts itself, and fails when something dies beside that", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* submit(Effect.interrupt)).told, ["Interrupted"])
      const cause = Cause.combine(Cause.interrupt(1), Cause.die("on the way out"))
      assert.deepStrictEqual((yield* submit(Effect.failCause(cause))).told, ["Failure Interrupt,Die"])
    }))

  it.effect("keeps an outcome that comes before the interruption", () =>
    Effect.gen(function*() {
      const job = yield* submit(Effect.succeed(1))
      yield* job.interrupt
      assert.deepStrictEqual(job.told, ["Success 1"])
    }))
})

describe("code that does not return", () => {
  it.effect("is an orphan at the deadline, and is told once more when it returns after all", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const job = yield* submit(Effect.uninterruptible(Deferred.await(gate)))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(job.told, ["TimedOut, not ended"])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(job.told, ["TimedOut, not ended"])
      yield* Deferred.succeed(gate, undefined)
      yield* settle
      assert.deepStrictEqual(job.told, ["TimedOut, not ended", "ended"])
      yield* job.interrupt
      assert.deepStrictEqual(job.told, ["TimedOut, not ended", "ended"])
    }))

  it.effect("is an orphan when it is interrupted before the deadline", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const job = yield* submit(Effect.uninterruptible(Deferred.await(gate)))
      yield* job.interrupt
      assert.deepStrictEqual(job.told, ["Interrupted, not ended"])
      yield* TestClock.adjust("1 second")
      yield* Deferred.succeed(gate, undefined)
      yield* settle
      assert.deepStrictEqual(job.told, ["Interrupted, not ended", "ended"])
    }))

  it.effect("is none when it only needs a few steps to clean up", () =>
    Effect.gen(function*() {
      const job = yield* submit(Effect.onInterrupt(Effect.never, () => Effect.repeat(Effect.yieldNow, { times: 3 })))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(job.told, ["TimedOut"])
    }))
})

describe("the end of an executor", () => {
  it.effect("interrupts what runs and tells no outcome", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      let interrupted = false
      const job = yield* Scope.provide(
        submit(Effect.onInterrupt(Effect.never, () => Effect.sync(() => (interrupted = true)))),
        scope
      )
      yield* Scope.close(scope, Exit.void)
      yield* settle
      assert.isTrue(interrupted)
      assert.deepStrictEqual(job.told, [])
    }))
})
