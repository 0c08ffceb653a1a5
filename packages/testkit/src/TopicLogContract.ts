/** What every `TopicLog` has to keep. */
import * as Item from "@kelpie/core/Item"
import type { OffsetStore } from "@kelpie/core/OffsetStore"
import { StoreError } from "@kelpie/core/StoreError"
import { TopicLog } from "@kelpie/core/TopicLog"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Contract from "./Contract.ts"
import { equal, fails, isTrue } from "./internal/check.ts"

type Log = TopicLog["Service"]
type LogRecord = TopicLog.LogRecord

const source = Item.task("source", 0)
const sink = Item.task("sink", 0)
const run = (token: number, start = 1): Item.Run => ({ token, start })
const bytes = (text: string) => new TextEncoder().encode(text)

const record = (value: string, more: Partial<LogRecord> = {}): LogRecord => ({
  key: null,
  value: bytes(value),
  headers: [],
  timestampMillis: 1_700_000_000_000,
  ...more
})
const numbers = (from: number, to: number, more: Partial<LogRecord> = {}) =>
  Array.from({ length: to - from }, (_, index) => record(`${from + index}`, more))

const append = (writer: TopicLog.Writer, topic: string, ...records: ReadonlyArray<LogRecord>) =>
  writer.append([{ topic, records }])

const reader = (log: Log, topic: string, more: Partial<TopicLog.SubscribeOptions> = {}) =>
  log.subscribe({
    item: sink,
    run: run(1),
    group: "connect-sink",
    topics: { list: [topic] },
    member: 0,
    members: 1,
    ...more
  })

/** A record with its place. */
interface Placed {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly record: LogRecord
}

const placed = (batches: ReadonlyArray<TopicLog.Batch>): ReadonlyArray<Placed> =>
  batches.flatMap(({ firstOffset, partition, records, topic }) =>
    records.map((record, index) => ({ topic, partition, offset: firstOffset + index, record }))
  )

/** Reads until there are so many records; no read may give none. */
const take = Effect.fnUntraced(function*(subscription: TopicLog.Subscription, count: number, maxRecords = 1000) {
  const all: Array<Placed> = []
  while (all.length < count) {
    const batches = yield* subscription.read(maxRecords)
    yield* isTrue("a read gives at least one record", batches.some((batch) => batch.records.length > 0))
    all.push(...placed(batches))
  }
  return all
})

const text = (value: Uint8Array | null) => value === null ? null : new TextDecoder().decode(value)
const values = (all: ReadonlyArray<Placed>) => all.map(({ record }) => text(record.value))
const sorted = (all: ReadonlyArray<string | null>) => all.map(String).sort()
const ofPartition = (all: ReadonlyArray<Placed>, partition: number) => all.filter((one) => one.partition === partition)
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `${from + index}`)

/** The value that marks the end: what stands before it in its partition is everything there is. */
const readsNothingMore = Effect.fnUntraced(function*(log: Log, subscription: TopicLog.Subscription, topic: string) {
  const writer = yield* log.open(Item.task("end marker", 0), run(1))
  yield* append(writer, topic, record("the end"))
  yield* equal("the next value", values(yield* take(subscription, 1)), ["the end"])
})

/** Prepared offsets of another engine, whose commit is watched. */
const offsetsOf = (commit: Effect.Effect<void, StoreError>): OffsetStore.Prepared => ({
  engine: undefined,
  item: source,
  run: run(1),
  entries: [],
  commit
})

