/** Resolves `${provider:path:key}` on the way into a connector (Connect's ConfigProvider). */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as ConfigKey from "./ConfigKey.ts"
import { type ConnectorError, fromRejection } from "./ConnectorError.ts"
import * as Plugin from "./Plugin.ts"

/** What a provider knows under a path. A key that it does not give is an unresolvable variable. */
export interface Resolved {
  readonly values: Readonly<Record<string, string>>
  /** How long the values hold; then whoever uses them resolves them anew. */
  readonly ttl?: Duration.Input | undefined
}

/** Which values are wanted. */
export interface Get {
  readonly path: string
  readonly keys: ReadonlyArray<string>
}

/** Reads values of an opened provider. */
export type Read = (request: Get) => Effect.Effect<Resolved, ConnectorError>

/** A provider definition; `R` is what it needs from the host. */
export interface VariableProvider<in out F extends ConfigKey.Fields = any, out R = never> extends Plugin.Plugin<R> {
  readonly kind: "variables"
  readonly fields: F
  readonly open: (config: ConfigKey.Values<F>) => Effect.Effect<Read, ConnectorError, R | Scope.Scope>
}

/** `open` runs once per runtime and provider; its scope closes with the runtime. */
export const make = <const F extends ConfigKey.Fields, R = never>(name: string, definition: {
  readonly version: string
  readonly aliases?: ReadonlyArray<string> | undefined
  readonly doc?: string | undefined
  readonly config: F
  readonly open: (config: ConfigKey.Values<F>) => Effect.Effect<Read, ConnectorError, R | Scope.Scope>
  // an `open` that opens something is inferred with the scope in `R`, which the runtime gives it
}): VariableProvider<F, Exclude<R, Scope.Scope>> => ({
  kind: "variables",
  name,
  aliases: definition.aliases ?? [],
  version: definition.version,
  doc: definition.doc,
  fields: definition.config,
  open: definition.open as VariableProvider<F, Exclude<R, Scope.Scope>>["open"],
  "~R": Plugin.covariant
})

/** A provider of one async function; a rejection is transient unless it says otherwise. */
export const makeAsync = <const F extends ConfigKey.Fields>(name: string, definition: {
  readonly version: string
  readonly aliases?: ReadonlyArray<string> | undefined
  readonly doc?: string | undefined
  readonly config: F
  readonly get: (
    request: Get & { readonly config: ConfigKey.Values<F>; readonly signal: AbortSignal }
  ) => Promise<Resolved>
}): VariableProvider<F> =>
  make(name, {
    ...definition,
    open: (config) =>
      Effect.succeed((request) =>
        Effect.tryPromise({
          try: (signal) => definition.get({ ...request, config, signal }),
          catch: fromRejection
        })
      )
  })
