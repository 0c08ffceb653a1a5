import { assert, describe, it, vi } from "@effect/vitest"
import { type HerderEvent, Plugins, StatusListener } from "@kelpie/core"
import { Herder } from "@kelpie/herder"
import { Script, ScriptedSource } from "@kelpie/testkit"
import { Context, Effect, Exit, Layer, Scope, Stream } from "effect"
import * as Scene from "./fixtures/Scene.ts"
import { down } from "./fixtures/Scene.ts"
import * as Spans from "./fixtures/Spans.ts"

vi.setConfig({ testTimeout: 60_000 })

/** Starts, fails twice, recovers, grows, is paused, resumed, hangs, and is deleted. */
const life = Effect.fnUntraced(function*(scene: Scene.Scene) {
  const told: Array<HerderEvent.HerderEvent> = []
  const tick = Effect.map(scene.settle, (outcomes) => outcomes.forEach(({ events }) => told.push(...events)))
  const { herder, source } = scene
  yield* source.script("orders", { taskConfigs: Script.failTimes(2, down) })
  yield* herder.create("orders", source.config({ tasks: 2 }))
  yield* tick
  for (const delay of [250, 500]) {
    yield* scene.advance(delay)
    yield* tick
  }
  yield* source.setTasks("orders", 3)
  yield* source.requestReconfiguration("orders")
  yield* tick
  yield* herder.pause("orders")
  yield* tick
  yield* herder.resume("orders")
  yield* tick
  yield* source.script("orders", { taskConfigs: [Script.hang({ interruptible: false })] })
  yield* source.requestReconfiguration("orders")
  yield* tick
  yield* scene.advance(30_000)
  yield* tick
  yield* herder.delete("orders")
  yield* tick
  return told
})

describe("events", () => {
  it.effect("tell every transition of the lane, with its attempt, failure and next time, in order (law 10)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      const told = (yield* life(scene)).flatMap((event) => event._tag === "LaneChanged" ? [event] : [])
      assert.deepStrictEqual(told.map(({ at, event, from, to }) => `${at} ${from} ${event} ${to}`), [
        "0 Idle Renewed Queued",
        "0 Queued Admitted Running",
        "0 Running Failed Waiting",
        "250 Waiting Due Queued",
        "250 Queued Admitted Running",
        "250 Running Failed Waiting",
        "750 Waiting Due Queued",
        "750 Queued Admitted Running",
        "750 Running Advanced Running",
        "750 Running Succeeded Idle",
        "750 Idle Asked Queued",
        "750 Queued Admitted Running",
        "750 Running Advanced Running",
        "750 Running Succeeded Idle",
        "750 Idle Renewed Queued",
        "750 Queued Admitted Running",
        "750 Running Succeeded Idle",
        "750 Idle Asked Queued",
        "750 Queued Admitted Running",
        "30750 Running Failed Waiting",
        "30750 Waiting Cancelled Idle"
      ])
      const failure = {
        class: "transient",
        stage: "generating",
        message: down.message,
        firstAt: 0,
        lastAt: 250,
        occurrences: 2
      } as const
      assert.deepStrictEqual(told[5], {
        _tag: "LaneChanged",
        at: 250,
        connector: "orders",
        from: "Running",
        event: "Failed",
        to: "Waiting",
        attempt: 3,
        failure,
        delayMillis: 500,
        nextAttemptAt: 750
      })
    }))

  it.effect("tell every change of a status word and of the health (law 10)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      const told = yield* life(scene)
      const changes = told.flatMap((event) =>
        event._tag === "HealthChanged"
          ? [`${event.at} ${event.from} -> ${event.to} (${event.reason})`]
          : event._tag === "StatusChanged" && event.task === undefined
          ? [`${event.at} ${event.from} -> ${event.to}`]
          : []
      )
      assert.deepStrictEqual(changes, [
        "0 UNASSIGNED -> RUNNING",
        "750 recovering -> healthy (healthy)",
        "750 healthy -> recovering (Reconfiguring)",
        "750 recovering -> healthy (healthy)",
        "750 healthy -> paused (paused)",
        "750 RUNNING -> PAUSED",
        // not healthy before its tasks run again
        "750 paused -> recovering (Starting)",
        "750 PAUSED -> RUNNING",
        "750 recovering -> healthy (healthy)",
        "750 healthy -> recovering (Reconfiguring)"
      ])
    }))

  it.effect("reach the stream and the listeners as they are, each of them once (law 10)", () => {
    const listened: Array<HerderEvent.HerderEvent> = []
    const streamed: Array<HerderEvent.HerderEvent> = []
    return Effect.gen(function*() {
      const scene = yield* Scene.make({
        settings: StatusListener.layer([(event) => Effect.sync(() => listened.push(event))])
      })
      yield* Effect.forkScoped(
        Stream.runForEach(scene.herder.events, (event) => Effect.sync(() => streamed.push(event))),
        {
          startImmediately: true
        }
      )
      const told = yield* life(scene)
      yield* Effect.yieldNow
      assert.isAtLeast(told.length, 40)
      assert.deepStrictEqual(streamed, told)
      assert.deepStrictEqual(listened, told)
    })
  })

  it.effect("are the transitions of the ticks, one for one (law 10)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", { taskConfigs: Script.failTimes(3, down) })
      yield* scene.herder.create("orders", scene.source.config())
      for (let n = 0; n < 4; n++) {
        const { events, transitions } = yield* n === 0 ? scene.tick : scene.wake
        const told = events.flatMap((event) =>
          event._tag === "LaneChanged" ? [[event.from, event.event, event.to]] : []
        )
        const taken = transitions.filter(({ machine }) => machine === "reconfiguration")
        assert.deepStrictEqual(told, taken.map(({ event, from, to }) => [from, event, to]))
        assert.isAtLeast(told.length, 3)
      }
    }))

  it.effect("a listener that fails, dies or hangs harms nobody", () => {
    const listened: Array<HerderEvent.HerderEvent> = []
    const refused: Array<HerderEvent.HerderEvent> = []
    return Effect.gen(function*() {
      const scene = yield* Scene.make({
        settings: StatusListener.layer([
          () => Effect.fail("no"),
          () => Effect.die(new Error("a bug")),
          (event) => {
            refused.push(event)
            throw new Error("thrown")
          },
          () => Effect.never,
          () => Effect.uninterruptible(Effect.sleep("1 day")),
          (event) => Effect.sync(() => listened.push(event))
        ])
      })
      const told = yield* life(scene)
      assert.deepStrictEqual(listened, told)
      assert.deepStrictEqual(refused, told)
      assert.deepStrictEqual(yield* scene.herder.list, [])
      // and the end of the scope, in which no time passes, waits for none of them
    })
  })
})

