import { assert, describe, it } from "@effect/vitest"
import { ConfigKey, Middleware, Plugins, SourceConnector } from "@kelpie/core"
import { Herder, MemoryCluster } from "@kelpie/herder"
import { Clock, Context, Effect, Fiber, Latch, Layer, References, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as LogLevels from "../src/internal/logLevels.ts"
import * as Logs from "./fixtures/Logs.ts"
import * as Running from "./fixtures/Running.ts"

/** Its task says something of every level whenever it is told to. */
const makeSource = () => {
  const told = Latch.makeUnsafe(false)
  let said = 0
  const speak = Effect.gen(function*() {
    yield* told.await
    told.closeUnsafe()
    for (const log of [Effect.logTrace, Effect.logDebug, Effect.logInfo, Effect.logWarning, Effect.logError]) {
      yield* log("from the task")
    }
    yield* Effect.annotateLogs(Effect.logDebug("by name"), "logger", "com.acme.Orders")
    yield* Effect.logError("silenced by its author").pipe(Effect.provideService(References.MinimumLogLevel, "None"))
    said++
  })
  const source = SourceConnector.make("Talker", {
    version: "1",
    config: { key: ConfigKey.String("key", { default: "" }) },
    start: ({ name }) => Effect.as(Effect.logDebug(`start of ${name}`), { taskConfigs: () => Effect.succeed([{}]) }),
    task: () => Stream.concat(Stream.drain(Stream.fromEffect(Effect.forever(speak))), Stream.never)
  })
  const say = Effect.gen(function*() {
    const before = said
    told.openUnsafe()
    yield* Running.settled(Effect.sync(() => said), (now) => now > before)
  })
  return { say, source }
}

const config = { "connector.class": "Talker", "tasks.max": "1" }

const make = Effect.fnUntraced(function*(more: Layer.Layer<never> = Layer.empty) {
  const { say, source } = makeSource()
  const logs = Logs.make()
  const running = yield* Running.virtual({ plugins: [source], settings: Layer.merge(logs.layer, more) })
  yield* running.herder.create("c", config)
  yield* running.runs("c")
  /** The levels of what the task says this time. */
  const levels = Effect.gen(function*() {
    const from = logs.lines.length
    yield* say
    return logs.lines.slice(from).filter(({ message }) => message === "from the task").map(({ level }) => level)
  })
  return { ...running, lines: logs.lines, levels, say }
})

describe("log levels", () => {
  it.effect("decide while a connector runs what its code logs", () =>
    Effect.gen(function*() {
      const { herder, levels, lines } = yield* make()
      assert.deepStrictEqual(yield* levels, ["Info", "Warn", "Error"])
      assert.deepInclude(lines[lines.length - 1], { annotations: { connector: "c", task: 0 } })
      assert.deepStrictEqual(yield* herder.setLogLevel("connector.c", "Debug"), ["connector.c"])
      assert.deepStrictEqual(yield* levels, ["Debug", "Info", "Warn", "Error"])
      yield* herder.setLogLevel("connector", "All")
      assert.deepStrictEqual(yield* levels, ["Trace", "Debug", "Info", "Warn", "Error"])
      yield* herder.setLogLevel("connector.c", "Error")
      assert.deepStrictEqual(yield* levels, ["Error"])
      yield* herder.setLogLevel("root", "None")
      assert.deepStrictEqual(yield* levels, [])
    }))

  it.effect("are of one connector each, and of one name each", () =>
    Effect.gen(function*() {
      const { herder, lines, say } = yield* make()
      const said = (message: string) => lines.filter((line) => line.message === message).length
      assert.strictEqual(said("start of c"), 0)
      yield* herder.setLogLevel("connector.other", "Debug")
      yield* herder.setLogLevel("com.acme", "Debug")
      yield* say
      assert.strictEqual(said("by name"), 1)
      yield* herder.create("other", config)
      yield* Running.settled(herder.status("other"), Running.isRunning)
      assert.strictEqual(said("start of other"), 1)
      yield* herder.restart("c")
      yield* Running.settled(herder.status("c"), Running.isRunning)
      assert.strictEqual(said("start of c"), 0)
      yield* herder.setLogLevel("connector.c", "Debug")
      yield* herder.restart("c")
      yield* Running.settled(Effect.sync(() => said("start of c")), (count) => count === 1)
    }))

  it.effect("leave alone what an author silences", () =>
    Effect.gen(function*() {
      const { herder, lines, say } = yield* make()
      yield* herder.setLogLevel("root", "All")
      yield* say
      assert.isFalse(lines.some(({ message }) => message === "silenced by its author"))
    }))

  it.effect("begin with the host's minimum", () =>
    Effect.gen(function*() {
      const { herder, levels } = yield* make(Layer.succeed(References.MinimumLogLevel, "Error"))
      assert.deepStrictEqual(yield* levels, ["Error"])
      assert.deepInclude(yield* herder.logger("root"), { level: "Error", lastModified: undefined })
      yield* herder.setLogLevel("connector", "Warn")
      assert.deepStrictEqual(yield* levels, ["Warn", "Error"])
    }))

  it.effect("turn on what is logged of operations", () =>
    Effect.gen(function*() {
      const { herder, lines, runs } = yield* make(Middleware.layer([Middleware.logging]))
      const ended = () => lines.filter(({ message }) => /ended after/.test(message)).length
      assert.strictEqual(ended(), 0)
      yield* herder.setLogLevel("kelpie.operations", "Debug")
      yield* herder.restart("c", { includeTasks: true })
      yield* runs("c")
      assert.isAbove(ended(), 0)
    }))

  it.effect("tell when they were set", () =>
    Effect.gen(function*() {
      const { herder } = yield* make()
      yield* TestClock.adjust("1 second")
      yield* herder.setLogLevel("kelpie.herder", "Debug")
      const lastModified = yield* Clock.currentTimeMillis
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* herder.logger("kelpie.herder.tick"), {
        name: "kelpie.herder.tick",
        level: "Debug",
        lastModified
      })
      assert.deepStrictEqual(yield* herder.logger("connector.c"), {
        name: "connector.c",
        level: "Info",
        lastModified: undefined
      })
      assert.isUndefined(yield* herder.logger("connector.nobody"))
      assert.isUndefined(yield* herder.logger("kelpie.herder.tick.below"))
    }))
})

