import { assert, describe, it, vi } from "@effect/vitest"
import { LeaderCommand, PermanentError, ReconfigurationPolicy, ThrottledError, TransientError } from "@kelpie/core"
import { Script } from "@kelpie/testkit"
import * as ScriptedLeader from "@kelpie/testkit/ScriptedLeader"
import { Arbitrary, Duration, Effect, Schema } from "effect"
import * as Logs from "./fixtures/Logs.ts"
import * as Scene from "./fixtures/Scene.ts"
import { down } from "./fixtures/Scene.ts"

vi.setConfig({ testTimeout: 60_000 })

const failing = { taskConfigs: Script.always(Script.fail(down)) }
const bug = Script.die(new Error("x is undefined"))
const schedule = [0, 250, 750, 1750, 3750, 7750, 15_750, 31_750, 63_750, 123_750]

describe("defects", () => {
  it.effect("ten in a row park the lane and fail the connector (law 7)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", { taskConfigs: Script.always(bug) })
      yield* scene.deploy("orders", scene.source.config())
      yield* Scene.wakeFor(scene, 3_600_000)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), schedule)
      const { health, reconfiguration, state, trace } = yield* scene.status("orders")
      assert.deepStrictEqual([state, health, trace], ["FAILED", "failed", "x is undefined"])
      assert.deepStrictEqual([reconfiguration.parked, reconfiguration.attempt, reconfiguration.failure?.class], [
        "exhausted",
        10,
        "defect"
      ])
      assert.strictEqual((yield* scene.tick).nextWakeMillis, undefined)
    }))

  it.effect("anything else between them starts the count anew (law 7)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make({ settings: ReconfigurationPolicy.layer({ cap: 1000 }) })
      const nine = [...Script.times(9, bug)]
      yield* scene.source.script("orders", {
        taskConfigs: [...nine, Script.fail(down), ...nine, Script.fail(down), ...nine]
      })
      yield* scene.deploy("orders", scene.source.config())
      yield* Scene.wakeFor(scene, 60_000)
      assert.strictEqual((yield* scene.source.calls("taskConfigs", "orders")).length, 30)
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
    }))

  it.effect("a success starts the count anew (law 7)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make({ settings: ReconfigurationPolicy.layer({ maxDefects: 2 }) })
      yield* scene.source.script("orders", { taskConfigs: [bug, Script.ok, bug, Script.ok, bug, bug] })
      yield* scene.deploy("orders", scene.source.config())
      yield* scene.wake
      yield* scene.ask("orders")
      yield* scene.wake
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
      yield* scene.ask("orders")
      yield* scene.wake
      assert.strictEqual((yield* scene.lane("orders")).parked, "exhausted")
    }))
})

describe("the log", () => {
  it.effect("tells the first failure, a change of class, powers of two, and one recovery (law 14)", () => {
    const logs = Logs.make()
    return Effect.gen(function*() {
      const scene = yield* Scene.make()
      const throttled = Script.fail(new ThrottledError({ message: "slow down", retryAfter: Duration.seconds(1) }))
      yield* scene.source.script("orders", { taskConfigs: [...Script.failTimes(9, down), throttled] })
      yield* scene.deploy("orders", scene.source.config())
      yield* Scene.wakeFor(scene, 3_600_000)
      const failed = (attempt: number) => [
        "Warn",
        `reconfiguration attempt ${attempt} failed while generating (transient): ${down.message}`
      ]
      assert.deepStrictEqual(logs.lines.map(({ level, message }) => [level, message]), [
        failed(1),
        failed(2),
        failed(4),
        failed(8),
        ["Warn", "reconfiguration attempt 10 failed while generating (throttled): slow down"],
        ["Info", "reconfiguration recovered after 10 failed attempts in 183.75 s"]
      ])
      for (const { annotations } of logs.lines) assert.deepStrictEqual(annotations, { connector: "orders" })
    }).pipe(Effect.provide(logs.layer))
  })

  it.effect("tells an hour of failure in seven lines (law 14)", () => {
    const logs = Logs.make()
    return Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config())
      yield* Scene.wakeFor(scene, 3_600_000)
      assert.deepStrictEqual(logs.lines.map(({ message }) => Number(/attempt (\d+)/.exec(message)?.[1])), [
        1,
        2,
        4,
        8,
        16,
        32,
        64
      ])
    }).pipe(Effect.provide(logs.layer))
  })

  it.effect("tells that a lane is parked, whatever the number (law 14)", () => {
    const logs = Logs.make()
    return Effect.gen(function*() {
      const scene = yield* Scene.make()
      const stopped = Script.fail(new PermanentError({ message: "no such database" }))
      yield* scene.source.script("orders", { taskConfigs: [...Script.failTimes(2, down), stopped] })
      yield* scene.deploy("orders", scene.source.config())
      yield* Scene.wakeFor(scene, 60_000)
      assert.strictEqual(
        logs.lines.at(-1)?.message,
        "reconfiguration attempt 3 failed while generating (permanent): no such database; it is parked"
      )
      assert.strictEqual(logs.lines.length, 3)
    }).pipe(Effect.provide(logs.layer))
  })

  it.effect("tells nothing of attempts that succeed (law 14)", () => {
    const logs = Logs.make()
    return Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config())
      for (let n = 0; n < 3; n++) yield* scene.ask("orders")
      assert.deepStrictEqual(logs.lines, [])
    }).pipe(Effect.provide(logs.layer))
  })
})

