/** A connector's config, ready for its code: variables resolved, keys decoded, secrets known. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { type ConnectorError, PermanentError } from "@kelpie/core/ConnectorError"
import * as ConnectorKeys from "@kelpie/core/ConnectorKeys"
import type * as Plugin from "@kelpie/core/Plugin"
import type { ConnectorConfig } from "@kelpie/core/Plugin"
import type { Connector, Plugins } from "@kelpie/core/Plugins"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Redaction from "./redaction.ts"
import type * as Variables from "./variables.ts"

/** What a start needs of a config. */
export interface ResolvedConfig {
  readonly definition: Connector
  /** Flat, with variables resolved. Never stored, never shown. */
  readonly config: ConnectorConfig
  /** The definition's own keys. */
  readonly values: Record<string, unknown>
  readonly settings: ConnectorKeys.ConnectorSettings
  readonly redact: Redaction.Redact
}

const invalid = (problems: ReadonlyArray<ConfigKey.KeyProblem>): PermanentError =>
  new PermanentError({ message: problems.flatMap((problem) => problem.errors).join("\n") })

/** The texts of all password keys of a config. */
export const passwords = (fields: ConfigKey.Fields, config: ConnectorConfig): ReadonlyArray<string> =>
  Object.values(fields).flatMap((key) => {
    const text = key.kind === "PASSWORD" && Object.hasOwn(config, key.name) ? config[key.name] : undefined
    return text === undefined ? [] : [text]
  })

/** The password keys of the transforms, predicates and converters that a config names: their failures are told too. */
const passwordsOfOthers = (
  plugins: Plugins["Service"],
  settings: ConnectorKeys.ConnectorSettings
): ReadonlyArray<string> => {
  const { converters: { header, key, value }, predicates, transforms } = settings
  const of = (kinds: ReadonlyArray<Plugin.Kind>, named: ReadonlyArray<ConnectorKeys.PluginSettings | undefined>) =>
    named.flatMap((one) =>
      one === undefined ? [] : kinds.flatMap((kind) =>
        Option.match(plugins.find(kind, one.type), {
          onNone: () => [],
          onSome: (found) => passwords(found.fields, one.config)
        })
      )
    )
  return [
    ...of(["transform"], transforms),
    ...of(["predicate"], predicates),
    ...of(["converter"], [key, value]),
    ...of(["header_converter", "converter"], [header])
  ]
}

/** What was read from a config without variables, for as long as somebody uses it: an instance and its tasks share it. */
const known = new WeakMap<
  ConnectorConfig,
  { readonly defaults: ConnectorConfig; readonly read: WeakRef<ResolvedConfig> }
>()

/** Resolves and decodes. What is wrong with the config is permanent; a variable that cannot be resolved is not. */
export const resolve = Effect.fnUntraced(function*(
  plugins: Plugins["Service"],
  variables: Variables.Resolve,
  defaults: ConnectorConfig,
  raw: ConnectorConfig
): Effect.fn.Return<ResolvedConfig, ConnectorError> {
  const found = known.get(raw)
  const shared = found?.defaults === defaults ? found.read.deref() : undefined
  if (shared !== undefined && plugins.all.includes(shared.definition)) return shared
  const { config, secrets } = yield* variables(raw)
  const read = yield* decode(plugins, defaults, raw, config, secrets)
  if (config === raw) known.set(raw, { defaults, read: new WeakRef(read) })
  return read
})

const decode = Effect.fnUntraced(function*(
  plugins: Plugins["Service"],
  defaults: ConnectorConfig,
  raw: ConnectorConfig,
  config: ConnectorConfig,
  secrets: ReadonlyArray<string>
): Effect.fn.Return<ResolvedConfig, ConnectorError> {
  const name = config["connector.class"] ?? ""
  const definition = plugins.connector(name)
  if (Option.isNone(definition)) {
    return yield* new PermanentError({
      message: `Failed to find any class that implements Connector and which name matches ${
        raw["connector.class"] ?? ""
      }`
    })
  }
  const settings = ConnectorKeys.decode(config, definition.value.kind, { defaults, raw })
  if (Result.isFailure(settings)) return yield* invalid(settings.failure)
  const values = ConfigKey.decode(definition.value.fields, config, { raw })
  if (Result.isFailure(values)) return yield* invalid(values.failure)
  return {
    definition: definition.value,
    config,
    values: values.success,
    settings: settings.success,
    redact: Redaction.make(
      [...passwords(definition.value.fields, config), ...passwordsOfOthers(plugins, settings.success)],
      secrets
    )
  }
})
