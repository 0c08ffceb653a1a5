import { assert, describe, it } from "@effect/vitest"
import { Item, OffsetStore, TopicLog } from "@kelpie/core"
import { Sqlite, SqliteOffsetStore, SqliteTopicLog } from "@kelpie/sqlite"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Fixtures from "./fixtures.ts"

const { patience } = Fixtures

const item = Item.task("orders", 0)
const reader = Item.task("sink", 0)
const run = (token: number, start = 1): Item.Run => ({ token, start })
const encoder = new TextEncoder()
const decoder = new TextDecoder()

const record = (value: string, change: Partial<TopicLog.LogRecord> = {}): TopicLog.LogRecord => ({
  key: null,
  value: encoder.encode(value),
  headers: [],
  timestampMillis: 1_000,
  ...change
})
const appendAs = (token: number, topic: string, ...values: ReadonlyArray<string>) =>
  Effect.flatMap(TopicLog, (log) => log.open(item, run(token))).pipe(
    Effect.flatMap((writer) => writer.append([{ topic, records: values.map((value) => record(value)) }]))
  )
const subscribe = (change: Partial<TopicLog.SubscribeOptions> = {}) =>
  TopicLog.use((log) =>
    log.subscribe({
      group: "g",
      topics: { list: ["t"] },
      member: 0,
      members: 1,
      item: reader,
      run: run(1),
      ...change
    })
  )
const values = (batches: ReadonlyArray<TopicLog.Batch>) =>
  batches.flatMap(({ records }) => records.map(({ value }) => decoder.decode(value ?? undefined)))
const ranges = (batches: ReadonlyArray<TopicLog.Batch>) =>
  batches.map(({ firstOffset, partition, records, topic }) => `${topic}-${partition}@${firstOffset}+${records.length}`)

