/** A runtime for applications that do not use Effect: the herder with promises, async iterables and `await using`. */
import type { HerderEvent, StatusChanged } from "@kelpie/core/HerderEvent"
import * as Middleware from "@kelpie/core/Middleware"
import type * as Plugin from "@kelpie/core/Plugin"
import { Plugins } from "@kelpie/core/Plugins"
import { StatusListener } from "@kelpie/core/StatusListener"
import type { Stores } from "@kelpie/core/Stores"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import { Herder } from "./Herder.ts"

/** Derived, so it cannot drift: effects become promises, streams become async iterables. */
export type Promised<S> = {
  readonly [K in keyof S]: S[K] extends (...args: infer Args) => Effect.Effect<infer A, any, any>
    ? (...args: Args) => Promise<A>
    : S[K] extends Stream.Stream<infer A, any, any> ? () => AsyncIterable<A>
    : S[K] extends Effect.Effect<infer A, any, any> ? () => Promise<A>
    : S[K]
}

/** A running herder. Its promises are rejected with `HerderError`; the case is in `reason`. */
export interface Kelpie extends Promised<Herder["Service"]>, AsyncDisposable {
  /** Stops every connector and closes the stores. */
  readonly dispose: () => Promise<void>
  /** The way back into Effect. */
  readonly runtime: ManagedRuntime.ManagedRuntime<Herder, unknown>
}

/** The common parts of a runtime as plain values. */
export interface Options<E> {
  readonly plugins: ReadonlyArray<Plugin.Plugin<never>>
  /** Left out: in memory, nothing is kept. */
  readonly stores?: Layer.Layer<Stores, E> | undefined
  /** Outermost first. */
  readonly middleware?: ReadonlyArray<Middleware.Middleware> | undefined
  readonly onStatusChange?: ((change: StatusChanged) => void) | undefined
  /** Policies and whatever else is a reference. */
  readonly settings?: Layer.Layer<never> | undefined
}

/** Starts one worker that leads itself; rejects if it cannot start. Disposing it stops every connector. */
export const start = <E = never>(options: Options<E>): Promise<Kelpie> => {
  const { middleware = [], onStatusChange, plugins, settings = Layer.empty, stores } = options
  const listen = (event: HerderEvent) =>
    Effect.sync(() =>
      event._tag === "StatusChanged" && onStatusChange !== undefined ? onStatusChange(event) : undefined
    )
  const common = Layer.mergeAll(
    Plugins.layer(plugins),
    Middleware.layer(middleware),
    StatusListener.layer(onStatusChange === undefined ? [] : [listen]),
    settings
  )
  return stores === undefined
    ? fromLayer(Layer.provide(Herder.layerMemory, common))
    : fromLayer(Herder.layerSolo.pipe(Layer.provide(stores), Layer.provide(common)))
}

/** Starts any runtime that is a layer. */
export const fromLayer = async <E>(layer: Layer.Layer<Herder, E>): Promise<Kelpie> => {
  const runtime = ManagedRuntime.make(layer)
  const herder = await runtime.runPromise(Herder)
  const run = (effect: Effect.Effect<unknown, unknown>) => runtime.runPromise(effect)
  const promised: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(herder)) promised[name] = promise(member, run)
  const dispose = () => runtime.dispose()
  // the members were turned one by one as their types say
  return { ...promised, runtime, dispose, [Symbol.asyncDispose]: dispose } as unknown as Kelpie
}

type Run = (effect: Effect.Effect<unknown, unknown>) => Promise<unknown>

const promise = (member: unknown, run: Run): unknown => {
  if (Stream.isStream(member)) return () => Stream.toAsyncIterable(member as Stream.Stream<unknown>)
  if (Effect.isEffect(member)) return () => run(member as Effect.Effect<unknown, unknown>)
  if (typeof member !== "function") return member
  const call = member as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>
  return (...args: ReadonlyArray<unknown>) => run(call(...args))
}
