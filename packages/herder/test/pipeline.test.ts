import { assert, describe, it } from "@effect/vitest"
import {
  ConfigKey,
  ConnectorKeys,
  Converter,
  ConverterDefaults,
  PermanentError,
  Plugins,
  RecordPredicate,
  type SinkRecord,
  type SourceRecord,
  type TopicLog,
  Transform
} from "@kelpie/core"
import { Effect, Result } from "effect"
import * as Pipeline from "../src/internal/pipeline.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const bytes = (text: string | null) => text === null ? null : encoder.encode(text)
const text = (bytes: Uint8Array | null | undefined) =>
  bytes === null || bytes === undefined ? null : decoder.decode(bytes)

const append = Transform.make("Append", {
  version: "1",
  config: { suffix: ConfigKey.String("suffix") },
  apply: ({ suffix }) => (record) => ({ ...record, value: `${String(record.value)}${suffix}` })
})
const route = Transform.make("Route", {
  version: "1",
  config: { topic: ConfigKey.String("topic") },
  apply: ({ topic }) => (record) => ({ ...record, topic })
})
const drop = Transform.make("Drop", { version: "1", config: {}, apply: () => () => undefined })
const refuse = Transform.make("Refuse", {
  version: "1",
  config: {},
  apply: () => () => {
    throw new Error("refused")
  }
})
const broken = Transform.make("Broken", {
  version: "1",
  config: {},
  apply: () => {
    throw new Error("cannot be set up")
  }
})
const tombstone = RecordPredicate.make("Tombstone", {
  version: "1",
  config: {},
  test: () => (record) => record.value === null
})
const valueIs = RecordPredicate.make("ValueIs", {
  version: "1",
  config: { value: ConfigKey.String("value") },
  test: ({ value }) => (record) => {
    if (record.value === "odd") throw new Error("no idea")
    return record.value === value
  }
})
/** Refuses the text "bad", in both directions. */
const picky = Converter.make("Picky", {
  version: "1",
  config: {},
  open: (_, use) => {
    const check = (text: string | null) => {
      if (text === "bad") throw new Error(`bad ${use}`)
      return text
    }
    return {
      toBytes: (_, value) => bytes(check(value === null || value === undefined ? null : String(value))),
      fromBytes: (_, given) => ({ value: check(text(given)) })
    }
  }
})
const registry = Plugins.layer([append, route, drop, refuse, broken, tombstone, valueIs, picky])

const pickyConverters = { "key.converter": "Picky", "value.converter": "Picky", "header.converter": "Picky" }
const make = Effect.fnUntraced(function*(config: Record<string, string>, kind: "source" | "sink" = "source") {
  const defaults = yield* ConverterDefaults
  const whole = {
    name: "c",
    "connector.class": "C",
    ...(kind === "sink" ? { topics: "t" } : {}),
    ...pickyConverters,
    ...config
  }
  const settings = ConnectorKeys.decode(whole, kind, { defaults })
  assert.isTrue(Result.isSuccess(settings))
  return yield* Result.isSuccess(settings)
    ? Effect.flatMap(Plugins, (plugins) => Pipeline.make(plugins, settings.success))
    : Effect.die(settings.failure)
}, Effect.provide(registry))

/** What a log holds after records of a source. */
const toLog = (pipeline: Pipeline.Pipeline, records: ReadonlyArray<SourceRecord>, from = 0, to = records.length) => {
  const byTopic = new Map<string, Array<TopicLog.LogRecord>>()
  pipeline.toLog(records, from, to, 1000, byTopic)
  return byTopic
}
const values = (byTopic: Map<string, Array<TopicLog.LogRecord>>) =>
  Object.fromEntries([...byTopic].map(([topic, records]) => [topic, records.map((record) => text(record.value))]))
