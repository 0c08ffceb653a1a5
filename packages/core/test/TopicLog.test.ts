import { assert, describe, it } from "@effect/vitest"
import { Item, type OffsetStore, StoreError, TopicLog } from "@kelpie/core"
import { Effect, Exit, Fiber, Scope } from "effect"

const text = (value: Uint8Array | null) => value === null ? null : new TextDecoder().decode(value)
const record = (value: string, partition?: number): TopicLog.LogRecord => ({
  key: null,
  value: new TextEncoder().encode(value),
  headers: [],
  timestampMillis: 0,
  ...(partition === undefined ? {} : { partition })
})
const numbered = (from: number, to: number, partition?: number) =>
  Array.from({ length: to - from }, (_, index) => record(`${from + index}`, partition))
const values = (batches: ReadonlyArray<TopicLog.Batch>) =>
  batches.flatMap((batch) => batch.records.map((_) => text(_.value)))
const run: Item.Run = { token: 1, start: 1 }
const reader = (topics: TopicLog.SubscribeOptions["topics"]): TopicLog.SubscribeOptions => ({
  item: Item.task("sink", 0),
  run,
  group: "connect-sink",
  topics,
  member: 0,
  members: 1
})

describe("TopicLog.layerMemory", () => {
  it.effect("keeps the newest records of a partition when it is bounded, with their offsets", () =>
    Effect.gen(function*() {
      const log = yield* TopicLog
      const writer = yield* log.open(Item.task("source", 0), run)
      yield* writer.append([{ topic: "t", records: numbered(0, 25) }])
      const subscription = yield* log.subscribe(reader({ list: ["t"] }))
      const [batch] = yield* subscription.read(100)
      assert.strictEqual(batch?.firstOffset, 15)
      assert.deepStrictEqual(batch && values([batch])[0], "15")
      assert.strictEqual(batch?.records.length, 10)
    }).pipe(Effect.provide(TopicLog.layerMemoryWith({ retainRecords: 10 }))))

  it.effect("goes on with the oldest record that is kept when the stored position is older", () =>
    Effect.gen(function*() {
      const log = yield* TopicLog
      const writer = yield* log.open(Item.task("source", 0), run)
      yield* writer.append([{ topic: "t", records: numbered(0, 5) }])
      const subscription = yield* log.subscribe(reader({ list: ["t"] }))
      yield* subscription.read(5)
      yield* writer.append([{ topic: "t", records: numbered(5, 40) }])
      assert.deepStrictEqual(values(yield* subscription.read(1)), ["30"])
    }).pipe(Effect.provide(TopicLog.layerMemoryWith({ retainRecords: 10 }))))

  it.effect("wakes a reader for its own topics only", () =>
    Effect.gen(function*() {
      const log = yield* TopicLog
      const writer = yield* log.open(Item.task("source", 0), run)
      const subscription = yield* log.subscribe(reader({ list: ["mine"] }))
      const read = yield* Effect.forkChild(subscription.read(10), { startImmediately: true })
      yield* writer.append([{ topic: "other", records: [record("a")] }])
      assert.isUndefined(read.pollUnsafe())
      yield* writer.append([{ topic: "mine", records: [record("b")] }])
      assert.deepStrictEqual(values(yield* Fiber.join(read)), ["b"])
    }).pipe(Effect.provide(TopicLog.layerMemory)))

  it.effect("does not let a full partition starve the others", () =>
    Effect.gen(function*() {
      const log = yield* TopicLog
      yield* log.create({ name: "t", partitions: 2 })
      const writer = yield* log.open(Item.task("source", 0), run)
      const subscription = yield* log.subscribe(reader({ list: ["t"] }))
      yield* writer.append([{ topic: "t", records: [...numbered(0, 50, 0), record("quiet", 1)] }])
      const reads = [yield* subscription.read(10), yield* subscription.read(10)]
      assert.include(values(reads.flat()), "quiet")
    }).pipe(Effect.provide(TopicLog.layerMemory)))

  it.effect("stores offsets of another engine after the records, and tells when that fails", () =>
    Effect.gen(function*() {
      const log = yield* TopicLog
      const item = Item.task("source", 0)
      const writer = yield* log.open(item, run)
      const subscription = yield* log.subscribe(reader({ list: ["t"] }))
      let seen: ReadonlyArray<string | null> = []
      const offsets: OffsetStore.Prepared = {
        engine: undefined,
        item,
        run,
        entries: [],
        commit: Effect.andThen(
          Effect.map(subscription.read(10), (batches) => {
            seen = values(batches)
          }),
          Effect.fail(new StoreError({ kind: "Unavailable", operation: "store offsets" }))
        )
      }
      const error = yield* Effect.flip(writer.append([{ topic: "t", records: [record("a")] }], offsets))
      assert.strictEqual(error.operation, "store offsets")
      assert.deepStrictEqual(seen, ["a"])
    }).pipe(Effect.provide(TopicLog.layerMemory)))

  it.effect("makes a store of its own wherever it is provided", () =>
    Effect.gen(function*() {
      const write = Effect.gen(function*() {
        const log = yield* TopicLog
        yield* log.create({ name: "t", partitions: 1 })
        return yield* log.topics
      })
      assert.strictEqual((yield* Effect.provide(write, TopicLog.layerMemory)).length, 1)
      const other = Effect.flatMap(TopicLog, (log) => log.topics)
      assert.deepStrictEqual(yield* Effect.provide(other, TopicLog.layerMemory), [])
    }))

  it.effect("forgets readers whose scope is closed", () =>
    Effect.gen(function*() {
      const log = yield* TopicLog
      const writer = yield* log.open(Item.task("source", 0), run)
      const scope = yield* Scope.make()
      const subscription = yield* Scope.provide(log.subscribe(reader({ list: ["t"] })), scope)
      const read = yield* Effect.forkChild(subscription.read(10), { startImmediately: true })
      yield* Scope.close(scope, Exit.void)
      yield* writer.append([{ topic: "t", records: [record("a")] }])
      assert.isUndefined(read.pollUnsafe())
      yield* Fiber.interrupt(read)
    }).pipe(Effect.provide(TopicLog.layerMemory)))
})
