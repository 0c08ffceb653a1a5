import { assert, describe, it, vi } from "@effect/vitest"
import { ClusterState, ExecutorLimits, ReconfigurationPolicy } from "@kelpie/core"
import type { World } from "@kelpie/herder"
import { Script } from "@kelpie/testkit"
import { Effect, Random } from "effect"
import { TestClock } from "effect/testing"
import * as Scene from "./fixtures/Scene.ts"
import { down } from "./fixtures/Scene.ts"

vi.setConfig({ testTimeout: 120_000 })

const jitter = (seed: string) => ReconfigurationPolicy.layer({ jitter: "equal", seed })

/** The times of all attempts of a connector that fails from time 0 on, as its policy has them. */
const attempts = (world: World.World, name: string, incarnation: string, millis: number) => {
  const { lane } = world.settings.policies(name, incarnation, {})
  const times: Array<number> = []
  for (let at = 0; at < millis;) {
    times.push(at)
    const last = { class: "transient", stage: "generating", message: down.message } as const
    at += lane.delayMillis({ failures: times.length, defects: 0, firstAt: 0, lastAt: at, last }) ?? Infinity
  }
  return times
}

/** Fifty connectors fail for a minute: the times of each connector's attempts, and what its policy says. */
const storm = (seed: string) =>
  Effect.gen(function*() {
    const scene = yield* Scene.make({ settings: jitter(seed) })
    yield* scene.source.script({ taskConfigs: Script.always(Script.fail(down)) })
    const names = Array.from({ length: 50 }, (_, n) => `c${n}`)
    for (const name of names) yield* scene.herder.create(name, scene.source.config())
    yield* Scene.wakeFor(scene, 60_000)
    const state = yield* scene.configStore.state
    const world = yield* scene.world
    return yield* Effect.forEach(names, (name) =>
      Effect.map(scene.source.calls("taskConfigs", name), (seen) => ({
        seen,
        expected: attempts(world, name, ClusterState.connector(state, name)?.incarnation ?? "", 60_001)
      })))
  }).pipe(Random.withSeed("incarnations"), Effect.scoped, Effect.provide(TestClock.layer()))

describe("connectors that fail together", () => {
  it.effect("10,000 of them spread: no 100 ms of the second minute see more than 1 % of them again (law 6)", () =>
    Effect.gen(function*() {
      const world = yield* (yield* Scene.make({ settings: jitter("storm") })).world
      const count = 10_000
      const slots = new Map<number, number>()
      for (let n = 0; n < count; n++) {
        const second = attempts(world, `connector-${n}`, `incarnation-${n}`, 120_000).filter((at) => at >= 60_000)
        // the cap holds: nobody is left out
        assert.isAtLeast(second.length, 1)
        for (const at of second) slots.set(Math.floor(at / 100), (slots.get(Math.floor(at / 100)) ?? 0) + 1)
      }
      assert.isAtMost(Math.max(...slots.values()), count / 100)
    }))

  it.effect("each keeps the schedule of its own draws, to the millisecond (law 6)", () =>
    Effect.gen(function*() {
      const times = yield* storm("a")
      for (const { expected, seen } of times) assert.deepStrictEqual(seen, expected)
      assert.strictEqual(new Set(times.map(({ seen }) => seen.join())).size, 50)
    }))

  it.effect("the same seed gives the same times, another seed gives others (law 6)", () =>
    Effect.gen(function*() {
      const first = yield* storm("a")
      assert.deepStrictEqual(yield* storm("a"), first)
      assert.notDeepEqual(yield* storm("b"), first)
    }))
})

describe("1,000 hung connectors beside 1,000 good ones", () => {
  it.effect("wait behind each other only: every good one reconfigures when it asks (laws 4 and 5)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make({ settings: ExecutorLimits.layer({ start: 1000 }) })
      const hung = Array.from({ length: 1000 }, (_, n) => `hung-${n}`)
      const good = Array.from({ length: 1000 }, (_, n) => `good-${n}`)
      for (const name of hung) {
        yield* scene.source.script(name, { taskConfigs: Script.always(Script.hang()) })
        yield* scene.herder.create(name, scene.source.config({ tasks: 0 }))
      }
      yield* scene.settle
      // 64 at a time hang for their 30 s, until all of them have timed out once
      for (let round = 0; round < 16; round++) {
        yield* scene.advance(30_000)
        yield* scene.settle
      }
      for (const name of good) yield* scene.herder.create(name, scene.source.config({ tasks: 0 }))
      yield* scene.settle
      const calls = (name: string) => scene.source.calls("taskConfigs", name)
      for (let minute = 1; minute <= 3; minute++) {
        yield* scene.advance(60_000)
        for (const name of good) yield* scene.source.requestReconfiguration(name)
        yield* scene.settle
      }
      for (const name of good) assert.deepStrictEqual(yield* calls(name), [480_000, 540_000, 600_000, 660_000])
      // and the small pool has tried hung ones all along, eight at a time
      const tried = yield* Effect.forEach(hung, calls)
      assert.isAtLeast(tried.filter((times) => times.length > 1).length, 8 * 6)
      for (const times of tried) assert.isAtMost(times.filter((at) => at >= 480_000).length, 7)
    }))
})
