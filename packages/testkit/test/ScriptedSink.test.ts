import { assert, describe, it } from "@effect/vitest"
import { ConfigKey, PermanentError, Plugins, type SinkConnector, type SinkRecord, TransientError } from "@kelpie/core"
import { Script, ScriptedSink } from "@kelpie/testkit"
import { Effect, Option, Result } from "effect"
import { TestClock } from "effect/testing"

const down = new TransientError({ message: "the target is down" })
const record = (offset: number): SinkRecord => ({
  topic: "t",
  originalTopic: "t",
  partition: 0,
  offset,
  timestampMillis: 0,
  value: offset
})

const startTask = Effect.fnUntraced(function*(
  sink: ScriptedSink.ScriptedSink,
  config = sink.config(),
  reported: Array<number> = []
) {
  const plugins = yield* Effect.provide(Plugins, Plugins.layer([sink]))
  const definition = Option.getOrThrow(plugins.find("sink", sink.name))
  return yield* definition["~sink"].task({
    name: "archive",
    task: 1,
    run: { token: 7, start: 2 },
    config: Result.getOrThrow(ConfigKey.decode(definition.fields, config)),
    report: (record) => Effect.sync(() => void reported.push(record.offset))
  }) as Effect.Effect<SinkConnector.Task<unknown>, TransientError>
})
const offsets = (sink: ScriptedSink.ScriptedSink) =>
  Effect.map(
    sink.records("archive"),
    (all) => all.map(({ flushed, record }) => `${record.offset}${flushed ? " flushed" : ""}`)
  )

describe("ScriptedSink", () => {
  it.effect("keeps what it accepted, and says what was flushed", () =>
    Effect.gen(function*() {
      const sink = yield* ScriptedSink.make()
      const { flush = Effect.void, put } = yield* startTask(sink)
      yield* put([record(0), record(1)])
      yield* flush
      yield* put([record(2)])
      assert.deepStrictEqual(yield* offsets(sink), ["0 flushed", "1 flushed", "2"])
      assert.deepStrictEqual((yield* sink.records("other")).length, 0)
    }).pipe(Effect.scoped))

  it.effect("accepts nothing in a put that fails, and flushes nothing in a flush that fails", () =>
    Effect.gen(function*() {
      const sink = yield* ScriptedSink.make()
      const { flush = Effect.void, put } = yield* startTask(sink)
      yield* sink.script("archive", { put: [Script.ok, Script.fail(down)], flush: [Script.fail(down)] })
      yield* put([record(0)])
      assert.strictEqual(yield* Effect.flip(put([record(1)])), down)
      assert.strictEqual(yield* Effect.flip(flush), down)
      assert.deepStrictEqual(yield* offsets(sink), ["0"])
      yield* put([record(1)])
      yield* flush
      assert.deepStrictEqual(yield* offsets(sink), ["0 flushed", "1 flushed"])
      assert.deepStrictEqual(yield* sink.calls("put"), [0, 0, 0])
    }).pipe(Effect.scoped))

  it.effect("takes its time at virtual times, as a configuration says", () =>
    Effect.gen(function*() {
      const sink = yield* ScriptedSink.make()
      const { put } = yield* startTask(sink, sink.config({ put: "sleep:500" }, { topics: ["t"] }))
      const putting = yield* Effect.forkChild(Effect.andThen(put([record(0)]), put([record(1)])), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* sink.calls("put"), [0, 500])
      assert.deepStrictEqual(putting.pollUnsafe()?._tag, "Success")
    }).pipe(Effect.scoped))

  it.effect("gives up on single records", () =>
    Effect.gen(function*() {
      const sink = yield* ScriptedSink.make()
      const reported: Array<number> = []
      const { put } = yield* startTask(sink, sink.config(), reported)
      yield* sink.giveUpOn(({ offset }) => offset === 1 ? new PermanentError({ message: "bad record" }) : undefined)
      yield* put([record(0), record(1), record(2)])
      assert.deepStrictEqual(yield* offsets(sink), ["0", "2"])
      assert.deepStrictEqual(reported, [1])
    }).pipe(Effect.scoped))

  it.effect("shows its starts, with the run, and what lives until it is stopped", () =>
    Effect.gen(function*() {
      const sink = yield* ScriptedSink.make({ name: "Archive" })
      yield* Effect.scoped(Effect.gen(function*() {
        yield* startTask(sink)
        assert.deepStrictEqual(yield* sink.live(), [{ connector: "archive", task: 1 }])
      }))
      assert.deepStrictEqual(yield* sink.live(), [])
      assert.deepStrictEqual((yield* sink.starts()).map(({ run, task }) => ({ run, task })), [
        { run: { token: 7, start: 2 }, task: 1 }
      ])
      assert.deepStrictEqual((yield* sink.history).map(({ hook }) => hook), ["startTask", "stopTask"])
      assert.deepStrictEqual(sink.config({}, { topics: ["a", "b"] }), { "connector.class": "Archive", "topics": "a,b" })
    }))

  it.effect("fails to start by its script", () =>
    Effect.gen(function*() {
      const sink = yield* ScriptedSink.make({ scripts: { startTask: Script.failTimes(1, down) } })
      assert.strictEqual(yield* Effect.flip(Effect.scoped(startTask(sink))), down)
      assert.deepStrictEqual(yield* sink.live(), [])
      yield* Effect.scoped(startTask(sink))
    }))
})
