import { assert, describe, it, vi } from "@effect/vitest"
import { Backoff, Middleware, ReconfigurationPolicy, ThrottledError, TransientError } from "@kelpie/core"
import { Script } from "@kelpie/testkit"
import * as ScriptedLeader from "@kelpie/testkit/ScriptedLeader"
import { Duration, Effect, Exit, Schedule, Scope } from "effect"
import * as Scene from "./fixtures/Scene.ts"
import { down } from "./fixtures/Scene.ts"

vi.setConfig({ testTimeout: 60_000 })

const failing = { taskConfigs: Script.always(Script.fail(down)) }
/** The times of the attempts of the first hour after a failure at 0, in milliseconds. */
const hour = [
  0,
  250,
  750,
  1750,
  3750,
  7750,
  15_750,
  31_750,
  ...Array.from({ length: 59 }, (_, n) => 63_750 + n * 60_000)
]

describe("a generation that fails for a while", () => {
  it.effect("backs off 250 ms, then 500 ms, then succeeds; nothing is left that could wake it (laws 6 and 13)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
      yield* scene.source.script("orders", { taskConfigs: Script.failTimes(2, down) })
      assert.strictEqual((yield* scene.ask("orders")).nextWakeMillis, 250)
      assert.strictEqual((yield* scene.wake).nextWakeMillis, 500)
      assert.strictEqual((yield* scene.wake).nextWakeMillis, undefined)
      yield* scene.advance("1 hour")
      const { commands, consumed, nextWakeMillis, transitions } = yield* scene.tick
      assert.deepStrictEqual({ commands, consumed, transitions, nextWakeMillis }, {
        commands: [],
        consumed: [],
        transitions: [],
        nextWakeMillis: undefined
      })
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0, 250, 750])
      assert.strictEqual((yield* scene.status("orders")).health, "healthy")
    }))

  it.effect("backs off the same way when the leader cannot be reached, and generates anew each time (laws 6 and 7)", () =>
    Effect.gen(function*() {
      const leader = yield* ScriptedLeader.make()
      const scene = yield* Scene.make({ leader })
      yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
      yield* scene.source.setTasks("orders", 3)
      yield* leader.script(ScriptedLeader.times(2, ScriptedLeader.unreachable))
      assert.strictEqual((yield* scene.ask("orders")).nextWakeMillis, 250)
      assert.deepStrictEqual(yield* scene.lane("orders"), {
        state: "Waiting",
        attempt: 2,
        delayMillis: 250,
        nextAttemptAt: 250,
        failure: {
          class: "transient",
          stage: "sending",
          message: "connection refused",
          firstAt: 0,
          lastAt: 0,
          occurrences: 1
        }
      })
      assert.strictEqual((yield* scene.wake).nextWakeMillis, 500)
      assert.deepStrictEqual((yield* scene.published("orders")).parts, ["0", "1"])
      assert.strictEqual((yield* scene.wake).nextWakeMillis, undefined)
      yield* scene.advance("1 hour")
      assert.deepStrictEqual((yield* scene.tick).consumed, [])
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0, 250, 750])
      assert.deepStrictEqual((yield* scene.published("orders")).parts, ["0", "1", "2"])
      const sets = (yield* leader.received).filter(({ _tag }) => _tag === "PublishTaskSet")
      assert.strictEqual(sets.length, 4)
    }))

  it.effect("makes 67 attempts in one hour, each at its time, and shows when the next comes (laws 6 and 10)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config())
      for (const [index, next] of hour.slice(1).entries()) {
        const { health, reconfiguration } = yield* scene.status("orders")
        assert.strictEqual(health, "recovering")
        assert.strictEqual(reconfiguration.nextAttemptAt, next)
        assert.strictEqual(reconfiguration.attempt, index + 2)
        assert.strictEqual(reconfiguration.failure?.occurrences, index + 1)
        assert.strictEqual(reconfiguration.failure?.firstAt, 0)
        yield* scene.wake
      }
      yield* scene.advance(3_600_000 - (hour.at(-1) ?? 0))
      yield* scene.tick
      assert.strictEqual(hour.length, 67)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), hour)
    }))

  it.effect("catches up with one attempt when nobody ticked for an hour (law 1)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config())
      yield* scene.advance("1 hour")
      assert.strictEqual((yield* scene.tick).nextWakeMillis, 500)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 3_600_000])
    }))
})

