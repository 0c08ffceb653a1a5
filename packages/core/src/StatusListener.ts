/** Additional listeners of a runtime, told of every transition; one that fails or hangs harms nobody. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { HerderEvent } from "./HerderEvent.ts"

/** Told of one event after the other, in order. */
export type Listener = (event: HerderEvent) => Effect.Effect<void, unknown>

const reference = Context.Reference<ReadonlyArray<Listener>>("@kelpie/core/StatusListener", { defaultValue: () => [] })

/** The listeners of a runtime: none by default. */
export const StatusListener = Object.assign(reference, {
  /** One list. */
  layer: (all: ReadonlyArray<Listener>): Layer.Layer<never> => Layer.succeed(reference, all)
})
export type StatusListener = Listener
