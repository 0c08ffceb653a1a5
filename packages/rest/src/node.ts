/** The REST API for a Node server or framework that does not use Effect. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type { Herder } from "@kelpie/herder/Herder"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Rest from "./Rest.ts"

/** A started runtime. */
export interface Host {
  readonly runtime: ManagedRuntime.ManagedRuntime<Herder, unknown>
}

/**
 * A listener that answers every request in the API's words, also those outside the prefix: give it what belongs to it. The
 * body must not have been read by the framework.
 *
 * `createServer(nodeHandler(kelpie, { prefix: "/connect" })).listen(8083, "127.0.0.1")`
 */
export const nodeHandler = (
  host: Host,
  options: Rest.Options = {}
): (request: IncomingMessage, response: ServerResponse) => void => {
  let started: Promise<(request: IncomingMessage, response: ServerResponse) => void> | undefined
  return (request, response) => {
    started ??= host.runtime.runPromise(make(host.runtime.scope, options))
    void started.then((handle) => handle(request, response), () => unavailable(response))
  }
}

/** Built when the first request comes, and part of the runtime: its end interrupts what is being answered. */
const make = Effect.fnUntraced(function*(scope: Scope.Scope, options: Rest.Options) {
  const router = yield* HttpRouter.make
  yield* Layer.build(Rest.layer(options).pipe(Layer.provide(Layer.succeed(HttpRouter.HttpRouter, router)))).pipe(
    Scope.provide(scope)
  )
  return yield* NodeHttpServer.makeHandler(router.asHttpEffect(), { scope })
})

/** The runtime failed to start, or has ended. */
const unavailable = (response: ServerResponse): void => {
  response.writeHead(503, { "content-type": "application/json", "retry-after": "1" })
  response.end(JSON.stringify({ error_code: 503, message: "The worker is not running" }))
}
