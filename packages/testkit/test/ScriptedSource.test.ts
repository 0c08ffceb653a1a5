import { assert, describe, it } from "@effect/vitest"
import { ConfigKey, Plugins, type SourceConnector, TransientError } from "@kelpie/core"
import { Script, ScriptedSource } from "@kelpie/testkit"
import { Cause, Effect, Exit, Fiber, Option, Result, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"

const down = new TransientError({ message: "database is locked" })
const record = (value: number) => ({ topic: "t", value })

/** What a runtime does with a definition that it found by name. */
const driver = Effect.fnUntraced(function*(source: ScriptedSource.ScriptedSource) {
  const plugins = yield* Effect.provide(Plugins, Plugins.layer([source]))
  const definition = Option.getOrThrow(plugins.find("source", source.name))
  const { start, task, validate } = definition["~source"]
  let requests = 0
  const stored = new Map<number, unknown>()
  const decode = (config: Readonly<Record<string, string>>) =>
    Result.getOrThrow(ConfigKey.decode(definition.fields, config))
  return {
    requests: () => requests,
    stored,
    validate: (config = source.config()) => plugins.provide(validate?.(decode(config) as never) ?? Effect.succeed([])),
    start: (name: string, config = source.config()) =>
      plugins.provide(
        start?.({
          name,
          config: decode(config),
          requestReconfiguration: Effect.sync(() => {
            requests++
          })
        }) ?? Effect.die("no start")
      ) as Effect.Effect<SourceConnector.Started<unknown>, TransientError, Scope.Scope>,
    task: (name: string, number: number, config = source.config()) =>
      task({
        name,
        task: number,
        config: decode(config),
        taskConfig: { part: `part ${number}` },
        offsets: { get: () => Effect.sync(() => Option.fromUndefinedOr(stored.get(number))) }
      } as never) as Stream.Stream<SourceConnector.Batch<unknown, unknown>, TransientError>
  }
})
const opened = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    return { scope, value: yield* Scope.provide(effect, scope) }
  })

