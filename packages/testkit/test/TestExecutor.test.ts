import { assert, describe, it } from "@effect/vitest"
import { Executor } from "@kelpie/core"
import { TestExecutor, TestRuntime } from "@kelpie/testkit"
import { Cause, Deferred, Effect, Exit, Fiber, Queue, Scope } from "effect"
import { TestClock } from "effect/testing"

const lines = () => {
  const log: Array<string> = []
  return { log, say: (line: string) => Effect.sync(() => void log.push(line)) }
}

describe("TestExecutor.sync", () => {
  it.effect("ends a job before `submit` returns, also one that yields, forks and waits for its children", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const executor = yield* TestExecutor.sync
      const child = Effect.andThen(Effect.yieldNow, say("child"))
      const fiber = yield* executor.submit({
        label: "job",
        run: Effect.gen(function*() {
          yield* Effect.all([child, child], { concurrency: "unbounded" })
          yield* Fiber.join(yield* Effect.forkChild(Effect.andThen(Effect.yieldNow, say("fork"))))
          yield* say("end")
        })
      })
      assert.deepStrictEqual(log, ["child", "child", "fork", "end"])
      assert.deepStrictEqual(fiber.pollUnsafe(), Exit.void)
    }))

  it.effect("ends a job that waits for a job which it submits", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const executor = yield* TestExecutor.sync
      const answers = yield* Queue.unbounded<number>()
      yield* executor.submit({
        label: "asks",
        run: Effect.gen(function*() {
          yield* executor.submit({ label: "answers", run: Effect.andThen(Effect.yieldNow, Queue.offer(answers, 42)) })
          yield* say(`got ${yield* Queue.take(answers)}`)
        })
      })
      assert.deepStrictEqual(log, ["got 42"])
    }))

  it.effect("lets a job end that waits for a later one", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const executor = yield* TestExecutor.sync
      const gate = yield* Deferred.make<void>()
      yield* executor.submit({ label: "first", run: Effect.andThen(Deferred.await(gate), say("first")) })
      yield* executor.submit({ label: "second", run: Effect.andThen(Deferred.succeed(gate, undefined), say("second")) })
      assert.deepStrictEqual(log, ["first", "second"])
    }))

  it.effect("does not wait for a job that hangs, nor for one that sleeps", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const executor = yield* TestExecutor.sync
      const hanging = yield* executor.submit({ label: "hangs", run: Effect.never })
      yield* executor.submit({
        label: "sleeps",
        run: Effect.andThen(Effect.sleep("1 second"), Effect.andThen(Effect.yieldNow, say("woke")))
      })
      assert.deepStrictEqual(log, [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(log, ["woke"])
      yield* Fiber.interrupt(hanging)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(hanging)))
    }))

  it.effect("wakes jobs in the order of their virtual times, and each at its own", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const executor = yield* TestExecutor.sync
      const job = (label: string, millis: number) =>
        executor.submit({
          label,
          run: Effect.gen(function*() {
            yield* Effect.sleep(millis)
            yield* Effect.yieldNow
            yield* say(`${label} at ${yield* TestClock.testClockWith((clock) => clock.currentTimeMillis)}`)
            yield* Effect.sleep(millis)
            yield* say(`${label} at ${yield* TestClock.testClockWith((clock) => clock.currentTimeMillis)}`)
          })
        })
      yield* job("slow", 300)
      yield* job("quick", 200)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(log, ["quick at 200", "slow at 300", "quick at 400", "slow at 600"])
    }))

  it.effect("interrupts what has not ended when its scope closes", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const scope = yield* Scope.make()
      const executor = yield* Scope.provide(TestExecutor.sync, scope)
      yield* executor.submit({
        label: "hangs",
        run: Effect.onInterrupt(Effect.never, () => Effect.andThen(Effect.yieldNow, say("interrupted")))
      })
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(log, ["interrupted"])
    }))

  it.effect("is what a runtime gets from `Executor.layer`", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const program = Effect.scoped(Effect.gen(function*() {
        const executor = yield* yield* Executor.Executor
        yield* executor.submit({ label: "job", run: Effect.andThen(Effect.yieldNow, say("ran")) })
        yield* say("submitted")
      }))
      yield* Effect.provide(program, Executor.layer(TestExecutor.sync))
      assert.deepStrictEqual(log, ["ran", "submitted"])
      log.length = 0
      yield* program
      assert.strictEqual(log[0], "submitted")
    }))
})

