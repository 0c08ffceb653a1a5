import { assert, describe, it } from "@effect/vitest"
import { TestExecutor, TestRuntime } from "@kelpie/testkit"
import { Cause, Clock, Effect, Exit, Fiber, Ref } from "effect"
import { TestClock } from "effect/testing"

const blocked = (exit: Exit.Exit<unknown, unknown>) => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return error instanceof TestRuntime.Blocked ? error : undefined
}

describe("TestRuntime.runSyncExit", () => {
  it("runs children that yield, which Effect's own cannot", () => {
    const program = Effect.flatMap(Effect.forkChild(Effect.as(Effect.yieldNow, "child")), Fiber.join)
    assert.isTrue(Exit.isFailure(Effect.runSyncExit(program)))
    assert.deepStrictEqual(TestRuntime.runSyncExit(program), Exit.succeed("child"))
  })

  it("gives errors and defects as they are", () => {
    assert.deepStrictEqual(TestRuntime.runSyncExit(Effect.fail("no")), Exit.fail("no"))
    assert.deepStrictEqual(TestRuntime.runSyncExit(Effect.die("a bug")), Exit.die("a bug"))
  })

  it("has virtual time that the effect moves", () => {
    const hours = Effect.gen(function*() {
      const ticks = yield* Ref.make(0)
      yield* Ref.update(ticks, (n) => n + 1).pipe(Effect.delay("1 second"), Effect.forever, Effect.forkScoped)
      yield* TestClock.adjust("1 hour")
      return yield* Ref.get(ticks)
    })
    assert.strictEqual(TestRuntime.runSync(hours), 3600)
  })

  it("closes the scope of what it ran", () => {
    let closed = false
    TestRuntime.runSync(Effect.addFinalizer(() =>
      Effect.sync(() => {
        closed = true
      })
    ))
    assert.isTrue(closed)
  })

  it("moves time by itself when it is told how far, and only while everybody waits", () => {
    const nap = Effect.andThen(Effect.sleep("90 seconds"), Clock.currentTimeMillis)
    assert.deepStrictEqual(TestRuntime.runSyncExit(nap, { advance: "1 hour" }), Exit.succeed(90_000))
    assert.isDefined(blocked(TestRuntime.runSyncExit(nap, { advance: "1 minute" })))
    assert.isDefined(blocked(TestRuntime.runSyncExit(nap)))
  })

  it("fails with the labels of the jobs that wait for a promise or a real timer", () => {
    const exit = TestRuntime.runSyncExit(Effect.gen(function*() {
      const executor = yield* TestExecutor.sync
      yield* executor.submit({ label: "ends", run: Effect.yieldNow })
      const jobs = [
        yield* executor.submit({ label: "generate orders", run: Effect.promise(() => new Promise<void>(() => {})) }),
        yield* executor.submit({ label: "start users-0", run: TestClock.withLive(Effect.sleep("1 hour")) })
      ]
      yield* Fiber.joinAll(jobs)
    }))
    assert.deepStrictEqual(blocked(exit)?.jobs, ["generate orders", "start users-0"])
    assert.include(blocked(exit)?.message, `"generate orders", "start users-0"`)
  })

  it("interrupts what it leaves behind", () => {
    const log: Array<string> = []
    const exit = TestRuntime.runSyncExit(
      Effect.onInterrupt(
        Effect.promise(() => new Promise<void>(() => {})),
        () => Effect.sync(() => log.push("released"))
      )
    )
    assert.isDefined(blocked(exit))
    assert.deepStrictEqual(log, ["released"])
  })

  it("throws the defect, or that it is blocked, from `runSync`", () => {
    assert.throws(() => TestRuntime.runSync(Effect.die(new Error("no such thing"))), "no such thing")
    assert.throws(() => TestRuntime.runSync(Effect.never), "did not end on the caller's stack")
  })

  it("runs ten thousand turns of a thousand fibers, in turn", () => {
    const turns: Array<number> = []
    const worker = (n: number) =>
      Effect.gen(function*() {
        for (let turn = 0; turn < 10; turn++) {
          turns.push(n)
          yield* Effect.yieldNow
        }
      })
    const numbers = Array.from({ length: 1000 }, (_, n) => n)
    TestRuntime.runSync(Effect.forEach(numbers, worker, { concurrency: "unbounded", discard: true }))
    assert.deepStrictEqual(turns, Array.from({ length: 10 }, () => numbers).flat())
  })
})
