import { assert, describe, it } from "@effect/vitest"
import {
  ConfigKey,
  ConverterDefaults,
  FlowPolicy,
  type Middleware,
  OffsetStore,
  Plugins,
  SinkConnector,
  StoreError,
  TopicLog,
  TransientError
} from "@kelpie/core"
import { Effect, Layer, Logger, Ref, References } from "effect"
import { TestClock } from "effect/testing"
import { deadLetterReport, logReport, type Placed } from "../src/internal/errorReport.ts"
import { resolve } from "../src/internal/resolved.ts"
import type { TaskEnv } from "../src/internal/taskEnv.ts"
import type { FailedRecord } from "../src/internal/tolerance.ts"
import * as Variables from "../src/internal/variables.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const sink = SinkConnector.make("Table", {
  version: "1",
  config: { password: ConfigKey.Redacted("password") },
  task: () => Effect.succeed({ put: () => Effect.void })
})
const ports = Layer.mergeAll(TopicLog.layerMemory, OffsetStore.layerMemory, Plugins.layer([sink]))
const untouched: Middleware.Middleware = (_, next) => next

const makeEnv = Effect.fnUntraced(function*(config: Record<string, string>, shown: Array<unknown> = []) {
  const plugins = yield* Plugins
  const variables = yield* Variables.make(plugins)
  const env: TaskEnv = {
    item: { connector: "orders", task: 2 },
    run: { token: 1, start: 1 },
    usage: undefined,
    members: 3,
    config: yield* resolve(plugins, variables, yield* ConverterDefaults, {
      name: "orders",
      "connector.class": "Table",
      topics: "t",
      password: "s3cret",
      ...config
    }),
    taskConfig: {},
    offsets: yield* OffsetStore,
    log: yield* TopicLog,
    plugins,
    middleware: untouched,
    flow: yield* FlowPolicy,
    retrying: (retrying) => Effect.sync(() => shown.push(retrying?.attempt))
  }
  return env
})
const record: Placed = {
  topic: "t",
  partition: 5,
  offset: 42,
  record: {
    partition: 5,
    key: encoder.encode("k"),
    value: encoder.encode("v"),
    headers: [["own", encoder.encode("h")], ["empty", null]],
    timestampMillis: 7
  }
}
const failed = (error: unknown): FailedRecord<Placed> => ({
  record,
  stage: "VALUE_CONVERTER",
  plugin: "JsonConverter",
  error
})
const letters = Effect.fnUntraced(function*(env: TaskEnv, topic: string) {
  const subscription = yield* env.log.subscribe({
    group: "letters",
    item: { connector: "letters", task: 0 },
    run: { token: 1, start: 1 },
    topics: { list: [topic] },
    member: 0,
    members: 1
  })
  return (yield* subscription.read(100)).flatMap((batch) => batch.records)
})

