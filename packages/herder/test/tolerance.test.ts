import { assert, describe, it } from "@effect/vitest"
import { type ConnectorError, PermanentError, StoreError, ThrottledError, TransientError } from "@kelpie/core"
import { Clock, Duration, Effect, Fiber, Random } from "effect"
import { TestClock } from "effect/testing"
import { Where } from "../src/internal/pipeline.ts"
import { type FailedRecord, giveUp, processAll } from "../src/internal/tolerance.ts"

const locked = new TransientError({ message: "locked" })
const refused = new PermanentError({ message: "refused" })

interface Options {
  readonly tolerance?: "none" | "all"
  readonly retryTimeoutMillis?: number
  readonly retryDelayMaxMillis?: number
  /** What a record fails with, so many times. */
  readonly failures?: Readonly<Record<string, readonly [times: number, error: unknown]>>
  readonly report?: (failed: FailedRecord<string>) => Effect.Effect<void, ConnectorError | StoreError>
}

const noConverters = { key: undefined, value: undefined, header: undefined }

/** Processes records; notes what was done and when. */
const run = Effect.fnUntraced(function*(records: ReadonlyArray<string>, options: Options) {
  const where = new Where({ ...noConverters, value: { type: "JsonConverter", config: {} } })
  const log: Array<string> = []
  const calls = new Map<string, number>()
  const clock = yield* Clock.Clock
  const start = clock.currentTimeMillisUnsafe()
  const at = () => clock.currentTimeMillisUnsafe() - start
  const process = (from: number, to: number) => {
    for (let index = from; index < to; index++) {
      where.index = index
      where.stage = "VALUE_CONVERTER"
      const record = records[index] ?? ""
      const call = (calls.get(record) ?? 0) + 1
      calls.set(record, call)
      const [times, error] = options.failures?.[record] ?? [0, undefined]
      if (call <= times) {
        log.push(`${at()} ${record} fails`)
        throw error
      }
      log.push(`${at()} ${record}`)
    }
  }
  const settings = { tolerance: "none", retryTimeoutMillis: 0, retryDelayMaxMillis: 60_000, ...options } as const
  const fiber = yield* Effect.forkChild(
    Effect.exit(Effect.suspend(() =>
      processAll(settings, where, records, process, (failed) =>
        Effect.andThen(
          Effect.sync(() => log.push(`report ${failed.record} ${failed.stage} ${failed.plugin}`)),
          options.report?.(failed) ?? Effect.void
        ))
    ))
  )
  yield* TestClock.adjust("1 hour")
  // a long batch yields now and then
  yield* Effect.repeat(Effect.yieldNow, { times: 100 })
  const exit = fiber.pollUnsafe()
  if (exit === undefined) yield* Fiber.interrupt(fiber)
  const result = exit?._tag === "Success" ? exit.value : undefined
  const error = result?._tag === "Failure" ? result.cause.reasons[0] : undefined
  return {
    log,
    ended: result !== undefined,
    error: error?._tag === "Fail" ? error.error : undefined,
    defect: error?._tag === "Die" ? error.defect : undefined
  }
})

describe("a batch", () => {
  it.effect("passes in one go while nothing fails", () =>
    Effect.gen(function*() {
      const { ended, error, log } = yield* run(["a", "b"], {})
      assert.deepStrictEqual(log, ["0 a", "0 b"])
      assert.isTrue(ended && error === undefined)
    }))

  it.effect("goes on behind a record that is given up, and reports it before (tolerance all)", () =>
    Effect.gen(function*() {
      const { ended, error, log } = yield* run(["a", "b", "c", "d"], {
        tolerance: "all",
        failures: { b: [1, new TypeError("no")], c: [1, refused] }
      })
      assert.deepStrictEqual(log, [
        "0 a",
        "0 b fails",
        "report b VALUE_CONVERTER JsonConverter",
        "0 c fails",
        "report c VALUE_CONVERTER JsonConverter",
        "0 d"
      ])
      assert.isTrue(ended && error === undefined)
    }))

  it.effect("fails for good at the first record that is given up, and reports that one too (tolerance none)", () =>
    Effect.gen(function*() {
      const { error, log } = yield* run(["a", "b", "c"], { failures: { b: [9, refused] } })
      assert.deepStrictEqual(log, ["0 a", "0 b fails", "report b VALUE_CONVERTER JsonConverter"])
      assert.instanceOf(error, PermanentError)
      assert.strictEqual(
        error.message,
        "Tolerance exceeded in error handler: VALUE_CONVERTER of JsonConverter: refused"
      )
      assert.strictEqual(error.cause, refused)
    }))

  it.effect("stops when a report cannot be stored: nothing behind it is processed", () =>
    Effect.gen(function*() {
      const { error, log } = yield* run(["a", "b"], {
        tolerance: "all",
        failures: { a: [1, refused] },
        report: () => Effect.fail(new StoreError({ kind: "Fenced", operation: "append" }))
      })
      assert.instanceOf(error, StoreError)
      assert.deepStrictEqual(log, ["0 a fails", "report a VALUE_CONVERTER JsonConverter"])
    }))

  it.effect("waits for a slow report before it goes on", () =>
    Effect.gen(function*() {
      const { log } = yield* run(["a", "b"], {
        tolerance: "all",
        failures: { a: [1, refused] },
        report: () => Effect.sleep(500)
      })
      assert.deepStrictEqual(log, ["0 a fails", "report a VALUE_CONVERTER JsonConverter", "500 b"])
    }))

  it.effect("dies of a failure that belongs to no record", () =>
    Effect.gen(function*() {
      const where = new Where(noConverters)
      where.index = 7
      const exit = yield* Effect.exit(processAll(
        { tolerance: "all", retryTimeoutMillis: -1, retryDelayMaxMillis: 1 },
        where,
        ["a"],
        () => {
          throw new Error("a bug")
        },
        () => Effect.void
      ))
      assert.isTrue(exit._tag === "Failure" && exit.cause.reasons[0]?._tag === "Die")
    }))

  it.effect("of any length may fail in every record", () =>
    Effect.gen(function*() {
      const records = Array.from({ length: 5000 }, (_, n) => `${n}`)
      const { ended, log } = yield* run(records, {
        tolerance: "all",
        failures: Object.fromEntries(records.map((record) => [record, [1, refused] as const]))
      })
      assert.isTrue(ended)
      assert.strictEqual(log.length, 10_000)
    }))
})

