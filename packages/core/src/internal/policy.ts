/** A policy: a reference with defaults and a layer that changes some of them. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/** A reference to settings. */
export interface Policy<A extends object> extends Context.Reference<A> {
  readonly defaults: A
  /** Changes some settings, keeps the defaults of the others. */
  readonly layer: (settings: { readonly [K in keyof A]?: A[K] | undefined }) => Layer.Layer<never>
}

/** Makes a policy. Defaults are values without state: a reference's default is one per process. */
export const make = <A extends object>(id: string, defaults: A): Policy<A> => {
  const reference = Context.Reference<A>(id, { defaultValue: () => defaults })
  return Object.assign(reference, {
    defaults,
    layer: (settings: { readonly [K in keyof A]?: A[K] | undefined }) => {
      const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
      return Layer.succeed(reference, { ...defaults, ...given })
    }
  })
}