describe("spans", () => {
  const reconfigurations = ({ spans }: Spans.Spans) =>
    spans.filter(({ name }) => name === "Kelpie.reconfigure").map((
      { attributes, status }
    ): Record<string, unknown> => ({
      ...Object.fromEntries(attributes),
      failed: status._tag === "Ended" ? Exit.isFailure(status.exit) : "it has not ended"
    }))

  it.effect("one of each attempt, which ends with it and says whether it failed (law 10)", () =>
    Effect.gen(function*() {
      const spans = Spans.make()
      yield* spans.traced(Effect.flatMap(Scene.make(), life))
      assert.deepStrictEqual(reconfigurations(spans), [
        { connector: "orders", attempt: 1, revision: 1, failed: true },
        { connector: "orders", attempt: 2, revision: 1, failed: true },
        { connector: "orders", attempt: 3, revision: 1, failed: false },
        { connector: "orders", attempt: 1, revision: 1, failed: false },
        { connector: "orders", attempt: 1, revision: 1, failed: false },
        { connector: "orders", attempt: 1, revision: 1, failed: true }
      ])
    }))

  it.effect("one that is interrupted ends too (laws 10 and 11)", () =>
    Effect.gen(function*() {
      const spans = Spans.make()
      yield* spans.traced(Effect.gen(function*() {
        const scene = yield* Scene.make()
        yield* scene.source.script("orders", { taskConfigs: [Script.hang()] })
        yield* scene.deploy("orders", scene.source.config())
        yield* scene.herder.delete("orders")
        yield* scene.settle
      }))
      assert.deepStrictEqual(reconfigurations(spans), [{ connector: "orders", attempt: 1, revision: 1, failed: false }])
    }))
})

describe("two runtimes in one layer graph", () => {
  class First extends Context.Service<First, Herder["Service"]>()("test/First") {}
  class Second extends Context.Service<Second, Herder["Service"]>()("test/Second") {}

  it.effect("are two herders with stores of their own", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make()
      const plugins = Plugins.layer([source])
      const both = Layer.mergeAll(
        Layer.effect(First, Herder).pipe(Layer.provide(Herder.layerMemory)),
        Layer.effect(Second, Herder).pipe(Layer.provide(Herder.layerMemory))
      ).pipe(Layer.provide(plugins))
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(both, scope)
      const [first, second] = [Context.get(context, First), Context.get(context, Second)]
      assert.notStrictEqual(first, second)
      assert.notStrictEqual(yield* first.clusterId, yield* second.clusterId)
      yield* first.create("orders", source.config({ tasks: 2 }))
      yield* second.create("users", source.config())
      assert.deepStrictEqual([yield* first.list, yield* second.list], [["orders"], ["users"]])
      // both run: each has a tick and a lane of its own
      for (let turn = 0; turn < 1000 && (yield* source.live()).length < 5; turn++) yield* Effect.yieldNow
      assert.deepStrictEqual((yield* source.live("orders")).map(({ task }) => task), [undefined, 0, 1])
      assert.deepStrictEqual((yield* source.live("users")).map(({ task }) => task), [undefined, 0])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* source.live(), [])
    }))
})
