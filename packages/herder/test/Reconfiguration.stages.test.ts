import { assert, describe, it, vi } from "@effect/vitest"
import {
  ConfigStore,
  LeaderCommand,
  Middleware,
  OffsetStore,
  PermanentError,
  SourceConnector,
  type Status,
  StatusStore,
  StoreError,
  ThrottledError,
  TopicLog,
  TransientError
} from "@kelpie/core"
import { Faults, Script } from "@kelpie/testkit"
import * as ScriptedLeader from "@kelpie/testkit/ScriptedLeader"
import { Duration, Effect, Layer, Schema, Stream } from "effect"
import * as Group from "./fixtures/Group.ts"
import * as Scene from "./fixtures/Scene.ts"
import { down } from "./fixtures/Scene.ts"
import * as Vault from "./fixtures/Vault.ts"

vi.setConfig({ testTimeout: 60_000 })

/** What a first failure looks like. */
interface Expected {
  readonly class: Status.FailureClass
  readonly stage: Status.Stage
  readonly message: string
  /** Left out: it is parked. */
  readonly delay?: number
}

/** Compares the status after one failure with what is expected of it. */
const shows = Effect.fnUntraced(function*(scene: Scene.Scene, expected: Expected, at = 0) {
  const { conditions, health, reconfiguration, state } = yield* scene.status("orders")
  const { delay, ...failure } = expected
  const common = { failure: { ...failure, firstAt: at, lastAt: at, occurrences: 1 } }
  if (delay === undefined) {
    assert.deepStrictEqual(reconfiguration, { state: "Parked", attempt: 1, parked: "permanent", ...common })
    assert.deepStrictEqual([state, health], ["FAILED", "failed"])
    assert.strictEqual((yield* scene.tick).nextWakeMillis, undefined)
    return
  }
  const nextAttemptAt = at + delay
  assert.deepStrictEqual(reconfiguration, {
    state: "Waiting",
    attempt: 2,
    delayMillis: delay,
    nextAttemptAt,
    ...common
  })
  assert.deepStrictEqual([state, health], ["RUNNING", "recovering"])
  assert.deepStrictEqual(conditions, [
    { reason: "ReconfigurationFailing", message: expected.message, since: at, nextAttemptAt }
  ])
  assert.strictEqual((yield* scene.tick).nextWakeMillis, delay)
})

/** The next attempt brings it in order. */
const recovers = Effect.fnUntraced(function*(scene: Scene.Scene, tasks: number) {
  yield* scene.wake
  yield* scene.settle
  assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
  assert.strictEqual((yield* scene.published("orders")).parts.length, tasks)
  assert.strictEqual((yield* scene.status("orders")).health, "healthy")
})