const appending: (words: Contract.Words<Log>) => ReadonlyArray<Contract.Law> = ({ law }) => [
  law("lists topics in the order of their creation", (log) =>
    Effect.gen(function*() {
      yield* equal("the topics at first", yield* log.topics, [])
      yield* log.create({ name: "b", partitions: 3 })
      yield* log.create({ name: "a", partitions: 1 })
      yield* append(yield* log.open(source, run(1)), "0", record("x"))
      const topics = yield* log.topics
      yield* equal("the names", topics.map((topic) => topic.name), ["b", "a", "0"])
      yield* equal("the partitions", topics.slice(0, 2).map((topic) => topic.partitions), [3, 1])
    })),

  law("does not change a topic that is created again", (log) =>
    Effect.gen(function*() {
      yield* log.create({ name: "t", partitions: 3 })
      yield* append(yield* log.open(source, run(1)), "t", record("x", { partition: 2 }))
      yield* log.create({ name: "t", partitions: 5 })
      yield* equal("the topics", yield* log.topics, [{ name: "t", partitions: 3 }])
      yield* equal("the values", values(yield* take(yield* reader(log, "t"), 1)), ["x"])
    })),

  law("creates a topic of one partition by its first append", (log) =>
    Effect.gen(function*() {
      yield* append(yield* log.open(source, run(1)), "new", record("x"))
      yield* equal("the topics", yield* log.topics, [{ name: "new", partitions: 1 }])
    })),

  law(
    "keeps the records of a partition in their order, with offsets from 0 without gaps",
    (log) =>
      Effect.gen(function*() {
        yield* log.create({ name: "t", partitions: 2 })
        const writer = yield* log.open(source, run(1))
        yield* append(writer, "t", ...numbers(0, 30, { partition: 0 }), ...numbers(100, 110, { partition: 1 }))
        yield* append(writer, "t", ...numbers(30, 50, { partition: 0 }))
        const all = yield* take(yield* reader(log, "t"), 60, 7)
        yield* equal("the values of partition 0", values(ofPartition(all, 0)), range(0, 50))
        yield* equal("the values of partition 1", values(ofPartition(all, 1)), range(100, 110))
        yield* equal(
          "the offsets of partition 0",
          ofPartition(all, 0).map((one) => one.offset),
          range(0, 50).map(Number)
        )
      })
  ),

  law("gives every member of a record as it was appended", (log) =>
    Effect.gen(function*() {
      yield* log.create({ name: "t", partitions: 1 })
      const all: ReadonlyArray<LogRecord> = [
        record("x", { key: bytes("k"), headers: [["h", bytes("1")], ["a", null], ["h", new Uint8Array()]] }),
        { key: null, value: null, headers: [], timestampMillis: 0 },
        { key: new Uint8Array(), value: new Uint8Array(), headers: [], timestampMillis: 2 ** 41 + 1 },
        {
          key: Uint8Array.of(0, 255, 10),
          value: Uint8Array.of(255, 254, 0),
          headers: [["\u00E9\n", null]],
          timestampMillis: 1
        }
      ]
      yield* append(yield* log.open(source, run(1)), "t", ...all)
      const read = (yield* take(yield* reader(log, "t"), all.length)).map((one) => one.record)
      const plain = (one: LogRecord) => [one.key, one.value, one.headers, one.timestampMillis]
      yield* equal("the records", read.map(plain), all.map(plain))
    })),

  law("puts a record into the partition that it names", (log) =>
    Effect.gen(function*() {
      yield* log.create({ name: "t", partitions: 4 })
      const all = [3, 0, 2, 2].map((partition) => record(`${partition}`, { partition, key: bytes("same") }))
      yield* append(yield* log.open(source, run(1)), "t", ...all)
      for (const one of yield* take(yield* reader(log, "t"), 4)) {
        yield* equal("the partition", `${one.partition}`, text(one.record.value))
      }
    })),

  law("puts records of one key into one partition, and spreads keys", (log) =>
    Effect.gen(function*() {
      yield* log.create({ name: "t", partitions: 4 })
      const writer = yield* log.open(source, run(1))
      const keyed = (key: number) => record(`${key}`, { key: bytes(`key ${key}`) })
      yield* append(writer, "t", ...Array.from({ length: 40 }, (_, key) => keyed(key)))
      yield* append(writer, "t", ...Array.from({ length: 40 }, (_, key) => keyed(39 - key)))
      const partitions = new Map<string | null, Set<number>>()
      const all = yield* take(yield* reader(log, "t"), 80)
      for (const { partition, record } of all) {
        partitions.set(text(record.value), (partitions.get(text(record.value)) ?? new Set()).add(partition))
      }
      yield* isTrue("a key has one partition", [...partitions.values()].every((of) => of.size === 1))
      yield* equal("the partitions that are used", new Set(all.map((one) => one.partition)).size, 4)
    })),

  law("deals records without a key in turn", (log) =>
    Effect.gen(function*() {
      yield* log.create({ name: "t", partitions: 3 })
      yield* append(yield* log.open(source, run(1)), "t", ...numbers(0, 30))
      const all = yield* take(yield* reader(log, "t"), 30)
      yield* equal("the sizes", [0, 1, 2].map((partition) => ofPartition(all, partition).length), [10, 10, 10])
    })),

  law("appends to several topics at once, and nothing for nothing", (log) =>
    Effect.gen(function*() {
      const writer = yield* log.open(source, run(1))
      yield* writer.append([])
      yield* writer.append([
        { topic: "a", records: [record("1")] },
        { topic: "b", records: [record("2")] },
        { topic: "a", records: [record("3")] }
      ])
      yield* equal("the values of a", values(yield* take(yield* reader(log, "a"), 2)), ["1", "3"])
      yield* equal("the values of b", values(yield* take(yield* reader(log, "b", { group: "other" }), 1)), ["2"])
    })),

  law(
    "keeps all records of writers that append at the same time, each writer's in its order",
    (log) =>
      Effect.gen(function*() {
        const writers = [0, 1, 2, 3, 4]
        yield* Effect.forEach(writers, (n) =>
          Effect.flatMap(log.open(Item.task("source", n), run(1)), (writer) =>
            Effect.forEach(range(0, 20), (i) =>
              append(writer, "t", record(`${n}:${i}`)))), {
          concurrency: "unbounded"
        })
        const all = values(yield* take(yield* reader(log, "t"), 100))
        for (const n of writers) {
          const own = all.filter((value) =>
            value?.startsWith(`${n}:`) === true
          )
          yield* equal(`the values of writer ${n}`, own, range(0, 20).map((i) => `${n}:${i}`))
        }
      })
  ),

  law("stores the offsets that stand for records after them (I9)", (log) =>
    Effect.gen(function*() {
      const subscription = yield* reader(log, "t")
      let seen: ReadonlyArray<string | null> = ["not stored"]
      const commit = Effect.map(Effect.orDie(take(subscription, 1)), (all) => {
        seen = values(all)
      })
      const writer = yield* log.open(source, run(1))
      yield* writer.append([{ topic: "t", records: [record("x")] }], offsetsOf(commit))
      yield* equal("the records that were there when the offsets were stored", seen, ["x"])
    })),

  law("fails when the offsets cannot be stored", (log) =>
    Effect.gen(function*() {
      const writer = yield* log.open(source, run(1))
      const commit = Effect.fail(new StoreError({ kind: "Unavailable", operation: "store offsets" }))
      yield* fails(
        "the append",
        "Unavailable",
        writer.append([{ topic: "t", records: [record("x")] }], offsetsOf(commit))
      )
    })),

  law("stores offsets without records too", (log) =>
    Effect.gen(function*() {
      let stored = 0
      const commit = Effect.sync(() => {
        stored++
      })
      yield* (yield* log.open(source, run(1))).append([], offsetsOf(commit))
      yield* equal("how often the offsets were stored", stored, 1)
    }))
]

