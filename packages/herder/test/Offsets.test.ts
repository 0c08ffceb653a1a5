import { assert, describe, it } from "@effect/vitest"
import {
  ConfigKey,
  Middleware,
  OffsetStore,
  Plugins,
  SinkConnector,
  SourceConnector,
  StoreError,
  Stores,
  TopicLog
} from "@kelpie/core"
import { Herder, type HerderError, MemoryCluster } from "@kelpie/herder"
import { Faults } from "@kelpie/testkit"
import { Context, Deferred, Effect, Fiber, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Running from "./fixtures/Running.ts"

/** Writes one record behind the stored offset and stores the next one; then it waits, and may be slow to stop. */
const makeSource = () => {
  const began: Array<number> = []
  const source = SourceConnector.make("One", {
    version: "1",
    config: {
      topic: ConfigKey.String("topic", { default: "t" }),
      slow: ConfigKey.Int("slow", { default: 0, doc: "Milliseconds that a stop takes." })
    },
    partition: Schema.Struct({ table: Schema.String }),
    offset: Schema.Struct({ row: Schema.Int }),
    task: ({ config, offsets }) =>
      Stream.unwrap(Effect.gen(function*() {
        yield* Effect.addFinalizer(() => Effect.sleep(config.slow))
        const partition = { table: "a" }
        const row = Option.match(yield* offsets.get(partition), { onNone: () => 0, onSome: ({ row }) => row })
        began.push(row)
        const records = [{ topic: config.topic, value: row }]
        return Stream.concat(Stream.make({ partition, records, offset: { row: row + 1 } }), Stream.never)
      }))
  })
  return { began, source }
}

const Sink = SinkConnector.make("Null", {
  version: "1",
  config: {},
  task: () => Effect.succeed({ put: () => Effect.void })
})

const at = (row: number, table = "a") => ({ partition: { table }, offset: { row } })
const config = { "connector.class": "One", "tasks.max": "1" }

const reasonOf = (effect: Effect.Effect<unknown, HerderError>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

/** A connector that has stored row 1, on stores that may be decorated. */
const make = Effect.fnUntraced(function*(
  options: {
    readonly over?: Layer.Layer<OffsetStore, never, OffsetStore> | undefined
    readonly config?: Record<string, string> | undefined
    /** Offsets that were stored before the connector was created. */
    readonly before?: ReadonlyArray<Herder.OffsetEntry> | undefined
  } = {}
) {
  const { began, source } = makeSource()
  const { before = [], over = Layer.effect(OffsetStore, OffsetStore) } = options
  const stores = yield* Layer.build(Stores.layerMemory)
  const entries = before.map(({ offset, partition }) => ({
    partition: JSON.stringify(partition),
    offset: JSON.stringify(offset)
  }))
  yield* Context.get(stores, OffsetStore).alter({ connector: "c", position: 0, entries })
  const kept = Layer.succeedContext(stores)
  const running = yield* Running.virtual({
    plugins: [source, Sink],
    stores: Layer.merge(kept, Layer.provide(over, kept))
  })
  const { herder } = running
  yield* herder.create("c", { ...config, ...options.config })
  yield* running.runs("c")
  const holds = (expected: ReadonlyArray<unknown>) =>
    Running.settled(herder.offsets("c"), (offsets) => JSON.stringify(offsets) === JSON.stringify(expected))
  yield* holds([...before, at(1)])
  const stopped = Effect.andThen(
    herder.stop("c"),
    Running.settled(herder.status("c"), ({ health, tasks }) => health === "stopped" && tasks.length === 0)
  )
  return { ...running, began, holds, stopped, topics: Context.get(stores, TopicLog).topics }
})

/** An alteration that waits between the look at the log and the store, once, and how it goes on. */
const held = Effect.gen(function*() {
  const arrived = yield* Deferred.make<void>()
  const go = yield* Deferred.make<void>()
  let calls = 0
  const over = Middleware.decorate(OffsetStore, (below) => ({
    alter: (alteration) =>
      Effect.suspend(() =>
        ++calls > 1
          ? below.alter(alteration)
          : Deferred.succeed(arrived, undefined).pipe(
            Effect.andThen(Deferred.await(go)),
            Effect.andThen(below.alter(alteration))
          )
      )
  }))
  return { over, arrived: Deferred.await(arrived), go: Deferred.succeed(go, undefined) }
})

describe("offsets that an operator changes", () => {
  it.effect("are where the connector goes on", () =>
    Effect.gen(function*() {
      const { began, herder, holds } = yield* make()
      yield* herder.stop("c")
      assert.deepStrictEqual(yield* herder.alterOffsets("c", [at(70), at(5, "b")]), { checked: true })
      yield* holds([at(70), at(5, "b")])
      yield* herder.resume("c")
      yield* holds([at(71), at(5, "b")])
      yield* herder.stop("c")
      yield* herder.resetOffsets("c")
      yield* holds([])
      yield* herder.resume("c")
      yield* holds([at(1)])
      assert.deepStrictEqual(began, [0, 70, 0])
    }))

  it.effect("are refused, without effect, unless the connector is stopped", () =>
    Effect.gen(function*() {
      const { herder, holds } = yield* make()
      assert.strictEqual((yield* reasonOf(herder.alterOffsets("c", [at(70)])))._tag, "NotStopped")
      yield* herder.pause("c")
      assert.strictEqual((yield* reasonOf(herder.resetOffsets("c")))._tag, "NotStopped")
      assert.strictEqual((yield* reasonOf(herder.resetOffsets("nobody")))._tag, "ConnectorNotFound")
      assert.strictEqual((yield* reasonOf(herder.offsets("nobody")))._tag, "ConnectorNotFound")
      yield* holds([at(1)])
    }))

  it.effect("wait for tasks that still stop", () =>
    Effect.gen(function*() {
      const { herder, holds } = yield* make({ config: { slow: "3000" } })
      yield* herder.stop("c")
      const altering = yield* Effect.forkChild(herder.alterOffsets("c", [at(70)]), { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      assert.isUndefined(altering.pollUnsafe())
      yield* holds([at(1)])
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(altering)
      yield* holds([at(70)])
    }))

  it.effect("are refused when tasks do not stop within the budget of commands", () =>
    Effect.gen(function*() {
      const { herder, holds } = yield* make({ config: { slow: "30000" } })
      yield* herder.stop("c")
      const altering = yield* Effect.forkChild(reasonOf(herder.alterOffsets("c", [at(70)])), { startImmediately: true })
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual((yield* Fiber.join(altering))._tag, "StateConflict")
      yield* holds([at(1)])
    }))

  it.effect("have no effect when a task that was resumed meanwhile has opened (I7)", () =>
    Effect.gen(function*() {
      const { arrived, go, over } = yield* held
      const { began, herder, holds, runs } = yield* make({ over })
      yield* herder.stop("c")
      const altering = yield* Effect.forkChild(reasonOf(herder.alterOffsets("c", [at(70)])), { startImmediately: true })
      yield* arrived
      yield* herder.resume("c")
      yield* runs("c")
      yield* holds([at(2)])
      yield* go
      const reason = yield* Fiber.join(altering)
      assert.strictEqual(reason._tag, "StateConflict")
      yield* holds([at(2)])
      assert.deepStrictEqual(began, [0, 1])
    }))

  it.effect("are tried again when the connector was resumed and stopped meanwhile", () =>
    Effect.gen(function*() {
      const { arrived, go, over } = yield* held
      const { herder, holds, runs, stopped } = yield* make({ over })
      yield* herder.stop("c")
      const altering = yield* Effect.forkChild(herder.alterOffsets("c", [at(70)]), { startImmediately: true })
      yield* arrived
      yield* herder.resume("c")
      yield* runs("c")
      yield* stopped
      yield* go
      yield* Fiber.join(altering)
      yield* holds([at(70)])
    }))

  it.effect("may have been stored when the store does not answer", () =>
    Effect.gen(function*() {
      const lost = new StoreError({ kind: "Unavailable", operation: "alter offsets" })
      const over = Faults.layer(OffsetStore, { alter: [Faults.lose(Faults.calls(1), lost)] })
      const { herder, holds } = yield* make({ over })
      yield* herder.stop("c")
      const reason = yield* reasonOf(herder.alterOffsets("c", [at(70)]))
      assert.deepInclude(reason, { _tag: "Unavailable", outcome: "unknown" })
      yield* holds([at(70)])
    }))

  it.effect("end in an answer when a store hangs", () =>
    Effect.gen(function*() {
      let hangs = false
      const fault = [Faults.hang(Faults.always)]
      const active = Effect.sync(() => hangs)
      const over = (of: "alter" | "list") => Faults.layer(OffsetStore, { active, [of]: fault })
      const ends = Effect.fnUntraced(function*(effect: Effect.Effect<unknown, HerderError>) {
        hangs = true
        const fiber = yield* Effect.forkChild(reasonOf(effect), { startImmediately: true })
        for (let n = 0; n < 80; n++) yield* TestClock.adjust("100 millis")
        hangs = false
        return yield* Fiber.join(fiber)
      })
      const writes = yield* make({ over: over("alter") })
      yield* writes.stopped
      const wanted = writes.herder.alterOffsets("c", [at(70)])
      assert.deepInclude(yield* ends(wanted), { _tag: "Unavailable", outcome: "unknown" })
      const reads = yield* make({ over: over("list") })
      assert.deepInclude(yield* ends(reads.herder.offsets("c")), { _tag: "Unavailable", outcome: "none" })
      yield* reads.stopped
      assert.deepInclude(yield* ends(reads.herder.resetOffsets("c")), { _tag: "Unavailable", outcome: "none" })
    }))

  it.effect("can be removed whatever was stored, but are stored only as the connector reads them", () =>
    Effect.gen(function*() {
      const foreign = { partition: { file: "x", n: [1] }, offset: { line: 3 } }
      const { herder, holds, stopped } = yield* make({ before: [foreign] })
      yield* stopped
      const reason = yield* reasonOf(herder.alterOffsets("c", [at(70), foreign]))
      assert.strictEqual(reason._tag, "InvalidOffsets")
      assert.match(reason.message, /^offsets\[1\]\.partition does not fit the connector: /)
      yield* holds([foreign, at(1)])
      yield* herder.alterOffsets("c", [{ partition: { n: [1], file: "x" }, offset: null }])
      yield* holds([at(1)])
    }))
})

describe("several workers", () => {
  /** Time goes on until it is so. */
  const becomes = <A, E>(look: Effect.Effect<A, E>, holds: (seen: A) => boolean) =>
    Running.untilTrue(look, holds, TestClock.adjust("100 millis"), 600)
  const send = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
      for (let n = 0; n < 100 && fiber.pollUnsafe() === undefined; n++) yield* TestClock.adjust("100 millis")
      return yield* Fiber.join(fiber)
    })
  const makeCluster = Effect.gen(function*() {
    const cluster = yield* MemoryCluster.make
    const { began, source } = makeSource()
    const join = (workerId: string) =>
      Effect.map(
        Layer.build(Layer.provide(cluster.layer({ workerId }), Plugins.layer([source, Sink]))),
        (context) => Context.get(context, Herder)
      )
    return { began, a: yield* join("a:1"), b: yield* join("b:1"), c: yield* join("c:1") }
  })

  it.effect("each change offsets of any connector, and tell the same", () =>
    Effect.gen(function*() {
      const { a, b, began, c } = yield* makeCluster
      yield* send(a.create("c", { ...config, "tasks.max": "1" }))
      const workers = [a, b, c]
      for (const [n, herder] of workers.entries()) {
        yield* becomes(herder.status("c"), Running.isRunning)
        yield* becomes(a.offsets("c"), (offsets) => JSON.stringify(offsets) === JSON.stringify([at(n * 70 + 1)]))
        yield* send(herder.stop("c"))
        yield* send(herder.alterOffsets("c", [at((n + 1) * 70)]))
        for (const other of workers) {
          assert.deepStrictEqual(yield* other.offsets("c"), [at((n + 1) * 70)])
          assert.deepStrictEqual(yield* other.topics("c"), ["t"])
        }
        yield* send(a.resume("c"))
      }
      yield* becomes(Effect.sync(() => began.length), (count) => count === 4)
      assert.deepStrictEqual(began, [0, 70, 140, 210])
      yield* send(c.resetTopics("c"))
      for (const other of workers) assert.deepStrictEqual(yield* other.topics("c"), [])
    }))
})

describe("topics that a connector uses", () => {
  it.effect("are those that it writes to or reads, of its own incarnation, without its dead letters", () =>
    Effect.gen(function*() {
      const { herder, runs, topics } = yield* make()
      const used = (name: string, ...topics: ReadonlyArray<string>) =>
        Running.settled(herder.topics(name), (seen) => JSON.stringify(seen) === JSON.stringify(topics))
      yield* used("c", "t")
      yield* herder.create("sink", {
        "connector.class": "Null",
        "tasks.max": "1",
        topics: "t",
        "value.converter": "DoubleConverter",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "dead"
      })
      yield* runs("sink")
      yield* Running.settled(topics, (all) => all.some(({ name }) => name === "dead"))
      yield* TestClock.adjust("2 seconds")
      yield* used("sink", "t")
      yield* herder.delete("c")
      assert.deepStrictEqual(yield* herder.topics("c"), [])
      yield* herder.create("c", { ...config, topic: "other" })
      yield* used("c", "other")
    }))
})
