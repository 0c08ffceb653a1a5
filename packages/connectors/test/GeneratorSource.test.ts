import { assert, describe, it } from "@effect/vitest"
import { GeneratorSource } from "@kelpie/connectors/GeneratorSource"
import { Clock, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type Batch, batches, stored, valuesOf } from "./connectorTask.ts"

const source = (config: Record<string, string>, slice = 0, of = 1, offset?: unknown) =>
  batches(GeneratorSource, { config: { topic: "g", ...config }, taskConfig: { slice, of }, offsets: () => offset })
const collect = (...args: Parameters<typeof source>) => Stream.runCollect(source(...args))
const recordsOf = (all: ReadonlyArray<Batch>) => all.flatMap((batch) => batch.records)

describe("GeneratorSource", () => {
  it.effect("makes the same records for the same seed, and others for another", () =>
    Effect.gen(function*() {
      const a = yield* collect({ count: "2500", seed: "7" })
      assert.deepStrictEqual(a, yield* collect({ count: "2500", seed: "7" }))
      assert.notDeepEqual(valuesOf(a), valuesOf(yield* collect({ count: "2500", seed: "8" })))
      assert.deepStrictEqual(a.map((batch) => batch.records.length), [1000, 1000, 500])
    }))

  it.effect("makes values of value.bytes bytes that begin with the record's number", () =>
    Effect.gen(function*() {
      const values = valuesOf(yield* collect({ count: "1200" }))
      for (const [i, value] of values.entries()) assert.match(String(value), new RegExp(`^${i} [a-z0-9]+$`))
      assert.isTrue(values.every((value) => String(value).length === 100))
      const bytes = valuesOf(yield* collect({ count: "1200", "value.type": "bytes" }))
      assert.isTrue(
        bytes.every((value, i) => value instanceof Uint8Array && Buffer.from(value).toString() === values[i])
      )
      const objects = valuesOf(yield* collect({ count: "1200", "value.type": "json" }))
      assert.isTrue(objects.every((value) => JSON.stringify(value).length === 100))
      assert.deepStrictEqual(valuesOf(yield* collect({ count: "12", "value.bytes": "2" })).slice(9), ["9 ", "10", "11"])
    }))

  it.effect("goes on from every offset", () =>
    Effect.gen(function*() {
      const all = yield* collect({ count: "10", "batch.size": "3" })
      const values = valuesOf(all)
      let done = 0
      for (const batch of all) {
        done += batch.records.length
        const offset = stored(GeneratorSource, batch.offset)
        assert.deepStrictEqual(valuesOf(yield* collect({ count: "10" }, 0, 1, offset)), values.slice(done))
      }
    }))

  it.effect("splits the records over its tasks without gap or overlap", () =>
    Effect.gen(function*() {
      const started = yield* GeneratorSource["~source"].start?.({
        name: "g",
        config: {},
        requestReconfiguration: Effect.void
      }) ?? Effect.die("no start")
      const configs = (yield* started.taskConfigs(3)) as ReadonlyArray<{ slice: number; of: number }>
      const parts = yield* Effect.forEach(configs, ({ of, slice }) => collect({ count: "100" }, slice, of))
      assert.deepStrictEqual(parts.map((part) => recordsOf(part).length), [34, 33, 33])
      const whole = valuesOf(yield* collect({ count: "100" }))
      assert.sameMembers([...valuesOf(parts.flat())], [...whole])
    }).pipe(Effect.scoped))

  it.effect("spreads records over partitions in turn", () =>
    Effect.gen(function*() {
      const records = recordsOf(yield* collect({ count: "5", partitions: "2" }))
      assert.deepStrictEqual(records.map((record) => record.partition), [0, 1, 0, 1, 0])
      assert.isFalse("partition" in (recordsOf(yield* collect({ count: "1" }))[0] ?? {}))
    }))

  it.effect("keeps to its rate, and makes lost time up for a second at most", () =>
    Effect.gen(function*() {
      const pull = yield* Stream.toPull(source({ rate: "20", count: "1000" }))
      const take = Effect.flatMap(
        pull,
        (all) => Effect.map(Clock.currentTimeMillis, (at) => [at, recordsOf(all).length])
      )
      const takes = (count: number) =>
        Effect.raceFirst(
          Effect.forEach(Array.from({ length: count }), () => take),
          Effect.forever(TestClock.adjust("10 millis"))
        )
      assert.deepStrictEqual(yield* takes(4), [[0, 2], [100, 2], [200, 2], [300, 2]])
      yield* TestClock.setTime(10_000)
      const late = yield* takes(13)
      assert.deepStrictEqual(late.map(([at]) => at), [...Array.from({ length: 11 }, () => 10_000), 10_100, 10_200])
    }))
})
