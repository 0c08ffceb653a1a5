/** Makes records up: the same ones for the same seed, as many and as fast as wanted. For tests and benchmarks. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import * as SourceConnector from "@kelpie/core/SourceConnector"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { generate } from "./internal/generate.ts"
import { version } from "./internal/version.ts"

const config = {
  topic: ConfigKey.String("topic", {
    doc: "Topic that the records are written to.",
    importance: "high",
    check: (topic: string) => topic === "" ? "the topic is empty" : undefined
  }),
  count: ConfigKey.Long("count", {
    optional: true,
    min: 0,
    doc: "How many records are made by all tasks together; then the tasks are done. Left out: they never end."
  }),
  rate: ConfigKey.Double("rate", {
    optional: true,
    min: 0.001,
    doc: "Records per second of all tasks together. Left out: as many as are taken."
  }),
  seed: ConfigKey.Long("seed", { default: 0, doc: "Another seed gives other records." }),
  valueBytes: ConfigKey.Int("value.bytes", {
    default: 100,
    min: 1,
    max: 1024 * 1024,
    doc:
      "Bytes of a value. A string begins with the number of its record, as far as it fits; a JSON value is never shorter than its members' names."
  }),
  valueType: ConfigKey.Literals(["string", "bytes", "json"])("value.type", {
    default: "string",
    doc:
      "What a value is: a string, its bytes, or an object with the members index and payload whose JSON text has value.bytes bytes."
  }),
  batchSize: ConfigKey.Int("batch.size", {
    default: 1000,
    min: 1,
    max: 100_000,
    doc: "The most records of one batch."
  }),
  partitions: ConfigKey.Int("partitions", {
    optional: true,
    min: 1,
    doc: "Spreads the records over that many partitions of the topic, in turn. Left out: the topic's own way."
  })
}

/** A batch waits for this many milliseconds of records at most, when there is a rate. */
const pacedBatchMillis = 100

/** Time that a slow consumer lost is made up for this long only. */
const catchUpMillis = 1000

/**
 * Record `i` depends on the seed, `i` and the `value...` keys only. With n tasks, task t makes the records t, t + n, t + 2n,
 * ...: the split is part of the source partition `{ slice, of }`, so another number of tasks begins anew. The offset
 * `{ index }` is the next record to make.
 */
export const GeneratorSource = SourceConnector.make("GeneratorSource", {
  version,
  doc: "Makes records up: the same ones for the same seed.",
  config,
  taskConfig: Schema.Struct({ slice: Schema.Int, of: Schema.Int }),
  partition: Schema.Struct({ slice: Schema.Int, of: Schema.Int }),
  offset: Schema.Struct({ index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)) }),
  start: () =>
    Effect.succeed({
      taskConfigs: (maxTasks) =>
        Effect.succeed(Array.from({ length: maxTasks }, (_, slice) => ({ slice, of: maxTasks })))
    }),
  task: ({ config, offsets, taskConfig: { of, slice } }) =>
    Stream.unwrap(Effect.gen(function*() {
      const stored = yield* offsets.get({ slice, of })
      const make = generate({ ...config, step: of })
      const perMilli = config.rate === undefined ? Infinity : config.rate / of / 1000
      const batchSize = Math.min(config.batchSize, Math.max(1, Math.floor(perMilli * pacedBatchMillis)))
      const end = config.count ?? Number.MAX_SAFE_INTEGER
      const pace = yield* pacer(perMilli)
      let index = Option.match(stored, { onNone: () => slice, onSome: (offset) => offset.index })
      return Stream.fromPull(Effect.succeed(Effect.suspend(() => {
        const length = Math.min(batchSize, Math.ceil((end - index) / of))
        if (length <= 0) return Cause.done()
        const batch = Effect.sync(() => {
          const records = make(index, length)
          index += length * of
          return [{ records, partition: { slice, of }, offset: { index } }] as const
        })
        return perMilli === Infinity ? batch : Effect.andThen(pace(length), batch)
      })))
    }))
})

/** Waits until a number of records is due; the first ones are due at once. */
const pacer = Effect.fnUntraced(function*(perMilli: number) {
  let due = yield* Clock.currentTimeMillis
  return Effect.fnUntraced(function*(length: number) {
    const now = yield* Clock.currentTimeMillis
    due = Math.max(due, now - catchUpMillis)
    if (due > now) yield* Effect.sleep(due - now)
    due += length / perMilli
  })
})