const fencing: (words: Contract.Words<Log>) => ReadonlyArray<Contract.Law> = ({ law }) => [
  law("accepts appends only from the writer opened last for its item (I7)", (log) =>
    Effect.gen(function*() {
      const older = yield* log.open(source, run(5))
      const newer = yield* log.open(source, run(6))
      let stored = 0
      const commit = Effect.sync(() => {
        stored++
      })
      const late = older.append([{ topic: "t", records: [record("late")] }], offsetsOf(commit))
      yield* fails("an append of the older run", "Fenced", late)
      yield* equal("how often its offsets were stored", stored, 0)
      yield* append(newer, "t", record("x"))
      yield* equal("the values", values(yield* take(yield* reader(log, "t"), 1)), ["x"])
    })),

  law("refuses to open for an older run, by token, then by start (I7)", (log) =>
    Effect.gen(function*() {
      yield* log.open(source, run(9, 10))
      yield* fails("opening for an older token", "Fenced", log.open(source, run(8, 99)))
      yield* fails("opening for an older start", "Fenced", log.open(source, run(9, 2)))
      yield* append(yield* log.open(source, run(10, 1)), "t", record("x"))
      yield* log.open(source, run(2 ** 40))
    })),

  law(
    "fences older runs without opening; fencing with an older run changes nothing (I7)",
    (log) =>
      Effect.gen(function*() {
        const older = yield* log.open(source, run(5))
        const other = yield* log.open(Item.task("source", 1), run(1))
        yield* log.fence([{ item: source, run: run(6) }])
        yield* fails("an append of the older run", "Fenced", append(older, "t", record("late")))
        yield* fails("opening for the older run", "Fenced", log.open(source, run(5)))
        const writer = yield* log.open(source, run(6))
        yield* log.fence([{ item: source, run: run(5) }])
        yield* append(writer, "t", record("1"))
        yield* append(other, "t", record("2"))
        yield* equal("the values", values(yield* take(yield* reader(log, "t"), 2)), ["1", "2"])
      })
  ),

  law("accepts positions only from the run opened last for the item (I7)", (log) =>
    Effect.gen(function*() {
      yield* append(yield* log.open(source, run(1)), "t", ...numbers(0, 5))
      const older = yield* reader(log, "t", { run: run(5) })
      yield* take(older, 5)
      yield* older.commit([{ topic: "t", partition: 0, offset: 2 }])
      const newer = yield* reader(log, "t", { run: run(6) })
      yield* fails("positions of the older run", "Fenced", older.commit([{ topic: "t", partition: 0, offset: 5 }]))
      yield* fails("subscribing for the older run", "Fenced", reader(log, "t", { run: run(5) }))
      yield* equal("the positions", yield* log.positions("connect-sink"), [{ topic: "t", partition: 0, offset: 2 }])
      yield* newer.commit([{ topic: "t", partition: 0, offset: 3 }])
    })),

  law("accepts no positions of a run that was fenced (I7)", (log) =>
    Effect.gen(function*() {
      yield* append(yield* log.open(source, run(1)), "t", ...numbers(0, 5))
      const subscription = yield* reader(log, "t")
      yield* log.fence([{ item: sink, run: run(2) }])
      yield* fails("positions", "Fenced", subscription.commit([{ topic: "t", partition: 0, offset: 5 }]))
      yield* equal("the positions", yield* log.positions("connect-sink"), [])
    })),

  law("accepts nothing from a writer or a subscription that is closed (I7, I12)", (log) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const writer = yield* Scope.provide(log.open(source, run(1)), scope)
      yield* append(writer, "t", record("x"))
      const subscription = yield* Scope.provide(reader(log, "t"), scope)
      yield* take(subscription, 1)
      yield* Scope.close(scope, Exit.void)
      yield* fails("an append", "Fenced", append(writer, "t", record("late")))
      yield* fails("positions", "Fenced", subscription.commit([{ topic: "t", partition: 0, offset: 1 }]))
      const again = yield* reader(log, "t", { run: run(1, 2) })
      yield* equal("the values", values(yield* take(again, 1)), ["x"])
      yield* readsNothingMore(log, again, "t")
    }))
]

