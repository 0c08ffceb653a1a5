import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConnectorNotFound, Herder, HerderError, type Reason, Unavailable } from "@kelpie/herder"
import { Effect, Layer, Logger, Metric } from "effect"
import { ConnectClient, RestError } from "../src/index.ts"
import { serve } from "../src/NodeServer.ts"
import { send } from "./http.ts"

const failing = (reason: Reason) => () => Effect.fail(new HerderError({ reason }))

/** A worker whose herder has these members only, and a client of it. */
const worker = Effect.fnUntraced(function*(herder: Partial<Herder["Service"]>) {
  const { url } = yield* Effect.provide(
    serve({ port: 0 }),
    Layer.mock(Herder, { position: Effect.succeed(7), ...herder })
  )
  const http = yield* Layer.build(NodeHttpClient.layerUndici)
  return { url, client: yield* Effect.provideContext(ConnectClient.make({ baseUrl: url }), http) }
})
const params = { connector: "x" }

describe("when the worker cannot do what is asked", () => {
  it.live("answers 503 with the time to wait when nothing was changed", () =>
    Effect.gen(function*() {
      const reason = new Unavailable({ message: "no leader is known", outcome: "none", retryAfterMillis: 2500 })
      const { client, url } = yield* worker({ pause: failing(reason) })
      const answer = yield* send(url, { method: "PUT", path: "/connectors/x/pause" })
      assert.strictEqual(answer.status, 503)
      assert.strictEqual(answer.headers["retry-after"], "3")
      assert.deepStrictEqual(answer.json, {
        error_code: 503,
        message: "no leader is known (nothing was changed; ask again, as after a rebalance)"
      })
      const error = yield* Effect.flip(client.operations.pause({ params }))
      assert.isTrue(error instanceof RestError.Unavailable && error.retryAfterSeconds === 3)
    }))

  it.live("answers 503 with a second to wait when nobody said how long", () =>
    Effect.gen(function*() {
      const reason = new Unavailable({ message: "a rebalance is under way", outcome: "none" })
      const { url } = yield* worker({ pause: failing(reason) })
      const answer = yield* send(url, { method: "PUT", path: "/connectors/x/pause" })
      assert.strictEqual(answer.headers["retry-after"], "1")
      assert.deepStrictEqual(answer.json, { error_code: 503, message: "a rebalance is under way" })
    }))

  it.live("answers 504 when it is not known whether it was done", () =>
    Effect.gen(function*() {
      const reason = new Unavailable({ message: "the leader did not answer", outcome: "unknown", retryAfterMillis: 1 })
      const { client, url } = yield* worker({ delete: failing(reason) })
      const answer = yield* send(url, { method: "DELETE", path: "/connectors/x" })
      assert.strictEqual(answer.status, 504)
      assert.isUndefined(answer.headers["retry-after"])
      assert.strictEqual((yield* Effect.flip(client.connectors.delete({ params })))._tag, "TimedOut")
    }))

  it.live("tells how it does: 503 while it starts, 500 when it does not move", () =>
    Effect.gen(function*() {
      for (const [status, code] of [["starting", 503], ["unhealthy", 500]] as const) {
        const { client, url } = yield* worker({ health: Effect.succeed({ status, message: "why" }) })
        const answer = yield* send(url, { method: "GET", path: "/health" })
        assert.strictEqual(answer.status, code)
        assert.deepStrictEqual(answer.json, { status, message: "why", error_code: code })
        assert.strictEqual((yield* client.worker.health()).status, status)
      }
    }))

  it.live("leaves a connector out of a listing that is deleted meanwhile", () =>
    Effect.gen(function*() {
      const { client } = yield* worker({
        list: Effect.succeed(["gone"]),
        status: (name) => failing(new ConnectorNotFound({ name }))()
      })
      assert.deepStrictEqual(yield* client.connectors.list({ query: { expand: ["status"] } }), {})
    }))
})

describe("when the worker has a fault", () => {
  it.live("answers 500 in the one shape, and neither answer nor log quotes what was sent", () =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const logger = Logger.make((options) => {
        logged.push(Logger.formatJson.log(options))
      })
      const broken = (_: string, config: Readonly<Record<string, string>>) =>
        Effect.die(new TypeError(`cannot use ${config["password"]}`))
      const answer = yield* Effect.flatMap(worker({ put: broken }), ({ url }) =>
        send(url, {
          method: "PUT",
          path: "/connectors/x/config",
          body: { "connector.class": "Scripted", password: "s3cret" }
        })).pipe(Effect.provide(Logger.layer([logger])))
      assert.strictEqual(answer.status, 500)
      assert.deepStrictEqual(answer.json, {
        error_code: 500,
        message: "Internal error: the log of the worker tells more"
      })
      const text = logged.join("\n")
      assert.include(text, "TypeError")
      assert.include(text, "Faults.test.ts")
      assert.notInclude(text, "s3cret")
    }))

  it.live("says nothing in the log of requests that it refuses", () =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => {
        logged.push(message)
      })
      yield* Effect.flatMap(worker({}), ({ url }) =>
        Effect.gen(function*() {
          for (const body of ["{\"password\": s3cret}", "[\"s3cret\"]", "{\"password\":{\"a\":\"s3cret\"}}"]) {
            const answer = yield* send(url, { method: "PUT", path: "/connectors/x/config", body })
            assert.strictEqual(answer.status, 400)
            assert.notInclude(answer.text, "s3cret")
          }
          yield* send(url, { method: "GET", path: "/connectors?expand=x" })
        })).pipe(Effect.provide(Logger.layer([logger])))
      assert.deepStrictEqual(logged, [])
    }))
})

describe("metrics", () => {
  it.live("are those of the process, in Prometheus' text", () =>
    Effect.gen(function*() {
      yield* Metric.update(Metric.counter("kelpie_rest_test_total", { incremental: true }), 3)
      const { url } = yield* worker({})
      const answer = yield* send(url, {
        method: "GET",
        path: "/metrics",
        headers: { accept: "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1" }
      })
      assert.strictEqual(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
      assert.match(answer.text, /^kelpie_rest_test_total 3$/m)
    }))
})
