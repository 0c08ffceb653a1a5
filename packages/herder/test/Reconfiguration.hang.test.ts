import { assert, describe, it, vi } from "@effect/vitest"
import { ExecutorLimits, ReconfigurationPolicy } from "@kelpie/core"
import { Script } from "@kelpie/testkit"
import { Effect } from "effect"
import * as Scene from "./fixtures/Scene.ts"
import { down } from "./fixtures/Scene.ts"

vi.setConfig({ testTimeout: 60_000 })

const timedOut = "taskConfigs did not return within 30 s"

/** A connector whose generation never returns, beside a good one. */
const stuck = Effect.fnUntraced(function*(interruptible: boolean, options?: Scene.Options) {
  const scene = yield* Scene.make(options)
  yield* scene.source.script("stuck", { taskConfigs: Script.always(Script.hang({ interruptible })) })
  yield* scene.advance(1000)
  yield* scene.deploy("stuck", scene.source.config())
  yield* scene.deploy("good", scene.source.config())
  return scene
})

for (const interruptible of [true, false]) {
  describe(`a connector that blocks in taskConfigs for ever, ${interruptible ? "interruptible" : "deaf to interruption"}`, () => {
    it.effect("is shown from the start, with its stage and since when (laws 4 and 10)", () =>
      Effect.gen(function*() {
        const scene = yield* stuck(interruptible)
        const { conditions, health, reconfiguration, state } = yield* scene.status("stuck")
        assert.deepStrictEqual([state, health], ["RUNNING", "recovering"])
        assert.deepStrictEqual(reconfiguration, { state: "Running", attempt: 1, stage: "generating", since: 1000 })
        assert.deepStrictEqual(conditions, [
          { reason: "Reconfiguring", message: "task configs are generated", since: 1000 }
        ])
      }))

    it.effect("is a time-out at its deadline, not before, and retried on the schedule (laws 4 and 15)", () =>
      Effect.gen(function*() {
        const scene = yield* stuck(interruptible)
        yield* scene.advance(29_999)
        yield* scene.settle
        assert.strictEqual((yield* scene.lane("stuck")).state, "Running")
        yield* scene.advance(1)
        yield* scene.settle
        const { conditions, health, reconfiguration } = yield* scene.status("stuck")
        assert.deepStrictEqual(reconfiguration, {
          state: "Waiting",
          attempt: 2,
          delayMillis: 250,
          nextAttemptAt: 31_250,
          failure: {
            class: "timed-out",
            stage: "generating",
            message: timedOut,
            firstAt: 31_000,
            lastAt: 31_000,
            occurrences: 1
          }
        })
        assert.strictEqual(health, "recovering")
        assert.deepStrictEqual(conditions, [
          { reason: "ReconfigurationFailing", message: timedOut, since: 31_000, nextAttemptAt: 31_250 }
        ])
      }))

    it.effect("holds nobody up: others start, are asked and reconfigure at once (law 4)", () =>
      Effect.gen(function*() {
        const scene = yield* stuck(interruptible)
        assert.strictEqual((yield* scene.status("good")).health, "healthy")
        for (let second = 2; second <= 40; second++) {
          yield* scene.advance(1000)
          yield* scene.ask("good")
          assert.deepStrictEqual(yield* scene.lane("good"), { state: "Idle", attempt: 0 })
        }
        const expected = [1000, ...Array.from({ length: 39 }, (_, n) => 2000 + n * 1000)]
        assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "good"), expected)
      }))

    it.effect("is deleted at once, and its name can be used again (law 11)", () =>
      Effect.gen(function*() {
        const scene = yield* stuck(interruptible)
        yield* scene.herder.delete("stuck")
        yield* scene.settle
        assert.deepStrictEqual(yield* scene.herder.list, ["good"])
        assert.deepStrictEqual(yield* scene.source.live("stuck"), [])
        yield* scene.source.script("stuck", { taskConfigs: undefined })
        yield* scene.deploy("stuck", scene.source.config({ tasks: 2 }))
        assert.strictEqual((yield* scene.status("stuck")).health, "healthy")
        yield* scene.advance("1 hour")
        yield* scene.settle
        assert.strictEqual((yield* scene.status("stuck")).health, "healthy")
        assert.deepStrictEqual((yield* scene.published("stuck")).parts, ["0", "1"])
      }))
  })
}