describe("SqliteTopicLog", () => {
  it.effect("gives back records as they were, over a restart", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const records = [
        record("ü", { key: encoder.encode("k"), headers: [["h", encoder.encode("v")], ["ñ", null]] }),
        record("", { timestampMillis: -0.5 }),
        record("x", { value: null, key: new Uint8Array(0) })
      ]
      yield* TopicLog.use((log) => log.open(item, run(1))).pipe(
        Effect.flatMap((writer) => writer.append([{ topic: "t", records }])),
        Effect.scoped,
        Effect.provide(SqliteTopicLog.layer({ directory }))
      )
      const read = yield* subscribe().pipe(
        Effect.flatMap((subscription) => subscription.read(10)),
        Effect.scoped,
        Effect.provide(SqliteTopicLog.layer({ directory }))
      )
      assert.deepStrictEqual(read, [{ topic: "t", partition: 0, firstOffset: 0, records }])
    }), patience)

  it.effect("stores one row for the records that were appended together", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const many = Array.from({ length: 1_000 }, (_, n) => String(n))
      yield* appendAs(1, "t", ...many).pipe(Effect.scoped, Effect.provide(SqliteTopicLog.layer({ directory })))
      const database = new DatabaseSync(path.join(directory, "data.db"), { readOnly: true })
      assert.deepStrictEqual(
        { ...database.prepare("SELECT count(*) AS n, sum(count) AS records FROM batches").get() },
        {
          n: 1,
          records: 1_000
        }
      )
      database.close()
    }), patience)

  it.effect(
    "reads about as many records as asked for, without loss, and goes on at the stored position",
    () =>
      Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        yield* Effect.gen(function*() {
          yield* appendAs(1, "t", "0", "1", "2", "3", "4")
          yield* appendAs(1, "t", "5", "6")
          const first = yield* subscribe()
          assert.deepStrictEqual(ranges(yield* first.read(2)), ["t-0@0+2"])
          assert.deepStrictEqual(values(yield* first.read(2)), ["2", "3"])
          assert.deepStrictEqual(values(yield* first.read(10)), ["4"])
          assert.deepStrictEqual(ranges(yield* first.read(10)), ["t-0@5+2"])
          yield* first.commit([{ topic: "t", partition: 0, offset: 3 }])
          assert.deepStrictEqual(yield* TopicLog.use((log) => log.positions("g")), [
            { topic: "t", partition: 0, offset: 3 }
          ])
        }).pipe(Effect.scoped, Effect.provide(SqliteTopicLog.layer({ directory })))
        const next = yield* subscribe().pipe(
          Effect.flatMap((subscription) => subscription.read(10)),
          Effect.scoped,
          Effect.provide(SqliteTopicLog.layer({ directory }))
        )
        assert.deepStrictEqual(ranges(next), ["t-0@3+2", "t-0@5+2"])
      }),
    patience
  )

  it.effect("creates topics once, with the partitions that were asked for first", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const log = yield* TopicLog
        yield* log.create({ name: "b", partitions: 3 })
        yield* log.create({ name: "b", partitions: 5 })
        yield* appendAs(1, "a", "x")
        assert.deepStrictEqual(yield* log.topics, [{ name: "b", partitions: 3 }, { name: "a", partitions: 2 }])
      }).pipe(Effect.scoped, Effect.provide(SqliteTopicLog.layer({ directory, partitions: 2 })))
    }), patience)

  it.effect("deals records to partitions by key or in turn, and partitions to members", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const log = yield* TopicLog
        yield* log.create({ name: "t", partitions: 2 })
        const writer = yield* log.open(item, run(1))
        yield* writer.append([{
          topic: "t",
          records: [record("first"), record("second"), record("mine", { partition: 1 }), record("third")]
        }])
        const members = yield* Effect.forEach([0, 1], (member) =>
          Effect.flatMap(subscribe({ member, members: 2, item: Item.task("sink", member) }), (_) =>
            _.read(10)))
        assert.deepStrictEqual(members.map(values), [["first", "third"], ["second", "mine"]])
      }).pipe(Effect.scoped, Effect.provide(SqliteTopicLog.layer({ directory })))
    }), patience)

  it.effect("deals again when another process created the topic with other partitions", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const layer = SqliteTopicLog.layer({ directory })
      yield* Effect.gen(function*() {
        yield* TopicLog.use((log) => log.create({ name: "t", partitions: 3 })).pipe(
          Effect.provide(SqliteTopicLog.layer({ directory }), { local: true })
        )
        yield* appendAs(1, "t", "0", "1", "2")
        const all = yield* Effect.flatMap(subscribe(), (_) => _.read(10))
        assert.sameMembers([...ranges(all)], ["t-0@0+1", "t-1@0+1", "t-2@0+1"])
      }).pipe(Effect.scoped, Effect.provide(layer))
    }), patience)

  it.effect(
    "wakes a waiting reader by the append, also of a topic that was not there, without any time",
    () =>
      Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        yield* Effect.gen(function*() {
          const log = yield* TopicLog
          const subscription = yield* subscribe({ topics: { pattern: /t.*/ } })
          const waiting = yield* Effect.forkScoped(subscription.read(10), { startImmediately: true })
          yield* log.topics // answered after the reader's question
          yield* appendAs(1, "x", "not for the reader")
          yield* appendAs(1, "tea", "0")
          assert.deepStrictEqual(ranges(yield* Fiber.join(waiting)), ["tea-0@0+1"])
          const again = yield* Effect.forkScoped(subscription.read(10), { startImmediately: true })
          yield* log.topics
          yield* appendAs(1, "tea", "1")
          assert.deepStrictEqual(values(yield* Fiber.join(again)), ["1"])
        }).pipe(Effect.scoped, Effect.provide(SqliteTopicLog.layer({ directory })))
      }),
    patience
  )

  it.effect("an interrupted read loses nothing", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const subscription = yield* subscribe()
        const waiting = yield* Effect.forkScoped(subscription.read(10), { startImmediately: true })
        yield* Fiber.interrupt(waiting)
        yield* appendAs(1, "t", "0", "1")
        const asked = yield* Effect.forkScoped(subscription.read(10), { startImmediately: true })
        yield* Fiber.interrupt(asked)
        assert.deepStrictEqual(values(yield* subscription.read(10)), ["0", "1"])
      }).pipe(Effect.scoped, Effect.provide(SqliteTopicLog.layer({ directory })))
    }), patience)

  it.effect("sees what another process appends, after five seconds of waiting", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const subscription = yield* subscribe({ topics: { list: ["orders"] } })
        const waiting = yield* Effect.forkScoped(subscription.read(10))
        yield* (yield* Fixtures.start("appender", [directory, "1"])).rest
        yield* Fixtures.until(
          Effect.andThen(TestClock.adjust("5 seconds"), Effect.sync(() => waiting.pollUnsafe() !== undefined))
        )
        assert.deepStrictEqual(values(yield* Fiber.join(waiting)), ["1"])
      }).pipe(Effect.scoped, Effect.provide(SqliteTopicLog.layer({ directory })))
    }), patience)

  it.effect(
    "stores records and offsets in one transaction: neither when the offsets are fenced",
    () =>
      Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        yield* Effect.gen(function*() {
          const log = yield* TopicLog
          const offsets = yield* OffsetStore
          const source = yield* offsets.open(item, run(1))
          const writer = yield* log.open(item, run(1))
          const append = (value: string) =>
            writer.append(
              [{ topic: "t", records: [record(value)] }],
              source.prepare([{ partition: "p", offset: value }])
            )
          yield* append("1")
          yield* offsets.fence([{ item, run: run(2) }])
          assert.strictEqual((yield* Effect.flip(append("2"))).kind, "Fenced")
          assert.deepStrictEqual(yield* offsets.read("orders", ["p"]), ["1"])
          const subscription = yield* subscribe()
          assert.deepStrictEqual(values(yield* subscription.read(10)), ["1"])
        }).pipe(Effect.scoped, Effect.provide(Sqlite.layer({ directory })))
      }),
    patience
  )

  it.effect("stores neither when the writer of the offsets is closed", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const offsets = yield* OffsetStore
        const writer = yield* TopicLog.use((log) => log.open(item, run(1)))
        const prepared = yield* Effect.scoped(
          Effect.map(offsets.open(item, run(1)), (source) => source.prepare([{ partition: "p", offset: "1" }]))
        )
        const late = yield* Effect.flip(writer.append([{ topic: "t", records: [record("1")] }], prepared))
        assert.deepStrictEqual([late.kind, late.detail], ["Fenced", "the writer is closed"])
        assert.deepStrictEqual(yield* offsets.read("orders", ["p"]), [undefined])
        assert.deepStrictEqual(yield* TopicLog.use((log) => log.topics), [])
      }).pipe(Effect.scoped, Effect.provide(Sqlite.layer({ directory })))
    }), patience)

  it.effect("closing a writer waits for the append whose caller is gone", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const log = yield* TopicLog
        yield* Effect.scoped(Effect.gen(function*() {
          const writer = yield* log.open(item, run(1))
          const append = writer.append([{ topic: "t", records: [record("1")] }])
          yield* Fiber.interrupt(yield* Effect.forkChild(append, { startImmediately: true }))
        }))
        const database = new DatabaseSync(path.join(directory, "data.db"), { readOnly: true })
        assert.strictEqual(database.prepare("SELECT count(*) AS n FROM batches").get()?.n, 1)
        database.close()
      }).pipe(Effect.scoped, Effect.provide(SqliteTopicLog.layer({ directory })))
    }), patience)

  it.effect("appends before it stores offsets when these are of another engine", () =>
    Effect.gen(function*() {
      const [mine, theirs] = [yield* Fixtures.temporary, yield* Fixtures.temporary]
      yield* Effect.gen(function*() {
        const log = yield* TopicLog
        const offsets = yield* OffsetStore
        const source = yield* offsets.open(item, run(1))
        const writer = yield* log.open(item, run(1))
        yield* offsets.fence([{ item, run: run(2) }])
        const append = writer.append(
          [{ topic: "t", records: [record("1")] }],
          source.prepare([{ partition: "p", offset: "1" }])
        )
        assert.strictEqual((yield* Effect.flip(append)).operation, "store offsets")
        // at least once: the record is there, its offset is not
        assert.deepStrictEqual(values(yield* (yield* subscribe()).read(10)), ["1"])
        assert.deepStrictEqual(yield* offsets.read("orders", ["p"]), [undefined])
      }).pipe(
        Effect.scoped,
        Effect.provide([SqliteTopicLog.layer({ directory: mine }), SqliteOffsetStore.layer({ directory: theirs })])
      )
    }), patience)

  it.effect("accepts appends and positions of the newest run only (I7)", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const log = yield* TopicLog
        const older = yield* log.open(item, run(1))
        yield* log.open(item, run(2))
        const late = older.append([{ topic: "new", records: [record("late")] }])
        assert.strictEqual((yield* Effect.flip(late)).kind, "Fenced")
        assert.strictEqual((yield* Effect.flip(log.open(item, run(1, 7)))).kind, "Fenced")
        assert.deepStrictEqual(yield* log.topics, [])

        const subscription = yield* subscribe()
        yield* log.fence([{ item: reader, run: run(1, 2) }])
        const commit = subscription.commit([{ topic: "t", partition: 0, offset: 1 }])
        assert.strictEqual((yield* Effect.flip(commit)).kind, "Fenced")
        assert.strictEqual((yield* Effect.flip(subscribe())).kind, "Fenced")
        assert.deepStrictEqual(yield* log.positions("g"), [])
      }).pipe(Effect.scoped, Effect.provide(SqliteTopicLog.layer({ directory })))
    }), patience)
})

