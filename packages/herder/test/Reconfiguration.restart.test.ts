import { assert, describe, it, vi } from "@effect/vitest"
import { PermanentError, RestartPolicy } from "@kelpie/core"
import { Script } from "@kelpie/testkit"
import { Effect } from "effect"
import * as Scene from "./fixtures/Scene.ts"
import { down } from "./fixtures/Scene.ts"

vi.setConfig({ testTimeout: 60_000 })

const onFailure = { "restart.policy": "on-failure" }
const minutes = 60_000

/** Makes the only task die at its next poll. */
const kill = Effect.fnUntraced(function*(scene: Scene.Scene) {
  yield* scene.source.script("orders", { poll: [Script.die(new Error("out of memory"))] })
  yield* scene.source.emit("orders", 0, [{ topic: "t", value: 1 }])
  yield* scene.settle
})

/** How the task does, and in how many milliseconds it is started anew. */
const task = Effect.fnUntraced(function*(scene: Scene.Scene) {
  const { tasks } = yield* scene.status("orders")
  return [tasks[0]?.state, (yield* scene.tick).nextWakeMillis]
})

const deployed = Effect.fnUntraced(
  function*(keys: Readonly<Record<`${string}.${string}`, string>>, options?: Scene.Options) {
    const scene = yield* Scene.make(options)
    yield* scene.deploy("orders", scene.source.config({ tasks: 1 }, keys))
    return scene
  }
)

describe("a task that fails", () => {
  it.effect("stays FAILED by default, as in Connect", () =>
    Effect.gen(function*() {
      const scene = yield* deployed({})
      yield* kill(scene)
      assert.deepStrictEqual(yield* task(scene), ["FAILED", undefined])
      const { conditions, health, state, tasks } = yield* scene.status("orders")
      assert.deepStrictEqual([state, health], ["RUNNING", "failed"])
      assert.deepStrictEqual(conditions, [{ reason: "TaskFailed", message: "task 0: Error: out of memory", since: 0 }])
      assert.match(tasks[0]?.trace ?? "", /^Error: out of memory\n {4}at /)
      yield* scene.advance("1 hour")
      assert.deepStrictEqual((yield* scene.tick).transitions, [])
    }))

  it.effect("is started anew after 1 s, 2 s, 4 s ..., and shows when", () =>
    Effect.gen(function*() {
      const scene = yield* deployed(onFailure)
      const seen: Array<unknown> = []
      for (let n = 0; n < 5; n++) {
        yield* kill(scene)
        const { conditions } = yield* scene.status("orders")
        seen.push([conditions[0]?.since, conditions[0]?.nextAttemptAt])
        yield* scene.wake
        assert.deepStrictEqual(yield* task(scene), ["RUNNING", undefined])
      }
      assert.deepStrictEqual(seen, [[0, 1000], [1000, 3000], [3000, 7000], [7000, 15_000], [15_000, 31_000]])
    }))

  it.effect("stays FAILED after five restarts in ten minutes", () =>
    Effect.gen(function*() {
      const scene = yield* deployed(onFailure)
      for (let n = 0; n < 5; n++) {
        yield* kill(scene)
        yield* scene.wake
      }
      yield* kill(scene)
      assert.deepStrictEqual(yield* task(scene), ["FAILED", undefined])
      yield* scene.advance("1 day")
      assert.deepStrictEqual((yield* scene.tick).transitions, [])
      // until somebody acts
      yield* scene.herder.restartTask("orders", 0)
      yield* scene.settle
      assert.deepStrictEqual(yield* task(scene), ["RUNNING", undefined])
      yield* kill(scene)
      assert.deepStrictEqual(yield* task(scene), ["FAILED", 1000])
    }))

  it.effect("has its budget again after ten healthy minutes, and the first delay", () =>
    Effect.gen(function*() {
      const scene = yield* deployed(onFailure)
      for (let n = 0; n < 4; n++) {
        yield* kill(scene)
        yield* scene.wake
      }
      yield* scene.advance(10 * minutes)
      yield* kill(scene)
      assert.deepStrictEqual(yield* task(scene), ["FAILED", 1000])
      yield* scene.wake
      for (const delay of [2000, 4000, 8000, 16_000]) {
        yield* kill(scene)
        assert.deepStrictEqual(yield* task(scene), ["FAILED", delay])
        yield* scene.wake
      }
      yield* kill(scene)
      assert.deepStrictEqual(yield* task(scene), ["FAILED", undefined])
    }))

  it.effect("goes on for ever when it fails every three minutes: only the last ten count", () =>
    Effect.gen(function*() {
      const scene = yield* deployed(onFailure)
      const delays: Array<unknown> = []
      for (let n = 0; n < 12; n++) {
        yield* kill(scene)
        const [, delay] = yield* task(scene)
        delays.push(delay)
        yield* scene.wake
        yield* scene.advance(3 * minutes)
      }
      assert.deepStrictEqual(delays, [1000, 2000, 4000, 8000, ...Array.from({ length: 8 }, () => 8000)])
    }))

  it.effect("is never started anew after a permanent error", () =>
    Effect.gen(function*() {
      const scene = yield* deployed(onFailure)
      yield* scene.source.script("orders", { poll: [Script.fail(new PermanentError({ message: "no such table" }))] })
      yield* scene.source.emit("orders", 0, [{ topic: "t", value: 1 }])
      yield* scene.settle
      assert.deepStrictEqual(yield* task(scene), ["FAILED", undefined])
    }))

  it.effect("keeps the others running meanwhile", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config({ tasks: 3 }, onFailure))
      yield* kill(scene)
      const { health, tasks } = yield* scene.status("orders")
      assert.deepStrictEqual([health, tasks.map(({ state }) => state)], ["degraded", ["FAILED", "RUNNING", "RUNNING"]])
      yield* scene.wake
      assert.strictEqual((yield* scene.status("orders")).health, "healthy")
      const starts = (yield* scene.source.starts("orders")).map((start) => start.task)
      assert.deepStrictEqual(starts, [undefined, 0, 1, 2, 0])
    }))

  it.effect("follows its connector's keys: budget, window and delays", () =>
    Effect.gen(function*() {
      const scene = yield* deployed({
        ...onFailure,
        "restart.backoff.ms": "100",
        "restart.backoff.max.ms": "250",
        "restart.max.attempts": "3",
        "restart.window.ms": "60000"
      })
      const seen: Array<unknown> = []
      for (let n = 0; n < 3; n++) {
        yield* kill(scene)
        seen.push((yield* task(scene))[1])
        yield* scene.wake
      }
      yield* kill(scene)
      seen.push((yield* task(scene))[1])
      assert.deepStrictEqual(seen, [100, 200, 250, undefined])
    }))

  it.effect("follows the runtime's policy, unless its connector says no", () =>
    Effect.gen(function*() {
      const settings = RestartPolicy.layer({ enabled: true })
      const on = yield* deployed({}, { settings })
      yield* kill(on)
      assert.deepStrictEqual(yield* task(on), ["FAILED", 1000])
      const off = yield* deployed({ "restart.policy": "none" }, { settings })
      yield* kill(off)
      assert.deepStrictEqual(yield* task(off), ["FAILED", undefined])
    }))

  it.effect("is not started anew once its connector is stopped, paused or deleted", () =>
    Effect.gen(function*() {
      for (const word of ["stop", "pause", "delete"] as const) {
        const scene = yield* deployed(onFailure)
        yield* kill(scene)
        yield* scene.herder[word]("orders")
        yield* scene.settle
        assert.strictEqual((yield* scene.tick).nextWakeMillis, undefined)
        yield* scene.advance("1 hour")
        assert.deepStrictEqual((yield* scene.tick).transitions, [])
        assert.deepStrictEqual(yield* scene.source.live("orders"), [])
      }
    }))
})