const reading: (words: Contract.Words<Log>) => ReadonlyArray<Contract.Law> = ({ law }) => [
  law("waits until there is a record", (log) =>
    Effect.gen(function*() {
      const subscription = yield* reader(log, "t")
      const read = yield* Effect.forkChild(take(subscription, 1), { startImmediately: true })
      const writer = yield* log.open(source, run(1))
      yield* append(writer, "other", record("no"))
      yield* Effect.sleep("50 millis")
      yield* append(writer, "t", record("x"))
      yield* equal("the values", values(yield* Fiber.join(read)), ["x"])
    })),

  law("takes nothing when a read is interrupted", (log) =>
    Effect.gen(function*() {
      const subscription = yield* reader(log, "t")
      const read = yield* Effect.forkChild(subscription.read(10), { startImmediately: true })
      yield* Effect.yieldNow
      yield* Fiber.interrupt(read)
      yield* append(yield* log.open(source, run(1)), "t", ...numbers(0, 3))
      yield* equal("the values", values(yield* take(subscription, 3)), range(0, 3))
    })),

  law("gives each record once, whatever the size of the reads", (log) =>
    Effect.gen(function*() {
      yield* log.create({ name: "t", partitions: 3 })
      const writer = yield* log.open(source, run(1))
      yield* append(writer, "t", ...numbers(0, 100))
      const subscription = yield* reader(log, "t")
      const first = yield* take(subscription, 40, 3)
      yield* append(writer, "t", ...numbers(100, 150))
      const all = [...first, ...(yield* take(subscription, 150 - first.length, 1000))]
      yield* equal("the values", values(all).map(Number).sort((a, b) => a - b), range(0, 150).map(Number))
    })),

  law("lets no partition wait for ever behind a busy one", (log) =>
    Effect.gen(function*() {
      yield* log.create({ name: "t", partitions: 2 })
      const writer = yield* log.open(source, run(1))
      const subscription = yield* reader(log, "t")
      yield* append(writer, "t", record("quiet 0", { partition: 0 }), record("quiet 1", { partition: 1 }))
      const seen: Array<Placed> = []
      for (let round = 0; round < 20; round++) {
        yield* append(writer, "t", ...numbers(0, 10, { partition: round % 2 }), ...numbers(0, 10, { partition: 0 }))
        seen.push(...placed(yield* subscription.read(10)))
      }
      yield* isTrue(
        "the records of both partitions were read",
        values(seen).filter((value) => value?.startsWith("quiet")).length === 2
      )
    })),

  law("stores positions only when they are committed, each group its own (I9)", (log) =>
    Effect.gen(function*() {
      yield* log.create({ name: "t", partitions: 2 })
      yield* append(yield* log.open(source, run(1)), "t", ...numbers(0, 4))
      const subscription = yield* reader(log, "t")
      yield* take(subscription, 4)
      yield* equal("the positions after reading", yield* log.positions("connect-sink"), [])
      yield* subscription.commit([{ topic: "t", partition: 1, offset: 1 }])
      yield* subscription.commit([{ topic: "t", partition: 1, offset: 2 }, { topic: "t", partition: 0, offset: 1 }])
      const stored = yield* log.positions("connect-sink")
      yield* equal("the positions", [...stored].sort((a, b) => a.partition - b.partition), [
        { topic: "t", partition: 0, offset: 1 },
        { topic: "t", partition: 1, offset: 2 }
      ])
      yield* equal("the positions of another group", yield* log.positions("connect-other"), [])
    })),

  law("goes on at the stored positions, and reads again what was not committed", (log) =>
    Effect.gen(function*() {
      yield* append(yield* log.open(source, run(1)), "t", ...numbers(0, 10))
      yield* Effect.scoped(Effect.gen(function*() {
        const subscription = yield* reader(log, "t")
        yield* take(subscription, 10)
        yield* subscription.commit([{ topic: "t", partition: 0, offset: 4 }])
      }))
      const again = yield* take(yield* reader(log, "t", { run: run(1, 2) }), 6)
      yield* equal("the values", values(again), range(4, 10))
      yield* equal("the first offset", again[0]?.offset, 4)
    })),

  law("gives every group every record", (log) =>
    Effect.gen(function*() {
      yield* append(yield* log.open(source, run(1)), "t", ...numbers(0, 5))
      for (const n of [0, 1]) {
        const subscription = yield* reader(log, "t", { group: `group ${n}`, item: Item.task("sink", n) })
        const all = yield* take(subscription, 5)
        yield* equal("the values", values(all), range(0, 5))
        yield* subscription.commit([{ topic: "t", partition: 0, offset: 5 }])
      }
    })),

  law("deals partition p of the first topic to member p modulo n, each to one", (log) =>
    Effect.gen(function*() {
      yield* log.create({ name: "t", partitions: 5 })
      const writer = yield* log.open(source, run(1))
      for (let partition = 0; partition < 5; partition++) {
        yield* append(writer, "t", record(`${partition}`, { partition }))
      }
      const expected = [["0", "2", "4"], ["1", "3"]]
      for (const member of [0, 1]) {
        const subscription = yield* reader(log, "t", { item: Item.task("sink", member), member, members: 2 })
        const all = yield* take(subscription, expected[member]?.length ?? 0)
        yield* equal(`the partitions of member ${member}`, sorted(values(all)), expected[member] ?? [])
      }
    })),

  law("reads the topics whose whole name matches a pattern, also those created later", (log) =>
    Effect.gen(function*() {
      const writer = yield* log.open(source, run(1))
      for (const topic of ["orders", "my-orders", "orders-dlq"]) yield* append(writer, topic, record(topic))
      const subscription = yield* reader(log, "", { topics: { pattern: /orders|orders-[a-c]+|users/ } })
      yield* equal("the values", values(yield* take(subscription, 1)), ["orders"])
      const read = yield* Effect.forkChild(take(subscription, 2), { startImmediately: true })
      yield* append(writer, "users", record("users"))
      yield* append(writer, "orders-abc", record("orders-abc"))
      yield* equal("the values of new topics", sorted(values(yield* Fiber.join(read))), ["orders-abc", "users"])
    })),

  law("waits for a topic that does not exist yet, without creating it", (log) =>
    Effect.gen(function*() {
      const subscription = yield* reader(log, "later")
      const read = yield* Effect.forkChild(take(subscription, 1), { startImmediately: true })
      yield* equal("the topics", yield* log.topics, [])
      yield* log.create({ name: "later", partitions: 2 })
      yield* append(yield* log.open(source, run(1)), "later", record("x", { partition: 1 }))
      yield* equal("the values", values(yield* Fiber.join(read)), ["x"])
    }))
]

