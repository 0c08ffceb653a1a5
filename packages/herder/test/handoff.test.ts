import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Fiber, Latch, type Scheduler, Schema } from "effect"
import * as Handoff from "../src/internal/handoff.ts"

/** Lets every fiber go on until it waits. */
const settle = Effect.repeat(Effect.yieldNow, { times: 20 })
const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

describe("a hand-over", () => {
  it.effect("gives values in order, at most as many as asked for", () =>
    Effect.gen(function*() {
      const handoff = Handoff.make<number>(10)
      for (const value of [1, 2, 3, 4, 5]) yield* handoff.offer(value)
      assert.deepStrictEqual(handoff.takeUnsafe(2), [1, 2])
      assert.deepStrictEqual(handoff.takeUnsafe(10), [3, 4, 5])
      assert.deepStrictEqual(handoff.takeUnsafe(10), [])
    }))

  it.effect("holds no more than its capacity: who offers more waits for room", () =>
    Effect.gen(function*() {
      const handoff = Handoff.make<number>(2)
      const producer = yield* fork(Effect.forEach([1, 2, 3, 4, 5], handoff.offer))
      yield* settle
      assert.deepStrictEqual(handoff.takeUnsafe(1), [1])
      yield* settle
      assert.deepStrictEqual(handoff.takeUnsafe(5), [2, 3])
      yield* settle
      assert.deepStrictEqual(handoff.takeUnsafe(5), [4, 5])
      yield* Fiber.join(producer)
    }))

  it("lets who waits for room sleep: nothing runs until there is some", () => {
    const tasks: Array<() => void> = []
    const scheduler: Scheduler.Scheduler = {
      executionMode: "sync",
      shouldYield: (fiber) => fiber.currentOpCount >= 100,
      makeDispatcher: () => ({ scheduleTask: (task) => void tasks.push(task), flush: () => {} })
    }
    const handoff = Handoff.make<number>(1)
    const fiber = Effect.runFork(Effect.forEach([1, 2], handoff.offer), { scheduler })
    for (let turn = 0; turn < 100; turn++) tasks.shift()?.()
    assert.deepStrictEqual(tasks, [])
    assert.isUndefined(fiber.pollUnsafe())
    assert.deepStrictEqual(handoff.takeUnsafe(5), [1])
    for (let turn = 0; turn < 100; turn++) tasks.shift()?.()
    assert.deepStrictEqual(handoff.takeUnsafe(5), [2])
  })

  it.effect("gives room to several who wait, one value for one place", () =>
    Effect.gen(function*() {
      const handoff = Handoff.make<number>(1)
      yield* handoff.offer(0)
      const producers = yield* Effect.forEach([1, 2, 3], (value) => fork(handoff.offer(value)))
      const taken: Array<number> = []
      for (let round = 0; round < 4; round++) {
        const values = handoff.takeUnsafe(10)
        assert.strictEqual(values.length, 1)
        taken.push(...values)
        yield* settle
      }
      yield* Fiber.awaitAll(producers)
      assert.deepStrictEqual(taken.sort((a, b) => a - b), [0, 1, 2, 3])
    }))

  it.effect("wakes who waits for something to take", () =>
    Effect.gen(function*() {
      const handoff = Handoff.make<number>(1)
      const consumer = yield* fork(Effect.map(handoff.ready, () => handoff.takeUnsafe(1)))
      assert.isUndefined(consumer.pollUnsafe())
      yield* handoff.offer(7)
      assert.deepStrictEqual(yield* Fiber.join(consumer), [7])
      const next = yield* fork(handoff.ready)
      yield* settle
      assert.isUndefined(next.pollUnsafe(), "there is nothing again")
    }))

  it.effect("uses a latch that has other reasons to be open", () =>
    Effect.gen(function*() {
      const filled = Latch.makeUnsafe(false)
      const handoff = Handoff.make<number>(1, filled)
      const consumer = yield* fork(handoff.ready)
      yield* filled.open
      yield* Fiber.join(consumer)
      assert.deepStrictEqual(handoff.takeUnsafe(1), [])
    }))

  it.effect("is drained when nothing waits and what was taken is done with", () =>
    Effect.gen(function*() {
      const handoff = Handoff.make<number>(2)
      yield* handoff.drained
      yield* handoff.offer(1)
      yield* handoff.offer(2)
      const drained = yield* fork(handoff.drained)
      handoff.takeUnsafe(1)
      handoff.settled()
      yield* settle
      assert.isUndefined(drained.pollUnsafe(), "one waits")
      handoff.takeUnsafe(1)
      yield* settle
      assert.isUndefined(drained.pollUnsafe(), "one is under way")
      handoff.settled()
      yield* Fiber.join(drained)
      yield* handoff.drained
    }))

  it.effect("has nothing of a producer that is interrupted while it waits for room", () =>
    Effect.gen(function*() {
      const handoff = Handoff.make<number>(1)
      yield* handoff.offer(1)
      const waiting = yield* fork(handoff.offer(2))
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(handoff.takeUnsafe(5), [1])
      yield* settle
      assert.deepStrictEqual(handoff.takeUnsafe(5), [])
    }))

  const steps = Arbitrary.array(Arbitrary.schema(Schema.Literals(["yield", "producer", "consumer"])), { maxLength: 60 })
  it.effect.prop(
    "loses nothing and doubles nothing, whoever is interrupted",
    [steps],
    ([steps]) =>
      Effect.gen(function*() {
        const handoff = Handoff.make<number>(3)
        let next = 0
        const offered: Array<number> = []
        const taken: Array<number> = []
        const produce = Effect.forever(Effect.suspend(() => {
          const value = next++
          return Effect.andThen(handoff.offer(value), Effect.sync(() => offered.push(value)))
        }))
        const consume = Effect.forever(Effect.gen(function*() {
          yield* handoff.ready
          taken.push(...handoff.takeUnsafe(2))
          yield* Effect.yieldNow
          handoff.settled()
        }))
        let producer = yield* fork(produce)
        let consumer = yield* fork(consume)
        for (const step of steps) {
          if (step === "yield") yield* Effect.yieldNow
          else if (step === "producer") {
            yield* Fiber.interrupt(producer)
            producer = yield* fork(produce)
          } else {
            yield* Fiber.interrupt(consumer)
            consumer = yield* fork(consume)
          }
        }
        yield* Fiber.interrupt(producer)
        yield* Fiber.interrupt(consumer)
        taken.push(...handoff.takeUnsafe(10))
        // the last offer may have been taken without its producer having heard of it
        assert.deepStrictEqual(taken.filter((value) => offered.includes(value)), offered)
        assert.deepStrictEqual(taken, [...taken].sort((a, b) => a - b))
        assert.strictEqual(new Set(taken).size, taken.length)
      })
  )
})