describe("retention", () => {
  it.effect("drops records that were stored long ago, and offsets go on", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        yield* appendAs(1, "t", "0", "1")
        yield* appendAs(1, "t", "2")
        yield* TestClock.adjust("7 days")
        yield* appendAs(1, "t", "3")
        yield* TestClock.adjust("1 minute")
        yield* appendAs(1, "t", "4")
        assert.deepStrictEqual(ranges(yield* (yield* subscribe()).read(10)), ["t-0@3+1", "t-0@4+1"])
      }).pipe(Effect.scoped, Effect.provide(SqliteTopicLog.layer({ directory })))
    }), patience)

  it.effect(
    "keeps the newest batch of a partition, so that its offsets go on after a restart",
    () =>
      Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        const layer = () => SqliteTopicLog.layer({ directory, retention: { millis: 1 } })
        yield* appendAs(1, "t", "0", "1").pipe(Effect.scoped, Effect.provide(layer()))
        yield* TestClock.adjust("1 day")
        const read = yield* Effect.gen(function*() {
          yield* appendAs(1, "other", "x")
          yield* appendAs(1, "t", "2")
          return yield* (yield* subscribe()).read(10)
        }).pipe(Effect.scoped, Effect.provide(layer()))
        assert.deepStrictEqual(ranges(read), ["t-0@0+2", "t-0@2+1"])
      }),
    patience
  )

  it.effect("drops the oldest records of a partition that grows beyond its bytes", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        for (let n = 0; n < 10; n++) yield* appendAs(1, "t", "x".repeat(1_000))
        yield* TestClock.adjust("1 minute")
        yield* appendAs(1, "t", "x".repeat(1_000))
        const read = yield* (yield* subscribe()).read(100)
        assert.deepStrictEqual(ranges(read), ["t-0@8+1", "t-0@9+1", "t-0@10+1"])
      }).pipe(Effect.scoped, Effect.provide(SqliteTopicLog.layer({ directory, retention: { bytes: 3_500 } })))
    }), patience)
})