describe("retry now", () => {
  /** Two connectors that wait 60 s for their next attempt, and one that is fine. */
  const outage = Effect.gen(function*() {
    const scene = yield* Scene.make()
    yield* scene.source.script("orders", failing)
    yield* scene.source.script("order-items", { taskConfigs: Script.always(bug) })
    yield* scene.source.script("users", failing)
    for (const name of ["orders", "order-items", "users", "fine"]) yield* scene.deploy(name, scene.source.config())
    yield* Scene.wakeFor(scene, 70_000)
    return scene
  })
  const after = (scene: Scene.Scene, name: string) =>
    Effect.map(scene.source.calls("taskConfigs", name), (times) => times.filter((at) => at > 63_750))

  it.effect("attempts at once, and the schedule starts anew (law 12)", () =>
    Effect.gen(function*() {
      const scene = yield* outage
      yield* scene.herder.retry("orders")
      yield* scene.tick
      assert.strictEqual((yield* scene.lane("orders")).nextAttemptAt, 70_250)
      yield* Scene.wakeFor(scene, 1000)
      assert.deepStrictEqual(yield* after(scene, "orders"), [70_000, 70_250, 70_750])
      assert.deepStrictEqual(yield* after(scene, "users"), [])
    }))

  it.effect("is acted on once, however often it was asked before anybody looked (law 12)", () =>
    Effect.gen(function*() {
      const scene = yield* outage
      for (let n = 0; n < 3; n++) yield* scene.herder.retry("orders")
      yield* scene.tick
      assert.deepStrictEqual(yield* after(scene, "orders"), [70_000])
    }))

  it.effect("leaves a connector that is fine with one more generation (law 12)", () =>
    Effect.gen(function*() {
      const scene = yield* outage
      yield* scene.herder.retry("fine")
      yield* scene.tick
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "fine"), [0, 70_000])
      assert.strictEqual((yield* scene.status("fine")).health, "healthy")
    }))

  it.effect("brings a parked connector back (law 12)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", {
        taskConfigs: [Script.fail(new PermanentError({ message: "no such table" }))]
      })
      yield* scene.deploy("orders", scene.source.config())
      assert.strictEqual((yield* scene.status("orders")).state, "FAILED")
      yield* scene.herder.retry("orders")
      yield* scene.settle
      const { health, state, trace } = yield* scene.status("orders")
      assert.deepStrictEqual([state, health, trace], ["RUNNING", "healthy", undefined])
    }))

  it.effect("for all takes those that wait or are parked, by name and by class (law 12)", () =>
    Effect.gen(function*() {
      const scene = yield* outage
      assert.deepStrictEqual(yield* scene.herder.retryAll({ name: "order*", class: "transient" }), ["orders"])
      yield* scene.tick
      assert.deepStrictEqual(yield* after(scene, "orders"), [70_000])
      assert.deepStrictEqual(yield* after(scene, "order-items"), [])
      assert.deepStrictEqual(yield* scene.herder.retryAll({ name: "order*" }), ["order-items", "orders"])
      assert.deepStrictEqual(yield* scene.herder.retryAll({ class: "defect" }), ["order-items"])
      assert.deepStrictEqual(yield* scene.herder.retryAll({ name: "o.*" }), [])
      assert.deepStrictEqual(yield* scene.herder.retryAll({}), ["order-items", "orders", "users"])
      yield* scene.tick
      assert.deepStrictEqual(yield* after(scene, "users"), [70_000])
      assert.deepStrictEqual(yield* after(scene, "fine"), [])
    }))

  it.effect("is refused for a connector that is paused, and for none (law 12)", () =>
    Effect.gen(function*() {
      const scene = yield* outage
      yield* scene.herder.pause("orders")
      const refused = yield* Effect.flip(scene.herder.retry("orders"))
      assert.strictEqual(refused.reason._tag, "StateConflict")
      assert.strictEqual((yield* Effect.flip(scene.herder.retry("nobody"))).reason._tag, "ConnectorNotFound")
    }))

  it.effect("reaches the owner when somebody else leads (law 12)", () =>
    Effect.gen(function*() {
      const leader = yield* ScriptedLeader.make()
      const scene = yield* Scene.make({ leader })
      yield* scene.source.script("orders", failing)
      yield* scene.deploy("orders", scene.source.config())
      yield* scene.command({ _tag: "RetryReconfiguration", name: "orders" })
      yield* scene.tick
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0])
    }))
})

