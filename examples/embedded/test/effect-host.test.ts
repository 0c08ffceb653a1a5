import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { HttpRouter } from "effect/http"
import { Routes } from "../src/effect-host.ts"

/** The whole application, asked without a socket. */
const application = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => HttpRouter.toWebHandler(Routes, { disableLogger: true })),
    ({ dispose }) => Effect.promise(dispose)
  ),
  ({ handler }) => (method: string, path: string, body?: unknown) =>
    Effect.promise(async () => {
      const headers = { "content-type": "application/json" }
      const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) }
      const response = await handler(new Request(`http://shop.example${path}`, init))
      return { status: response.status, body: await response.json() }
    })
)

const connectors = [
  ["in", { "connector.class": "OrdersSource" }],
  ["out", { "connector.class": "ShippingSink", topics: "orders" }]
] as const

describe("a host with Effect", () => {
  it.live("ships the orders that its own route takes, through connectors that use its own service", () =>
    Effect.gen(function*() {
      const ask = yield* application
      assert.deepStrictEqual(yield* ask("POST", "/orders", { item: "lamp" }), {
        status: 201,
        body: { id: 1, item: "lamp" }
      })
      for (const [name, config] of connectors) {
        assert.strictEqual((yield* ask("PUT", `/connect/connectors/${name}/config`, config)).status, 201)
      }
      yield* ask("POST", "/orders", { item: "table" })

      const { body } = yield* ask("GET", "/shipped").pipe(
        Effect.repeat({
          until: ({ body }) => Array.isArray(body) && body.length === 2,
          schedule: Schedule.spaced("10 millis")
        })
      )
      assert.deepStrictEqual(body, [{ id: 1, item: "lamp" }, { id: 2, item: "table" }])
    }))

  it.live("answers for its own paths and for the connectors'", () =>
    Effect.gen(function*() {
      const ask = yield* application
      assert.deepStrictEqual(yield* ask("GET", "/shipped"), { status: 200, body: [] })
      assert.deepStrictEqual(yield* ask("GET", "/connect/connectors"), { status: 200, body: [] })
      assert.strictEqual((yield* ask("GET", "/connect/connectors/nobody")).status, 404)
    }))
})