describe("a connector that fails to start", () => {
  const failing = { start: Script.always(Script.fail(down)) }

  it.effect("stays FAILED by default and generates nothing", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config())
      const { conditions, health, state } = yield* scene.status("orders")
      assert.deepStrictEqual([state, health], ["FAILED", "failed"])
      assert.deepStrictEqual(conditions, [
        { reason: "ConnectorFailed", message: `TransientError: ${down.message}`, since: 0 }
      ])
      yield* scene.advance("1 hour")
      assert.deepStrictEqual((yield* scene.tick).transitions, [])
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs"), [])
    }))

  it.effect("is started anew five times, then stays FAILED", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config({}, onFailure))
      const { conditions } = yield* scene.status("orders")
      assert.strictEqual(conditions[0]?.nextAttemptAt, 1000)
      yield* Scene.wakeFor(scene, 3_600_000)
      assert.deepStrictEqual(yield* scene.source.calls("start", "orders"), [0, 1000, 3000, 7000, 15_000, 31_000])
      assert.strictEqual((yield* scene.status("orders")).state, "FAILED")
    }))

  it.effect("generates as soon as it has started (law 2)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", { start: Script.failTimes(2, down) })
      yield* scene.deploy("orders", scene.source.config({}, onFailure))
      yield* Scene.wakeFor(scene, 10_000)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [3000])
      assert.strictEqual((yield* scene.status("orders")).health, "healthy")
    }))

  it.effect("starts at once with a new config, with a fresh budget", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config({}, onFailure))
      yield* Scene.wakeFor(scene, 3_600_000)
      yield* scene.herder.put("orders", scene.source.config({ tasks: 2 }, onFailure))
      yield* scene.settle
      assert.strictEqual((yield* scene.tick).nextWakeMillis, 1000)
      assert.strictEqual((yield* scene.source.calls("start", "orders")).at(-1), 3_600_000)
    }))

  it.effect("is never started anew after a permanent error", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", {
        start: [Script.fail(new PermanentError({ message: "no such database" }))]
      })
      yield* scene.deploy("orders", scene.source.config({}, onFailure))
      assert.strictEqual((yield* scene.status("orders")).state, "FAILED")
      assert.strictEqual((yield* scene.tick).nextWakeMillis, undefined)
    }))

  it.effect("that hangs is given up at its deadline and started anew", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", { start: [Script.hang()] })
      yield* scene.deploy("orders", scene.source.config({}, onFailure))
      assert.strictEqual((yield* scene.status("orders")).health, "recovering")
      yield* scene.advance(60_000)
      yield* scene.settle
      const { conditions } = yield* scene.status("orders")
      assert.deepStrictEqual(conditions, [{
        reason: "ConnectorFailed",
        message: "start orders: it did not return within 60 s",
        since: 60_000,
        nextAttemptAt: 61_000
      }])
      yield* scene.wake
      assert.strictEqual((yield* scene.status("orders")).health, "healthy")
    }))
})