describe("more tasks than allowed", () => {
  const trace = "the connector orders generated 9 tasks, but tasks.max is 8"

  it.effect("make the connector FAILED with both numbers, without a retry and without a timer (law 7)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
      yield* scene.source.setTasks("orders", 9)
      assert.strictEqual((yield* scene.ask("orders")).nextWakeMillis, undefined)
      const status = yield* scene.status("orders")
      assert.strictEqual(status.state, "FAILED")
      assert.strictEqual(status.trace, trace)
      assert.strictEqual(status.health, "failed")
      assert.deepStrictEqual(status.conditions, [{ reason: "ConnectorFailed", message: trace, since: 0 }])
      assert.deepStrictEqual(status.reconfiguration, {
        state: "Parked",
        attempt: 1,
        parked: "permanent",
        failure: { class: "permanent", stage: "generating", message: trace, firstAt: 0, lastAt: 0, occurrences: 1 }
      })
      assert.deepStrictEqual(status.tasks.map((task) => task.state), ["RUNNING", "RUNNING"])
      yield* scene.advance("1 hour")
      const { consumed, nextWakeMillis } = yield* scene.tick
      assert.deepStrictEqual([consumed, nextWakeMillis], [[], undefined])
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0])
    }))

  it.effect("are accepted where tasks.max is not enforced", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config({ tasks: 9 }, { "tasks.max.enforce": "false" }))
      const { health, taskCounts } = yield* scene.status("orders")
      assert.strictEqual(health, "healthy")
      assert.deepStrictEqual(taskCounts, { requested: 8, generated: 9, running: 9 })
    }))

  it.effect("are forgotten with the next config (law 2)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config({ tasks: 9 }))
      assert.strictEqual((yield* scene.status("orders")).state, "FAILED")
      yield* scene.herder.put("orders", scene.source.config({ tasks: 3 }))
      yield* scene.settle
      const { health, state } = yield* scene.status("orders")
      assert.deepStrictEqual([state, health], ["RUNNING", "healthy"])
    }))
})

describe("who asks while a lane waits", () => {
  it.effect("a connector that asks from inside its failing generation gets no attempt earlier (law 2)", () =>
    Effect.gen(function*() {
      const source: { ask: Effect.Effect<void> } = { ask: Effect.void }
      const scene = yield* Scene.make({
        middleware: Middleware.on(
          "GenerateTaskConfigs",
          (_, next) => Effect.andThen(Effect.suspend(() => source.ask), next)
        )
      })
      source.ask = scene.source.requestReconfiguration("orders")
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config())
      yield* Scene.wakeFor(scene, 3_600_000)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), hour)
      // the retry served them all: a success is followed by the one run that was asked for during it
      source.ask = Effect.void
      yield* scene.source.script("orders", { taskConfigs: [] })
      yield* scene.wake
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
    }))

  it.effect("a connector that asks over and over while it waits keeps the schedule (law 2)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config())
      for (let second = 0; second < 60; second++) {
        yield* scene.ask("orders")
        yield* scene.ask("orders")
        yield* Scene.wakeFor(scene, 1000)
      }
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), hour.filter((at) => at <= 60_000))
    }))

  it.effect("requests while it runs give exactly one more run after a success (law 2)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config())
      yield* scene.source.script("orders", { taskConfigs: [Script.sleep(1000)] })
      yield* scene.ask("orders")
      for (let n = 0; n < 5; n++) yield* scene.ask("orders")
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0])
      yield* scene.advance(1000)
      yield* scene.settle
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0, 1000])
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
    }))

  it.effect("five config updates during an outage leave one chain, which sees the newest config only (laws 2 and 3)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config())
      yield* Scene.wakeFor(scene, 10_000)
      for (let tasks = 2; tasks <= 6; tasks++) yield* scene.herder.put("orders", scene.source.config({ tasks }))
      yield* Scene.wakeFor(scene, 60_000)
      const calls = yield* scene.source.calls("taskConfigs", "orders")
      assert.deepStrictEqual(calls, [
        ...hour.filter((at) => at <= 10_000),
        ...hour.filter((at) => at <= 60_000).map((at) => 10_000 + at)
      ])
      const starts = yield* scene.source.starts("orders")
      assert.deepStrictEqual(starts.map(({ config }) => config.tasks), [1, 6])
      assert.deepStrictEqual(yield* scene.source.live("orders"), [{ connector: "orders" }])
    }))

  it.effect("each of five config updates that is seen starts the schedule anew, and none leaves a chain (law 2)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config())
      for (let tasks = 2; tasks <= 6; tasks++) {
        yield* scene.advance(100)
        yield* scene.herder.put("orders", scene.source.config({ tasks }))
        yield* scene.settle
      }
      yield* Scene.wakeFor(scene, 60_000)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [
        0,
        100,
        200,
        300,
        400,
        ...hour.filter((at) => at <= 60_000).map((at) => 500 + at)
      ])
    }))
})

