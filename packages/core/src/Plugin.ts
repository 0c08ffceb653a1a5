/** What connectors, transforms, predicates, converters and variable providers have in common. */
import type * as Types from "effect/Types"
import type * as ConfigKey from "./ConfigKey.ts"

/** What a definition defines. */
export type Kind = "source" | "sink" | "transform" | "predicate" | "converter" | "header_converter" | "variables"

/** A definition that a runtime can be given. `R` is what it needs from the host. */
export interface Plugin<out R> {
  readonly kind: Kind
  /** The plain name that `connector.class`, `type` and `...converter` take. */
  readonly name: string
  /** Other names it answers to, such as the full Java name of its model in Connect. */
  readonly aliases: ReadonlyArray<string>
  readonly version: string
  readonly doc?: string | undefined
  readonly fields: ConfigKey.Fields
  readonly "~R": Types.Covariant<R>
}

/** A definition that needs anything. */
export interface Any extends Plugin<any> {}

/** What a definition needs from the host. */
export type Services<P> = P extends Plugin<infer R> ? R : never

/** The phantom of `R` at run time. */
export const covariant: Types.Covariant<never> = (_) => _

/** The common keys of every connector, as a host writes them in code. */
export interface ConnectorOptions {
  readonly tasksMax?: number | undefined
  /** Alias to the settings of the transform; `type` is required. Order is kept. */
  readonly transforms?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
  /** Alias to the settings of the predicate; `type` is required. */
  readonly predicates?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
  /** Any other key of Connect, as it is written over REST: `"errors.tolerance": "all"`. */
  readonly [key: `${string}.${string}`]: string
}

/** A flat configuration: what Connect's REST API takes and the config store keeps. */
export type ConnectorConfig = Readonly<Record<string, string>>

/** The common keys of a configuration written in code. */
export const fromOptions = (options: ConnectorOptions): ConnectorConfig => {
  const config: Record<string, string> = {}
  for (const [key, value] of Object.entries(options)) if (key.includes(".")) config[key] = String(value)
  if (options.tasksMax !== undefined) config["tasks.max"] = String(options.tasksMax)
  for (const list of ["transforms", "predicates"] as const) {
    const entries = Object.entries(options[list] ?? {})
    if (entries.length > 0) config[list] = entries.map(([alias]) => alias).join(",")
    for (const [alias, settings] of entries) {
      for (const [key, value] of Object.entries(settings)) config[`${list}.${alias}.${key}`] = value
    }
  }
  return config
}
