import { assert, describe, it, vi } from "@effect/vitest"
import { ConfigKey, PermanentError, type Plugin, type SourceRecord, Transform, TransientError } from "@kelpie/core"
import { ScriptedSink, ScriptedSource } from "@kelpie/testkit"
import { Clock, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as Running from "./fixtures/Running.ts"

vi.setConfig({ testTimeout: 30_000 })

/** Refuses every third number, for ever; with `transient` every number, so many times each. */
const Picky = Transform.make("Picky", {
  version: "1.0.0",
  config: {
    transient: ConfigKey.Int("transient", { default: 0 }),
    secret: ConfigKey.Redacted("secret", { optional: true })
  },
  apply: ({ secret, transient }) => {
    const tries = new Map<unknown, number>()
    return (record) => {
      const tried = tries.get(record.value) ?? 0
      tries.set(record.value, tried + 1)
      if (tried < transient) throw new TransientError({ message: `not yet ${String(record.value)}` })
      if (transient === 0 && Number(record.value) % 3 === 0) {
        throw new PermanentError({
          message: `cannot take ${String(record.value)}${secret === undefined ? "" : " with s3cret"}`
        })
      }
      return record
    }
  }
})

const picky = (more: Readonly<Record<string, string>> = {}) => ({ transforms: { p: { type: "Picky", ...more } } })
const numbers = (from: number, to: number): ReadonlyArray<SourceRecord> =>
  Array.from({ length: to - from + 1 }, (_, i) => ({
    topic: "t",
    key: `k${from + i}`,
    value: from + i,
    headers: [["n", from + i]],
    timestampMillis: 1000 + i
  }))

/** A source, a sink that reads `t`, and one that reads the dead letters as they are; and what was logged. */
const pipeline = Effect.fnUntraced(function*(options: {
  readonly source?: Plugin.ConnectorOptions
  readonly sink?: Plugin.ConnectorOptions
  readonly start?: boolean
}) {
  const source = yield* ScriptedSource.make()
  const sink = yield* ScriptedSink.make()
  const logged: Array<string> = []
  const logger = Logger.make((entry) => {
    logged.push(Logger.formatLogFmt.log(entry))
  })
  const running = yield* Running.virtual({
    plugins: [source, sink, Picky],
    settings: Layer.mergeAll(Logger.layer([logger]))
  })
  const { herder } = running
  const raw = {
    "value.converter": "StringConverter",
    "key.converter": "StringConverter",
    "header.converter": "StringConverter"
  }
  yield* herder.create("dead", sink.config({}, { topics: ["dead"], ...raw }))
  yield* herder.create("sink", sink.config({}, { topics: ["t"], ...options.sink }))
  yield* herder.create("source", source.config({}, options.source))
  const of = (name: string) => Effect.map(sink.records(name), (all) => all.map(({ record }) => record))
  const values = (name: string) => Effect.map(of(name), (records) => records.map(({ value }) => value))
  return {
    ...running,
    source,
    sink,
    of,
    values,
    emit: (records: ReadonlyArray<SourceRecord>) => source.emit("source", 0, records),
    lines: () => logged.filter((line) => line.includes("Error encountered")),
    logged: () => logged.join("\n"),
    /** Until the sink has so many; then a little longer, for what should not come. */
    arrive: (name: string, count: number) =>
      Effect.gen(function*() {
        const seen = yield* Running.settled(values(name), ({ length }) => length >= count)
        for (let turns = 0; turns < 100; turns++) yield* Running.turn
        assert.strictEqual((yield* values(name)).length, seen.length)
        return seen
      })
  }
})

const dlq = (more: Plugin.ConnectorOptions = {}): Plugin.ConnectorOptions => ({
  "errors.tolerance": "all",
  "errors.deadletterqueue.topic.name": "dead",
  "errors.deadletterqueue.context.headers.enable": "true",
  ...more
})

describe("errors.tolerance", () => {
  it.effect("none, in a source: its task has failed, nothing of the batch is stored, and a better config goes on there", () =>
    Effect.gen(function*() {
      const { arrive, emit, herder, runs, source, until, values } = yield* pipeline({ source: picky() })
      yield* emit(numbers(1, 2))
      yield* arrive("sink", 2)
      yield* emit(numbers(3, 5))
      const { tasks } = yield* until("source", ({ health }) => health === "failed")
      const trace = tasks[0]?.trace ?? ""
      assert.include(
        trace,
        "PermanentError: Tolerance exceeded in error handler: TRANSFORMATION of Picky: cannot take 3"
      )
      assert.deepStrictEqual(yield* values("sink"), [1, 2])
      assert.strictEqual(yield* source.acknowledged("source", 0), 2)
      yield* herder.put("source", source.config())
      yield* runs("source")
      assert.deepStrictEqual(yield* arrive("sink", 5), [1, 2, 3, 4, 5])
    }))

  it.effect("all, in a source: records that fail are left out, the others come through, and the offset moves on", () =>
    Effect.gen(function*() {
      const { arrive, emit, lines, runs, source } = yield* pipeline({
        source: { ...picky(), "errors.tolerance": "all" }
      })
      yield* emit(numbers(1, 7))
      yield* emit(numbers(9, 9))
      yield* emit(numbers(10, 10))
      assert.deepStrictEqual(yield* arrive("sink", 6), [1, 2, 4, 5, 7, 10])
      assert.strictEqual(yield* source.acknowledged("source", 0), 9)
      assert.deepStrictEqual(lines(), []) // logging is off by default
      yield* runs("source")
    }))

  it.effect("none, in a sink: its task has failed, and after a better config nothing is missing", () =>
    Effect.gen(function*() {
      const { arrive, emit, herder, runs, sink, until } = yield* pipeline({ sink: picky() })
      yield* emit(numbers(1, 5))
      const { tasks } = yield* until("sink", ({ health }) => health === "failed")
      assert.include(tasks[0]?.trace ?? "", "TRANSFORMATION of Picky: cannot take 3")
      yield* herder.put("sink", sink.config({}, { topics: ["t"] }))
      yield* runs("sink")
      assert.deepStrictEqual(yield* arrive("sink", 5), [1, 2, 3, 4, 5])
    }))

  it.effect("all, in a sink: what fails is left out, and is not read again after a restart", () =>
    Effect.gen(function*() {
      const { arrive, emit, herder, runs, source, until } = yield* pipeline({
        sink: { ...picky(), "errors.tolerance": "all" }
      })
      yield* emit(numbers(1, 6))
      assert.deepStrictEqual(yield* arrive("sink", 4), [1, 2, 4, 5])
      yield* herder.restart("sink", { includeTasks: true })
      yield* until("sink", Running.isRunning)
      yield* source.emit("source", 0, numbers(7, 8))
      yield* runs("sink")
      assert.deepStrictEqual(yield* arrive("sink", 6), [1, 2, 4, 5, 7, 8])
    }))
})

describe("errors.log", () => {
  const failing = "Error encountered in task sink-0. Executing stage 'TRANSFORMATION' with class 'Picky'"

  it.effect("enable: one line for each failed record, without its place, and without secrets", () =>
    Effect.gen(function*() {
      const config = { ...picky({ secret: "s3cret" }), "errors.tolerance": "all", "errors.log.enable": "true" }
      const { arrive, emit, lines, logged } = yield* pipeline({ sink: config })
      yield* emit(numbers(1, 6))
      yield* arrive("sink", 4)
      assert.strictEqual(lines().length, 2)
      for (const [i, line] of lines().entries()) {
        assert.include(line, failing)
        assert.include(line, `cannot take ${3 * (i + 1)} with [hidden]`)
        assert.notInclude(line, "offset=")
      }
      assert.notInclude(logged(), "s3cret")
    }))

  it.effect("include.messages: with the place of the record, never with its content", () =>
    Effect.gen(function*() {
      const { arrive, emit, lines } = yield* pipeline({
        sink: {
          ...picky(),
          "errors.tolerance": "all",
          "errors.log.enable": "true",
          "errors.log.include.messages": "true"
        }
      })
      yield* emit(numbers(1, 3))
      yield* arrive("sink", 2)
      const [line = ""] = lines()
      for (const part of [failing, "topic=t", "partition=0", "offset=2"]) assert.include(line, part)
      assert.strictEqual(lines().length, 1)
    }))

  it.effect("of a source: the topic, for there is no offset yet", () =>
    Effect.gen(function*() {
      const config = {
        ...picky(),
        "errors.tolerance": "all",
        "errors.log.enable": "true",
        "errors.log.include.messages": "true"
      }
      const { arrive, emit, lines } = yield* pipeline({ source: config })
      yield* emit(numbers(1, 4))
      yield* arrive("sink", 3)
      assert.strictEqual(lines().length, 1)
      assert.include(
        lines()[0],
        "Error encountered in task source-0. Executing stage 'TRANSFORMATION' with class 'Picky'"
      )
      assert.include(lines()[0], "topic=t")
    }))
})

describe("errors.deadletterqueue", () => {
  it.effect("gets the record as it was, and where and why it failed", () =>
    Effect.gen(function*() {
      const { arrive, emit, of } = yield* pipeline({ sink: { ...picky(), ...dlq() } })
      yield* emit(numbers(1, 7))
      assert.deepStrictEqual(yield* arrive("sink", 5), [1, 2, 4, 5, 7])
      yield* arrive("dead", 2)
      const [three, six] = yield* of("dead")
      const { headers, ...record } = three ?? assert.fail()
      assert.deepInclude(record, {
        topic: "dead",
        partition: 0,
        offset: 0,
        key: "\"k3\"",
        value: "3",
        timestampMillis: 1002
      })
      const stack = headers?.at(-1)?.[1]
      assert.deepStrictEqual(headers?.slice(0, -1).map(([name, value]) => [name, value]), [
        ["n", "3"],
        ["__connect.errors.topic", "t"],
        ["__connect.errors.partition", "0"],
        ["__connect.errors.offset", "2"],
        ["__connect.errors.connector.name", "sink"],
        ["__connect.errors.task.id", "0"],
        ["__connect.errors.stage", "TRANSFORMATION"],
        ["__connect.errors.class.name", "Picky"],
        ["__connect.errors.exception.class.name", "PermanentError"],
        ["__connect.errors.exception.message", "cannot take 3"]
      ])
      assert.strictEqual(headers?.at(-1)?.[0], "__connect.errors.exception.stacktrace")
      assert.match(String(stack), /cannot take 3\n +at /)
      assert.deepInclude(six, { offset: 1, key: "\"k6\"", value: "6" })
      assert.include(six?.headers?.map(([, value]) => value) ?? [], "5")
    }))

  it.effect("without context headers gets the record alone", () =>
    Effect.gen(function*() {
      const { arrive, emit, of } = yield* pipeline({
        sink: { ...picky(), ...dlq({ "errors.deadletterqueue.context.headers.enable": "false" }) }
      })
      yield* emit(numbers(3, 3))
      yield* arrive("dead", 1)
      assert.deepStrictEqual((yield* of("dead"))[0]?.headers?.map(([name, value]) => [name, value]), [["n", "3"]])
    }))

  it.effect("gets what a converter cannot read, byte for byte", () =>
    Effect.gen(function*() {
      const { arrive, emit, of } = yield* pipeline({
        source: { "value.converter": "StringConverter", "key.converter": "StringConverter" },
        sink: dlq({ "key.converter": "StringConverter" })
      })
      yield* emit([{ topic: "t", key: "a", value: "{\"fine\":1}" }, { topic: "t", key: "b", value: "{not json" }, {
        topic: "t",
        key: "c",
        value: "2"
      }])
      assert.deepStrictEqual(yield* arrive("sink", 2), [{ fine: 1 }, 2])
      yield* arrive("dead", 1)
      const [{ headers, key, value } = assert.fail()] = yield* of("dead")
      assert.deepStrictEqual([key, value], ["b", "{not json"])
      const context = new Map(headers?.map(([name, content]) => [name.replace("__connect.errors.", ""), content]))
      assert.strictEqual(context.get("stage"), "VALUE_CONVERTER")
      assert.strictEqual(context.get("class.name"), "JsonConverter")
      assert.strictEqual(context.get("offset"), "1")
    }))

  it.effect("gets what the sink gives up on; the rest of the batch goes on", () =>
    Effect.gen(function*() {
      const { arrive, emit, of, sink } = yield* pipeline({ sink: dlq() })
      yield* sink.giveUpOn(({ topic, value }) =>
        topic === "t" && Number(value) % 2 === 0
          ? new PermanentError({ message: `no room for ${String(value)}` })
          : undefined
      )
      yield* emit(numbers(1, 5))
      assert.deepStrictEqual(yield* arrive("sink", 3), [1, 3, 5])
      assert.deepStrictEqual(yield* arrive("dead", 2), ["2", "4"])
      const context = (yield* of("dead")).map(({ headers }) => new Map(headers?.map(([name, value]) => [name, value])))
      for (const [i, one] of context.entries()) {
        assert.strictEqual(one.get("__connect.errors.stage"), "TASK_PUT")
        assert.strictEqual(one.get("__connect.errors.class.name"), "ScriptedSink")
        assert.strictEqual(one.get("__connect.errors.exception.message"), `no room for ${2 * (i + 1)}`)
      }
    }))

  it.effect("hides secrets in its headers", () =>
    Effect.gen(function*() {
      const { arrive, emit, of } = yield* pipeline({ sink: { ...picky({ secret: "s3cret" }), ...dlq() } })
      yield* emit(numbers(3, 3))
      yield* arrive("dead", 1)
      const text = JSON.stringify((yield* of("dead"))[0]?.headers)
      assert.include(text, "cannot take 3 with [hidden]")
      assert.notInclude(text, "s3cret")
    }))

  it.effect("is told before the task fails, with tolerance none", () =>
    Effect.gen(function*() {
      const { arrive, emit, until } = yield* pipeline({ sink: { ...picky(), ...dlq({ "errors.tolerance": "none" }) } })
      yield* emit(numbers(1, 3))
      yield* until("sink", ({ health }) => health === "failed")
      assert.deepStrictEqual(yield* arrive("dead", 1), ["3"])
    }))
})

describe("errors.retry", () => {
  it.effect("timeout: a failure that may pass is tried again after 300 ms and 600 ms, then the record goes on", () =>
    Effect.gen(function*() {
      const { arrive, emit, values } = yield* pipeline({
        sink: { ...picky({ transient: "2" }), "errors.retry.timeout": "10000", "errors.retry.delay.max.ms": "60000" }
      })
      yield* emit(numbers(1, 1))
      for (const [millis, count] of [[299, 0], [1, 0], [599, 0], [1, 1]] as const) {
        for (let turns = 0; turns < 100; turns++) yield* Running.turn
        yield* TestClock.adjust(millis)
        for (let turns = 0; turns < 100; turns++) yield* Running.turn
        assert.strictEqual((yield* values("sink")).length, count)
      }
      yield* arrive("sink", 1)
    }))

  it.effect("timeout: what does not pass in time is given up at the end of it, by the tolerance", () =>
    Effect.gen(function*() {
      const { arrive, emit, of, values } = yield* pipeline({
        sink: {
          ...picky({ transient: "1000000" }),
          ...dlq(),
          "errors.retry.timeout": "5000",
          "errors.retry.delay.max.ms": "60000"
        }
      })
      yield* emit(numbers(1, 1))
      for (let turns = 0; turns < 100; turns++) yield* Running.turn
      yield* TestClock.adjust(4999)
      for (let turns = 0; turns < 100; turns++) yield* Running.turn
      assert.deepStrictEqual(yield* values("dead"), [])
      yield* TestClock.adjust(1)
      yield* arrive("dead", 1)
      const headers = new Map((yield* of("dead"))[0]?.headers?.map(([name, value]) => [name, value]))
      assert.strictEqual(headers.get("__connect.errors.exception.class.name"), "TransientError")
      assert.strictEqual(yield* Clock.currentTimeMillis, 5000)
    }))

  it.effect("delay.max.ms: no pause is longer", () =>
    Effect.gen(function*() {
      const { arrive, emit } = yield* pipeline({
        sink: { ...picky({ transient: "12" }), "errors.retry.timeout": "-1", "errors.retry.delay.max.ms": "1000" }
      })
      yield* emit(numbers(1, 1))
      for (let turns = 0; turns < 100; turns++) yield* Running.turn
      yield* TestClock.adjust(12_000) // 12 pauses of a second at most
      assert.deepStrictEqual(yield* arrive("sink", 1), [1])
    }))

  it.effect("is off by default: a failure that may pass is given up at once", () =>
    Effect.gen(function*() {
      const { emit, until } = yield* pipeline({ sink: picky({ transient: "1" }) })
      yield* emit(numbers(1, 1))
      const { tasks } = yield* until("sink", ({ health }) => health === "failed")
      assert.include(tasks[0]?.trace ?? "", "TRANSFORMATION of Picky: not yet 1")
    }))
})