describe("an attempt whose code does not return", () => {
  it.effect("is an orphan, told as an event, and told again when it returns (law 4)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", { taskConfigs: [Script.hang({ interruptible: false })] })
      yield* scene.deploy("orders", scene.source.config())
      yield* scene.advance(30_000)
      const outcomes = yield* scene.settle
      const orphans = outcomes.flatMap(({ events }) => events.filter(({ _tag }) => _tag === "OrphanChanged"))
      assert.deepStrictEqual(orphans, [
        { _tag: "OrphanChanged", at: 30_000, connector: "orders", label: "generating task configs", ended: false }
      ])
    }))

  it.effect("keeps the lane from starting beside it, until the config changes (law 4)", () =>
    Effect.gen(function*() {
      const scene = yield* stuck(false)
      yield* scene.advance(30_000)
      yield* scene.settle
      yield* scene.advance("1 hour")
      yield* scene.settle
      const { failure, state } = yield* scene.lane("stuck")
      assert.deepStrictEqual([state, failure?.message], ["Queued", timedOut])
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "stuck"), [1000])
      yield* scene.source.script("stuck", { taskConfigs: undefined })
      yield* scene.herder.put("stuck", scene.source.config({ tasks: 2 }))
      yield* scene.settle
      assert.deepStrictEqual(yield* scene.lane("stuck"), { state: "Idle", attempt: 0 })
      assert.deepStrictEqual((yield* scene.published("stuck")).parts, ["0", "1"])
    }))

  it.effect("starts the lane again when it returns after all (law 13)", () =>
    Effect.gen(function*() {
      // it does not listen, but it ends
      const deaf = yield* Scene.make({
        settings: ReconfigurationPolicy.layer({ deadline: "1 second" }),
        middleware: (operation, next) => operation._tag === "GenerateTaskConfigs" ? Effect.uninterruptible(next) : next
      })
      yield* deaf.source.script("orders", { taskConfigs: [Script.sleep(60_000)] })
      yield* deaf.deploy("orders", deaf.source.config())
      yield* deaf.advance(1000)
      yield* deaf.settle
      assert.strictEqual((yield* deaf.lane("orders")).state, "Waiting")
      yield* deaf.advance(58_999)
      yield* deaf.settle
      assert.strictEqual((yield* deaf.lane("orders")).state, "Queued")
      yield* deaf.advance(1)
      const outcomes = yield* deaf.settle
      assert.deepStrictEqual(outcomes.flatMap(({ events }) => events.filter(({ _tag }) => _tag === "OrphanChanged")), [
        { _tag: "OrphanChanged", at: 60_000, connector: "orders", label: "generating task configs", ended: true }
      ])
      assert.deepStrictEqual(yield* deaf.source.calls("taskConfigs", "orders"), [0, 60_000])
      assert.deepStrictEqual(yield* deaf.lane("orders"), { state: "Idle", attempt: 0 })
      // what the orphan gave in the end came too late
      assert.strictEqual((yield* deaf.sent).filter(({ _tag }) => _tag === "PublishTaskSet").length, 1)
    }))

  it.effect("fills the small pool only: so many orphans at most, and whoever never timed out goes on (laws 4 and 5)", () =>
    Effect.gen(function*() {
      const limits = { generate: 4, generateSlow: 2, orphans: 5 }
      const scene = yield* Scene.make({ settings: ExecutorLimits.layer(limits) })
      const names = Array.from({ length: 12 }, (_, n) => `stuck-${n}`)
      for (const name of names) {
        yield* scene.source.script(name, { taskConfigs: Script.always(Script.hang({ interruptible: false })) })
        yield* scene.herder.create(name, scene.source.config())
      }
      yield* scene.settle
      // three rounds of four slots: all of them have timed out once
      for (let round = 0; round < 3; round++) {
        yield* scene.advance(30_000)
        yield* scene.settle
      }
      yield* scene.deploy("good", scene.source.config())
      assert.strictEqual((yield* scene.status("good")).health, "healthy")
      yield* scene.advance("1 hour")
      yield* scene.settle
      const calls = (yield* scene.source.calls("taskConfigs")).filter((at) => at > 90_000)
      assert.deepStrictEqual(calls, [])
    }))
})

describe("a failing connector beside hung ones", () => {
  it.effect("backs off on its own schedule (laws 4 and 6)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make({ settings: ExecutorLimits.layer({ generate: 4, generateSlow: 2 }) })
      for (let n = 0; n < 16; n++) {
        yield* scene.source.script(`hung-${n}`, { taskConfigs: Script.always(Script.hang()) })
        yield* scene.herder.create(`hung-${n}`, scene.source.config())
      }
      yield* scene.settle
      for (let round = 0; round < 4; round++) {
        yield* scene.advance(30_000)
        yield* scene.settle
      }
      yield* scene.source.script("good", { taskConfigs: Script.always(Script.fail(down)) })
      yield* scene.deploy("good", scene.source.config())
      yield* Scene.wakeFor(scene, 20_000)
      const calls = yield* scene.source.calls("taskConfigs", "good")
      assert.deepStrictEqual(calls.map((at) => at - 120_000), [0, 250, 750, 1750, 3750, 7750, 15_750])
    }))
})
