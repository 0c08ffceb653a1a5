/** The stand-alone worker: a runtime over a data directory, and Connect's REST API in front of it. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { ConfigStore } from "@kelpie/core/ConfigStore"
import * as Middleware from "@kelpie/core/Middleware"
import { Plugins } from "@kelpie/core/Plugins"
import { MembershipPolicy, StopPolicy } from "@kelpie/core/Policies"
import { Herder } from "@kelpie/herder/Herder"
import * as HttpLeaderClient from "@kelpie/rest/HttpLeaderClient"
import * as NodeServer from "@kelpie/rest/NodeServer"
import { Sqlite } from "@kelpie/sqlite"
import type * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as path from "node:path"
import { freePort } from "./freePort.ts"
import type { options } from "./options.ts"
import { plugins } from "./plugins.ts"
import { StartError } from "./StartError.ts"

/** What the flags say. */
export type Options = {
  readonly [K in keyof typeof options]: (typeof options)[K] extends Flag.Flag<infer A> ? A : never
}

const storeOptions = (options: Options): Sqlite.Options => ({
  directory: path.resolve(options.dataDir),
  synchronous: options.synchronous,
  partitions: options.partitions,
  retention: { millis: Duration.toMillis(Duration.hours(options.retentionHours)) }
})

/** What every herder of this worker runs with. */
const settings = Effect.fnUntraced(function*(options: Options) {
  const stopTimeout = Duration.millis(options.stopTimeoutMs)
  return Layer.mergeAll(
    Plugins.layer(yield* plugins(options)),
    StopPolicy.layer({ connector: stopTimeout, task: stopTimeout }),
    // counted and measured for /metrics
    Middleware.layer([Middleware.metrics])
  )
})

/** Alone on its directory. */
const alone = Effect.fnUntraced(function*(options: Options) {
  const stores = yield* Effect.mapError(Layer.build(Sqlite.layer(storeOptions(options))), StartError.fromStore)
  // whoever holds the directory holds the port too, more often than not: the directory says more
  yield* Effect.mapError(Effect.scoped(Context.get(stores, ConfigStore).exclusive), StartError.fromStore)
  return (workerId: string) => Herder.layerSoloAs({ workerId }).pipe(Layer.provide(Layer.succeedContext(stores)))
})

/** One of several workers on a directory: they reach each other where clients reach them. */
const among = (options: Options) => (workerId: string) => {
  const lease = options.leaseMs
  const ports = Sqlite.layerShared({
    ...storeOptions(options),
    worker: { workerId, address: `http://${workerId}` }
  }).pipe(
    Layer.provide(
      MembershipPolicy.layer({
        lease: Duration.millis(lease),
        renewal: Duration.millis(lease * 0.3),
        margin: Duration.millis(lease * 0.1)
      })
    )
  )
  const client = Layer.provide(HttpLeaderClient.layer(), NodeHttpClient.layerUndici)
  // the keys stay in sight of the routes: they know other workers by them
  return Layer.provideMerge(Herder.layer, Layer.provideMerge(client, ports))
}

/**
 * Runs until it is interrupted: then requests are answered to their end, connectors are stopped, and the stores are closed.
 * When it is ready it prints one line, which ends in its URL.
 */
export const worker = Effect.fnUntraced(
  function*(options: Options) {
    const runtime = options.shared ? among(options) : yield* alone(options)
    const port = yield* freePort(options.host, options.port)
    const host = Option.getOrElse(options.advertisedHost, () => options.host)
    const workerId = `${host}:${Option.getOrElse(options.advertisedPort, () => port)}`
    const herder = yield* Layer.build(Layer.provide(runtime(workerId), yield* settings(options))).pipe(
      Effect.mapError(StartError.fromStore)
    )
    const { url } = yield* NodeServer.serve({ host: options.host, port, workerUrl: `http://${workerId}` }).pipe(
      Effect.provideContext(herder),
      Effect.mapError((cause) => new StartError({ message: `cannot listen on port ${port}: ${cause.message}`, cause }))
    )
    yield* Console.log(`Kelpie listens on ${url}`)
    return yield* Effect.never
  },
  Effect.scoped
)
