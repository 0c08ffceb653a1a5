/** The endpoints of the contract by path, with their handlers. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { BodyOptional, ConnectApi, Produces } from "../ConnectApi.ts"
import * as Connectors from "./connectorHandlers.ts"
import * as Loggers from "./loggerHandlers.ts"
import * as Operations from "./operationHandlers.ts"
import * as Plugins from "./pluginHandlers.ts"
import * as Worker from "./workerHandlers.ts"

/** A method of a path. */
export interface Endpoint {
  readonly route: HttpRouter.Route<unknown, HttpRouter.Provided>
  readonly produces: string
  /** Whether a body is read, and may be left out; one that is ignored may be anything. */
  readonly body: "ignored" | "optional" | "required"
}

/** A path: its methods, in the order of the contract. */
export interface Path {
  readonly template: ReadonlyArray<string>
  readonly methods: ReadonlyMap<string, Endpoint>
}

/** A path that a request is for, and the values of its parameters. */
export interface Match {
  readonly path: Path
  readonly params: Readonly<Record<string, string>>
}

/**
 * The contract's handlers decode parameters and queries and encode answers, but routes are matched here: names may hold any
 * character and be longer than routers allow, and a path tells which methods it has.
 */
export const make = Effect.fnUntraced(function*(locate: Connectors.Locate) {
  const routes = new Map<string, Endpoint["route"]>()
  const router = yield* HttpRouter.make
  const recorder: HttpRouter.HttpRouter = {
    ...router,
    addAll: (added) =>
      Effect.sync(() => {
        for (const route of added) routes.set(`${route.method} ${route.path}`, route)
      })
  }
  const handlers = Layer.mergeAll(
    Worker.layer,
    Connectors.layer(locate),
    Operations.layer,
    Plugins.layer,
    Loggers.layer
  )
  const api = HttpApiBuilder.layer(ConnectApi).pipe(
    Layer.provide(handlers),
    Layer.provide(Layer.succeed(HttpRouter.HttpRouter, recorder)),
    // files and entity tags are not used here; the host's platform is not asked for
    Layer.provide(HttpServer.layerServices)
  )
  // a host may serve several runtimes: the handlers of one must not be taken for those of another
  yield* Layer.build(Layer.fresh(api))
  return byPath(routes)
})

const byPath = (routes: ReadonlyMap<string, Endpoint["route"]>): ReadonlyArray<Path> => {
  const paths = new Map<string, { readonly template: ReadonlyArray<string>; readonly methods: Map<string, Endpoint> }>()
  for (const group of Object.values(ConnectApi.groups)) {
    for (const endpoint of Object.values(group.endpoints)) {
      const route = routes.get(`${endpoint.method} ${endpoint.path}`)
      if (route === undefined) continue
      const path = paths.get(endpoint.path) ??
        { template: endpoint.path.split("/").slice(1).filter((segment: string) => segment !== ""), methods: new Map() }
      paths.set(endpoint.path, path)
      path.methods.set(endpoint.method, {
        route,
        produces: Context.get(endpoint.annotations, Produces),
        body: endpoint.payload.size === 0
          ? "ignored"
          : Context.get(endpoint.annotations, BodyOptional)
          ? "optional"
          : "required"
      })
    }
  }
  return [...paths.values()]
}

/** The path of the table that some segments are. No parameter is empty. */
export const find = (table: ReadonlyArray<Path>, segments: ReadonlyArray<string>): Match | undefined => {
  for (const path of table) {
    const { template } = path
    if (template.length !== segments.length) continue
    const matches = template.every((part, i) => part.startsWith(":") ? segments[i] !== "" : part === segments[i])
    if (!matches) continue
    const params = template.flatMap((part, i) =>
      part.startsWith(":") ? [[part.slice(1), segments[i] ?? ""] as const] : []
    )
    return { path, params: Object.fromEntries(params) }
  }
  return undefined
}