describe("generating", () => {
  const throttled = new ThrottledError({ message: "slow down", retryAfter: Duration.seconds(7) })
  const cases: Record<string, readonly [call: Script.Call, expected: Omit<Expected, "stage">]> = {
    "a transient failure waits": [Script.fail(down), { class: "transient", message: down.message, delay: 250 }],
    "a throttled one waits as long as asked": [Script.fail(throttled), {
      class: "throttled",
      message: "slow down",
      delay: 7000
    }],
    "a permanent one parks the lane and fails the connector": [
      Script.fail(new PermanentError({ message: "no such database" })),
      { class: "permanent", message: "no such database" }
    ],
    "one that dies waits as a defect": [Script.die(new Error("x is undefined")), {
      class: "defect",
      message: "x is undefined",
      delay: 250
    }],
    "one that dies of something strange waits as a defect": [Script.die("boom"), {
      class: "defect",
      message: "boom",
      delay: 250
    }]
  }
  for (const [name, [call, expected]] of Object.entries(cases)) {
    it.effect(`${name} (laws 7 and 15)`, () =>
      Effect.gen(function*() {
        const scene = yield* Scene.make()
        yield* scene.source.script("orders", { taskConfigs: [call] })
        yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
        yield* shows(scene, { ...expected, stage: "generating" })
        if (expected.delay !== undefined) yield* recovers(scene, 2)
      }))
  }

  it.effect("one that hangs waits as timed out, once its deadline is over (laws 4 and 7)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", { taskConfigs: [Script.hang()] })
      yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
      yield* scene.advance(30_000)
      yield* scene.settle
      const message = "taskConfigs did not return within 30 s"
      yield* shows(scene, { class: "timed-out", stage: "generating", message, delay: 250 }, 30_000)
      yield* recovers(scene, 2)
    }))

  it.effect("a middleware that fails or dies counts as the attempt's failure (law 15)", () =>
    Effect.gen(function*() {
      const outcomes = [Effect.fail(new TransientError({ message: "circuit open" })), Effect.die(new Error("a bug"))]
      const scene = yield* Scene.make({
        middleware: Middleware.on("GenerateTaskConfigs", (_, next) => outcomes.shift() ?? next)
      })
      yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
      yield* shows(scene, { class: "transient", stage: "generating", message: "circuit open", delay: 250 })
      yield* scene.wake
      const { delayMillis, failure } = yield* scene.lane("orders")
      assert.deepStrictEqual([failure?.class, failure?.message, delayMillis], ["defect", "a bug", 500])
      yield* recovers(scene, 2)
    }))

  for (
    const [name, taskConfigs, expected] of [
      ["a rejection", () => Promise.reject(new Error("ECONNREFUSED")), {
        class: "transient",
        message: "ECONNREFUSED",
        delay: 250
      }],
      [
        "a rejection with a class",
        () => Promise.reject(new PermanentError({ message: "no such database" })),
        { class: "permanent", message: "no such database" }
      ]
    ] as const
  ) {
    it.effect(`${name} of an async author is classified, not a defect (law 7)`, () =>
      Effect.gen(function*() {
        const plugin = SourceConnector.makeAsync("AsyncSource", {
          version: "1.0.0",
          config: {},
          taskConfigs,
          task: async function*() {}
        })
        const scene = yield* Scene.make({ plugins: [plugin] })
        yield* scene.deploy("orders", plugin.config({}))
        yield* scene.settle
        yield* shows(scene, { ...expected, stage: "generating" })
      }))
  }

  it.effect("a task config that does not fit its schema is permanent (law 7)", () =>
    Effect.gen(function*() {
      const plugin = SourceConnector.make("Careless", {
        version: "1.0.0",
        config: {},
        taskConfig: Schema.Struct({ table: Schema.String }),
        start: () => Effect.succeed({ taskConfigs: () => Effect.succeed([{ table: 1 }] as never) }),
        task: () => Stream.never
      })
      const scene = yield* Scene.make({ plugins: [plugin] })
      yield* scene.deploy("orders", plugin.config({}, { tasksMax: 2 }))
      const { reconfiguration, state } = yield* scene.status("orders")
      assert.deepStrictEqual([state, reconfiguration.failure?.class], ["FAILED", "permanent"])
      assert.match(reconfiguration.failure?.message ?? "", /^a task config does not fit its schema: /)
    }))
})

describe("comparing", () => {
  const sealed = Effect.gen(function*() {
    const vault = Vault.make({ pause: "sleep:0" })
    const scene = yield* Scene.make({ plugins: [vault.plugin] })
    yield* scene.deploy("orders", scene.source.config({ tasks: 2 }, { "scripted.poll": "${vault:pause}" }))
    return { scene, vault }
  })

  it.effect("a variable that cannot be resolved any more waits, and names its key (laws 7 and 15)", () =>
    Effect.gen(function*() {
      const { scene, vault } = yield* sealed
      vault.values.clear()
      yield* scene.ask("orders")
      const message = "the variable ${vault:pause} of \"scripted.poll\" cannot be resolved"
      yield* shows(scene, { class: "transient", stage: "comparing", message, delay: 250 })
      vault.values.set("pause", "sleep:0")
      yield* recovers(scene, 2)
    }))

  it.effect("a provider that fails or dies is the attempt's failure (laws 7 and 15)", () =>
    Effect.gen(function*() {
      const { scene, vault } = yield* sealed
      vault.fault = Effect.fail(new TransientError({ message: "the vault is sealed" }))
      yield* scene.ask("orders")
      yield* shows(scene, { class: "transient", stage: "comparing", message: "the vault is sealed", delay: 250 })
      vault.fault = Effect.die(new Error("a bug"))
      yield* scene.wake
      const { delayMillis, failure } = yield* scene.lane("orders")
      assert.deepStrictEqual([failure?.class, failure?.stage, delayMillis], ["defect", "comparing", 500])
      vault.fault = undefined
      yield* recovers(scene, 2)
    }))

  it.effect("a provider that hangs is a time-out that says so (laws 4 and 15)", () =>
    Effect.gen(function*() {
      const { scene, vault } = yield* sealed
      vault.fault = Effect.never
      yield* scene.ask("orders")
      yield* scene.advance(30_000)
      yield* scene.settle
      const message = "the variables of the config were not resolved within 30 s"
      yield* shows(scene, { class: "timed-out", stage: "comparing", message, delay: 250 }, 30_000)
      vault.fault = undefined
      yield* recovers(scene, 2)
    }))
})

