import { assert, describe, it, vi } from "@effect/vitest"
import { all } from "@kelpie/connectors"
import type { Plugin, SinkConnector, SinkRecord, SourceRecord } from "@kelpie/core"
import { Sqlite } from "@kelpie/sqlite"
import { ScriptedSink, ScriptedSource } from "@kelpie/testkit"
import { Effect, Fiber } from "effect"
import { folder } from "./fixtures/folder.ts"
import * as Running from "./fixtures/Running.ts"

vi.setConfig({ testTimeout: 60_000 })

type Emitted = ReadonlyArray<SourceRecord>

/** A source, a sink, and whatever else a pipeline has. */
const scripted = Effect.gen(function*() {
  const source = yield* ScriptedSource.make()
  const sink = yield* ScriptedSink.make()
  const records = (name?: string) => Effect.map(sink.records(name), (accepted) => accepted.map(({ record }) => record))
  return { source, sink, records, plugins: [source, sink, ...all] }
})

/** Under virtual time, in memory. */
const inMemory = Effect.gen(function*() {
  const world = yield* scripted
  const running = yield* Running.virtual({ plugins: world.plugins })
  const { herder } = running
  const { records, sink, source } = world
  return {
    ...world,
    ...running,
    make: (
      options: {
        readonly source?: Plugin.ConnectorOptions
        readonly sinks?: { readonly [name: string]: SinkConnector.SinkOptions }
      }
    ) =>
      Effect.gen(function*() {
        for (const [name, config] of Object.entries(options.sinks ?? { sink: {} })) {
          yield* herder.create(name, sink.config({}, { topics: ["t"], ...config }))
        }
        yield* herder.create("source", source.config({}, options.source))
      }),
    emit: (...records: Emitted) => source.emit("source", 0, records),
    /** Until so many have arrived, and no more. */
    arrive: (count: number, name?: string) =>
      Effect.gen(function*() {
        yield* Running.settled(records(name), ({ length }) => length >= count)
        for (let turns = 0; turns < 50; turns++) yield* Running.turn
        const arrived = yield* records(name)
        assert.strictEqual(arrived.length, count)
        return arrived
      })
  }
})

const values = (records: ReadonlyArray<SinkRecord>) => records.map(({ value }) => value)

describe("transforms and predicates, through the whole pipeline", () => {
  it.effect("of a source: each acts on the records that its predicate takes, in their order", () =>
    Effect.gen(function*() {
      const { arrive, emit, make } = yield* inMemory
      yield* make({
        source: {
          transforms: {
            drop: { type: "Filter", predicate: "empty" },
            stamp: { type: "InsertField$Value", "static.field": "from", "static.value": "here", predicate: "orders" },
            route: { type: "RegexRouter", regex: "(.*)-raw", replacement: "$1", predicate: "orders", negate: "true" }
          },
          predicates: {
            empty: { type: "RecordIsTombstone" },
            orders: { type: "TopicNameMatches", pattern: "orders.*" }
          }
        },
        sinks: { sink: { topics: ["orders-raw", "items", "items-raw"] } }
      })
      yield* emit(
        { topic: "orders-raw", value: { id: 1 } },
        { topic: "orders-raw", value: null },
        { topic: "items-raw", value: { id: 2 } },
        { topic: "items-raw", value: null }
      )
      const arrived = yield* arrive(2)
      assert.sameDeepMembers(arrived.map(({ topic, value }) => ({ topic, value })), [
        { topic: "orders-raw", value: { id: 1, from: "here" } },
        { topic: "items", value: { id: 2 } }
      ])
    }))

  it.effect("of a sink: the original topic stays, and a dropped record moves the position too", () =>
    Effect.gen(function*() {
      const { arrive, emit, herder, make, runs } = yield* inMemory
      yield* make({
        sinks: {
          sink: {
            transforms: {
              only: { type: "Filter", predicate: "marked", negate: "true" },
              route: { type: "RegexRouter", regex: "t", replacement: "renamed" }
            },
            predicates: { marked: { type: "HasHeaderKey", name: "mark" } }
          }
        }
      })
      yield* emit(
        { topic: "t", value: 1, headers: [["mark", true]] },
        { topic: "t", value: 2 },
        { topic: "t", value: 3, headers: [["mark", false]] },
        { topic: "t", value: 4 }
      )
      const arrived = yield* arrive(2)
      assert.deepStrictEqual(
        arrived.map(({ offset, originalTopic, topic, value }) => [topic, originalTopic, offset, value]),
        [
          ["renamed", "t", 0, 1],
          ["renamed", "t", 2, 3]
        ]
      )
      yield* herder.restart("sink", { includeTasks: true })
      yield* runs("sink")
      yield* emit({ topic: "t", value: 5, headers: [["mark", 1]] })
      assert.deepStrictEqual(values(yield* arrive(3)), [1, 3, 5])
    }))
})