const at = (partition: number, offset: number | null) => ({ topic: "t", partition, offset })

const altering: (words: Contract.Words<Log>) => ReadonlyArray<Contract.Law> = ({ law }) => {
  const alter = (log: Log, position: number, ...positions: ReadonlyArray<ReturnType<typeof at>>) =>
    log.alterPositions({ connector: "sink", position, group: "connect-sink", positions })
  const stored = (log: Log, what: string, ...expected: ReadonlyArray<ReturnType<typeof at>>) =>
    Effect.flatMap(
      log.positions("connect-sink"),
      (positions) => equal(what, [...positions].sort((a, b) => a.partition - b.partition), expected)
    )
  return [
    law("alters and forgets positions of a group that nobody reads for", (log) =>
      Effect.gen(function*() {
        yield* log.create({ name: "t", partitions: 3 })
        const writer = yield* log.open(source, run(1))
        yield* append(writer, "t", ...numbers(0, 4, { partition: 0 }), ...numbers(10, 14, { partition: 1 }))
        yield* Effect.scoped(
          Effect.flatMap(
            reader(log, "t"),
            (old) => old.commit([{ ...at(0, 4), offset: 4 }, { ...at(1, 4), offset: 4 }])
          )
        )
        yield* alter(log, 9, at(0, 2), at(1, null), at(2, 0))
        yield* stored(log, "the positions", at(0, 2), at(2, 0))
        const all = yield* take(yield* reader(log, "t", { run: run(10) }), 6)
        yield* equal("the values of partition 0", values(ofPartition(all, 0)), range(2, 4))
        yield* equal("the values of partition 1", values(ofPartition(all, 1)), range(10, 14))
      })),

    law("fences every earlier owner of the connector's items when it alters (I7)", (log) =>
      Effect.gen(function*() {
        const late = yield* reader(log, "t", { run: run(9, 7) })
        const other = yield* reader(log, "t", { item: Item.task("sink", 11), run: run(5) })
        yield* alter(log, 9, at(0, 2))
        yield* fails("positions of a late task", "Fenced", late.commit([{ ...at(0, 4), offset: 4 }]))
        yield* fails("positions of another late task", "Fenced", other.commit([{ ...at(0, 4), offset: 4 }]))
        yield* stored(log, "the positions", at(0, 2))
        yield* (yield* reader(log, "t", { run: run(10) })).commit([{ ...at(0, 3), offset: 3 }])
      })),

    law(
      "alters nothing when a later owner has opened any of the connector's items (I7)",
      (log) =>
        Effect.gen(function*() {
          const older = yield* reader(log, "t", { run: run(5) })
          const later = yield* reader(log, "t", { item: Item.task("sink", 1), run: run(10) })
          yield* fails("altering", "Fenced", alter(log, 9, at(0, 2)))
          yield* stored(log, "the positions")
          yield* older.commit([{ ...at(0, 1), offset: 1 }])
          yield* later.commit([{ ...at(1, 1), offset: 1 }])
        })
    ),

    law("alters positions of one group and one connector", (log) =>
      Effect.gen(function*() {
        const item = Item.task("other", 0)
        const other = yield* reader(log, "t", { group: "connect-other", item, run: run(99) })
        yield* alter(log, 9, at(0, 2))
        yield* equal("the positions of another group", yield* log.positions("connect-other"), [])
        yield* other.commit([{ ...at(0, 1), offset: 1 }])
      }))
  ]
}