describe("an operator ends the retries", () => {
  const outage = Effect.gen(function*() {
    const scene = yield* Scene.make()
    yield* scene.source.script("orders", failing)
    yield* scene.deploy("orders", scene.source.config())
    yield* Scene.wakeFor(scene, 2000)
    return scene
  })
  const before = hour.filter((at) => at <= 2000)

  for (const word of ["pause", "stop", "delete"] as const) {
    it.effect(`${word} leaves no chain and no timer (law 11)`, () =>
      Effect.gen(function*() {
        const scene = yield* outage
        yield* scene.herder[word]("orders")
        assert.strictEqual((yield* scene.tick).nextWakeMillis, undefined)
        yield* scene.settle
        yield* scene.advance("1 hour")
        const { consumed, nextWakeMillis } = yield* scene.tick
        assert.deepStrictEqual([consumed, nextWakeMillis], [[], undefined])
        assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), before)
        assert.deepStrictEqual(yield* scene.source.live("orders"), [])
      }))
  }

  for (const word of ["pause", "stop"] as const) {
    it.effect(`resume after ${word} starts at 250 ms again (law 2)`, () =>
      Effect.gen(function*() {
        const scene = yield* outage
        yield* scene.herder[word]("orders")
        yield* scene.settle
        yield* scene.advance("1 hour")
        yield* scene.herder.resume("orders")
        yield* Scene.wakeFor(scene, 2000)
        assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [
          ...before,
          ...before.map((at) => 3_602_000 + at)
        ])
      }))
  }

  it.effect("a pause that is taken back before anybody looked leaves one chain (law 2)", () =>
    Effect.gen(function*() {
      const scene = yield* outage
      yield* scene.herder.pause("orders")
      yield* scene.herder.resume("orders")
      yield* Scene.wakeFor(scene, 60_000)
      // nobody saw the pause: the lane goes on as it was
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), hour.filter((at) => at <= 62_000))
    }))

  it.effect("a shutdown leaves no chain, no timer and no instance (law 11)", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const scene = yield* Scope.provide(outage, scope)
      yield* Scope.close(scope, Exit.void)
      yield* scene.advance("1 hour")
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), before)
      assert.deepStrictEqual(yield* scene.source.live(), [])
    }))

  for (const word of ["pause", "stop", "delete"] as const) {
    it.effect(`${word} interrupts the attempt that runs, in the same tick (law 11)`, () =>
      Effect.gen(function*() {
        const scene = yield* Scene.make()
        yield* scene.source.script("orders", { taskConfigs: [Script.hang()] })
        yield* scene.deploy("orders", scene.source.config())
        assert.strictEqual((yield* scene.lane("orders")).state, "Running")
        yield* scene.herder[word]("orders")
        const { commands, transitions } = yield* scene.tick
        assert.deepStrictEqual(
          transitions.filter(({ machine }) => machine === "reconfiguration").map(({ event, to }) => `${event} ${to}`),
          ["Cancelled Idle"]
        )
        assert.strictEqual(commands.filter(({ _tag }) => _tag === "Interrupt").length, 1)
        yield* scene.settle
        assert.deepStrictEqual(yield* scene.source.live("orders"), [])
        yield* scene.advance("1 hour")
        assert.deepStrictEqual((yield* scene.tick).transitions, [])
      }))
  }
})