describe("the tree of loggers", () => {
  it("is read from the nearest name up to the root", () => {
    const levels = LogLevels.make("Info")
    const of = (name: string) => levels.effective(name).level
    levels.set("a.b", "Debug", 1)
    levels.set("a", "Warn", 2)
    assert.deepStrictEqual(["a", "a.b", "a.b.c", "a.bc", "ab", "root"].map(of), [
      "Warn",
      "Warn",
      "Warn",
      "Warn",
      "Info",
      "Info"
    ])
    levels.set("a.b", "Trace", 3)
    assert.deepStrictEqual(["a", "a.b.c.d", "a.c"].map(of), ["Warn", "Trace", "Warn"])
    levels.set("root", "Error", 4)
    assert.deepStrictEqual(["a", "a.b", "x.y"].map(of), ["Error", "Error", "Error"])
    levels.set("", "Debug", 5)
    assert.deepStrictEqual([".x", "x", "x..y", "."].map(of), ["Error", "Error", "Error", "Error"])
  })

  it("tells every logger that has the level now, sorted", () => {
    const levels = LogLevels.make("Info")
    levels.set("z.b", "Debug", 1)
    assert.deepStrictEqual(levels.set("z", "Info", 2), ["z", "z.b"])
    assert.deepStrictEqual(levels.set("z.b", "Info", 3), ["z.b"])
    assert.includeMembers([...levels.set("root", "Info", 4)], ["root", "kelpie", "kelpie.herder.tick", "z", "z.b"])
    assert.isTrue(levels.isKnown("z"))
    assert.isFalse(levels.isKnown("y"))
  })
})

describe("several workers", () => {
  const send = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
      for (let n = 0; n < 100 && fiber.pollUnsafe() === undefined; n++) yield* TestClock.adjust("100 millis")
      return yield* Fiber.join(fiber)
    })

  it.effect("take a level that is set for the cluster, those that run; later ones begin with their host's", () =>
    Effect.gen(function*() {
      const cluster = yield* MemoryCluster.make
      const { source } = makeSource()
      const join = (workerId: string) =>
        Effect.map(
          Layer.build(Layer.provide(cluster.layer({ workerId }), Plugins.layer([source]))),
          (context) => Context.get(context, Herder)
        )
      const [a, b] = [yield* join("a:1"), yield* join("b:1")]
      const levelOf = (herder: Herder["Service"], name: string) =>
        Effect.map(herder.logger(name), (logger) => logger?.level)
      const becomes = (herder: Herder["Service"], name: string, level: string) =>
        Running.untilTrue(levelOf(herder, name), (now) => now === level, TestClock.adjust("100 millis"), 100)
      assert.deepStrictEqual(yield* send(b.setLogLevel("kelpie", "Debug", { scope: "cluster" })), [])
      assert.strictEqual(yield* levelOf(b, "kelpie"), "Debug")
      yield* becomes(a, "kelpie.herder.tick", "Debug")
      yield* send(a.setLogLevel("kelpie", "Warn"))
      assert.strictEqual(yield* levelOf(b, "kelpie"), "Debug")
      yield* send(b.setLogLevel("kelpie", "Debug", { scope: "cluster" }))
      yield* becomes(a, "kelpie", "Debug")
      const c = yield* join("c:1")
      assert.strictEqual(yield* levelOf(c, "kelpie"), "Info")
      yield* send(a.setLogLevel("com.acme", "Trace", { scope: "cluster" }))
      for (const herder of [a, b, c]) yield* becomes(herder, "com.acme", "Trace")
      assert.strictEqual(yield* levelOf(c, "kelpie"), "Info")
    }))
})