const using: (words: Contract.Words<Log>) => ReadonlyArray<Contract.Law> = ({ law, shared }) => {
  const uses = (log: Log, usage: string, ...topics: ReadonlyArray<string>) =>
    Effect.flatMap(log.usedTopics(usage), (used) => equal(`the topics of ${usage}`, sorted(used), topics))
  return [
    law("remembers the topics that were appended to, by usage", (log) =>
      Effect.gen(function*() {
        yield* uses(log, "a")
        const writer = yield* log.open(source, run(1), { usage: "a" })
        yield* uses(log, "a")
        yield* writer.append([{ topic: "t", records: [record("x")] }, { topic: "empty", records: [] }])
        yield* append(writer, "t", record("y"))
        yield* append(writer, "u", record("x"))
        yield* append(yield* log.open(Item.task("other", 0), run(1), { usage: "b" }), "v", record("x"))
        yield* append(yield* log.open(Item.task("silent", 0), run(1)), "w", record("x"))
        yield* uses(log, "a", "t", "u")
        yield* uses(log, "b", "v")
      })),

    law("remembers the topics whose positions were stored, by usage", (log) =>
      Effect.gen(function*() {
        const subscription = yield* reader(log, "t", { usage: "a" })
        yield* uses(log, "a")
        yield* subscription.commit([{ topic: "t", partition: 0, offset: 0 }])
        yield* uses(log, "a", "t")
      })),

    law("remembers no topic of what was refused", (log) =>
      Effect.gen(function*() {
        const writer = yield* log.open(source, run(5), { usage: "a" })
        const subscription = yield* reader(log, "t", { run: run(5), usage: "a" })
        yield* log.fence([{ item: source, run: run(6) }, { item: sink, run: run(6) }])
        yield* fails("an append", "Fenced", append(writer, "t", record("x")))
        yield* fails("positions", "Fenced", subscription.commit([{ topic: "t", partition: 0, offset: 0 }]))
        yield* uses(log, "a")
      })),

    law("forgets topics until they are used again", (log) =>
      Effect.gen(function*() {
        const writer = yield* log.open(source, run(1), { usage: "a" })
        const other = yield* log.open(Item.task("other", 0), run(1), { usage: "b" })
        for (const one of [writer, other]) yield* append(one, "t", record("x"))
        yield* append(writer, "u", record("x"))
        yield* log.forgetTopics("a")
        yield* log.forgetTopics("never seen")
        yield* uses(log, "a")
        yield* uses(log, "b", "t")
        yield* append(writer, "t", record("y"))
        yield* uses(log, "a", "t")
      })),

    shared("tells every worker which topics were used", (one, other) =>
      Effect.gen(function*() {
        const writer = yield* one.open(source, run(1), { usage: "a" })
        yield* append(writer, "t", record("x"))
        yield* uses(other, "a", "t")
        yield* other.forgetTopics("a")
        yield* uses(one, "a")
        yield* append(writer, "t", record("y"))
        yield* uses(other, "a", "t")
      }))
  ]
}