describe("an operator's park", () => {
  const parked = Effect.gen(function*() {
    const scene = yield* Scene.make()
    yield* scene.source.script("orders", failing)
    yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
    yield* Scene.wakeFor(scene, 1000)
    yield* scene.herder.park("orders")
    yield* scene.settle
    return scene
  })
  const before = [0, 250, 750]

  it.effect("ends the attempts, and is shown as degraded (law 8)", () =>
    Effect.gen(function*() {
      const scene = yield* parked
      assert.strictEqual((yield* scene.tick).nextWakeMillis, undefined)
      const { conditions, health, reconfiguration, state } = yield* scene.status("orders")
      assert.deepStrictEqual([state, health, reconfiguration.state, reconfiguration.parked], [
        "RUNNING",
        "degraded",
        "Parked",
        "operator"
      ])
      assert.deepStrictEqual(conditions, [{ reason: "ReconfigurationParked", message: down.message, since: 0 }])
      yield* scene.ask("orders")
      yield* Scene.wakeFor(scene, 3_600_000)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), before)
    }))

  it.effect("outlives a new config and a restart of the connector (law 8)", () =>
    Effect.gen(function*() {
      const scene = yield* parked
      yield* scene.source.script("orders", { taskConfigs: undefined })
      yield* scene.herder.put("orders", scene.source.config({ tasks: 3 }))
      yield* scene.settle
      yield* scene.herder.restart("orders", { includeTasks: true })
      yield* scene.settle
      yield* scene.advance("1 hour")
      yield* scene.settle
      assert.strictEqual((yield* scene.lane("orders")).parked, "operator")
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), before)
      assert.deepStrictEqual((yield* scene.status("orders")).revision, { stored: 2, applied: undefined })
    }))

  it.effect("of a connector that is fine says that an operator did it (law 10)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config())
      yield* scene.herder.park("orders")
      yield* scene.settle
      const { conditions } = yield* scene.status("orders")
      assert.deepStrictEqual(conditions.map(({ message }) => message), ["an operator parked the reconfiguration"])
    }))

  it.effect("interrupts the attempt that runs (law 11)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", { taskConfigs: [Script.sleep(1000)] })
      yield* scene.deploy("orders", scene.source.config())
      yield* scene.herder.park("orders")
      yield* scene.settle
      yield* scene.advance(1000)
      yield* scene.settle
      assert.strictEqual((yield* scene.lane("orders")).state, "Parked")
      assert.strictEqual((yield* scene.published("orders")).revision, 0)
    }))

  for (const word of ["unpark", "retry"] as const) {
    it.effect(`${word} lets go: an attempt at once, from 250 ms on (law 12)`, () =>
      Effect.gen(function*() {
        const scene = yield* parked
        yield* scene.advance(999_000)
        yield* scene.herder[word]("orders")
        yield* Scene.wakeFor(scene, 1000)
        const calls = yield* scene.source.calls("taskConfigs", "orders")
        assert.deepStrictEqual(calls, [...before, 1_000_000, 1_000_250, 1_000_750])
      }))
  }

  it.effect("a resume lets go (law 8)", () =>
    Effect.gen(function*() {
      const scene = yield* parked
      yield* scene.herder.pause("orders")
      yield* scene.settle
      yield* scene.herder.resume("orders")
      yield* scene.settle
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [...before, 1000])
      assert.strictEqual((yield* scene.lane("orders")).state, "Waiting")
    }))

  it.effect("a connector that is created again under the name is not parked (laws 3 and 8)", () =>
    Effect.gen(function*() {
      const scene = yield* parked
      yield* scene.herder.delete("orders")
      yield* scene.settle
      yield* scene.source.script("orders", { taskConfigs: undefined })
      yield* scene.deploy("orders", scene.source.config())
      assert.strictEqual((yield* scene.status("orders")).health, "healthy")
    }))
})

