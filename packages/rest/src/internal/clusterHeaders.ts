/**
 * What a request and its answer say about the cluster, in headers: `Kelpie-Position` of an answer is the place in the config
 * log that this worker has read up to; `Kelpie-Min-Position` asks another worker for at least that (I14). `Idempotency-Key`
 * names a change, so that it may be sent again, to any worker, within ten minutes, and takes effect once (I10).
 */
import { CommandId } from "@kelpie/herder/CommandId"
import type { Herder } from "@kelpie/herder/Herder"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Refusal from "./refusal.ts"

/** Keys are kept in the config log for a while. */
const maxKeyLength = 200

const refuse = (message: string) => Effect.fail(new Refusal.Refusal({ status: 400, message }))

const minPosition = (herder: Herder["Service"], text: string | undefined): Effect.Effect<void, Refusal.Refusal> => {
  if (text === undefined) return Effect.void
  const position = Number(text)
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(position)) {
    return refuse("Kelpie-Min-Position has to be a position that Kelpie-Position gave: a whole number")
  }
  return Effect.mapError(
    herder.reached(position),
    ({ message }) => new Refusal.Refusal({ status: 503, message, headers: { "retry-after": "1" } })
  )
}

const commandId = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<string | undefined, Refusal.Refusal> => {
  const key = request.headers["idempotency-key"]
  if (key === undefined || request.method === "GET" || request.method === "HEAD") return Effect.undefined
  return /^[\x21-\x7e]+$/.test(key) && key.length <= maxKeyLength
    ? Effect.succeed(`key:${key}`)
    : refuse(`Idempotency-Key has to be 1 to ${maxKeyLength} visible ASCII characters`)
}

/** Reads the headers of a request before its handler, and adds to its answer. */
export const around = <R>(
  herder: Herder["Service"],
  request: HttpServerRequest.HttpServerRequest,
  handle: Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal.Refusal, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal.Refusal, R> =>
  Effect.gen(function*() {
    yield* minPosition(herder, request.headers["kelpie-min-position"])
    const id = yield* commandId(request)
    const response = yield* id === undefined ? handle : Effect.provideService(handle, CommandId, id)
    return HttpServerResponse.setHeader(response, "kelpie-position", `${yield* herder.position}`)
  })
