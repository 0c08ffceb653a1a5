import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Rest } from "../src/index.ts"
import * as Herders from "./herders.ts"

type Ask = (path: string, init?: RequestInit) => Effect.Effect<{
  readonly status: number
  readonly text: string
  readonly headers: Headers
}>

/** A host's router, asked without a socket. */
const host = (routes: Layer.Layer<never, never, HttpRouter.HttpRouter>): Effect.Effect<Ask, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => HttpRouter.toWebHandler(routes, { disableLogger: true })),
      ({ dispose }) => Effect.promise(dispose)
    ),
    ({ handler }) => (path, init) =>
      Effect.promise(async () => {
        const response = await handler(new Request(`http://host.example${path}`, init))
        return { status: response.status, text: await response.text(), headers: response.headers }
      })
  )

const hello = HttpRouter.add("GET", "/hello", HttpServerResponse.text("hello"))
const api = (options?: Rest.Options) => Rest.layer(options).pipe(Layer.provide(Herders.memory))
const json = (body: unknown): RequestInit => ({
  method: "PUT",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body)
})

describe("in a host", () => {
  it.effect("stands beside the host's own routes, below its prefix", () =>
    Effect.gen(function*() {
      const ask = yield* host(Layer.merge(hello, api({ prefix: "/connect" })))
      assert.strictEqual((yield* ask("/hello")).text, "hello")
      assert.strictEqual((yield* ask("/connect/connectors")).text, "[]")
      assert.include((yield* ask("/connect")).text, `"version":"4.4.0"`)
      assert.strictEqual((yield* ask("/connect/nope")).text, `{"error_code":404,"message":"HTTP 404 Not Found"}`)
      assert.strictEqual((yield* ask("/connect/%zz")).status, 400)
    }))

  it.effect("leaves what is not below its prefix to the host", () =>
    Effect.gen(function*() {
      const ask = yield* host(Layer.merge(hello, api({ prefix: "/connect" })))
      for (const path of ["/connectors", "/nope", "/connector", "/connectx/connectors", "/%zz"]) {
        assert.deepInclude(yield* ask(path), { status: 404, text: "" })
      }
    }))

  it.effect("without a prefix leaves the host its routes and answers the rest", () =>
    Effect.gen(function*() {
      const ask = yield* host(Layer.merge(hello, api()))
      assert.strictEqual((yield* ask("/hello")).text, "hello")
      assert.strictEqual((yield* ask("/connectors")).text, "[]")
      assert.strictEqual((yield* ask("/nope")).text, `{"error_code":404,"message":"HTTP 404 Not Found"}`)
      assert.strictEqual((yield* ask("/%zz")).status, 400)
    }))

  it.effect("stands behind the host's middleware, whatever the path", () =>
    Effect.gen(function*() {
      const guard = HttpRouter.middleware((app) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
          headers["authorization"] === "Bearer yes"
            ? app
            : Effect.succeed(HttpServerResponse.text("who are you?", { status: 401 })))
      )
      const ask = yield* host(Layer.merge(hello, api({ prefix: "/connect" }).pipe(Layer.provide(guard.layer))))
      const long = `/connect/connectors/${"n".repeat(255)}/status`
      for (
        const path of [
          "/connect/connectors",
          long,
          "/connect//connectors",
          "/CONNECT/connectors",
          "/connect/connectors/a%2Fb"
        ]
      ) {
        assert.strictEqual((yield* ask(path)).status, 401, path)
      }
      const init = { headers: { authorization: "Bearer yes" } }
      assert.strictEqual((yield* ask("/connect/connectors", init)).status, 200)
      assert.include((yield* ask(long, init)).text, "No status found for connector nnn")
      assert.strictEqual((yield* ask("/hello")).status, 200)
    }))

  it.effect("serves two runtimes, each below its prefix", () =>
    Effect.gen(function*() {
      const ask = yield* host(Layer.merge(api({ prefix: "/a" }), api({ prefix: "/b" })))
      const created = yield* ask("/a/connectors/x%2Fy/config", json({ "connector.class": "Scripted" }))
      assert.strictEqual(created.status, 201)
      assert.strictEqual(created.headers.get("location"), "http://host.example/a/connectors/x%2Fy")
      assert.strictEqual((yield* ask("/a/connectors")).text, `["x/y"]`)
      assert.strictEqual((yield* ask("/b/connectors")).text, "[]")
      assert.strictEqual((yield* ask("/b/connectors/x%2Fy/pause", { method: "PUT" })).status, 404)
      assert.strictEqual((yield* ask("/a/connectors/x%2Fy/pause", { method: "PUT" })).status, 202)
    }))

  it.effect("stands in a part of the host's router, and answers nothing outside of it", () =>
    Effect.gen(function*() {
      const part = HttpRouter.use((router) =>
        Effect.provideService(Layer.build(api()), HttpRouter.HttpRouter, router.prefixed("/part"))
      )
      const ask = yield* host(Layer.merge(hello, part))
      assert.strictEqual((yield* ask("/part/connectors")).text, "[]")
      assert.include((yield* ask("/part/connectors/a%2Fb")).text, "Connector a/b not found")
      assert.strictEqual((yield* ask("/part/nope")).text, `{"error_code":404,"message":"HTTP 404 Not Found"}`)
      assert.strictEqual((yield* ask("/hello")).text, "hello")
      assert.deepInclude(yield* ask("/connectors"), { status: 404, text: "" })
    }))

  it.effect("tells the URL that it is given as that of the worker", () =>
    Effect.gen(function*() {
      const ask = yield* host(api({ prefix: "/connect", workerUrl: "https://worker-1.example/" }))
      const created = yield* ask("/connect/connectors/x/config", json({ "connector.class": "Scripted" }))
      assert.strictEqual(created.headers.get("location"), "https://worker-1.example/connect/connectors/x")
    }))

  it.effect("takes bodies as long as it is told", () =>
    Effect.gen(function*() {
      const ask = yield* host(api({ maxBodyBytes: 40 }))
      const short = yield* ask("/connectors/x/config", json({ "connector.class": "Scripted" }))
      assert.strictEqual(short.status, 201)
      const long = yield* ask("/connectors/x/config", json({ "connector.class": "Scripted", a: "1234567890" }))
      assert.strictEqual(
        long.text,
        `{"error_code":413,"message":"HTTP 413 Content Too Large: the body is longer than 40 bytes"}`
      )
    }))
})