describe("sending to the leader", () => {
  const error = (kind: LeaderCommand.LeaderError["kind"], more: { readonly retryAfterMillis?: number } = {}) =>
    new LeaderCommand.LeaderError({ kind, message: `answer: ${kind}`, ...more })
  const elsewhere = Effect.gen(function*() {
    const leader = yield* ScriptedLeader.make()
    const group = Group.make()
    const scene = yield* Scene.make({ leader, settings: group.layer })
    yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
    yield* scene.source.setTasks("orders", 3)
    return { group, leader, scene }
  })
  const cases = {
    Unreachable: { class: "transient", delay: 250 },
    TimedOut: { class: "transient", delay: 250 },
    Rebalancing: { class: "transient", delay: 250 },
    Store: { class: "transient", delay: 250 },
    Unknown: { class: "transient", delay: 250 },
    Stale: { class: "transient", delay: 250 },
    ClockSkew: { class: "clock-skew", delay: 250 },
    NotLeader: { class: "not-leader", delay: 250 },
    NoLeader: { class: "no-leader", delay: 250 },
    Invalid: { class: "permanent" }
  } as const
  for (const [kind, expected] of Object.entries(cases)) {
    const name = kind as keyof typeof cases
    it.effect(`${kind} is ${expected.class} (law 7)`, () =>
      Effect.gen(function*() {
        const { leader, scene } = yield* elsewhere
        yield* leader.script([ScriptedLeader.refuse(error(name))])
        yield* scene.ask("orders")
        yield* shows(scene, { ...expected, stage: "sending", message: `answer: ${kind}` })
        if ("delay" in expected) yield* recovers(scene, 3)
      }))
  }

  it.effect("too many requests wait as long as the leader asks (laws 6 and 7)", () =>
    Effect.gen(function*() {
      const { leader, scene } = yield* elsewhere
      yield* leader.script([ScriptedLeader.refuse(error("Throttled", { retryAfterMillis: 90_000 }))])
      yield* scene.ask("orders")
      yield* shows(scene, { class: "throttled", stage: "sending", message: "answer: Throttled", delay: 90_000 })
      yield* recovers(scene, 3)
    }))

  it.effect("a leader that does not answer is given up after 10 s (laws 7 and 15)", () =>
    Effect.gen(function*() {
      const { leader, scene } = yield* elsewhere
      yield* leader.script([ScriptedLeader.hang])
      yield* scene.ask("orders")
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Running", attempt: 1, stage: "sending", since: 0 })
      yield* scene.advance(10_000)
      yield* scene.settle
      const message = "the leader did not answer within 10 s"
      yield* shows(scene, { class: "transient", stage: "sending", message, delay: 250 }, 10_000)
      yield* recovers(scene, 3)
    }))

  it.effect("an answer that is lost does not publish twice (law 9, I10)", () =>
    Effect.gen(function*() {
      const { leader, scene } = yield* elsewhere
      yield* leader.script([ScriptedLeader.lose(error("Unreachable"))])
      yield* scene.ask("orders")
      const { position } = yield* scene.configStore.state
      assert.strictEqual((yield* scene.lane("orders")).state, "Waiting")
      yield* recovers(scene, 3)
      assert.strictEqual((yield* scene.configStore.state).position, position)
    }))

  it.effect("an expired key is refreshed and sent again once, at once; then it waits its turn (law 7)", () =>
    Effect.gen(function*() {
      const { leader, scene } = yield* elsewhere
      const expired = ScriptedLeader.refuse(error("ExpiredKey"))
      yield* leader.script([expired])
      yield* scene.ask("orders")
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
      assert.strictEqual((yield* scene.published("orders")).parts.length, 3)

      yield* scene.source.setTasks("orders", 4)
      yield* leader.script([expired, expired, expired, ScriptedLeader.unreachable, expired])
      yield* scene.ask("orders")
      const seen: Array<unknown> = []
      for (let n = 0; n < 3; n++) {
        const { delayMillis, failure } = yield* scene.lane("orders")
        seen.push([failure?.class, failure?.occurrences, delayMillis])
        yield* scene.wake
      }
      assert.deepStrictEqual(seen, [
        ["expired-key", 2, 500],
        ["expired-key", 3, 1000],
        // something else came between: the next expired key is refreshed at once again
        ["transient", 4, 2000]
      ])
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
      assert.strictEqual((yield* scene.published("orders")).parts.length, 4)
    }))

  it.effect("a worker that does not lead any more is left for the new leader at once (law 7)", () =>
    Effect.gen(function*() {
      const { group, leader, scene } = yield* elsewhere
      yield* leader.script(ScriptedLeader.times(2, ScriptedLeader.refuse(error("NotLeader"))))
      yield* scene.ask("orders")
      yield* scene.wake
      assert.deepStrictEqual([yield* scene.lane("orders")].map((lane) => [lane.state, lane.delayMillis]), [[
        "Waiting",
        500
      ]])
      yield* scene.advance(10)
      yield* group.elect("session-3")
      yield* scene.tick
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0, 250, 260])
    }))

  it.effect("a new leader that became known while the old one was asked is followed at once (law 7)", () =>
    Effect.gen(function*() {
      const leader = yield* ScriptedLeader.make()
      const group = Group.make()
      const scene = yield* Scene.make({
        leader,
        settings: group.layer,
        middleware: Middleware.on(
          "SendToLeader",
          ({ command }, next) =>
            command._tag === "PublishTaskSet" && command.tasks.length === 3
              ? Effect.andThen(Effect.sleep(1000), next)
              : next
        )
      })
      yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
      yield* scene.source.setTasks("orders", 3)
      yield* leader.script(ScriptedLeader.times(2, ScriptedLeader.refuse(error("NotLeader"))))
      yield* scene.ask("orders")
      yield* scene.advance(500)
      yield* group.elect("session-3")
      yield* scene.tick
      yield* scene.advance(500)
      yield* scene.settle
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0, 1000])
      // that one refuses as well, and nobody else is known: now the schedule counts
      yield* scene.advance(1000)
      yield* scene.settle
      const { delayMillis, failure } = yield* scene.lane("orders")
      assert.deepStrictEqual([failure?.class, failure?.occurrences, delayMillis], ["not-leader", 2, 500])
    }))

  it.effect("it goes to whoever leads when it is sent, not when it was generated (law 7)", () =>
    Effect.gen(function*() {
      const { group, leader, scene } = yield* elsewhere
      yield* scene.source.script("orders", { taskConfigs: [Script.sleep(1000)] })
      yield* group.elect(undefined)
      yield* scene.ask("orders")
      yield* scene.advance(999)
      yield* group.elect("session-3")
      yield* scene.advance(1)
      yield* scene.settle
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
      assert.strictEqual((yield* leader.received).filter(({ _tag }) => _tag === "PublishTaskSet").length, 2)
    }))

  it.effect("without a leader it waits, and goes on at once when there is one (law 7)", () =>
    Effect.gen(function*() {
      const { group, leader, scene } = yield* elsewhere
      yield* group.elect(undefined)
      yield* scene.ask("orders")
      const sent = (yield* leader.received).length
      yield* shows(scene, {
        class: "no-leader",
        stage: "sending",
        message: "no leader is known at present",
        delay: 250
      })
      yield* Scene.wakeFor(scene, 3000)
      assert.strictEqual((yield* scene.lane("orders")).nextAttemptAt, 3750)
      assert.strictEqual((yield* leader.received).length, sent)
      yield* group.elect("session-2")
      yield* scene.tick
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0, 250, 750, 1750, 3000])
    }))

  it.effect("a new leader moves nobody who waits for something else (laws 3 and 7)", () =>
    Effect.gen(function*() {
      const { group, leader, scene } = yield* elsewhere
      yield* leader.script(ScriptedLeader.times(3, ScriptedLeader.unreachable))
      yield* scene.ask("orders")
      yield* group.elect("session-3")
      yield* Scene.wakeFor(scene, 700)
      yield* group.elect("session-2")
      yield* Scene.wakeFor(scene, 5000)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 0, 250, 750, 1750])
    }))

  it.effect("a middleware that dies while it sends is the attempt's failure (law 15)", () =>
    Effect.gen(function*() {
      const outcomes = [Effect.die(new Error("a bug")), Effect.fail(new TransientError({ message: "circuit open" }))]
      const scene = yield* Scene.make({
        middleware: Middleware.on("SendToLeader", ({ command }, next) =>
          command._tag === "PublishTaskSet" ? outcomes.shift() ?? next : next)
      })
      yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
      yield* shows(scene, { class: "defect", stage: "writing", message: "a bug", delay: 250 })
      yield* scene.wake
      const { delayMillis, failure } = yield* scene.lane("orders")
      assert.deepStrictEqual([failure?.class, failure?.message, delayMillis], ["transient", "circuit open", 500])
      yield* recovers(scene, 2)
    }))
})