describe("ScriptedSource", () => {
  it.effect("gives so many tasks as its config says, then as it is told", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make()
      const { start } = yield* driver(source)
      const { taskConfigs } = yield* start("orders", source.config({ tasks: 2 }))
      assert.deepStrictEqual(yield* taskConfigs(1), [{ part: "0" }, { part: "1" }])
      yield* source.setTasks("orders", 3)
      assert.strictEqual((yield* taskConfigs(1)).length, 3)
      yield* source.setTasks("orders", ["a", "b"])
      assert.deepStrictEqual(yield* taskConfigs(1), [{ part: "a" }, { part: "b" }])
      yield* source.setTasks("users", 9)
      assert.strictEqual((yield* taskConfigs(1)).length, 2)
    }))

  it.effect("writes a configuration, checked by the compiler", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make({ name: "Other" })
      assert.deepStrictEqual(source.config({ tasks: 2, tasksMax: 4, poll: "sleep:5" }), {
        "connector.class": "Other",
        "scripted.tasks": "2",
        "scripted.poll": "sleep:5",
        "tasks.max": "4"
      })
      assert.strictEqual(source.config()["tasks.max"], "8")
      // @ts-expect-error tasks is a number
      source.config({ tasks: true })
    }))

  it.effect("plays a script, then succeeds, and remembers the times of the calls", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make()
      const { start } = yield* driver(source)
      const { taskConfigs } = yield* start("orders")
      yield* source.script({ taskConfigs: Script.failTimes(2, down) })
      assert.strictEqual(yield* Effect.flip(taskConfigs(1)), down)
      yield* TestClock.adjust(250)
      assert.strictEqual(yield* Effect.flip(taskConfigs(1)), down)
      yield* TestClock.adjust(500)
      yield* taskConfigs(1)
      assert.deepStrictEqual(yield* source.calls("taskConfigs"), [0, 250, 750])
      assert.deepStrictEqual(yield* source.calls("start"), [0])
      assert.deepStrictEqual((yield* source.history).map((call) => `${call.hook} of ${call.connector} at ${call.at}`), [
        "start of orders at 0",
        "taskConfigs of orders at 0",
        "taskConfigs of orders at 250",
        "taskConfigs of orders at 750"
      ])
    }))

  it.effect("plays a script that is for all once per connector, and one that is for one for that", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make({ scripts: { start: Script.failTimes(1, down) } })
      const { start } = yield* driver(source)
      assert.strictEqual(yield* Effect.flip(start("a")), down)
      assert.strictEqual(yield* Effect.flip(start("b")), down)
      yield* start("a")
      yield* source.script("b", { start: Script.failTimes(2, down) })
      yield* Effect.flip(start("b"))
      yield* Effect.flip(start("b"))
      yield* start("b")
      assert.deepStrictEqual((yield* source.calls("start", "b")).length, 4)
    }))

  it.effect("starts a script again when it is set again, and drops it for `undefined`", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make()
      const { start } = yield* driver(source)
      const script = Script.failTimes(1, down)
      yield* source.script({ start: script })
      yield* Effect.flip(start("a"))
      yield* source.script({ start: script })
      yield* Effect.flip(start("a"))
      yield* source.script({ start: Script.always(Script.fail(down)) })
      yield* Effect.flip(start("a"))
      yield* source.script({ start: undefined })
      yield* start("a")
    }))

  it.effect("plays the script of a configuration, unless code says otherwise", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make()
      const { start } = yield* driver(source)
      const config = source.config({ start: "fail:2:transient:from the config" })
      assert.strictEqual((yield* Effect.flip(start("a", config))).message, "from the config")
      yield* source.script("a", { start: [Script.fail(down)] })
      assert.strictEqual((yield* Effect.flip(start("a", config))).message, down.message)
      yield* start("a", config)
    }))

  it.effect("refuses a configuration whose script cannot be read, and names the key", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make()
      const result = ConfigKey.decode(source.fields, { ...source.config(), "scripted.poll": "sometimes" })
      assert.deepStrictEqual(Result.isFailure(result) && result.failure.map(({ key }) => key), ["scripted.poll"])
    }))

  it.effect("validates by its script", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make()
      const { validate } = yield* driver(source)
      yield* source.script({ validate: [Script.fail(down), Script.die("a bug")] })
      assert.strictEqual(yield* Effect.flip(validate()), down)
      const exit = yield* Effect.exit(validate())
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.deepStrictEqual(yield* validate(), [])
    }))

  it.effect("asks for a reconfiguration as the instance that runs", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make()
      const { requests, start } = yield* driver(source)
      const { scope } = yield* opened(start("orders"))
      yield* source.requestReconfiguration("orders")
      assert.strictEqual(requests(), 1)
      yield* Scope.close(scope, Exit.void)
      const exit = yield* Effect.exit(source.requestReconfiguration("orders"))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", `"orders"`)
    }))

  it.effect("shows what lives, until its stop hook has returned", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make({ scripts: { stop: [Script.sleep("2 seconds")] } })
      const { start } = yield* driver(source)
      const { scope } = yield* opened(start("orders"))
      assert.deepStrictEqual(yield* source.live(), [{ connector: "orders" }])
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      assert.strictEqual((yield* source.live("orders")).length, 1)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* source.live(), [])
      assert.deepStrictEqual(yield* source.calls("stop"), [0])
    }))

  it.effect("does not live when its start failed, and is not stopped", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make({ scripts: { start: [Script.fail(down)] } })
      const { start } = yield* driver(source)
      yield* Effect.scoped(Effect.flip(start("orders")))
      assert.deepStrictEqual(yield* source.live(), [])
      assert.deepStrictEqual(yield* source.calls("stop"), [])
      assert.deepStrictEqual(yield* source.starts(), [])
    }))

  it.effect("hangs until it is interrupted, or for ever", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make({
        scripts: { taskConfigs: [Script.hang(), Script.hang({ interruptible: false })] }
      })
      const { start } = yield* driver(source)
      const { taskConfigs } = yield* start("orders")
      const hanging = yield* Effect.forkChild(taskConfigs(1), { startImmediately: true })
      yield* Fiber.interrupt(hanging)
      const orphan = yield* Effect.forkDetach(taskConfigs(1), { startImmediately: true })
      yield* Effect.forkDetach(Fiber.interrupt(orphan), { startImmediately: true })
      yield* TestClock.adjust("1 hour")
      assert.isUndefined(orphan.pollUnsafe())
    }))

  it.effect("gives what is emitted, in order, whenever it was emitted", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make()
      const { task } = yield* driver(source)
      yield* source.emit("orders", 0, [record(1), record(2)])
      yield* source.emit("orders", 1, [record(9)])
      yield* source.emit("orders", 0, [])
      const batches = yield* Effect.forkChild(Stream.runCollect(Stream.take(task("orders", 0), 2)), {
        startImmediately: true
      })
      yield* source.emit("orders", 0, [record(3)])
      const [first, second] = yield* Fiber.join(batches)
      assert.deepStrictEqual(first?.records, [record(1), record(2)])
      assert.deepStrictEqual([first?.partition, first?.offset], [{ task: 0 }, { position: 2 }])
      assert.deepStrictEqual([second?.records, second?.offset], [[record(3)], { position: 3 }])
      yield* second?.ack ?? Effect.void
      assert.strictEqual(yield* source.acknowledged("orders", 0), 3)
    }))

  it.effect("goes on at the stored offset, and shows where each task began", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make()
      const { stored, task } = yield* driver(source)
      for (const value of [1, 2, 3]) yield* source.emit("orders", 0, [record(value)])
      yield* Stream.runDrain(Stream.take(task("orders", 0), 2))
      stored.set(0, { position: 1 })
      const again = yield* Stream.runCollect(Stream.take(task("orders", 0), 2))
      assert.deepStrictEqual(again.flatMap((batch) => batch.records), [record(2), record(3)])
      const starts = yield* source.starts("orders")
      assert.deepStrictEqual(starts.map(({ part, position }) => [part, position]), [["part 0", 0], ["part 0", 1]])
      assert.deepStrictEqual((yield* source.history).map(({ hook, task }) => `${hook} ${task}`).slice(0, 4), [
        "startTask 0",
        "poll 0",
        "poll 0",
        "stopTask 0"
      ])
    }))

  it.effect("fails a poll by its script", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make({ scripts: { poll: [Script.ok, Script.fail(down)] } })
      const { task } = yield* driver(source)
      yield* source.emit("orders", 0, [record(1)])
      const seen: Array<unknown> = []
      const error = yield* Effect.flip(
        Stream.runForEach(task("orders", 0), ({ records }) => Effect.sync(() => seen.push(records)))
      )
      assert.strictEqual(error, down)
      assert.deepStrictEqual(seen, [[record(1)]])
      assert.deepStrictEqual(yield* source.live(), [])
    }))

  it.effect("shares nothing with another one", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* ScriptedSource.make(), yield* ScriptedSource.make()]
      yield* (yield* driver(one)).start("orders")
      assert.strictEqual((yield* one.live()).length, 1)
      assert.strictEqual((yield* other.live()).length, 0)
    }))
})