describe("delays", () => {
  /** The delays of the runtime's policy for a connector, by its failures in a row. */
  const delays = Effect.fnUntraced(
    function*(keys: Readonly<Record<string, string>> = {}, settings?: Scene.Options["settings"]) {
      const scene = yield* Scene.make({ settings })
      const { lane } = (yield* scene.world).settings.policies("orders", "incarnation-1", keys)
      return (failures: number) =>
        lane.delayMillis({
          failures,
          defects: 0,
          firstAt: 0,
          lastAt: failures,
          last: { class: "transient", stage: "generating", message: "down" }
        })
    }
  )

  it.effect("are the cap at attempt 10,000 and ever after: nothing overflows (law 6)", () =>
    Effect.gen(function*() {
      const none = yield* delays()
      const equal = yield* delays({ "reconfiguration.retry.jitter": "equal" })
      const own = yield* delays({
        "reconfiguration.retry.backoff.ms": "7",
        "reconfiguration.retry.backoff.max.ms": "86400000"
      })
      for (const attempt of [9, 64, 1000, 10_000, 1_000_000, Number.MAX_SAFE_INTEGER]) {
        assert.strictEqual(none(attempt), 60_000)
        const drawn = equal(attempt) ?? NaN
        assert.isTrue(drawn >= 30_000 && drawn <= 60_000, `${drawn} at ${attempt}`)
      }
      assert.strictEqual(own(10_000), 86_400_000)
    }))

  it.effect("stay at the cap for a connector that fails for ever (law 6)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make({
        settings: ReconfigurationPolicy.layer({ delay: Backoff.exponential(1, Infinity), cap: 20 })
      })
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config())
      // 1, 2, 4, 8, 16 ms, then 20 ms for ever
      yield* Scene.wakeFor(scene, 31 + 20 * 94)
      const { attempt, delayMillis, failure } = yield* scene.lane("orders")
      assert.deepStrictEqual([attempt, delayMillis, failure?.occurrences], [101, 20, 100])
    }))

  it.effect("are those of the connector's keys where it has some (law 8)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", failing)
      yield* scene.deploy(
        "orders",
        scene.source.config({}, {
          "reconfiguration.retry.backoff.ms": "100",
          "reconfiguration.retry.backoff.max.ms": "300"
        })
      )
      yield* Scene.wakeFor(scene, 1200)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 100, 300, 600, 900, 1200])
    }))

  it.effect("come from any schedule of the host (law 6)", () =>
    Effect.gen(function*() {
      const delay = Backoff.fromSchedule(Schedule.max([Schedule.fibonacci("100 millis"), Schedule.recurs(4)]))
      const scene = yield* Scene.make({ settings: ReconfigurationPolicy.layer({ delay }) })
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config())
      yield* Scene.wakeFor(scene, 3_600_000)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 100, 200, 400, 700])
      const { parked, state } = yield* scene.lane("orders")
      assert.deepStrictEqual([state, parked], ["Parked", "exhausted"])
    }))

  it.effect("are at least what a throttled failure asks for, above the cap too (law 6)", () =>
    Effect.gen(function*() {
      const throttled = (retryAfter: Duration.Input) =>
        Script.fail(new ThrottledError({ message: "slow down", retryAfter: Duration.fromInputUnsafe(retryAfter) }))
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", {
        taskConfigs: [throttled("5 seconds"), throttled("10 millis"), throttled("2 minutes"), Script.fail(down)]
      })
      yield* scene.deploy("orders", scene.source.config())
      const seen: Array<unknown> = []
      for (let n = 0; n < 4; n++) {
        const { delayMillis, failure } = yield* scene.lane("orders")
        seen.push([failure?.class, delayMillis])
        yield* scene.wake
      }
      assert.deepStrictEqual(seen, [["throttled", 5000], ["throttled", 500], ["throttled", 120_000], [
        "transient",
        2000
      ]])
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 5000, 5500, 125_500, 127_500])
    }))
})

