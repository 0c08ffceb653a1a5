import { assert, it, vi } from "@effect/vitest"
import { StopPolicy } from "@kelpie/core"
import { Sqlite } from "@kelpie/sqlite"
import { ScriptedSink, ScriptedSource } from "@kelpie/testkit"
import { Effect, Layer } from "effect"
import { MaxPages } from "../../sqlite/src/internal/settings.ts"
import { folder } from "./fixtures/folder.ts"
import * as Running from "./fixtures/Running.ts"

vi.setConfig({ testTimeout: 60_000 })

it.live("a full disk holds up the tasks that write to it, and says so; nothing that was stored is lost", () =>
  Effect.gen(function*() {
    const directory = yield* folder
    const source = yield* ScriptedSource.make()
    const sink = yield* ScriptedSink.make()
    const plugins = [source, sink]
    const settings = StopPolicy.layer({ connector: "100 millis", task: "100 millis" })
    const count = 60
    const arrived = Effect.map(sink.records("sink"), (all) => all.map(({ record }) => String(record.value).trim()))

    const acknowledged = yield* Effect.scoped(Effect.gen(function*() {
      const stores = Sqlite.layer({ directory, synchronous: "normal" }).pipe(
        Layer.provide(Layer.succeed(MaxPages, 120))
      )
      const { herder, until } = yield* Running.live({ plugins, stores, settings })
      yield* herder.create("sink", sink.config({}, { topics: ["t"] }))
      yield* herder.create("source", source.config())
      for (let n = 0; n < count; n++) yield* source.emit("source", 0, [{ topic: "t", value: `${n}`.padEnd(20_000) }])
      const { conditions, health, state, tasks } = yield* until(
        "source",
        (status) => status.conditions.some(({ reason }) => reason === "TaskRetrying")
      )
      assert.deepStrictEqual([state, tasks[0]?.state, health], ["RUNNING", "RUNNING", "recovering"])
      const retrying = conditions.find(({ reason }) => reason === "TaskRetrying")
      assert.match(retrying?.message ?? "", /^task 0: .*the disk is full: .*data\.db cannot grow/)
      assert.isNumber(retrying?.nextAttemptAt)
      // what was acknowledged is stored: the sink gets all of it
      const acknowledged = yield* source.acknowledged("source", 0)
      assert.isTrue(acknowledged > 0 && acknowledged < count)
      yield* Running.eventually(arrived, ({ length }) => length >= acknowledged)
      // what needs no space goes on
      yield* herder.create("idle", source.config({}, { tasksMax: 1 }))
      return acknowledged
    }))

    const stores = Sqlite.layer({ directory, synchronous: "normal" })
    const { runs } = yield* Running.live({ plugins, stores, settings })
    const all = Array.from({ length: count }, (_, n) => `${n}`)
    const got = yield* Running.eventually(arrived, (values) => new Set(values).size === count)
    assert.sameMembers([...new Set(got)], all)
    // in order, but for what came twice because its position could not be stored
    assert.deepStrictEqual(got.slice(0, acknowledged), all.slice(0, acknowledged))
    yield* Running.eventually(source.acknowledged("source", 0), (stored) => stored === count)
    yield* runs("source")
    yield* runs("sink")
    yield* runs("idle")
  }))