const lasting: (words: Contract.Words<Log>) => ReadonlyArray<Contract.Law> = ({ durable, ends, notified, shared }) => [
  durable("has topics, records and positions after it is opened again (I9)", (open) =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        const log = yield* open
        yield* log.create({ name: "empty", partitions: 4 })
        yield* append(yield* log.open(source, run(1), { usage: "a" }), "t", ...numbers(0, 10))
        const subscription = yield* reader(log, "t")
        yield* take(subscription, 10)
        yield* subscription.commit([{ topic: "t", partition: 0, offset: 4 }])
      }))
      const log = yield* open
      yield* equal("the used topics", yield* log.usedTopics("a"), ["t"])
      yield* equal("the topics", yield* log.topics, [{ name: "empty", partitions: 4 }, { name: "t", partitions: 1 }])
      yield* equal("the positions", yield* log.positions("connect-sink"), [{ topic: "t", partition: 0, offset: 4 }])
      yield* append(yield* log.open(source, run(2)), "t", ...numbers(10, 12))
      const all = yield* take(yield* reader(log, "t", { run: run(2) }), 8)
      yield* equal("the values", values(all), range(4, 12))
      yield* equal("the offsets", all.map((one) => one.offset), range(4, 12).map(Number))
    })),

  durable("keeps floors when it is opened again (I7)", (open) =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        const log = yield* open
        yield* log.open(source, run(6))
        yield* log.fence([{ item: Item.task("source", 1), run: run(6) }])
        yield* reader(log, "t", { run: run(6) })
      }))
      const log = yield* open
      yield* fails("opening for an older run", "Fenced", log.open(source, run(5)))
      yield* fails("opening for a run that was fenced", "Fenced", log.open(Item.task("source", 1), run(5)))
      yield* fails("subscribing for an older run", "Fenced", reader(log, "t", { run: run(5) }))
    })),

  shared("gives a reader what another worker has appended", (one, other) =>
    Effect.gen(function*() {
      yield* append(yield* one.open(source, run(1)), "t", record("0"))
      yield* equal("the topics", yield* other.topics, [{ name: "t", partitions: 1 }])
      yield* equal("the values", values(yield* take(yield* reader(other, "t"), 1)), ["0"])
    })),

  notified("wakes a reader for what another worker appends", (one, other) =>
    Effect.gen(function*() {
      const subscription = yield* reader(other, "t")
      const read = yield* Effect.forkChild(take(subscription, 2), { startImmediately: true })
      const writer = yield* one.open(source, run(1))
      yield* append(writer, "t", record("0"))
      yield* append(writer, "t", record("1"))
      yield* equal("the values", values(yield* Fiber.join(read)), ["0", "1"])
    })),

  shared("fences the writer and the reader of another worker (I7)", (one, other) =>
    Effect.gen(function*() {
      const writer = yield* one.open(source, run(5))
      yield* append(writer, "t", record("0"))
      const subscription = yield* reader(one, "t", { run: run(5) })
      yield* take(subscription, 1)
      yield* append(yield* other.open(source, run(6)), "t", record("1"))
      yield* fails("an append of the older run", "Fenced", append(writer, "t", record("late")))
      const newer = yield* reader(other, "t", { run: run(6) })
      yield* fails(
        "positions of the older run",
        "Fenced",
        subscription.commit([{ topic: "t", partition: 0, offset: 1 }])
      )
      yield* equal("the values", values(yield* take(newer, 2)), ["0", "1"])
    })),

  ends((log) =>
    Effect.gen(function*() {
      const subscription = yield* reader(log, "t")
      yield* append(yield* log.open(source, run(1)), "t", record("x"))
      yield* take(subscription, 1)
      yield* Effect.forkScoped(subscription.read(1))
      yield* subscription.commit([{ topic: "t", partition: 0, offset: 1 }])
    })
  )
]

/** The laws of a `TopicLog`. */
export const TopicLogContract = (
  world: Contract.World<TopicLog>,
  options: Contract.Options = {}
): ReadonlyArray<Contract.Law> =>
  Contract.laws(TopicLog, world, options, (words) => [
    ...appending(words),
    ...fencing(words),
    ...reading(words),
    ...altering(words),
    ...using(words),
    ...lasting(words)
  ])