/** Where a step fails, and with what. */
const failure = (pipeline: Pipeline.Pipeline, run: () => void) => {
  try {
    run()
  } catch (error) {
    const { index, plugin, stage } = pipeline.where
    return { index, stage, plugin, message: error instanceof Error ? error.message : "" }
  }
  return assert.fail("it does not fail")
}

describe("from a source to the log", () => {
  it.effect("converts key, value and headers, and takes the present time where a record has none", () =>
    Effect.gen(function*() {
      const pipeline = yield* make({})
      const [record] = toLog(pipeline, [{
        topic: "t",
        partition: 3,
        key: "k",
        value: "v",
        headers: [["h", "1"], ["h", null]],
        timestampMillis: 7
      }]).get("t") ?? []
      assert.deepStrictEqual(record, {
        partition: 3,
        key: bytes("k"),
        value: bytes("v"),
        headers: [["h", bytes("1")], ["h", null]],
        timestampMillis: 7
      })
      const [plain] = toLog(pipeline, [{ topic: "t", value: "v" }]).get("t") ?? []
      assert.deepStrictEqual(plain, {
        partition: undefined,
        key: null,
        value: bytes("v"),
        headers: [],
        timestampMillis: 1000
      })
    }))

  it.effect("keeps a tombstone one, and a key of null none", () =>
    Effect.gen(function*() {
      const records = toLog(yield* make({}), [{ topic: "t", key: null, value: null }]).get("t")
      assert.deepStrictEqual(records?.map(({ key, value }) => [key, value]), [[null, null]])
    }))

  it.effect("keeps the order within each topic, also of topics that come in turns", () =>
    Effect.gen(function*() {
      const records = ["a1", "b1", "a2", "a3", "b2"].map((value) => ({ topic: value.charAt(0), value }))
      const byTopic = toLog(yield* make({}), records)
      assert.deepStrictEqual(values(byTopic), { a: ["a1", "a2", "a3"], b: ["b1", "b2"] })
    }))

  it.effect("takes the records from one place up to another, and adds to what is there", () =>
    Effect.gen(function*() {
      const pipeline = yield* make({})
      const records = ["0", "1", "2", "3"].map((value) => ({ topic: "t", value }))
      const byTopic = toLog(pipeline, records, 1, 2)
      pipeline.toLog(records, 3, 4, 1000, byTopic)
      assert.deepStrictEqual(values(byTopic), { t: ["1", "3"] })
    }))

  it.effect("applies transforms in their order, to topic and value, and drops what they drop", () =>
    Effect.gen(function*() {
      const pipeline = yield* make({
        transforms: "one,two,three",
        "transforms.one.type": "Append",
        "transforms.one.suffix": "1",
        "transforms.two.type": "Append",
        "transforms.two.suffix": "2",
        "transforms.three.type": "Route",
        "transforms.three.topic": "u"
      })
      assert.deepStrictEqual(values(toLog(pipeline, [{ topic: "t", value: "v" }])), { u: ["v12"] })
      const dropping = yield* make({ transforms: "d", "transforms.d.type": "Drop" })
      assert.strictEqual(toLog(dropping, [{ topic: "t", value: "v" }]).size, 0)
    }))

  it.effect("says at which record, stage and plugin it failed", () =>
    Effect.gen(function*() {
      const pipeline = yield* make({})
      const good: SourceRecord = { topic: "t", key: "k", value: "v", headers: [["h", "x"]] }
      const at = (record: Partial<SourceRecord>) =>
        failure(pipeline, () => toLog(pipeline, [good, good, { ...good, ...record }]))
      assert.deepStrictEqual(at({ key: "bad" }), {
        index: 2,
        stage: "KEY_CONVERTER",
        plugin: "Picky",
        message: "bad key"
      })
      assert.deepStrictEqual(at({ value: "bad" }), {
        index: 2,
        stage: "VALUE_CONVERTER",
        plugin: "Picky",
        message: "bad value"
      })
      assert.deepStrictEqual(at({ headers: [["h", "x"], ["h", "bad"]] }), {
        index: 2,
        stage: "HEADER_CONVERTER",
        plugin: "Picky",
        message: "bad header"
      })
      const refusing = yield* make({
        transforms: "a,r",
        "transforms.a.type": "Append",
        "transforms.a.suffix": "!",
        "transforms.r.type": "Refuse"
      })
      assert.deepStrictEqual(failure(refusing, () => toLog(refusing, [good])), {
        index: 0,
        stage: "TRANSFORMATION",
        plugin: "Refuse",
        message: "refused"
      })
    }))

  it.effect("adds nothing of a record that failed", () =>
    Effect.gen(function*() {
      const pipeline = yield* make({})
      const byTopic = new Map<string, Array<TopicLog.LogRecord>>()
      const records = [{ topic: "t", value: "a" }, { topic: "u", value: "bad" }]
      failure(pipeline, () => pipeline.toLog(records, 0, 2, 0, byTopic))
      assert.deepStrictEqual(values(byTopic), { t: ["a"] })
    }))
})

