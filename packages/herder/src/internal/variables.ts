/**
 * Resolves variables on the way into a connector: `${provider:path:key}` or `${provider:key}`. What they stand for is
 * never stored and never shown.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { type ConnectorError, TransientError } from "@kelpie/core/ConnectorError"
import type { ConnectorConfig } from "@kelpie/core/Plugin"
import type { Plugins } from "@kelpie/core/Plugins"
import { VariableSettings } from "@kelpie/core/Policies"
import type * as VariableProvider from "@kelpie/core/VariableProvider"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

/** A configuration with its variables resolved. */
export interface Resolved {
  readonly config: ConnectorConfig
  /** What variables stood for. */
  readonly secrets: ReadonlyArray<string>
}

/** Resolves configurations. Fails with a message that names the key and the variable, never a value. */
export type Resolve = (config: ConnectorConfig) => Effect.Effect<Resolved, ConnectorError>

const pattern = /\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}/g

interface Reference {
  readonly text: string
  readonly provider: string
  readonly path: string
  readonly key: string
}

const referencesIn = (text: string): ReadonlyArray<Reference> =>
  text.includes("${")
    ? Array.from(text.matchAll(pattern), (match) => ({
      text: match[0],
      provider: match[1] ?? "",
      path: match[2] ?? "",
      key: match[3] ?? ""
    }))
    : []

/** Whether a configuration has variables at all. */
const hasVariables = (config: ConnectorConfig): boolean => Object.values(config).some((text) => text.includes("${"))

/** The resolver of a runtime: each provider is opened once, when it is needed first. */
export const make = Effect.fnUntraced(
  function*(plugins: Plugins["Service"]): Effect.fn.Return<Resolve, never, Scope.Scope> {
    const scope = yield* Effect.scope
    const settings = yield* VariableSettings
    const lock = yield* Semaphore.make(1)
    const opened = new Map<string, VariableProvider.Read>()

    const open = (name: string) =>
      lock.withPermits(1)(Effect.gen(function*() {
        const known = opened.get(name)
        if (known !== undefined) return Option.some(known)
        const provider = plugins.find("variables", name)
        if (Option.isNone(provider)) return Option.none()
        const values = ConfigKey.decode(provider.value.fields, settings[name] ?? {})
        if (Result.isFailure(values)) {
          const reasons = values.failure.flatMap((problem) => problem.errors).join("; ")
          return yield* new TransientError({ message: `the variable provider ${name} is not set up: ${reasons}` })
        }
        const read = yield* Scope.provide(plugins.provide(provider.value.open(values.success)), scope)
        opened.set(name, read)
        return Option.some(read)
      }))

    const read = Effect.fnUntraced(function*(references: ReadonlyArray<Reference>) {
      const values = new Map<string, string>()
      const groups = Map.groupBy(references, ({ path, provider }) => `${provider}\n${path}`)
      for (const group of groups.values()) {
        const { path, provider: name } = group[0] ?? { path: "", provider: "" }
        const provider = yield* open(name)
        if (Option.isNone(provider)) continue
        const { values: found } = yield* provider.value({ path, keys: [...new Set(group.map((one) => one.key))] })
        for (const one of group) {
          if (Object.hasOwn(found, one.key)) values.set(one.text, found[one.key] ?? "")
        }
      }
      return values
    })

    return Effect.fnUntraced(function*(config) {
      if (!hasVariables(config)) return { config, secrets: [] }
      const values = yield* read(Object.values(config).flatMap(referencesIn))
      const resolved: Record<string, string> = Object.create(null)
      for (const [key, text] of Object.entries(config)) {
        const missing = referencesIn(text).find((reference) => !values.has(reference.text))
        if (missing !== undefined) {
          return yield* new TransientError({ message: `the variable ${missing.text} of "${key}" cannot be resolved` })
        }
        resolved[key] = text.replaceAll(pattern, (variable) => values.get(variable) ?? variable)
      }
      return { config: resolved, secrets: [...values.values()] }
    })
  }
)