describe("converters", () => {
  it.effect("are those of the connector's own keys, one for keys, values and headers each", () =>
    Effect.gen(function*() {
      const { arrive, emit, make } = yield* inMemory
      yield* make({
        source: {
          "key.converter": "StringConverter",
          "value.converter": "JsonConverter",
          "value.converter.schemas.enable": "true",
          "header.converter": "StringConverter"
        },
        sinks: {
          same: {
            "key.converter": "StringConverter",
            "value.converter": "JsonConverter",
            "value.converter.schemas.enable": "true",
            "header.converter": "StringConverter"
          },
          text: { "key.converter": "StringConverter", "value.converter": "StringConverter" },
          bytes: { "key.converter": "ByteArrayConverter", "value.converter": "ByteArrayConverter" }
        }
      })
      yield* emit({ topic: "t", key: "k", value: 7, valueSchema: { type: "int32" }, headers: [["h", "1"]] })
      const [same] = yield* arrive(1, "same")
      assert.deepInclude(same, { key: "k", value: 7 })
      assert.strictEqual(same?.valueSchema?.type, "int32")
      assert.deepStrictEqual(same?.headers?.[0]?.[1], "1")
      const [text] = yield* arrive(1, "text")
      assert.deepStrictEqual(JSON.parse(String(text?.value)), {
        schema: { type: "int32", optional: false },
        payload: 7
      })
      assert.deepStrictEqual(text?.headers?.[0]?.[1], 1) // the default reads what the text looks like
      const [bytes] = yield* arrive(1, "bytes")
      assert.deepStrictEqual(bytes?.key, new TextEncoder().encode("k"))
    }))
})

describe("topics.regex", () => {
  it.effect("takes every topic that matches as a whole, those that come later too", () =>
    Effect.gen(function*() {
      const { arrive, emit, make } = yield* inMemory
      yield* make({ sinks: { sink: { topics: undefined, "topics.regex": "orders-\\d+" } } })
      yield* emit({ topic: "orders-1", value: 1 }, { topic: "items-1", value: 2 })
      yield* arrive(1)
      yield* emit({ topic: "orders-2", value: 3 }, { topic: "old-orders-1", value: 4 }, {
        topic: "orders-2x",
        value: 5
      })
      yield* emit({ topic: "orders-1", value: 6 })
      assert.sameMembers(values(yield* arrive(3)), [1, 3, 6])
    }))
})

describe("several tasks over several partitions", () => {
  it.effect("get each record once, keys in order, and all have something to do", () =>
    Effect.gen(function*() {
      const { arrive, emit, make, runs, sink } = yield* inMemory
      yield* make({
        source: { "topic.creation.default.partitions": "6", "topic.creation.default.replication.factor": "1" },
        sinks: { sink: { tasksMax: 3 } }
      })
      const { tasks } = yield* runs("sink")
      assert.strictEqual(tasks.length, 3)
      const count = 600
      for (let n = 0; n < count; n += 50) {
        yield* emit(...Array.from({ length: 50 }, (_, i) => ({ topic: "t", key: `k${(n + i) % 20}`, value: n + i })))
      }
      const arrived = yield* arrive(count)
      assert.strictEqual(new Set(values(arrived)).size, count)
      assert.deepStrictEqual(new Set(arrived.map(({ partition }) => partition)), new Set([0, 1, 2, 3, 4, 5]))
      for (let key = 0; key < 20; key++) {
        const inOrder = arrived.filter((record) => record.key === `k${key}`).map(({ value }) => Number(value))
        assert.deepStrictEqual(inOrder, [...inOrder].sort((a, b) => a - b))
      }
      // member m of three reads the partitions that are m modulo three
      const dealt = (yield* sink.records("sink")).map(({ record, task }) => `${record.partition} to ${task}`)
      assert.deepStrictEqual(new Set(dealt), new Set(["0 to 0", "1 to 1", "2 to 2", "3 to 0", "4 to 1", "5 to 2"]))
    }))
})

