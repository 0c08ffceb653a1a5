/**
 * Connect's REST API as routes of the host's router.
 *
 * A host composes it like any other routes: beside its own, under a prefix, behind its middleware.
 */
import { Herder } from "@kelpie/herder/Herder"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { dispatch } from "./internal/dispatch.ts"
import * as LeaderRoute from "./internal/leaderRoute.ts"
import * as Refusal from "./internal/refusal.ts"
import * as RouteTable from "./internal/routeTable.ts"
import * as Target from "./internal/target.ts"

/** Where and how the API is served. */
export interface Options {
  /** Path that all others follow, such as `/connect`. Without one the API answers every path that no other route takes. */
  readonly prefix?: `/${string}` | undefined
  /** The URL by which clients reach this worker, for `Location`; left out, the address that the request came to. */
  readonly workerUrl?: string | undefined
  /** The longest body that is read, 1 MiB by default; a longer one is answered 413. */
  readonly maxBodyBytes?: number | undefined
}

/**
 * The routes. They need the herder, and nothing else of the host. Where there are a `LeaderReceiver` and `SessionKeys` too,
 * they take the commands that other workers sign and send to the leader.
 */
export const layer = (options: Options = {}): Layer.Layer<never, never, Herder | HttpRouter.HttpRouter> => {
  const prefix = (options.prefix ?? "").replace(/\/+$/, "")
  return HttpRouter.use(Effect.fnUntraced(function*(router) {
    const table = yield* RouteTable.make((request, name) =>
      `${workerUrl(options.workerUrl, request)}${prefix}/connectors/${encodeURIComponent(name)}`
    )
    const leader = yield* LeaderRoute.make
    const herder = yield* Herder
    const answer = dispatch({ table, prefix, maxBodyBytes: options.maxBodyBytes ?? 1024 * 1024, herder, leader })
    yield* router.add("*", prefix === "" ? "/*" : `/${prefix.slice(1)}/*`, answer)
    yield* router.addGlobalMiddleware((app) =>
      Effect.catchIf(app, isRouteNotFound, (error) =>
        Effect.flatMap(
          HttpServerRequest.HttpServerRequest,
          ({ url }) => Option.getOrElse(unrouted(url, prefix), () => Effect.fail(error))
        ))
    )
  }))
}

/** The configured URL, or the origin that the request was sent to; without either the path alone. */
const workerUrl = (configured: string | undefined, request: HttpServerRequest.HttpServerRequest): string => {
  if (configured !== undefined) return configured.replace(/\/+$/, "")
  if (request.headers["host"] !== undefined) {
    return Option.match(HttpServerRequest.toURL(request), { onNone: () => "", onSome: (url) => url.origin })
  }
  return URL.canParse(request.originalUrl) ? new URL(request.originalUrl).origin : ""
}

const isRouteNotFound = (error: unknown): error is HttpServerError.HttpServerError =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/**
 * Paths of this API that the router gives up on, because their encoding is broken: they get an error of the one shape, and
 * no handler. Anything else that no route takes is the host's.
 */
const unrouted = (url: string, prefix: string) => {
  if (url === "*" && prefix === "") return Option.some(Effect.succeed(Refusal.toResponse(Refusal.notFound)))
  const target = Target.parse(url, prefix)
  return Result.isFailure(target) && target.failure === Refusal.malformedPath
    ? Option.some(Effect.succeed(Refusal.toResponse(target.failure)))
    : Option.none()
}
