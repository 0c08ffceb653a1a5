import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Readers from "../src/internal/readers.ts"

describe("readers", () => {
  it.effect("an append wakes the readers of its topic only", () =>
    Effect.gen(function*() {
      const readers = Readers.make()
      const [a, b] = [readers.join(), readers.join()]
      a.watch("a")
      b.watch("b")
      const woken = yield* Effect.forkChild(a.wait, { startImmediately: true })
      const asleep = yield* Effect.forkChild(b.wait, { startImmediately: true })
      readers.wake("a")
      yield* Fiber.join(woken)
      assert.isUndefined(asleep.pollUnsafe())
      readers.wakeAll()
      yield* Fiber.join(asleep)
    }))

  it.effect("news between a look and the wait are not lost", () =>
    Effect.gen(function*() {
      const readers = Readers.make()
      const reader = readers.join()
      reader.watch("a")
      reader.forget()
      readers.wake("a")
      yield* reader.wait
      reader.forget()
      const waiting = yield* Effect.forkChild(reader.wait, { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      yield* Fiber.interrupt(waiting)
    }))

  it.effect("looks for other processes' writes only while somebody waits, once for all", () =>
    Effect.gen(function*() {
      const readers = Readers.make()
      let looks = 0
      yield* Effect.forkScoped(readers.watch(Effect.sleep("5 seconds"), Effect.sync(() => ++looks === 3)))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(looks, 0)
      const waiting = [readers.join(), readers.join()]
      const fibers = yield* Effect.forEach(waiting, (reader) =>
        Effect.forkScoped(reader.wait, { startImmediately: true }))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([
        looks,
        fibers.map((fiber) =>
          fiber.pollUnsafe()
        )
      ], [2, [undefined, undefined]])
      yield* TestClock.adjust("5 seconds")
      yield* Effect.forEach(fibers, Fiber.join)
      yield* TestClock.adjust("1 minute")
      assert.isAtMost(looks, 4) // the one that was under way
    }))
})
