/** Reads the JSON body of a request, bounded. */
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { isJson } from "./negotiation.ts"
import { Refusal } from "./refusal.ts"

/** The body of the request that is handled, parsed; `undefined` when there is none. */
export const JsonBody = Context.Reference<unknown>("@kelpie/rest/internal/JsonBody", { defaultValue: () => undefined })

const decoder = new TextDecoder("utf-8", { fatal: true })

const tooLarge = (limit: number) =>
  new Refusal({ status: 413, message: `HTTP 413 Content Too Large: the body is longer than ${limit} bytes` })

const unsupported = (what: string) =>
  new Refusal({
    status: 415,
    message: `HTTP 415 Unsupported Media Type: ${what}`,
    headers: { accept: "application/json" }
  })

/** Only the place is told of what a JSON reader says: its text quotes the body. */
const malformed = (cause: unknown) => {
  const place = /\(line \d+ column \d+\)|position \d+/.exec(cause instanceof SyntaxError ? cause.message : "")?.[0]
  return new Refusal({
    status: 400,
    message: `The body is not valid JSON${place === undefined ? "" : `: see ${place}`}`
  })
}

/** The bytes of a body. */
export const bytes = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, limit: number) {
  if (Number(request.headers["content-length"]) > limit) return yield* tooLarge(limit)
  const buffer = yield* request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit)),
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? tooLarge(limit)
        : new Refusal({ status: 400, message: "The body could not be read to its end" })
    )
  )
  return new Uint8Array(buffer)
})

/** The value of a body that is not empty. */
export const parse = Effect.fnUntraced(function*(headers: Headers.Headers, body: Uint8Array) {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity"
  if (encoding !== "identity") return yield* unsupported(`expected no Content-Encoding, got ${encoding.slice(0, 100)}`)
  if (!isJson(headers["content-type"])) {
    const got = headers["content-type"]?.slice(0, 100) ?? "no Content-Type"
    return yield* unsupported(`expected application/json in UTF-8, got ${got}`)
  }
  const text = yield* Effect.try({
    try: () => decoder.decode(body),
    catch: () => new Refusal({ status: 400, message: "The body is not valid UTF-8" })
  })
  return yield* Effect.try({ try: (): unknown => JSON.parse(text), catch: malformed })
})

/** The value of a body. An empty one is refused before its type is looked at, for clients send both or neither. */
export const read = Effect.fnUntraced(function*(
  request: HttpServerRequest.HttpServerRequest,
  limit: number,
  need: "optional" | "required"
) {
  const body = yield* bytes(request, limit)
  if (body.length > 0) return yield* parse(request.headers, body)
  if (need === "optional") return undefined
  return yield* new Refusal({ status: 400, message: "The body is empty: expected a JSON object" })
})