describe("TestExecutor.manual", () => {
  it.effect("runs a job only when it is released, then to its end", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const jobs = yield* TestExecutor.manual
      const executor = yield* jobs.make
      yield* executor.submit({ label: "a", run: Effect.andThen(Effect.yieldNow, say("a")) })
      yield* executor.submit({ label: "b", run: say("b") })
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(log, [])
      assert.deepStrictEqual(yield* jobs.waiting, ["a", "b"])
      yield* jobs.release("b")
      assert.deepStrictEqual(log, ["b"])
      yield* jobs.release("a")
      assert.deepStrictEqual(log, ["b", "a"])
      assert.deepStrictEqual(yield* jobs.waiting, [])
    }))

  it.effect("releases the oldest of several jobs with one label", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const jobs = yield* TestExecutor.manual
      const executor = yield* jobs.make
      yield* executor.submit({ label: "same", run: say("first") })
      yield* executor.submit({ label: "same", run: say("second") })
      yield* jobs.release("same")
      assert.deepStrictEqual(log, ["first"])
      assert.deepStrictEqual(yield* jobs.waiting, ["same"])
    }))

  it.effect("releases everything, also what is submitted meanwhile", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const jobs = yield* TestExecutor.manual
      const executor = yield* jobs.make
      yield* executor.submit({
        label: "outer",
        run: Effect.andThen(say("outer"), Effect.asVoid(executor.submit({ label: "inner", run: say("inner") })))
      })
      yield* jobs.releaseAll
      assert.deepStrictEqual(log, ["outer", "inner"])
    }))

  it.effect("forgets a job that is interrupted before its release", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const jobs = yield* TestExecutor.manual
      const executor = yield* jobs.make
      const fiber = yield* executor.submit({ label: "a", run: say("a") })
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* jobs.waiting, [])
      yield* jobs.releaseAll
      assert.deepStrictEqual(log, [])
    }))

  it.effect("says which jobs wait when there is none of that label", () =>
    Effect.gen(function*() {
      const jobs = yield* TestExecutor.manual
      const executor = yield* jobs.make
      yield* executor.submit({ label: "generate orders", run: Effect.void })
      const exit = yield* Effect.exit(jobs.release("generate users"))
      assert.include(
        Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "",
        `no job waits under the label "generate users"; waiting: ["generate orders"]`
      )
    }))
})

describe("TestExecutor.shuffled", () => {
  const order = (seed: number) =>
    TestRuntime.runSync(Effect.gen(function*() {
      const { log, say } = lines()
      const executor = yield* TestExecutor.shuffled(seed)
      const fibers = yield* Effect.forEach(["a", "b", "c", "d"], (name) =>
        executor.submit({
          label: name,
          run: Effect.andThen(say(`${name}1`), Effect.andThen(Effect.yieldNow, say(`${name}2`)))
        }))
      yield* Fiber.joinAll(fibers)
      return log
    }))

  it("gives the same order for the same seed, and others for other seeds", () => {
    assert.deepStrictEqual(order(7), order(7))
    const orders = new Set(Array.from({ length: 20 }, (_, seed) => order(seed).join(" ")))
    assert.isAbove(orders.size, 15)
  })

  it("runs every step of every job, each job's own in their order", () => {
    for (let seed = 0; seed < 20; seed++) {
      const log = order(seed)
      assert.sameMembers(log, ["a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2"])
      for (const name of ["a", "b", "c", "d"]) assert.isBelow(log.indexOf(`${name}1`), log.indexOf(`${name}2`))
    }
  })

  it.effect("runs jobs without anybody waiting for them", () =>
    Effect.gen(function*() {
      const { log, say } = lines()
      const executor = yield* TestExecutor.shuffled("seed")
      yield* executor.submit({ label: "a", run: say("a") })
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(log, ["a"])
    }))
})