describe("when the fault clears", () => {
  const error = (kind: LeaderCommand.LeaderError["kind"]) => new LeaderCommand.LeaderError({ kind, message: kind })
  const hint = 90_000
  const calls: ReadonlyArray<Script.Call> = [
    Script.ok,
    Script.fail(new TransientError({ message: "down" })),
    Script.fail(new ThrottledError({ message: "slow down", retryAfter: Duration.millis(hint) })),
    bug,
    Script.hang(),
    Script.sleep(20_000)
  ]
  const answers: ReadonlyArray<ScriptedLeader.Answer> = [
    ScriptedLeader.execute,
    ScriptedLeader.unreachable,
    ScriptedLeader.hang,
    ScriptedLeader.lose(error("Unknown")),
    ScriptedLeader.refuse(error("ExpiredKey")),
    ScriptedLeader.refuse(error("NotLeader"))
  ]
  const pick = (length: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: length - 1 }))
  const scripts = Arbitrary.array(
    Arbitrary.schema(Schema.Struct({ call: pick(calls.length), answer: pick(answers.length) })),
    {
      minLength: 1,
      maxLength: 12
    }
  )
  /** Ticks at least every five seconds, as an outside event would. */
  const pass = Effect.fnUntraced(function*(scene: Scene.Scene, millis: number) {
    for (let left = millis; left > 0;) {
      const { nextWakeMillis = 5000 } = yield* scene.tick
      const step = Math.min(left, Math.max(1, nextWakeMillis), 5000)
      yield* scene.advance(step)
      left -= step
    }
    yield* scene.settle
  })

  it.effect.prop(
    "nobody is forgotten: the lane is idle within the cap, or the last hint, and one deadline (law 13)",
    [scripts, Arbitrary.schema(pick(200_000))],
    ([steps, until]) =>
      Effect.scoped(Effect.gen(function*() {
        const leader = yield* ScriptedLeader.make()
        const scene = yield* Scene.make({ leader, settings: ReconfigurationPolicy.layer({ maxDefects: 100 }) })
        yield* scene.deploy("orders", scene.source.config())
        yield* scene.source.setTasks("orders", 3)
        yield* scene.source.script("orders", { taskConfigs: steps.flatMap(({ call }) => calls.slice(call, call + 1)) })
        yield* leader.script(steps.flatMap(({ answer }) => answers.slice(answer, answer + 1)))
        yield* scene.ask("orders")
        yield* pass(scene, until)
        yield* scene.source.script("orders", { taskConfigs: [] })
        yield* leader.script([])
        yield* pass(scene, Math.max(60_000, hint) + 30_000)
        assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
        assert.strictEqual((yield* scene.published("orders")).parts.length, 3)
        assert.strictEqual((yield* scene.status("orders")).health, "healthy")
        assert.strictEqual((yield* scene.tick).nextWakeMillis, undefined)
      })),
    { arbitrary: { runs: 40 } }
  )
})
