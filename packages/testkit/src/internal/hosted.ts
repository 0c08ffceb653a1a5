/** A connector definition in the world of one law: its host is built, its configuration is decoded. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import type { ConnectorConfig } from "@kelpie/core/Plugin"
import { type Connector, Plugins } from "@kelpie/core/Plugins"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { Mismatch } from "./check.ts"

/** What a law is about. */
export interface Hosted<out W> {
  readonly world: W
  /** The configuration as it is written. */
  readonly config: ConnectorConfig
  /** The configuration as the connector sees it. */
  readonly values: ConfigKey.Values<ConfigKey.Fields>
  /** Gives the connector's code what its host has. */
  readonly provide: <A, E>(effect: Effect.Effect<A, E, any>) => Effect.Effect<A, E>
}

/** Reads a configuration that has to be right. */
export const read = (
  fields: ConfigKey.Fields,
  config: ConnectorConfig
): Effect.Effect<ConfigKey.Values<ConfigKey.Fields>, Mismatch> =>
  Result.match(ConfigKey.decode(fields, config), {
    onSuccess: (values) => Effect.succeed(values),
    onFailure: (problems) => {
      const errors = problems.flatMap(({ errors }) => errors).join("; ")
      return Effect.fail(new Mismatch({ message: `the configuration of the world is refused: ${errors}` }))
    }
  })

/** Builds the host; the scope closes it. */
export const make = Effect.fnUntraced(function*<W>(
  definition: Connector,
  world: W,
  config: ConnectorConfig,
  services: Layer.Layer<any, unknown> | undefined
): Effect.fn.Return<Hosted<W>, unknown, Scope.Scope> {
  const plugins = Plugins.layer([definition])
  const context = yield* Layer.build(services === undefined ? plugins : Layer.provide(plugins, services))
  const { provide } = Context.get(context, Plugins)
  return { world, config, values: yield* read(definition.fields, config), provide }
})

/**
 * Runs a connector's code in a fiber of its own and waits so long for it: what does not return, or cannot be interrupted,
 * holds nobody up.
 */
export const within = Effect.fnUntraced(function*<A, E>(
  what: string,
  limit: Duration.Input,
  effect: Effect.Effect<A, E>
): Effect.fn.Return<A, E | Mismatch> {
  const fiber = yield* Effect.forkDetach(effect, { startImmediately: true })
  const ended = Effect.timeoutOption(Effect.interruptible(Fiber.await(fiber)), limit)
  const interrupt = Effect.sync(() => fiber.interruptUnsafe())
  // who is interrupted waits for the code's own end, as the herder does
  const exit = yield* Effect.onInterrupt(ended, () => Effect.andThen(interrupt, ended))
  if (exit._tag === "Some") return yield* exit.value
  yield* interrupt
  const shown = Duration.format(Duration.fromInputUnsafe(limit))
  return yield* new Mismatch({ message: `${what} did not end within ${shown}` })
})

/** Uses what a scope holds, and closes it within its time, however the use ended. */
export const scoped = Effect.fnUntraced(function*<A, E>(
  what: string,
  limit: Duration.Input,
  use: (scope: Scope.Scope) => Effect.Effect<A, E>
): Effect.fn.Return<A, E | Mismatch> {
  const scope = yield* Scope.make()
  const close = within(what, limit, Scope.close(scope, Exit.void))
  const exit = yield* Effect.exit(Effect.onInterrupt(use(scope), () => Effect.forkDetach(close)))
  if (Exit.isSuccess(exit)) {
    yield* close
    return exit.value
  }
  // what it failed with says more than that it did not stop either
  yield* Effect.exit(close)
  return yield* exit
})
