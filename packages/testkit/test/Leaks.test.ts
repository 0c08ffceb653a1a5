import { assert, describe, it } from "@effect/vitest"
import { Leaks, TestExecutor, TestRuntime } from "@kelpie/testkit"
import { nodeHandles, withoutLeaks } from "@kelpie/testkit/vitest"
import { Cause, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"

const left = <E>(effect: Effect.Effect<unknown, E, Scope.Scope>, options?: Leaks.Options) =>
  Leaks.describe(TestRuntime.runSync(Leaks.watch(effect, options), { advance: "1 minute" }).leaks)

/** Ends a fiber that a test left on purpose. */
const kept: Array<Fiber.Fiber<unknown, unknown>> = []
const leave = Effect.map(Effect.forkDetach(Effect.never), (fiber) => kept.push(fiber))
const endKept = Effect.suspend(() => Fiber.interruptAll(kept.splice(0)))

describe("Leaks.watch", () => {
  it("finds nothing after an effect that cleans up", () => {
    const clean = Effect.gen(function*() {
      yield* Leaks.probe("connection")
      yield* Effect.forkScoped(Effect.never)
      yield* Effect.forkChild(Effect.never)
      const executor = yield* TestExecutor.sync
      yield* executor.submit({ label: "job", run: Effect.never })
      yield* Effect.sleep("1 second")
    })
    assert.strictEqual(left(clean), "")
  })

  it("finds a fiber that goes on, and names what it is in", () => {
    const poll = Effect.fn("Feed.poll")(() => Effect.never)
    assert.strictEqual(left(Effect.forkDetach(poll())), "fiber Feed.poll")
    assert.strictEqual(left(Effect.forkDetach(Effect.never)), "fiber without a name")
  })

  it("finds a fiber that has a scheduler of its own, and one that never took a step", () => {
    const elsewhere = Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { submit } = yield* Scope.provide(TestExecutor.sync, scope)
      yield* submit({ label: "job", run: Effect.never })
    })
    assert.strictEqual(left(elsewhere), "fiber without a name")
    const manual = Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { make } = yield* TestExecutor.manual
      const { submit } = yield* Scope.provide(make, scope)
      yield* submit({ label: "job", run: Effect.void })
    })
    assert.strictEqual(left(manual), "fiber without a name")
  })

  it("lets what was told to end take its time, but not longer than the grace", () => {
    const ends = (millis: number) => Effect.forkDetach(Effect.sleep(millis))
    assert.strictEqual(left(ends(900)), "")
    assert.strictEqual(left(ends(1100)), "fiber without a name")
    assert.strictEqual(left(ends(1100), { grace: "2 seconds" }), "")
  })

  it("finds a scope with a probe that is not closed", () => {
    const open = (name: string) => Effect.flatMap(Scope.make(), (scope) => Scope.provide(Leaks.probe(name), scope))
    assert.strictEqual(left(Effect.all([open("a"), open("b"), open("a")])), "scope a (2); scope b")
  })

  it("finds what the platform has more of than before", () => {
    const open = ["TCPSocketWrap", "Timeout"]
    const effect = Effect.sync(() => open.push("Timeout", "TCPSocketWrap", "TCPSocketWrap", "Immediate"))
    assert.strictEqual(left(effect, { handles: () => open }), "handle TCPSocketWrap (2); timer Timeout")
    assert.strictEqual(left(Effect.sync(() => open.splice(0)), { handles: () => open }), "")
  })

  it("tells how the effect ended, and looks whatever that was", () => {
    const { exit, leaks } = TestRuntime.runSync(
      Leaks.watch(Effect.andThen(Effect.forkDetach(Effect.never), Effect.fail("no"))),
      { advance: "1 minute" }
    )
    assert.deepStrictEqual(exit, Exit.fail("no"))
    assert.strictEqual(leaks.length, 1)
  })

  it("may stand in another one: both find what is left", () => {
    const inner = Leaks.watch(Effect.forkDetach(Effect.never))
    const { exit, leaks } = TestRuntime.runSync(Leaks.watch(inner), { advance: "1 minute" })
    assert.strictEqual(leaks.length, 1)
    assert.strictEqual(Exit.isSuccess(exit) && exit.value.leaks.length, 1)
  })
})

describe("withoutLeaks", { concurrent: false }, () => {
  const failure = <A, E>(exit: Exit.Exit<A, E>) => Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  const message = <A, E>(exit: Exit.Exit<A, E>) => String(failure(exit))

  it.effect("passes the value of a test that leaves nothing, also while time stands still", () =>
    Effect.gen(function*() {
      const test = Effect.gen(function*() {
        const slept = yield* Effect.forkScoped(Effect.sleep("1 hour"))
        yield* TestClock.adjust("1 hour")
        yield* Fiber.join(slept)
        return 7
      })
      assert.strictEqual(yield* withoutLeaks(test), 7)
    }))

  it.effect("fails a test that leaves a fiber", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(withoutLeaks(leave, { grace: 50 }))
      assert.instanceOf(failure(exit), Leaks.Leaked)
      assert.include(message(exit), "left behind: fiber")
      yield* endKept
    }))

  it.effect("fails a test that leaves a raw timer", () =>
    Effect.gen(function*() {
      let timer: NodeJS.Timeout | undefined
      const test = Effect.sync(() => {
        timer = setTimeout(() => {}, 60_000)
      })
      const exit = yield* Effect.exit(withoutLeaks(test, { grace: 50 }))
      clearTimeout(timer)
      assert.include(message(exit), "timer Timeout")
    }))

  it.effect("fails with the error of the test, whatever it left", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(withoutLeaks(Effect.andThen(leave, Effect.fail("its own error")), { grace: 50 }))
      assert.strictEqual(failure(exit), "its own error")
      yield* endKept
    }))

  it("reads Node's own list", () => {
    const before = nodeHandles().filter((name) => name === "Timeout").length
    const timer = setTimeout(() => {}, 60_000)
    assert.strictEqual(nodeHandles().filter((name) => name === "Timeout").length, before + 1)
    clearTimeout(timer)
  })
})
