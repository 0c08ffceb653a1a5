/**
 * Contracts: what every implementation of a port has to keep, as named laws.
 *
 * A contract is a function from the thing under test to laws, a law is an effect that fails with what was broken. No test
 * framework is needed: `broken` runs laws and gives those that are broken; `@kelpie/testkit/vitest` registers them as tests.
 *
 * Laws wait for real time where an engine does, so run them with the live clock (`it.live`), or, for what lives in memory
 * only, with `TestRuntime.runSync(..., { advance: "1 hour" })`.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { isTrue, Mismatch } from "./internal/check.ts"
import { leftFibers } from "./internal/leftFibers.ts"

/** A law that does not hold. */
export class Broken extends Schema.TaggedError<Broken>("@kelpie/testkit/Broken")("Broken", {
  law: Schema.String,
  /** What was expected and what happened, or the failure in between. */
  message: Schema.String
}) {}

/** A named law. */
export interface Law {
  /** The law in plain words, with the invariants that it checks. */
  readonly name: string
  readonly run: Effect.Effect<void, Broken>
  /** It looks at the whole process: who runs laws side by side runs this one alone. */
  readonly alone?: boolean | undefined
}

/**
 * Makes what is tested. It is run once per law, so that each has a fresh world; the layer it gives may be built more than
 * once, one after the other (close and reopen) and at the same time (two workers).
 */
export type World<I> = Effect.Effect<Layer.Layer<I, unknown>, unknown, Scope.Scope>

/** What an implementation offers; what it does not offer is not asked for. */
export interface Options {
  /** The data outlives the layer. Default true; `false` leaves out the laws that close and reopen. */
  readonly durable?: boolean | undefined
  /** The layer may be built twice at the same time, over the same data. Default: as `durable`. */
  readonly shared?: boolean | undefined
  /** What one build does, the other is told of by itself, without reading. Default: as `shared`. */
  readonly notifies?: boolean | undefined
  /** How long one law may take. Default 30 seconds. */
  readonly limit?: Duration.Input | undefined
}

/** Turns any failure of a body, its interruption and its delay into `Broken`. */
export const law = (
  name: string,
  body: Effect.Effect<unknown, unknown, Scope.Scope>,
  options?: Pick<Options, "limit">
): Law => {
  const limit = Duration.fromInputUnsafe(options?.limit ?? "30 seconds")
  return {
    name,
    run: within(limit, Effect.scoped(body)).pipe(
      Effect.matchCauseEffect({
        onSuccess: () => Effect.void,
        onFailure: (cause) => Effect.fail(new Broken({ law: name, message: messageOf(cause) }))
      })
    )
  }
}

/** Gives up at the limit, also on a body that cannot be interrupted. */
const within = Effect.fnUntraced(function*(limit: Duration.Duration, body: Effect.Effect<unknown, unknown>) {
  const fiber = yield* Effect.forkDetach(body, { startImmediately: true })
  const giveUp = Effect.forkDetach(Fiber.interrupt(fiber), { startImmediately: true })
  const exit = yield* Effect.onInterrupt(Effect.timeoutOption(Fiber.await(fiber), limit), () => giveUp)
  if (exit._tag === "Some") return yield* exit.value
  yield* giveUp
  return yield* new Mismatch({ message: `did not end within ${Duration.format(limit)}` })
})

const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return error instanceof Mismatch ? error.message : Cause.pretty(cause)
}

/** Runs laws one after the other and gives those that are broken. */
export const broken = (laws: ReadonlyArray<Law>): Effect.Effect<ReadonlyArray<Broken>> =>
  Effect.map(
    Effect.forEach(laws, ({ run }) => Effect.match(run, { onSuccess: () => [], onFailure: (broken) => [broken] })),
    (all) => all.flat()
  )

/** Builds the layer under test and gives the port; closing the scope closes it. Each run is a build of its own. */
export type Open<S> = Effect.Effect<S, unknown, Scope.Scope>

/** The words in which the laws of a port are written. */
export interface Words<S> {
  /** A law about one open port. */
  readonly law: (name: string, body: (port: S) => Effect.Effect<unknown, unknown, Scope.Scope>) => Law
  /** A law about data that outlives the layer; left out when it does not. */
  readonly durable: (name: string, body: (open: Open<S>) => Effect.Effect<unknown, unknown, Scope.Scope>) => Law
  /** A law about two builds over the same data at the same time; left out when there can be none. */
  readonly shared: (name: string, body: (one: S, other: S) => Effect.Effect<unknown, unknown, Scope.Scope>) => Law
  /** As `shared`, for a law that opens and closes by itself. */
  readonly sharing: (name: string, body: (open: Open<S>) => Effect.Effect<unknown, unknown, Scope.Scope>) => Law
  /** As `shared`, for a law about being told; left out when nobody is told. */
  readonly notified: Words<S>["shared"]
  /** A law that opens by itself, in a world that is its own. */
  readonly opening: (name: string, body: (open: Open<S>) => Effect.Effect<unknown, unknown, Scope.Scope>) => Law
  /** The law that closing the layer ends every fiber that was started in it, after the body used it. */
  readonly ends: (body: (port: S) => Effect.Effect<unknown, unknown, Scope.Scope>) => Law
}

/** Makes the laws of a port from a world. */
export const laws = <I, S>(
  port: Context.Key<I, S>,
  world: World<I>,
  options: Options,
  define: (words: Words<S>) => ReadonlyArray<Law>
): ReadonlyArray<Law> => {
  const { durable = true, shared = durable, notifies = shared } = options
  const leftOut = new Set<string>()
  const opening: Words<S>["opening"] = (name, body) =>
    law(name, Effect.flatMap(world, (layer) => body(openOf(port, layer))), options)
  const sharing: Words<S>["sharing"] = (name, body) => {
    if (!shared) leftOut.add(name)
    return opening(name, body)
  }
  const both: Words<S>["shared"] = (name, body) =>
    sharing(name, (open) => Effect.flatMap(Effect.all([open, open]), ([one, other]) => body(one, other)))
  return define({
    opening,
    law: (name, body) => opening(name, (open) => Effect.flatMap(open, body)),
    durable: (name, body) => {
      if (!durable) leftOut.add(name)
      return opening(name, body)
    },
    sharing,
    shared: both,
    notified: (name, body) => {
      if (!notifies) leftOut.add(name)
      return both(name, body)
    },
    ends: (body) =>
      opening(
        "closing the layer ends every fiber that was started in it",
        (open) =>
          Effect.flatMap(leftFibers(Effect.scoped(Effect.flatMap(open, body))), (left) =>
            isTrue(`${left} fibers go on after the layer is closed`, left === 0))
      )
  }).filter(({ name }) => !leftOut.has(name))
}

const openOf = <I, S>(port: Context.Key<I, S>, layer: Layer.Layer<I, unknown>): Open<S> =>
  Effect.flatMap(
    Effect.scope,
    (scope) =>
      Effect.map(
        Layer.buildWithMemoMap(layer, Layer.makeMemoMapUnsafe(), scope),
        (context) => Context.get(context, port)
      )
  )