describe("a record that may pass later", () => {
  it.effect("is tried again alone, 300 ms doubling, and the batch goes on behind it", () =>
    Effect.gen(function*() {
      const { error, log } = yield* run(["a", "b", "c"], { retryTimeoutMillis: -1, failures: { b: [3, locked] } })
      assert.isUndefined(error)
      assert.deepStrictEqual(log, ["0 a", "0 b fails", "300 b fails", "900 b fails", "2100 b", "2100 c"])
    }))

  it.effect("is tried a last time at the end of errors.retry.timeout, then given up", () =>
    Effect.gen(function*() {
      const { error, log } = yield* run(["b"], { retryTimeoutMillis: 1000, failures: { b: [99, locked] } })
      assert.deepStrictEqual(log, [
        "0 b fails",
        "300 b fails",
        "900 b fails",
        "1000 b fails",
        "report b VALUE_CONVERTER JsonConverter"
      ])
      assert.instanceOf(error, PermanentError)
    }))

  it.effect("obeys errors.tolerance like any other when it runs out of retries", () =>
    Effect.gen(function*() {
      const { error, log } = yield* run(["b", "c"], {
        tolerance: "all",
        retryTimeoutMillis: 100,
        failures: { b: [99, new ThrottledError({ message: "slow down", retryAfter: Duration.hours(1) })] }
      })
      assert.isUndefined(error)
      assert.deepStrictEqual(log, ["0 b fails", "100 b fails", "report b VALUE_CONVERTER JsonConverter", "100 c"])
    }))

  it.effect("is not tried again without errors.retry.timeout, or when it is refused for good", () =>
    Effect.gen(function*() {
      const none = yield* run(["b"], { tolerance: "all", failures: { b: [1, locked] } })
      assert.deepStrictEqual(none.log, ["0 b fails", "report b VALUE_CONVERTER JsonConverter"])
      for (const error of [refused, new Error("unknown"), "a text"]) {
        const { log } = yield* run(["b"], { tolerance: "all", retryTimeoutMillis: -1, failures: { b: [1, error] } })
        assert.deepStrictEqual(log, ["0 b fails", "report b VALUE_CONVERTER JsonConverter"])
      }
    }))

  it.effect("is tried for ever when the timeout is -1, with delays that do not grow beyond the longest", () =>
    Effect.gen(function*() {
      const { ended, log } = yield* run(["b"], {
        retryTimeoutMillis: -1,
        retryDelayMaxMillis: 1000,
        failures: { b: [Infinity, locked] }
      }).pipe(Random.withSeed("retries"))
      assert.isFalse(ended)
      const times = log.map((line) => Number(line.split(" ")[0]))
      const delays = times.slice(1).map((time, index) => time - (times[index] ?? 0))
      assert.deepStrictEqual(delays.slice(0, 2), [300, 600])
      assert.isAbove(delays.length, 3600)
      assert.isTrue(delays.slice(2).every((delay) => delay >= 1 && delay < 1000), "a random one below the longest")
      assert.isAbove(new Set(delays).size, 100)
    }))
})

describe("giveUp", () => {
  it.effect("tells a failure that is no error by its text", () =>
    Effect.gen(function*() {
      const record = { record: "a", stage: "TASK_PUT", plugin: "Sink", error: 42 } as const
      const error = yield* Effect.flip(giveUp({ tolerance: "none" }, record, () => Effect.void))
      assert.strictEqual(error.message, "Tolerance exceeded in error handler: TASK_PUT of Sink: 42")
      yield* giveUp({ tolerance: "all" }, record, () => Effect.void)
    }))
})
