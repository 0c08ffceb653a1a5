import { assert, describe, it, vi } from "@effect/vitest"
import { type HerderEvent, Middleware, type Plugin, StatusStore, Stores } from "@kelpie/core"
import { Cause, Context, Effect, Exit, Layer, Metric, References, Stream } from "effect"
import { PrometheusMetrics } from "effect/observability"
import * as Leaky from "./fixtures/Leaky.ts"
import * as Logs from "./fixtures/Logs.ts"
import * as Scene from "./fixtures/Scene.ts"
import * as Spans from "./fixtures/Spans.ts"
import * as Vault from "./fixtures/Vault.ts"

vi.setConfig({ testTimeout: 60_000 })

/** Everything that an error tells whoever prints it. */
const everything = (error: unknown, depth = 0): string =>
  depth > 5 || typeof error !== "object" || error === null
    ? String(error)
    : `${String(error)} ${JSON.stringify(error)} ${
      error instanceof Error ? `${error.stack} ${everything(error.cause, depth + 1)}` : ""
    }`

const exitText = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.isSuccess(exit) ?
    "" :
    `${Cause.pretty(exit.cause)} ${
      exit.cause.reasons.map((reason) =>
        everything(reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : "")
      ).join(" ")
    }`

/** Runs a leaking connector for ten minutes and stops it; gives all that anybody could see of it, by where it is seen. */
const leak = Effect.fnUntraced(
  function*(config: Plugin.ConnectorConfig, logs: Logs.Logs, { spans, traced }: Spans.Spans) {
    const vault = Vault.make({ token: Leaky.token })
    const stores = yield* Layer.build(Stores.layerMemory)
    const events: Array<HerderEvent.HerderEvent> = []
    const errors: Array<string> = []
    const statuses: Array<unknown> = []
    const operation = Middleware.compose([Middleware.span, Middleware.metrics, Middleware.logging])
    const timeline = yield* traced(Effect.gen(function*() {
      const scene = yield* Scene.make({
        plugins: [Leaky.source, Leaky.sink, Leaky.transform, vault.plugin],
        stores: Layer.succeedContext(stores),
        middleware: operation
      })
      const noted = (effect: Effect.Effect<unknown, unknown>) =>
        Effect.catchCause(effect, (cause) => Effect.sync(() => errors.push(exitText(Exit.failCause(cause)))))
      yield* Effect.forkScoped(
        Stream.runForEach(scene.herder.events, (event) => Effect.sync(() => events.push(event))),
        {
          startImmediately: true
        }
      )
      // what the sink reads
      yield* scene.source.emit("feed", 0, [{ topic: "leaks", value: 1 }])
      yield* scene.deploy("feed", scene.source.config())
      yield* noted(scene.herder.create("leaky", config))
      yield* noted(
        Effect.flatMap(
          scene.herder.validate({ ...config, name: "leaky" }),
          ({ infos, problems, warnings }) => Effect.sync(() => statuses.push(infos, problems, warnings))
        )
      )
      const look = noted(Effect.tap(scene.herder.status("leaky"), (status) => Effect.sync(() => statuses.push(status))))
      for (let n = 0; n < 10; n++) {
        yield* scene.settle
        yield* look
        yield* scene.advance(2000)
      }
      yield* noted(scene.herder.stop("leaky"))
      yield* scene.settle
      yield* scene.advance(10_000)
      yield* scene.settle
      yield* look
      return yield* scene.timeline
    }))
    const stored = yield* Context.get(stores, StatusStore).load
    return {
      statuses: JSON.stringify([statuses, stored]),
      events: JSON.stringify(events),
      errors: errors.join("\n"),
      logs: logs.lines.map(({ annotations, cause, message }) => `${message} ${JSON.stringify(annotations)} ${cause}`)
        .join("\n"),
      spans: spans.map(({ attributes, events, name, status }) =>
        `${name} ${
          JSON.stringify([[...attributes], events], (_, value) => typeof value === "bigint" ? `${value}` : value)
        } ${status._tag === "Ended" ? exitText(status.exit) : ""}`
      ).join("\n"),
      metrics: yield* PrometheusMetrics.format(),
      timeline: timeline.join("\n")
    }
  }
)

