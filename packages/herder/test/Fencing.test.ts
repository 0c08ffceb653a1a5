import { assert, describe, it } from "@effect/vitest"
import {
  ConfigRecord,
  ConfigStore,
  Item,
  Middleware,
  OffsetStore,
  StatusStore,
  StoreError,
  Stores,
  TopicLog
} from "@kelpie/core"
import { ScriptedSink, TestExecutor } from "@kelpie/testkit"
import { Effect, Layer } from "effect"
import * as Scene from "./fixtures/Scene.ts"

/** A config log that several workers append to; none is told what the others do. */
const makeLog = (): ConfigStore.Encoded => {
  const records: Array<ConfigRecord.Encoded> = []
  let claims = 0
  return {
    claim: Effect.sync(() => ++claims),
    append: (claim, writes) =>
      Effect.suspend(() =>
        claim === claims
          ? Effect.succeed(writes.map((write) => records.push({ ...write, position: records.length + 1 })))
          : Effect.fail(new StoreError({ kind: "Fenced", operation: "append" }))
      ),
    read: (after) => Effect.sync(() => records.filter(({ position }) => position > after))
  }
}

/** A worker whose task waits for its start, and the log that it shares with another worker. */
const waiting = Effect.fnUntraced(function*(kind: "source" | "sink") {
  const log = makeLog()
  const executor = yield* TestExecutor.manual
  const sink = yield* ScriptedSink.make()
  const scene = yield* Scene.make({
    executor: executor.make,
    plugins: [sink],
    stores: Layer.mergeAll(
      Layer.effect(ConfigStore, Effect.orDie(ConfigStore.makeEncoded(log))),
      OffsetStore.layerMemory,
      TopicLog.layerMemory,
      StatusStore.layerMemory
    )
  })
  yield* scene.deploy("orders", kind === "source" ? scene.source.config() : sink.config({}, { topics: ["t"] }))
  for (
    const label of ["start orders", "generate the task configs of orders", "publish the tasks of orders"]
  ) {
    yield* executor.release(label)
    yield* scene.settle
  }
  assert.deepStrictEqual(yield* executor.waiting, ["start orders-0"])
  /** How many tasks have started. */
  const starts = Effect.gen(function*() {
    const all: ReadonlyArray<{ readonly task?: number | undefined }> = kind === "source"
      ? yield* scene.source.starts()
      : yield* sink.starts()
    return all.filter(({ task }) => task !== undefined).length
  })
  return { executor, log, scene, starts }
})

/** The other worker leads now, and the task is its own. */
const move = (log: ConfigStore.Encoded) =>
  Effect.gen(function*() {
    const store = yield* ConfigStore.makeEncoded(log)
    const claim = yield* store.claim("session-2", Effect.succeed(true))
    const write = ConfigRecord.placement(Item.task("orders", 0), { _tag: "Owned", session: "session-2" })
    yield* claim.commit([{ write }])
  })

describe.each(["source", "sink"] as const)("a task of a %s that opens its writers", (kind) => {
  it.effect("runs when the log says that its worker still owns it (I7)", () =>
    Effect.gen(function*() {
      const { executor, scene, starts } = yield* waiting(kind)
      yield* executor.release("start orders-0")
      yield* scene.settle
      assert.strictEqual(yield* starts, 1)
      assert.strictEqual((yield* scene.status("orders")).tasks[0]?.state, "RUNNING")
    }))

  it.effect("reads the log to its end first, and does not run when it is somebody else's (I7)", () =>
    Effect.gen(function*() {
      const { executor, log, scene, starts } = yield* waiting(kind)
      yield* move(log)
      yield* executor.releaseAll
      yield* scene.settle
      yield* scene.advance("1 hour")
      yield* scene.settle
      yield* executor.releaseAll
      assert.strictEqual(yield* starts, 0)
      assert.strictEqual((yield* scene.status("orders")).tasks[0]?.state, "UNASSIGNED")
    }))
})

/** Stores in memory, and a late write through every writer that was opened: what code that goes on could still try. */
const watched = () => {
  const writes: Array<Effect.Effect<void, StoreError>> = []
  const stores = Layer.mergeAll(
    Middleware.decorate(TopicLog, (below) => ({
      open: (item, run) =>
        Effect.tap(below.open(item, run), (writer) =>
          Effect.sync(() => {
            const record: TopicLog.LogRecord = { key: null, value: null, headers: [], timestampMillis: 0 }
            writes.push(writer.append([{ topic: "late", records: [record] }]))
          })),
      subscribe: (options) =>
        Effect.tap(
          below.subscribe(options),
          (subscription) =>
            Effect.sync(() => writes.push(subscription.commit([{ topic: "late", partition: 0, offset: 1 }])))
        )
    })),
    Middleware.decorate(OffsetStore, (below) => ({
      open: (item, run) =>
        Effect.tap(
          below.open(item, run),
          (writer) => Effect.sync(() => writes.push(writer.prepare([{ partition: "{}", offset: "1" }]).commit))
        )
    }))
  )
  return { stores: Layer.provideMerge(stores, Stores.layerMemory), writes }
}

describe.each(["source", "sink"] as const)("a task of a %s that has stopped", (kind) => {
  it.effect.each(["pause", "stop", "delete"] as const)(
    "can write nothing any more, after a %s (I6, I7)",
    (verb) =>
      Effect.gen(function*() {
        const { stores, writes } = watched()
        const sink = yield* ScriptedSink.make()
        const scene = yield* Scene.make({ plugins: [sink], stores })
        yield* scene.deploy("orders", kind === "source" ? scene.source.config() : sink.config({}, { topics: ["t"] }))
        assert.strictEqual(writes.length, 2)
        yield* scene.herder[verb]("orders")
        yield* scene.settle
        for (const write of writes) assert.strictEqual((yield* Effect.flip(write)).kind, "Fenced")
      })
  )
})