describe("bounded retries", () => {
  const park = { "reconfiguration.retry.exhausted": "park" }
  const bounded = (keys: Readonly<Record<`${string}.${string}`, string>>) =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config({ tasks: 2 }, keys))
      yield* scene.source.script("orders", failing)
      yield* scene.ask("orders")
      yield* Scene.wakeFor(scene, 3_600_000)
      return scene
    })

  it.effect("end after so many attempts and fail the connector with the last trace (law 8)", () =>
    Effect.gen(function*() {
      const scene = yield* bounded({ "reconfiguration.retry.max.attempts": "4" })
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0, 250, 750, 1750])
      const { conditions, health, reconfiguration, state, tasks, trace } = yield* scene.status("orders")
      assert.deepStrictEqual([state, health, trace], ["FAILED", "failed", down.message])
      assert.deepStrictEqual(conditions, [{ reason: "ConnectorFailed", message: down.message, since: 1750 }])
      assert.deepStrictEqual([reconfiguration.state, reconfiguration.parked, reconfiguration.attempt], [
        "Parked",
        "exhausted",
        4
      ])
      assert.deepStrictEqual(tasks.map((task) => task.state), ["RUNNING", "RUNNING"])
      assert.strictEqual((yield* scene.tick).nextWakeMillis, undefined)
    }))

  it.effect("end after so many attempts and leave the connector running, degraded (law 8)", () =>
    Effect.gen(function*() {
      const scene = yield* bounded({ "reconfiguration.retry.max.attempts": "1", ...park })
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0])
      const { conditions, health, state, trace } = yield* scene.status("orders")
      assert.deepStrictEqual([state, health, trace], ["RUNNING", "degraded", undefined])
      assert.deepStrictEqual(conditions, [{ reason: "ReconfigurationParked", message: down.message, since: 0 }])
    }))

  it.effect("end at the first failure after their time (law 8)", () =>
    Effect.gen(function*() {
      const scene = yield* bounded({ "reconfiguration.retry.timeout.ms": "1000" })
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0, 250, 750, 1750])
      assert.deepStrictEqual([(yield* scene.status("orders")).state, (yield* scene.lane("orders")).parked], [
        "FAILED",
        "exhausted"
      ])
    }))

  it.effect("stay parked when the connector asks again (law 8)", () =>
    Effect.gen(function*() {
      const scene = yield* bounded({ "reconfiguration.retry.timeout.ms": "1000", ...park })
      yield* scene.ask("orders")
      assert.strictEqual((yield* scene.lane("orders")).state, "Parked")
      assert.strictEqual((yield* scene.source.calls("taskConfigs", "orders")).length, 5)
    }))

  it.effect("begin anew after a success (law 8)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make({
        settings: ReconfigurationPolicy.layer({ maxAttempts: 2, onExhausted: "park" })
      })
      yield* scene.deploy("orders", scene.source.config())
      for (let n = 0; n < 3; n++) {
        yield* scene.source.script("orders", {
          taskConfigs: Script.failTimes(1, new TransientError({ message: "once" }))
        })
        yield* scene.ask("orders")
        yield* scene.wake
      }
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
      assert.strictEqual((yield* scene.source.calls("taskConfigs", "orders")).length, 7)
    }))
})
