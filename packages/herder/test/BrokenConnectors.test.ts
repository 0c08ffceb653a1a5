import { assert, describe, it, vi } from "@effect/vitest"
import { ConfigKey, type Plugin, SinkConnector, SourceConnector } from "@kelpie/core"
import { Script, ScriptedSink, ScriptedSource } from "@kelpie/testkit"
import { Cause, Effect, Exit, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Running from "./fixtures/Running.ts"

vi.setConfig({ testTimeout: 30_000 })

/** Throws where a definition has to give an effect. */
const thrown = (where: string): never => {
  throw new TypeError(`thrown in ${where}`)
}
const places = ["", "check", "validate", "start", "taskConfigs", "task", "poll", "ack", "stop", "put", "flush"] as const
const where = ConfigKey.Literals(places)("where", {
  default: "",
  check: (where) => where === "check" ? thrown("check") : undefined
})
const finalizer = (place: string) =>
  Effect.addFinalizer(() => place === "stop" ? Effect.sync(() => thrown("stop")) : Effect.void)

/** A source that throws in the function that its config names. */
const Source = SourceConnector.make("ThrowingSource", {
  version: "1.0.0",
  config: { where },
  taskConfig: Schema.Struct({ n: Schema.Int }),
  offset: Schema.Struct({ n: Schema.Int }),
  validate: ({ where }) => where === "validate" ? thrown("validate") : Effect.succeed([]),
  start: ({ config: { where } }) =>
    where === "start" ? thrown("start") : Effect.as(finalizer(where), {
      taskConfigs: () => where === "taskConfigs" ? thrown("taskConfigs") : Effect.succeed([{ n: 0 }])
    }),
  task: ({ config: { where } }) => {
    if (where === "task") return thrown("task")
    if (where === "poll") return Stream.sync(() => thrown("poll"))
    if (where === "ack") return Stream.make({ records: [], offset: { n: 1 }, ack: Effect.sync(() => thrown("ack")) })
    return Stream.scoped(Stream.unwrap(Effect.as(finalizer(where), Stream.never)))
  }
})

/** A sink that does. */
const Sink = SinkConnector.make("ThrowingSink", {
  version: "1.0.0",
  config: { where },
  validate: ({ where }) => where === "validate" ? thrown("validate") : Effect.succeed([]),
  task: ({ config: { where } }) =>
    where === "task" ? thrown("task") : Effect.as(finalizer(where), {
      put: () => where === "put" ? thrown("put") : Effect.void,
      flush: Effect.sync(() => where === "flush" ? thrown("flush") : undefined)
    })
})

/** A good source and a good sink, beside which something is broken. */
const healthy = Effect.fnUntraced(function*(plugins: ReadonlyArray<Plugin.Plugin<never>>) {
  const source = yield* ScriptedSource.make({ name: "GoodSource" })
  const sink = yield* ScriptedSink.make({ name: "GoodSink" })
  const running = yield* Running.virtual({ plugins: [source, sink, ...plugins] })
  const { herder } = running
  yield* herder.create("good-source", source.config())
  yield* herder.create("good-sink", sink.config({}, { topics: ["t"] }))
  let sent = 0
  /** One more record comes through, and nobody has noticed anything. */
  const unaffected = Effect.gen(function*() {
    yield* source.emit("good-source", 0, [{ topic: "t", value: ++sent }])
    const values = Effect.map(sink.records("good-sink"), (all) => all.map(({ record }) => record.value))
    const all = Array.from({ length: sent }, (_, i) => i + 1)
    assert.deepStrictEqual(yield* Running.settled(values, ({ length }) => length === sent), all)
    assert.strictEqual((yield* running.runs("good-source")).health, "healthy")
    assert.strictEqual((yield* running.runs("good-sink")).health, "healthy")
    assert.strictEqual((yield* source.starts("good-source")).filter(({ task }) => task === 0).length, 1)
    assert.strictEqual((yield* herder.health).status, "healthy")
  })
  yield* unaffected
  return { ...running, unaffected }
})

const throwing = {
  source: (where: typeof places[number]) => Source.config({ where }),
  sink: (where: typeof places[number]) => Sink.config({ where }, { topics: ["t"] })
}
const cases = (kind: "source" | "sink", ...places: ReadonlyArray<Parameters<typeof throwing.source>[0]>) =>
  places.map((place) => [kind, place] as const)

describe("a connector that throws", () => {
  it.effect.each([...cases("source", "check", "validate"), ...cases("sink", "check", "validate")])(
    "%s: in %s, is refused with the reason, and its name is free",
    ([kind, place]) =>
      Effect.gen(function*() {
        const { herder, unaffected } = yield* healthy([Source, Sink])
        const error = yield* Effect.flip(herder.create("bad", throwing[kind](place)))
        assert.strictEqual(error.reason._tag, "InvalidConfig")
        assert.include(error.message, `thrown in ${place}`)
        assert.deepStrictEqual(yield* herder.list, ["good-sink", "good-source"])
        const { problems } = yield* herder.validate({ ...throwing[kind](place), name: "bad" })
        assert.deepStrictEqual(problems.map(({ key }) => key), [place === "check" ? "where" : "connector.class"])
        yield* unaffected
      })
  )

  it.effect.each([...cases("source", "start", "task", "poll", "ack"), ...cases("sink", "task", "put")])(
    "%s: in %s, has failed and says why; others go on; a better config mends it",
    ([kind, place]) =>
      Effect.gen(function*() {
        const { herder, runs, unaffected, until } = yield* healthy([Source, Sink])
        yield* herder.create("bad", throwing[kind](place))
        const { conditions, state, tasks, trace } = yield* until("bad", ({ health }) => health === "failed")
        const failed = place === "start" ? { state, trace } : tasks[0]
        assert.strictEqual(failed?.state, "FAILED")
        assert.match(failed?.trace ?? "", new RegExp(`^TypeError: thrown in ${place}\\n +at `))
        assert.include(conditions[0]?.message ?? "", `thrown in ${place}`)
        yield* unaffected
        yield* herder.put("bad", throwing[kind](""))
        yield* runs("bad")
        yield* herder.delete("bad")
        yield* unaffected
      })
  )

  it.effect("sink: in flush, has failed as soon as it is flushed, and says why", () =>
    Effect.gen(function*() {
      const { herder, unaffected, until } = yield* healthy([Source, Sink])
      yield* herder.create("bad", throwing.sink("flush"))
      yield* until("bad", ({ tasks }) => tasks[0]?.state === "RUNNING")
      for (let turns = 0; turns < 50; turns++) yield* Running.turn
      yield* TestClock.adjust("1 second")
      const { tasks } = yield* until("bad", ({ health }) => health === "failed")
      assert.include(tasks[0]?.trace ?? "", "thrown in flush")
      yield* unaffected
    }))

  it.effect("source: in taskConfigs, is tried again on the schedule", () =>
    Effect.gen(function*() {
      const { herder, runs, unaffected, until } = yield* healthy([Source, Sink])
      yield* herder.create("bad", throwing.source("taskConfigs"))
      const { health, reconfiguration, state } = yield* until("bad", (_) => _.reconfiguration.state === "Waiting")
      assert.deepStrictEqual([state, health], ["RUNNING", "recovering"])
      assert.deepStrictEqual(reconfiguration.failure?.class, "defect")
      assert.strictEqual(reconfiguration.failure?.message, "thrown in taskConfigs")
      yield* unaffected
      yield* herder.put("bad", throwing.source(""))
      yield* runs("bad")
    }))

  it.effect.each([...cases("source", "stop"), ...cases("sink", "stop")])(
    "%s: in its finalizers (%s), is paused, stopped, started and deleted all the same",
    ([kind, place]) =>
      Effect.gen(function*() {
        const { herder, runs, unaffected, until } = yield* healthy([Source, Sink])
        yield* herder.create("bad", throwing[kind](place))
        yield* runs("bad")
        yield* herder.pause("bad")
        yield* until("bad", ({ tasks }) => tasks[0]?.state === "PAUSED")
        yield* herder.resume("bad")
        yield* runs("bad")
        yield* herder.restart("bad", { includeTasks: true })
        yield* runs("bad")
        yield* herder.stop("bad")
        yield* until("bad", ({ health, state, tasks }) =>
          health === "stopped" && state === "STOPPED" && tasks.length === 0)
        yield* herder.delete("bad")
        assert.strictEqual((yield* Effect.flip(herder.status("bad"))).reason._tag, "ConnectorNotFound")
        yield* herder.create("bad", throwing[kind](""))
        yield* runs("bad")
        yield* unaffected
      })
  )
})

const hangs = [true, false].map((interruptible) => Script.always(Script.hang({ interruptible })))
type Case<H extends string> = readonly [hook: H, how: string, script: Script.Script]
const each = <const H extends string>(...hooks: ReadonlyArray<H>): ReadonlyArray<Case<H>> =>
  hooks.flatMap((hook) =>
    hangs.map((script, deaf) => [hook, deaf === 0 ? "interruptible" : "deaf to interruption", script] as const)
  )

/** A connector that hangs in a hook, by its scripts; it listens again when it is told so. */
const hanging = Effect.fnUntraced(function*(kind: "source" | "sink", hook: string, script: Script.Script) {
  const source = yield* ScriptedSource.make({ name: "HangingSource" })
  const sink = yield* ScriptedSink.make({ name: "HangingSink" })
  const world = yield* healthy([source, sink])
  const set = (script: Script.Script | undefined) =>
    kind === "source" ? source.script({ [hook]: script }) : sink.script({ [hook]: script })
  yield* set(script)
  const config = kind === "source" ? source.config() : sink.config({}, { topics: ["t"] })
  const called = Running.settled(
    kind === "source" ? source.history : sink.history,
    (calls: ReadonlyArray<{ readonly hook: string }>) => calls.some((call) => call.hook === hook)
  )
  yield* source.emit("bad", 0, [{ topic: "bad", value: 1 }])
  return { ...world, sink, config, called, letGo: set(undefined) }
})

describe("a connector that never returns", () => {
  it.effect.each(each("source", "sink"))(
    "%s: from validate (%s), is refused at the deadline",
    ([kind, , script]) =>
      Effect.gen(function*() {
        const { called, config, herder, letGo, runs, unaffected } = yield* hanging(kind, "validate", script)
        const creating = yield* Effect.forkChild(Effect.flip(herder.create("bad", config)), { startImmediately: true })
        yield* called
        yield* unaffected
        yield* TestClock.adjust("29 seconds")
        assert.isUndefined(creating.pollUnsafe())
        yield* TestClock.adjust("1 second")
        const error = yield* Fiber.join(creating)
        assert.strictEqual(error.reason._tag, "InvalidConfig")
        assert.match(error.message, /the validation of Hanging\w+ did not return within 30 s/)
        yield* letGo
        yield* herder.create("bad", config)
        yield* runs("bad")
        yield* unaffected
      })
  )

  it.effect.each(each("start"))(
    "source: from %s (%s), has failed at the deadline; the next start is its own",
    ([hook, , script]) =>
      Effect.gen(function*() {
        const { called, config, herder, letGo, runs, unaffected, until } = yield* hanging("source", hook, script)
        yield* herder.create("bad", config)
        yield* called
        yield* unaffected
        yield* TestClock.adjust("59 seconds")
        assert.strictEqual((yield* herder.status("bad")).health, "recovering")
        yield* TestClock.adjust("1 second")
        const { state, trace } = yield* until("bad", ({ health }) => health === "failed")
        assert.deepStrictEqual([state, trace], ["FAILED", "start bad: it did not return within 60 s"])
        yield* letGo
        yield* herder.restart("bad")
        yield* runs("bad")
        yield* unaffected
      })
  )

  for (const kind of ["source", "sink"] as const) {
    const hooks: ReadonlyArray<Case<string>> = kind === "source"
      ? each("startTask", "poll", "stopTask")
      : each("startTask", "put", "stopTask")
    it.effect.each(hooks)(
      `${kind}: from %s (%s), is paused, resumed and deleted within the deadline`,
      ([hook, , script]) =>
        Effect.gen(function*() {
          const { called, config, herder, letGo, runs, unaffected, until } = yield* hanging(kind, hook, script)
          yield* herder.create("bad", config)
          yield* until("bad", ({ tasks }) => tasks[0]?.state === "RUNNING")
          if (hook !== "stopTask") yield* called
          yield* unaffected
          yield* herder.pause("bad")
          yield* unaffected
          yield* TestClock.adjust("5 seconds")
          yield* until("bad", ({ tasks }) => tasks[0]?.state === "PAUSED")
          yield* letGo
          yield* herder.resume("bad")
          yield* runs("bad")
          yield* herder.delete("bad")
          assert.strictEqual((yield* Effect.flip(herder.status("bad"))).reason._tag, "ConnectorNotFound")
          yield* unaffected
        })
    )

    it.effect.each(hooks)(
      `${kind}: from %s (%s), is deleted at once, and the name starts anew after the deadline`,
      ([hook, , script]) =>
        Effect.gen(function*() {
          const { config, herder, letGo, runs, unaffected, until } = yield* hanging(kind, hook, script)
          yield* herder.create("bad", config)
          yield* until("bad", ({ tasks }) => tasks[0]?.state === "RUNNING")
          yield* herder.delete("bad")
          assert.deepStrictEqual(yield* herder.list, ["good-sink", "good-source"])
          yield* letGo
          yield* herder.create("bad", config)
          yield* TestClock.adjust("5 seconds")
          yield* runs("bad")
          yield* unaffected
        })
    )
  }

  it.effect.each(each("flush"))(
    "sink: from %s (%s), keeps its records for the next start",
    ([hook, , script]) =>
      Effect.gen(function*() {
        const { called, config, herder, letGo, sink, unaffected, until } = yield* hanging("sink", hook, script)
        yield* herder.create("bad", config)
        yield* until("bad", ({ tasks }) => tasks[0]?.state === "RUNNING")
        const put = sink.records("bad")
        yield* Running.settled(put, ({ length }) => length === 1)
        yield* TestClock.adjust("1 second")
        yield* called
        yield* unaffected
        yield* herder.restart("bad", { includeTasks: true })
        yield* letGo
        yield* TestClock.adjust("5 seconds")
        // what was put and not flushed comes again, and what came meanwhile
        yield* Running.settled(put, ({ length }) => length === 3)
        yield* TestClock.adjust("1 second")
        const all = yield* Running.settled(put, (records) => records.slice(1).every(({ flushed }) => flushed))
        assert.deepStrictEqual(all.map(({ record }) => record.value), [1, 1, 2])
        assert.isFalse(all[0]?.flushed)
        yield* unaffected
      })
  )

  it.effect.each(each("stop"))(
    "source: from its finalizer %s (%s), is deleted, and the host can end",
    ([hook, , script]) =>
      Effect.gen(function*() {
        const { close, config, herder, runs, unaffected } = yield* hanging("source", hook, script)
        yield* herder.create("bad", config)
        yield* herder.create("worse", config)
        yield* runs("bad")
        yield* runs("worse")
        yield* herder.delete("bad")
        assert.deepStrictEqual(yield* herder.list, ["good-sink", "good-source", "worse"])
        yield* unaffected
        yield* close
      })
  )

  it.effect("does not take the slots of others: a hundred hang, and the next one starts", () =>
    Effect.gen(function*() {
      const { config, herder, letGo, runs, unaffected } = yield* hanging("source", "startTask", hangs[1] ?? [])
      for (let n = 0; n < 100; n++) yield* herder.create(`bad-${n}`, config)
      yield* runs("bad-99")
      yield* letGo
      yield* herder.create("last", config)
      yield* runs("last")
      yield* unaffected
    }))
})

describe("an exit", () => {
  it.effect("is never the herder's: every defect above is one connector's", () =>
    Effect.gen(function*() {
      const { herder } = yield* healthy([Source, Sink])
      const exits = yield* Effect.forEach(places, (place) =>
        Effect.exit(herder.create(`c-${place}`, throwing.source(place))))
      for (const exit of exits) {
        assert.isTrue(Exit.isSuccess(exit) || !Cause.hasDies(exit.cause))
      }
    }))
})
