import { assert, it, vi } from "@effect/vitest"
import { Plugins } from "@kelpie/core"
import { Herder } from "@kelpie/herder"
import { Sqlite } from "@kelpie/sqlite"
import { Effect, Layer, Logger, Schedule } from "effect"
import { MaxPages } from "../../sqlite/src/internal/settings.ts"
import { serve } from "../src/NodeServer.ts"
import { get, post, put } from "./conformance/Theme.ts"
import { folder } from "./herders.ts"
import { type Request, send } from "./http.ts"
import { plugins } from "./plugins.ts"

vi.setConfig({ testTimeout: 60_000 })

/** A worker on a folder; `maxPages` stands for the size of its disk. */
const worker = Effect.fnUntraced(function*(directory: string, maxPages?: number) {
  const stores = Sqlite.layer({ directory, synchronous: "normal" }).pipe(
    Layer.provide(Layer.succeed(MaxPages, maxPages))
  )
  const herder = Herder.layerSolo.pipe(Layer.provide(stores), Layer.provide([Plugins.layer(plugins), Logger.layer([])]))
  const context = yield* Layer.build(Layer.fresh(herder))
  const { url } = yield* Effect.provideContext(serve({ port: 0 }), context)
  const ask = (request: Request) => send(url, request)
  return {
    ask,
    names: Effect.map(ask(get("/connectors")), ({ json }) => json),
    runs: (name: string) =>
      Effect.repeat(ask(get(`/connectors/${name}/status`)), {
        schedule: Schedule.spaced("20 millis"),
        until: ({ text }) => text.includes(`"health":"healthy"`)
      }).pipe(Effect.timeout("20 seconds"))
  }
})

const large = { "connector.class": "Scripted", topic: "x".repeat(10_000) }
const full = /the disk is full: .*control\.db cannot grow; nothing of this write was stored/

it.live("a full disk: 503 with the reason, nothing of it is kept, and work goes on when there is space", () =>
  Effect.gen(function*() {
    const directory = yield* folder
    const kept = yield* Effect.scoped(Effect.gen(function*() {
      const { ask, names, runs } = yield* worker(directory, 60)
      const created: Array<string> = []
      const create = (name: string) => ask(post("/connectors", { name, config: large, initial_state: "STOPPED" }))
      let refused = yield* create("c0")
      for (let n = 0; refused.status === 201 && n < 100; refused = yield* create(`c${n}`)) created.push(`c${n++}`)
      assert.isAbove(created.length, 5)
      for (
        const answer of [
          refused,
          yield* create("another"),
          yield* ask(put("/connectors/c0/config", { ...large, key: "y".repeat(30_000) }))
        ]
      ) {
        assert.strictEqual(answer.status, 503)
        assert.strictEqual(answer.headers["retry-after"], "1")
        assert.hasAllKeys(answer.json, ["error_code", "message"])
        assert.match(answer.text, full)
      }
      // what was refused is not there, what was not is
      assert.deepStrictEqual(yield* names, [...created].sort())
      assert.deepInclude((yield* ask(get("/connectors/c0/config"))).json, { ...large, name: "c0" })
      assert.strictEqual((yield* ask(get("/health"))).status, 200)
      // one that fits does not suffer
      assert.strictEqual((yield* ask(put("/connectors/c1/pause"))).status, 202)
      // space is made
      for (const name of created.slice(-2)) {
        assert.strictEqual((yield* ask({ method: "DELETE", path: `/connectors/${name}` })).status, 204)
      }
      assert.strictEqual(
        (yield* ask(post("/connectors", { name: "later", config: { ...large, topic: "t" } }))).status,
        201
      )
      yield* runs("later")
      return [...created.slice(0, -2), "later"].sort()
    }))
    const { ask, names, runs } = yield* worker(directory)
    assert.deepStrictEqual(yield* names, kept)
    assert.include((yield* ask(get("/connectors/c1/status"))).text, `"health":"paused"`)
    yield* runs("later")
    assert.strictEqual((yield* ask(put("/connectors/c0/resume"))).status, 202)
    yield* runs("c0")
  }))
