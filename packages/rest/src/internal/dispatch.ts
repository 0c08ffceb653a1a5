/** From a request to its answer: everything that HTTP asks of a server, around the handlers of the contract. */
import type { Herder } from "@kelpie/herder/Herder"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as ClusterHeaders from "./clusterHeaders.ts"
import * as Fault from "./fault.ts"
import * as Issues from "./issues.ts"
import * as jsonBody from "./jsonBody.ts"
import * as LeaderRoute from "./leaderRoute.ts"
import { accepts } from "./negotiation.ts"
import * as Refusal from "./refusal.ts"
import * as RouteTable from "./routeTable.ts"
import * as Target from "./target.ts"

/** What there is to know for every request. */
export interface Settings {
  readonly table: ReadonlyArray<RouteTable.Path>
  readonly prefix: string
  readonly maxBodyBytes: number
  readonly herder: Herder["Service"]
  /** Left out: this worker takes no commands from others. */
  readonly leader: LeaderRoute.LeaderRoute | undefined
}

/** Answers a request; fails never. */
export const dispatch = (settings: Settings) => {
  const handle = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    const { query, segments } = yield* Effect.fromResult(Target.parse(request.url, settings.prefix))
    if (settings.leader !== undefined && LeaderRoute.isFor(request, segments)) return yield* settings.leader(request)
    const match = RouteTable.find(settings.table, segments)
    if (match === undefined) return yield* Refusal.notFound
    if (request.method === "OPTIONS") {
      return HttpServerResponse.empty({ headers: { allow: allowed(match.path), "content-length": "0" }, status: 200 })
    }
    const endpoint = match.path.methods.get(request.method === "HEAD" ? "GET" : request.method)
    if (endpoint === undefined) return yield* methodNotAllowed(match.path)
    if (!accepts(request.headers["accept"], endpoint.produces)) return yield* notAcceptable(endpoint.produces)
    const body = endpoint.body === "ignored"
      ? undefined
      : yield* jsonBody.read(request, settings.maxBodyBytes, endpoint.body)
    return yield* ClusterHeaders.around(settings.herder, request, run(endpoint.route, match.params, query, body))
  })
  return (request: HttpServerRequest.HttpServerRequest): Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    never,
    HttpRouter.Provided
  > => Effect.catchTag(handle(request), "Refusal", (refusal) => Effect.succeed(Refusal.toResponse(refusal)))
}

/** GET tells HEAD too. */
const allowed = ({ methods }: RouteTable.Path): string =>
  [...methods.keys()].flatMap((method) => method === "GET" ? ["GET", "HEAD"] : [method]).concat("OPTIONS").join(", ")

const methodNotAllowed = (path: RouteTable.Path) =>
  new Refusal.Refusal({ status: 405, message: "HTTP 405 Method Not Allowed", headers: { allow: allowed(path) } })

const notAcceptable = (produces: string) =>
  new Refusal.Refusal({ status: 406, message: `HTTP 406 Not Acceptable: the answer is ${produces}` })

/** Runs a handler of the contract with what was read of the request. */
const run = (
  route: RouteTable.Endpoint["route"],
  params: Readonly<Record<string, string>>,
  query: Target.Target["query"],
  body: unknown
) =>
  route.handler.pipe(
    Effect.provideContext(
      Context.make(HttpRouter.RouteContext, { params, route }).pipe(
        Context.add(HttpServerRequest.ParsedSearchParams, query),
        Context.add(jsonBody.JsonBody, body)
      )
    ),
    Effect.catch((error) => refuse(error, params, query)),
    Effect.catchDefect((error) => refuse(error, params, query))
  )

/** A request that the contract does not take, or a fault of this worker. */
const refuse = (
  error: unknown,
  params: Readonly<Record<string, string>>,
  query: Target.Target["query"]
): Effect.Effect<never, Refusal.Refusal> => {
  if (HttpApiError.HttpApiSchemaError.is(error)) {
    if (error.kind === "Params") return Effect.fail(Refusal.notFound)
    if (error.kind === "Query") {
      const message = Issues.describe("Query parameter", error.cause, query, shown)
      return Effect.fail(new Refusal.Refusal({ status: 400, message }))
    }
  }
  return Effect.andThen(
    Fault.log(error, params),
    Effect.fail(new Refusal.Refusal({ status: 500, message: Fault.message }))
  )
}

/** The text of a query; no secret belongs there. */
const shown = (value: unknown): string => JSON.stringify(value ?? null).slice(0, 100)