describe("writing", () => {
  const full = new StoreError({ kind: "Unavailable", operation: "commit", detail: "disk full" })
  /** This worker leads; its config store goes wrong at some commits once `broken` is true. */
  const leading = Effect.fnUntraced(
    function*(plan: (active: Effect.Effect<boolean>) => Faults.Plan<ConfigStore["Service"]>) {
      let broken = false
      const scene = yield* Scene.make({
        stores: Layer.mergeAll(
          Faults.layer(ConfigStore, plan(Effect.sync(() => broken))).pipe(Layer.provide(ConfigStore.layerMemory)),
          StatusStore.layerMemory,
          OffsetStore.layerMemory,
          TopicLog.layerMemory
        )
      })
      yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
      yield* scene.source.setTasks("orders", 3)
      broken = true
      yield* scene.ask("orders")
      return { scene, mend: () => void (broken = false) }
    }
  )

  it.effect("a store that is down waits (laws 7 and 15)", () =>
    Effect.gen(function*() {
      const { mend, scene } = yield* leading((active) => ({
        active,
        "claim.commit": [Faults.fail(Faults.always, full)]
      }))
      yield* shows(scene, {
        class: "transient",
        stage: "writing",
        message: "commit: Unavailable: disk full",
        delay: 250
      })
      mend()
      yield* recovers(scene, 3)
    }))

  it.effect("a store that is down altogether waits too (laws 7 and 15)", () =>
    Effect.gen(function*() {
      const { mend, scene } = yield* leading((active) => ({
        active,
        claim: [Faults.fail(Faults.always, full)],
        "claim.commit": [Faults.fail(Faults.always, full)]
      }))
      yield* shows(scene, {
        class: "transient",
        stage: "writing",
        message: "commit: Unavailable: disk full",
        delay: 250
      })
      yield* scene.wake
      const { delayMillis, failure } = yield* scene.lane("orders")
      assert.deepStrictEqual([failure?.class, failure?.stage, delayMillis], ["transient", "writing", 500])
      mend()
      yield* recovers(scene, 3)
    }))

  it.effect("a commit whose answer was lost counts as done (I10)", () =>
    Effect.gen(function*() {
      const { scene } = yield* leading((active) => ({ active, "claim.commit": [Faults.lose(Faults.always, full)] }))
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
      assert.strictEqual((yield* scene.published("orders")).parts.length, 3)
    }))

  it.effect("a guard that does not hold any more waits (law 7)", () =>
    Effect.gen(function*() {
      const conflict = new StoreError({ kind: "Conflict", operation: "commit" })
      const { mend, scene } = yield* leading((active) => ({
        active,
        "claim.commit": [Faults.fail(Faults.always, conflict)]
      }))
      yield* shows(scene, { class: "transient", stage: "writing", message: "commit: Conflict", delay: 250 })
      mend()
      yield* recovers(scene, 3)
    }))

  it.effect("a stale term is not the leader's any more: it waits, and is claimed anew (law 7, I1)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
      yield* scene.source.setTasks("orders", 3)
      yield* scene.configStore.claim("session-9", Effect.succeed(true))
      yield* scene.ask("orders")
      const { failure, ...lane } = yield* scene.lane("orders")
      assert.deepStrictEqual(lane, { state: "Waiting", attempt: 2, delayMillis: 250, nextAttemptAt: 250 })
      assert.deepStrictEqual([failure?.class, failure?.stage], ["not-leader", "writing"])
      yield* recovers(scene, 3)
    }))

  it.effect("a store that does not answer is given up after 10 s (laws 7 and 15)", () =>
    Effect.gen(function*() {
      const { scene } = yield* leading((active) => ({
        active,
        "claim.commit": [Faults.delay(Faults.always, "15 seconds")]
      }))
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Running", attempt: 1, stage: "writing", since: 0 })
      yield* scene.advance(10_000)
      yield* scene.settle
      const message = "the leader did not answer within 10 s"
      yield* shows(scene, { class: "transient", stage: "writing", message, delay: 250 }, 10_000)
      // it was written after all: the next attempt finds it published
      yield* scene.advance(5000)
      yield* scene.settle
      assert.strictEqual((yield* scene.published("orders")).parts.length, 3)
      assert.deepStrictEqual(yield* scene.lane("orders"), { state: "Idle", attempt: 0 })
    }))
})