/** What is done to connectors while records flow. */
const operations = (
  running: Running.Running,
  names: { readonly source: string; readonly sink: string },
  configs: { readonly source: Plugin.ConnectorConfig; readonly sink: (tasks: number) => Plugin.ConnectorConfig }
) =>
  Effect.gen(function*() {
    const { herder, runs, until } = running
    for (const name of [names.source, names.sink]) {
      yield* herder.pause(name)
      yield* until(name, ({ tasks }) => tasks.every(({ state }) => state === "PAUSED"))
      yield* herder.resume(name)
      yield* runs(name)
      yield* herder.restart(name, { includeTasks: true })
      yield* runs(name)
      yield* herder.stop(name)
      yield* until(name, ({ state, tasks }) => state === "STOPPED" && tasks.length === 0)
      yield* herder.resume(name)
      yield* runs(name)
    }
    // another number of tasks deals the partitions anew
    for (const tasks of [1, 4, 2]) {
      yield* herder.put(names.sink, configs.sink(tasks))
      yield* until(names.sink, (status) =>
        Running.isRunning(status) && status.tasks.length === tasks &&
        status.revision.stored === status.revision.applied)
    }
    // offsets and positions survive a delete
    for (const [name, config] of [[names.source, configs.source], [names.sink, configs.sink(2)]] as const) {
      yield* herder.delete(name)
      yield* herder.create(name, config)
      yield* runs(name)
    }
  })

const flowing = Effect.fnUntraced(function*(
  world: { readonly source: ScriptedSource.ScriptedSource; readonly sink: ScriptedSink.ScriptedSink },
  running: Running.Running,
  pause: Effect.Effect<void>,
  waiting: typeof Running.settled
) {
  const { sink, source } = world
  const { herder, runs } = running
  const configs = {
    source: source.config({}, {
      "topic.creation.default.partitions": "4",
      "topic.creation.default.replication.factor": "1"
    }),
    sink: (tasks: number) => sink.config({}, { topics: ["t"], tasksMax: tasks })
  }
  yield* herder.create("sink", configs.sink(2))
  yield* herder.create("source", configs.source)
  yield* runs("source")
  yield* runs("sink")
  let emitted = 0
  const more = Effect.suspend(() =>
    source.emit("source", 0, Array.from({ length: 3 }, () => ({ topic: "t", key: emitted % 7, value: emitted++ })))
  )
  const emitting = yield* Effect.forkChild(
    Effect.forever(Effect.andThen(Effect.uninterruptible(more), pause), { disableYield: true }),
    { startImmediately: true }
  )
  yield* operations(running, { source: "source", sink: "sink" }, configs)
  yield* Fiber.interrupt(emitting)
  const arrived = yield* waiting(sink.records("sink"), ({ length }) => length >= emitted)
  const count = new Map<number, number>()
  for (const { record } of arrived) count.set(Number(record.value), (count.get(Number(record.value)) ?? 0) + 1)
  const lost = Array.from({ length: emitted }, (_, n) => n).filter((n) => !count.has(n))
  const twice = [...count].filter(([, times]) => times > 1).map(([value]) => value)
  assert.deepStrictEqual({ lost, twice }, { lost: [], twice: [] })
  assert.isAbove(emitted, 50)
})

describe("pause, resume, restart, stop, another split, delete and create again, while records flow", () => {
  it.effect("lose nothing and double nothing, in memory", () =>
    Effect.gen(function*() {
      const world = yield* inMemory
      yield* flowing(world, world, Running.turn, Running.settled)
    }))

  it.live("lose nothing and double nothing, in SQLite", () =>
    Effect.gen(function*() {
      const world = yield* scripted
      const stores = Sqlite.layer({ directory: yield* folder, synchronous: "normal" })
      const running = yield* Running.live({ plugins: world.plugins, stores })
      yield* flowing(world, running, Effect.sleep(1), Running.eventually)
    }))
})