describe("from the log to a sink", () => {
  const batch = (
    ...records: ReadonlyArray<readonly [key: string | null, value: string | null, header?: string]>
  ): TopicLog.Batch => ({
    topic: "t",
    partition: 4,
    firstOffset: 100,
    records: records.map(([key, value, header]) => ({
      key: bytes(key),
      value: bytes(value),
      headers: header === undefined ? [] : [["h", bytes(header)]],
      timestampMillis: 5
    }))
  })
  const fromLog = (pipeline: Pipeline.Pipeline, given: TopicLog.Batch, decode?: (value: unknown) => unknown) => {
    const records: Array<SinkRecord> = []
    pipeline.fromLog(given, 0, given.records.length, decode, records)
    return records
  }

  it.effect("gives each record its place and its time", () =>
    Effect.gen(function*() {
      const records = fromLog(yield* make({}, "sink"), batch(["k", "v", "x"], [null, null]))
      assert.deepStrictEqual(
        records.map(({ headers, key, offset, partition, timestampMillis, value }) => [
          key,
          value,
          partition,
          offset,
          timestampMillis,
          headers?.map(([name, value]) => [name, value])
        ]),
        [
          ["k", "v", 4, 100, 5, [["h", "x"]]],
          [null, null, 4, 101, 5, []]
        ]
      )
    }))

  it.effect("remembers the topic that a record came from", () =>
    Effect.gen(function*() {
      const pipeline = yield* make({ transforms: "r", "transforms.r.type": "Route", "transforms.r.topic": "u" }, "sink")
      const [record] = fromLog(pipeline, batch([null, "v"]))
      assert.deepStrictEqual([record?.topic, record?.originalTopic, record?.offset], ["u", "t", 100])
    }))

  it.effect("decodes values as the sink asks, after the transforms, and fails in the value's stage", () =>
    Effect.gen(function*() {
      const pipeline = yield* make(
        { transforms: "a", "transforms.a.type": "Append", "transforms.a.suffix": "!" },
        "sink"
      )
      const decode = (value: unknown) => {
        if (value === "no!") throw new Error("is none")
        return { value }
      }
      assert.deepStrictEqual(fromLog(pipeline, batch([null, "v"]), decode)[0]?.value, { value: "v!" })
      assert.deepStrictEqual(failure(pipeline, () => fromLog(pipeline, batch([null, "v"], [null, "no"]), decode)), {
        index: 1,
        stage: "VALUE_CONVERTER",
        plugin: "Picky",
        message: "is none"
      })
    }))

  it.effect("says at which record and stage it failed, and keeps what went before", () =>
    Effect.gen(function*() {
      const pipeline = yield* make({}, "sink")
      for (
        const [record, stage] of [
          [["bad", "v"], "KEY_CONVERTER"],
          [["k", "bad"], "VALUE_CONVERTER"],
          [["k", "v", "bad"], "HEADER_CONVERTER"]
        ] as const
      ) {
        const records: Array<SinkRecord> = []
        const given = batch(["k", "v"], record)
        const found = failure(pipeline, () => pipeline.fromLog(given, 0, 2, undefined, records))
        assert.deepStrictEqual([found.index, found.stage, found.plugin], [1, stage, "Picky"])
        assert.strictEqual(records.length, 1)
      }
    }))
})

