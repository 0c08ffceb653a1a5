import { assert, describe, it } from "@effect/vitest"
import { Plugins } from "@kelpie/core"
import { Herder, HerderError, MemoryCluster, Unavailable } from "@kelpie/herder"
import { Effect, Layer } from "effect"
import { serve } from "../src/NodeServer.ts"
import * as Herders from "./herders.ts"
import { send } from "./http.ts"
import { plugins } from "./plugins.ts"

const json = { "content-type": "application/json" }
const create = (name: string) => JSON.stringify({ name, config: { "connector.class": "Scripted" } })

/** A worker that runs as long as the test. */
const serving = Effect.flatMap(
  Layer.build(Herders.memory),
  (herder) => Effect.provideContext(serve({ port: 0 }), herder)
)

describe("positions (I14)", () => {
  it.live("are told by every answer, and grow with what is written", () =>
    Effect.gen(function*() {
      const { url } = yield* serving
      const before = yield* send(url, { method: "GET", path: "/connectors" })
      const written = yield* send(url, { method: "POST", path: "/connectors", headers: json, body: create("orders") })
      const missing = yield* send(url, { method: "GET", path: "/connectors/nothing" })
      const position = Number(written.headers["kelpie-position"])
      assert.isAbove(position, Number(before.headers["kelpie-position"]))
      assert.isAtLeast(Number(missing.headers["kelpie-position"]), position)
    }))

  it.live("can be asked for: what was read so far is answered at once, nonsense is refused", () =>
    Effect.gen(function*() {
      const { url } = yield* serving
      const ask = (position: string) =>
        send(url, { method: "GET", path: "/connectors", headers: { "kelpie-min-position": position } })
      assert.strictEqual((yield* ask("1")).status, 200)
      for (const position of ["one", "-1", "1.5", "99999999999999999999"]) {
        const refused = yield* ask(position)
        assert.strictEqual(refused.status, 400, position)
        assert.include(refused.text, "Kelpie-Min-Position")
      }
    }))

  it.live("that are not reached in time are answered with 503", () =>
    Effect.gen(function*() {
      const reason = new Unavailable({ message: "this worker has not read up to position 9 so far", outcome: "none" })
      const herder = Layer.mock(Herder, { reached: () => Effect.fail(new HerderError({ reason })) })
      const { url } = yield* Effect.provide(serve({ port: 0 }), herder)
      const answer = yield* send(url, { method: "GET", path: "/connectors", headers: { "kelpie-min-position": "9" } })
      assert.strictEqual(answer.status, 503)
      assert.strictEqual(answer.headers["retry-after"], "1")
    }))
})

describe("a change with an Idempotency-Key (I10)", () => {
  it.live("takes effect once, and gives the first answer again", () =>
    Effect.gen(function*() {
      const { url } = yield* serving
      const post = (key: string) =>
        send(url, {
          method: "POST",
          path: "/connectors",
          headers: { ...json, "idempotency-key": key },
          body: create("orders")
        })
      assert.strictEqual((yield* post("one")).status, 201)
      assert.strictEqual((yield* post("one")).status, 201)
      assert.strictEqual((yield* post("two")).status, 409)
      const outcome = yield* send(url, { method: "GET", path: "/operations/key:one" })
      assert.deepInclude(outcome.json, { id: "key:one", created: true })
      assert.strictEqual((yield* send(url, { method: "GET", path: "/operations/key:three" })).status, 404)
    }))

  it.live("is refused when the key is too long or no text", () =>
    Effect.gen(function*() {
      const { url } = yield* serving
      for (const key of ["x".repeat(201), "a b"]) {
        const answer = yield* send(url, {
          method: "DELETE",
          path: "/connectors/orders",
          headers: { "idempotency-key": key }
        })
        assert.strictEqual(answer.status, 400)
        assert.include(answer.text, "Idempotency-Key")
      }
    }))
})

describe("the workers", () => {
  it.live("are listed by each of them, and one can be drained", () =>
    Effect.gen(function*() {
      const cluster = yield* MemoryCluster.make
      const worker = Effect.fnUntraced(function*(workerId: string) {
        const herder = yield* Layer.build(Layer.provide(cluster.layer({ workerId }), Plugins.layer(plugins)))
        return yield* Effect.provideContext(serve({ port: 0 }), herder)
      })
      const [a, b] = [yield* worker("a:1"), yield* worker("b:1")]
      const list = (url: string) =>
        Effect.map(
          send(url, { method: "GET", path: "/admin/workers" }),
          ({ json }) => (json as { readonly workers: ReadonlyArray<Record<string, unknown>> }).workers
        )
      const seen = yield* list(b.url)
      assert.deepStrictEqual(
        seen.map(({ draining, leader, self, worker_id }) => [worker_id, leader, draining, self]),
        [["a:1", true, false, false], ["b:1", false, false, true]]
      )
      assert.strictEqual((yield* send(a.url, { method: "POST", path: "/admin/drain" })).status, 202)
      assert.deepStrictEqual((yield* list(a.url)).map(({ draining }) => draining), [true, false])
    }))

  it.live("describe their API", () =>
    Effect.gen(function*() {
      const { url } = yield* serving
      const { json } = yield* send(url, { method: "GET", path: "/openapi.json" })
      assert.include(Object.keys((json as { readonly paths: object }).paths), "/connectors/{connector}/status")
    }))
})