const secrets = [Leaky.token, "hunter2", "quoted", "second-line"]

const hidden = (config: Plugin.ConnectorConfig) => {
  const logs = Logs.make()
  const spans = Spans.make()
  return leak(config, logs, spans).pipe(
    Effect.provide(Layer.mergeAll(logs.layer, Layer.succeed(References.MinimumLogLevel, "All"))),
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.map((seen) => {
      for (const [place, text] of Object.entries(seen)) {
        for (const secret of secrets) {
          const at = text.indexOf(secret)
          assert.isTrue(at < 0, `${secret} is in the ${place}: ${text.slice(Math.max(0, at - 300), at + 100)}`)
        }
      }
      return seen
    })
  )
}
const own = { "leaky.password": Leaky.password, "leaky.token": "${vault:token}" }
const source = (at: string, way: string) => ({
  "connector.class": "LeakySource",
  "leaky.at": at,
  "leaky.way": way,
  "tasks.max": "1",
  ...own
})
const sink = (at: string, way: string) => ({ ...source(at, way), "connector.class": "LeakySink", topics: "leaks" })

for (const at of ["validate", "start", "taskConfigs", "task", "poll", "ack", "stopTask", "stop"]) {
  describe(`a source that leaks its secrets in ${at}`, () => {
    for (const way of Object.keys(Leaky.ways)) {
      it.effect(`shows them to nobody (${way})`, () =>
        Effect.gen(function*() {
          const { errors, logs, statuses } = yield* hidden(source(at, way))
          // the message itself was told
          assert.include(errors + logs + statuses, way.includes("object") ? "" : Leaky.marker)
        }))
    }
  })
}

for (const at of ["validate", "sinkTask", "put", "flush", "stopTask"]) {
  describe(`a sink that leaks its secrets in ${at}`, () => {
    for (const way of Object.keys(Leaky.ways)) {
      it.effect(`shows them to nobody (${way})`, () =>
        Effect.gen(function*() {
          const { errors, logs, statuses } = yield* hidden(sink(at, way))
          assert.include(errors + logs + statuses, way.includes("object") ? "" : Leaky.marker)
        }))
    }
  })
}

describe("secrets elsewhere", () => {
  it.effect("a problem that a validation reports names none", () =>
    Effect.gen(function*() {
      assert.include((yield* hidden(source("problem", ""))).errors, `${Leaky.marker}: [hidden]`)
    }))

  it.effect("a record that a sink gives up on is logged without them", () =>
    Effect.gen(function*() {
      const config = {
        ...sink("report", ""),
        "errors.tolerance": "all",
        "errors.log.enable": "true",
        "errors.log.include.messages": "true"
      }
      assert.include((yield* hidden(config)).logs, `${Leaky.marker}: [hidden]`)
    }))

  it.effect("a task config that holds one is refused before it is stored", () =>
    Effect.gen(function*() {
      const { statuses } = yield* hidden(source("taskConfig", ""))
      assert.include(statuses, "a task config holds the value of a secret")
    }))

  it.effect("a password that comes from a variable is hidden too", () =>
    Effect.gen(function*() {
      const { statuses } = yield* hidden({ ...source("taskConfigs", "typed"), "leaky.password": "${vault:token}" })
      assert.include(statuses, `${Leaky.marker}: [hidden] / [hidden]`)
    }))

  for (const opens of ["true", "false"]) {
    it.effect(`a transform that ${opens === "true" ? "refuses a record" : "cannot be opened"} names none`, () =>
      Effect.gen(function*() {
        const { statuses } = yield* hidden({
          ...source("", ""),
          transforms: "t",
          "transforms.t.type": "LeakyTransform",
          "transforms.t.token": "${vault:token}",
          "transforms.t.opens": opens
        })
        assert.include(statuses, `${Leaky.marker}: [hidden]`)
      }))
  }
})
