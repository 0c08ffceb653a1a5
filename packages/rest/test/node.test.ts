import { assert, it } from "@effect/vitest"
import type { Herder } from "@kelpie/herder"
import { Effect, Layer, ManagedRuntime } from "effect"
import { createServer } from "node:http"
import { nodeHandler } from "../src/node.ts"
import { BaseUrl, conformance } from "./conformance.ts"
import * as Herders from "./herders.ts"
import { send } from "./http.ts"

/** A plain Node server, as an application without Effect writes it. */
const plain = (runtime: ManagedRuntime.ManagedRuntime<Herder, unknown>, prefix?: `/${string}`) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => Promise<void> }>((resume) => {
      const server = createServer(nodeHandler({ runtime }, { prefix }))
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => new Promise<void>((done) => server.close(() => done()))
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}${prefix ?? ""}`, close }))
      })
    }),
    ({ close }) => Effect.promise(close)
  )

conformance(
  "below a plain Node server",
  Layer.effect(
    BaseUrl,
    Effect.gen(function*() {
      const runtime = yield* Effect.acquireRelease(
        Effect.sync(() => ManagedRuntime.make(Herders.memory)),
        (runtime) => Effect.promise(runtime.dispose)
      )
      return (yield* plain(runtime, "/connect")).url
    })
  )
)

it.live("answers paths outside of its prefix with 404", () =>
  Effect.gen(function*() {
    const { url } = yield* plain(ManagedRuntime.make(Herders.memory), "/connect")
    const answer = yield* send(new URL(url).origin, { method: "GET", path: "/elsewhere" })
    assert.strictEqual(answer.status, 404)
  }))

it.live("answers 503 when the runtime does not start, or has ended", () =>
  Effect.gen(function*() {
    const broken = yield* plain(
      ManagedRuntime.make(Layer.effectDiscard(Effect.fail("no store")).pipe(Layer.merge(Herders.memory)))
    )
    const ended = ManagedRuntime.make(Herders.memory)
    yield* Effect.promise(ended.dispose)
    for (const { url } of [broken, yield* plain(ended)]) {
      const answer = yield* send(url, { method: "GET", path: "/" })
      assert.strictEqual(answer.status, 503)
      assert.deepStrictEqual(answer.json, { error_code: 503, message: "The worker is not running" })
    }
  }))