describe("a dead letter", () => {
  it.effect("is the record as it was, with exactly the context headers of Connect behind its own", () =>
    Effect.gen(function*() {
      const env = yield* makeEnv({
        "errors.deadletterqueue.topic.name": "dead",
        "errors.deadletterqueue.context.headers.enable": "true"
      })
      const writer = yield* env.log.open({ connector: "orders", task: 2 }, env.run)
      const error = new TransientError({ message: "login with s3cret failed" })
      yield* deadLetterReport(env, writer)(failed(error))
      const [letter, ...more] = yield* letters(env, "dead")
      assert.deepStrictEqual(more, [])
      assert.isDefined(letter)
      const { headers, ...rest } = letter
      assert.deepStrictEqual([rest.key, rest.value, rest.timestampMillis], [record.record.key, record.record.value, 7])
      assert.deepStrictEqual(headers.slice(0, 2), [...record.record.headers])
      const context = headers.slice(2).map(([name, value]) =>
        [name, value === null ? null : decoder.decode(value)] as const
      )
      assert.deepStrictEqual(context.slice(0, 9), [
        ["__connect.errors.topic", "t"],
        ["__connect.errors.partition", "5"],
        ["__connect.errors.offset", "42"],
        ["__connect.errors.connector.name", "orders"],
        ["__connect.errors.task.id", "2"],
        ["__connect.errors.stage", "VALUE_CONVERTER"],
        ["__connect.errors.class.name", "JsonConverter"],
        ["__connect.errors.exception.class.name", "TransientError"],
        ["__connect.errors.exception.message", "login with [hidden] failed"]
      ])
      assert.strictEqual(context.length, 10)
      const [name, stack] = context[9] ?? []
      assert.strictEqual(name, "__connect.errors.exception.stacktrace")
      assert.match(stack ?? "", /login with \[hidden\] failed\n\s+at /)
      assert.notInclude(stack ?? "", "s3cret")
    }).pipe(Effect.provide(ports)))

  it.effect("has the record's own headers only when the context is not asked for", () =>
    Effect.gen(function*() {
      const env = yield* makeEnv({ "errors.deadletterqueue.topic.name": "dead" })
      const writer = yield* env.log.open({ connector: "orders", task: 2 }, env.run)
      yield* deadLetterReport(env, writer)(failed("a text"))
      const [letter] = yield* letters(env, "dead")
      assert.deepStrictEqual(letter?.headers, record.record.headers)
    }).pipe(Effect.provide(ports)))

  it.effect("is not written where no topic is set", () =>
    Effect.gen(function*() {
      const env = yield* makeEnv({})
      const writer: TopicLog.Writer = { append: () => Effect.die("nothing is written") }
      yield* deadLetterReport(env, writer)(failed(new Error("no")))
      assert.deepStrictEqual(yield* env.log.topics, [])
    }).pipe(Effect.provide(ports)))

  it.effect("is written again until the log takes it, and that is shown", () =>
    Effect.gen(function*() {
      const shown: Array<unknown> = []
      const env = yield* makeEnv({ "errors.deadletterqueue.topic.name": "dead" }, shown)
      let appends = 0
      const writer: TopicLog.Writer = {
        append: () =>
          Effect.suspend(() =>
            ++appends < 3 ? Effect.fail(new StoreError({ kind: "Unavailable", operation: "append" })) : Effect.void
          )
      }
      const fiber = yield* Effect.forkChild(deadLetterReport(env, writer)(failed(new Error("no"))))
      yield* TestClock.adjust(749)
      assert.strictEqual(appends, 2)
      yield* TestClock.adjust(1)
      assert.strictEqual(fiber.pollUnsafe()?._tag, "Success")
      assert.deepStrictEqual([appends, shown], [3, [2, 3, undefined]])
    }).pipe(Effect.provide(ports)))

  it.effect("fails the task when a newer run has taken over", () =>
    Effect.gen(function*() {
      const env = yield* makeEnv({ "errors.deadletterqueue.topic.name": "dead" })
      const fenced = new StoreError({ kind: "Fenced", operation: "append" })
      const error = yield* Effect.flip(
        deadLetterReport(env, { append: () => Effect.fail(fenced) })(failed(new Error("no")))
      )
      assert.strictEqual(error, fenced)
    }).pipe(Effect.provide(ports)))
})

describe("a line in the log", () => {
  const lines = Effect.fnUntraced(function*(config: Record<string, string>, error: unknown) {
    const found = yield* Ref.make<ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>]>>([])
    const logger = Logger.make(({ fiber, message }) => {
      const annotations = fiber.getRef(References.CurrentLogAnnotations)
      Effect.runSync(Ref.update(found, (all) => [...all, [String(message), annotations] as const]))
    })
    const env = yield* makeEnv(config)
    const report = logReport<Placed>(env, ({ offset, topic }) => ({ topic, offset }))
    yield* Effect.provide(report(failed(error)), Logger.layer([logger]))
    return yield* Ref.get(found)
  })
  const expected =
    "Error encountered in task orders-2. Executing stage 'VALUE_CONVERTER' with class 'JsonConverter': [hidden]!"

  it.effect("is written when it is asked for, without secrets and without the record", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* lines({}, "s3cret!"), [])
      assert.deepStrictEqual(yield* lines({ "errors.log.enable": "true" }, new Error("s3cret!")), [[expected, {}]])
    }).pipe(Effect.provide(ports)))

  it.effect("names the record when that is asked for too", () =>
    Effect.gen(function*() {
      const config = { "errors.log.enable": "true", "errors.log.include.messages": "true" }
      assert.deepStrictEqual(yield* lines(config, "s3cret!"), [[expected, { topic: "t", offset: 42 }]])
    }).pipe(Effect.provide(ports)))
})