describe("predicates", () => {
  const withPredicate = (negate: boolean, predicate: Record<string, string>) =>
    make({
      transforms: "a",
      "transforms.a.type": "Append",
      "transforms.a.suffix": "!",
      "transforms.a.predicate": "p",
      ...(negate ? { "transforms.a.negate": "true" } : {}),
      predicates: "p",
      ...predicate
    })
  const records = ["a", null, "b"].map((value) => ({ topic: "t", value }))

  it.effect("let a transform see the records that they are true for, or with negate the others", () =>
    Effect.gen(function*() {
      const isTombstone = { "predicates.p.type": "Tombstone" }
      assert.deepStrictEqual(values(toLog(yield* withPredicate(false, isTombstone), records)), {
        t: ["a", "null!", "b"]
      })
      assert.deepStrictEqual(values(toLog(yield* withPredicate(true, isTombstone), records)), { t: ["a!", null, "b!"] })
      const isA = { "predicates.p.type": "ValueIs", "predicates.p.value": "a" }
      assert.deepStrictEqual(values(toLog(yield* withPredicate(false, isA), records)), { t: ["a!", null, "b"] })
    }))

  it.effect("see what the transforms before have made", () =>
    Effect.gen(function*() {
      const pipeline = yield* make({
        transforms: "one,two",
        "transforms.one.type": "Append",
        "transforms.one.suffix": "!",
        "transforms.two.type": "Drop",
        "transforms.two.predicate": "p",
        predicates: "p",
        "predicates.p.type": "ValueIs",
        "predicates.p.value": "a!"
      })
      assert.deepStrictEqual(values(toLog(pipeline, [{ topic: "t", value: "a" }, { topic: "t", value: "b" }])), {
        t: ["b!"]
      })
    }))

  it.effect("that fail are failures of their transform", () =>
    Effect.gen(function*() {
      const pipeline = yield* withPredicate(false, { "predicates.p.type": "ValueIs", "predicates.p.value": "a" })
      assert.deepStrictEqual(failure(pipeline, () => toLog(pipeline, [{ topic: "t", value: "odd" }])), {
        index: 0,
        stage: "TRANSFORMATION",
        plugin: "Append",
        message: "no idea"
      })
    }))
})

describe("a pipeline that cannot be made", () => {
  const refusal = (config: Record<string, string>) => Effect.flip(make(config))

  it.effect("fails for good and names the plugin that does not exist", () =>
    Effect.gen(function*() {
      for (
        const [config, name] of [
          [{ transforms: "x", "transforms.x.type": "Nothing" }, "Nothing"],
          [{ predicates: "p", "predicates.p.type": "Nobody" }, "Nobody"],
          [{ "value.converter": "Nowhere" }, "Nowhere"]
        ] as ReadonlyArray<readonly [Record<string, string>, string]>
      ) {
        const error = yield* refusal(config)
        assert.instanceOf(error, PermanentError)
        assert.strictEqual(error.message, `Class ${name} could not be found.`)
      }
    }))

  it.effect("fails for good when a plugin refuses its keys or cannot be set up", () =>
    Effect.gen(function*() {
      const keys = yield* refusal({ transforms: "a", "transforms.a.type": "Append" })
      assert.include(keys.message, "suffix")
      const setUp = yield* refusal({ transforms: "b", "transforms.b.type": "Broken" })
      assert.strictEqual(setUp.message, "Broken: cannot be set up")
    }))
})
