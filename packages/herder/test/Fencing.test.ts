import { assert, describe, it } from "@effect/vitest"
import { ConfigRecord, ConfigStore, Item, OffsetStore, StatusStore, StoreError, TopicLog } from "@kelpie/core"
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
  const all: Effect.Effect<ReadonlyArray<{ readonly task?: number | undefined }>> = kind === "source"
    ? scene.source.starts()
    : sink.starts()
  const starts = Effect.map(all, (starts) => starts.filter((one) => one.task !== undefined).length)
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
