/** A policy: a reference with defaults and a layer that changes some of them. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"

/** A reference to settings. */
export interface Policy<A extends object> extends Context.Reference<A> {
  readonly defaults: A
  /** Changes some settings, keeps the defaults of the others. Throws a `RangeError` that names a setting out of range. */
  readonly layer: (settings: { readonly [K in keyof A]?: A[K] | undefined }) => Layer.Layer<never>
}

/** Numbers and durations of a policy are above zero; what is not one is not checked. */
const problem = (name: string, value: unknown): string | undefined => {
  const n = typeof value === "number" ? value : Duration.isDuration(value) ? Duration.toMillis(value) : undefined
  return n === undefined || n > 0 ? undefined : `${name} must be above zero, but is ${n}`
}

/**
 * Makes a policy. Defaults are values without state: a reference's default is one per process. `fit` says what is wrong with
 * settings that do not go together.
 */
export const make = <A extends object>(
  id: string,
  defaults: A,
  fit: (settings: A) => string | undefined = () => undefined
): Policy<A> => {
  const reference = Context.Reference<A>(id, { defaultValue: () => defaults })
  return Object.assign(reference, {
    defaults,
    layer: (settings: { readonly [K in keyof A]?: A[K] | undefined }) => {
      const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
      for (const [name, value] of Object.entries(given)) {
        const reason = problem(`${id.slice(id.lastIndexOf("/") + 1)}.${name}`, value)
        if (reason !== undefined) throw new RangeError(reason)
      }
      const changed = { ...defaults, ...given }
      const reason = fit(changed)
      if (reason !== undefined) throw new RangeError(reason)
      return Layer.succeed(reference, changed)
    }
  })
}
