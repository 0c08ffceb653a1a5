/**
 * Validation of a connector's configuration, and the answer to it in Connect's shape (specification, 2.7, 6.2 and 6.5).
 *
 * Pure and synchronous: what needs the outside world, a connector's own `validate`, is run by whoever calls this and merged
 * with `withProblems`. The texts of errors are Connect's, with the whole name of the key, each told once. Better than
 * Connect: what would only fail later is refused here (an undefined predicate, an unknown variable provider), keys that
 * nobody reads are warned about, and what a variable stands for is never shown.
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { ConfigInfo, ConfigInfos, Definition } from "./ConfigInfos.ts"
import * as ConfigKey from "./ConfigKey.ts"
import * as ConnectorKeys from "./ConnectorKeys.ts"
import { assemble, definitionOf, definitionsOf, type Details, type Draft, makeDraft } from "./internal/configDraft.ts"
import { nearestKey } from "./internal/nearest.ts"
import { entriesOf, textsOf } from "./internal/normalise.ts"
import * as VersionRange from "./internal/versionRange.ts"
import { weakMemo } from "./internal/weakMemo.ts"
import type * as Plugin from "./Plugin.ts"
import type { Connector, Plugins } from "./Plugins.ts"

/** A configuration to validate. */
export interface Config {
  /** As it was written: what the answer shows. */
  readonly raw: Plugin.ConnectorConfig
  /** With its variables resolved: what is decoded. A key whose variables cannot be resolved is left out. */
  readonly resolved: Plugin.ConnectorConfig
  /** Key -> why its variables cannot be resolved. */
  readonly unresolved?: ReadonlyMap<string, string> | undefined
  /** Whether the engine writes records and offsets in one step, so that `exactly.once.support=required` can be kept. */
  readonly exactlyOnce?: boolean | undefined
}

/** Something that is no error but hardly what was meant. */
export interface Warning {
  readonly key: string
  readonly message: string
}

/** The outcome of a validation. The configuration is right when there are no problems. */
export interface Validated {
  readonly connector: Connector
  readonly infos: ConfigInfos
  readonly problems: ReadonlyArray<ConfigKey.KeyProblem>
  readonly warnings: ReadonlyArray<Warning>
  /** What the framework reads; `undefined` when its own keys are wrong. */
  readonly settings: ConnectorKeys.ConnectorSettings | undefined
}

/** A configuration that names no connector, or one that the runtime does not know: nothing else can be validated. */
export class UnknownConnector
  extends Schema.TaggedError<UnknownConnector>("@kelpie/core/Validation/UnknownConnector")("UnknownConnector", {
    message: Schema.String,
    /** Names of connectors that look like it, best first. */
    near: Schema.Array(Schema.String)
  })
{}

/** The connector that a configuration names. */
export const connector = (
  plugins: Plugins["Service"],
  { raw, resolved }: Pick<Config, "raw" | "resolved">
): Result.Result<Connector, UnknownConnector> => {
  const shown = ConfigKey.textOf(raw, "connector.class")
  const name = ConfigKey.textOf(resolved, "connector.class") ?? shown
  if (name === undefined) {
    return Result.fail(new UnknownConnector({ message: "Connector config contains no connector type", near: [] }))
  }
  return Result.fromOption(plugins.connector(name), () => {
    const near = plugins.near(["source", "sink"], name)
    const known = namesOf(plugins, ["source", "sink"])
    const hint = near.length > 0
      ? `near matches are: ${near.join(", ")}`
      : known.length > 0
      ? `available connectors are: ${known.slice(0, 20).join(", ")}${known.length > 20 ? ", ..." : ""}`
      : "no connectors are available"
    return new UnknownConnector({
      message: `Failed to find any class that implements Connector and which name matches ${shown ?? name}, ${hint}`,
      near
    })
  })
}

/** Validates a configuration, key by key. Fails only when it names no connector. */
export const validate = (
  plugins: Plugins["Service"],
  defaults: ConnectorKeys.Defaults,
  config: Config
): Result.Result<Validated, UnknownConnector> =>
  Result.map(connector(plugins, config), (found) => {
    const { raw, resolved } = config
    const draft = makeDraft(raw, { raw, unresolved: withMissingProviders(plugins, config) })
    addFramework(draft, plugins, defaults, found, resolved)
    for (const use of ["transform", "predicate"] as const) addAliases(draft, plugins, use, resolved)
    for (const group of found.kind === "source" ? ConnectorKeys.topicCreationGroups(resolved, draft.shown) : []) {
      draft.define(ConnectorKeys.topicCreation(group))
      draft.claim(`topic.creation.${group}.`)
    }
    addPlugin(draft, found.fields, resolved)
    for (const use of ["key", "value", "header"] as const) addConverter(draft, plugins, use, resolved)
    addOverrides(draft, config)
    const settings = ConnectorKeys.decode(resolved, found.kind, { defaults, ...draft.shown })
    if (Result.isFailure(settings)) draft.problems(settings.failure)
    else if (settings.success.exactlyOnce === "required" && config.exactlyOnce !== true) {
      draft.refuse("exactly.once.support", "The engine of this runtime does not write exactly once; use requested")
    }
    const warnings = addUndeclared(draft, config)
    let infos: ConfigInfos | undefined
    return {
      connector: found,
      // made when somebody looks: who creates a connector wants the problems only
      get infos() {
        return infos ??= draft.infos(ConfigKey.textOf(raw, "connector.class") ?? found.name)
      },
      problems: draft.found(),
      warnings,
      settings: Result.getOrUndefined(settings)
    }
  })

/** Adds what a connector's own `validate` found, or whoever resolves variables. A key may be one that is not defined. */
export const withProblems = (infos: ConfigInfos, problems: ReadonlyArray<ConfigKey.KeyProblem>): ConfigInfos => {
  if (problems.length === 0) return infos
  const configs = new Map<string, ConfigInfo>(infos.configs.map((info) => [info.definition.name, info]))
  for (const { errors, key } of problems) {
    const info = configs.get(key) ?? undeclaredInfo(key)
    const all = [...new Set([...info.value.errors, ...errors])]
    configs.set(key, { ...info, value: { ...info.value, errors: all } })
  }
  return assemble(infos.name, [...configs.values()])
}

/** What a definition's own `validate` found, by key instead of by property. */
export const problemsOf = (
  fields: ConfigKey.Fields,
  problems: ReadonlyArray<ConfigKey.Problem<any>>
): ReadonlyArray<ConfigKey.KeyProblem> =>
  problems.map(({ message, property }) => {
    const name = String(property)
    return { key: Object.hasOwn(fields, name) ? fields[name]?.name ?? name : name, errors: [message] }
  })

/** The text that answers a configuration with problems. */
export const message = (problems: ReadonlyArray<ConfigKey.KeyProblem>): string => {
  const errors = problems.flatMap((problem) => problem.errors)
  return [
    `Connector configuration is invalid and contains the following ${errors.length} error(s):`,
    ...errors,
    "You can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`"
  ].join("\n")
}

/**
 * The texts of a configuration that came as JSON: numbers and booleans become texts. A null `name` is left out, for the
 * path gives it; any other null, a list or an object is refused.
 */
export const normalise = (json: unknown): Result.Result<Plugin.ConnectorConfig, ReadonlyArray<ConfigKey.KeyProblem>> =>
  Result.flatMap(entriesOf(json), (entries) => textsOf<string>(entries, (key) => key === "name" ? "drop" : "refuse"))

/** The same for a change of a configuration, where null removes a key. */
export const normalisePatch = (
  json: unknown
): Result.Result<Readonly<Record<string, string | null>>, ReadonlyArray<ConfigKey.KeyProblem>> =>
  Result.flatMap(entriesOf(json), (entries) => textsOf<string | null>(entries, () => "keep"))

/** The plugin of any kind that has configuration keys to show, by name or alias. */
export const plugin = (plugins: Plugins["Service"], name: string): Option.Option<Plugin.Any> =>
  Option.firstSomeOf([
    plugins.connector(name),
    plugins.find("transform", name),
    plugins.find("predicate", name),
    plugins.find("converter", name),
    plugins.find("header_converter", name)
  ])

/** The keys of a plugin: its own, and for a connector then the framework's. */
export const definitions = (plugin: Plugin.Any): ReadonlyArray<Definition> => {
  const own = definitionsOf(plugin.fields)
  if (plugin.kind !== "source" && plugin.kind !== "sink") return own
  const names = new Set(own.map((definition) => definition.name))
  const common = { ...ConnectorKeys.common, version: versionKey(ConnectorKeys.common.version, plugin.version) }
  const framework = [
    ...definitionsOf(common),
    ...definitionsOf(plugin.kind === "source" ? ConnectorKeys.source : ConnectorKeys.sink)
  ]
  return [...own, ...framework.filter((definition) => !names.has(definition.name))]
}

/** Why a plugin does not have the version that a text asks for: a version, a range, or `latest`. */
export const versionProblem = (plugin: Pick<Plugin.Any, "name" | "version">, wanted: string): string | undefined => {
  const accepted = VersionRange.accepts(wanted, plugin.version)
  return accepted === undefined
    ? `Invalid version specification: ${wanted}`
    : accepted
    ? undefined
    : `Plugin ${plugin.name} not found that matches the version range ${
      VersionRange.format(wanted)
    }, available versions: [${plugin.version}]`
}

// ---------------------------------------------------------------------------------------------------------------------

/** Names of the plugins of some kinds, sorted. The list of a runtime never changes. */
const namesOf = (plugins: Plugins["Service"], kinds: ReadonlyArray<Plugin.Kind>): ReadonlyArray<string> => {
  const known = knownNames(plugins)
  const key = kinds.join()
  let names = known.get(key)
  if (names === undefined) {
    names = [...new Set(plugins.all.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name))].sort()
    known.set(key, names)
  }
  return names
}

const knownNames = weakMemo<Plugins["Service"], Map<string, ReadonlyArray<string>>>(() =>
  new Map<string, ReadonlyArray<string>>()
)

/** The reasons of the caller, and the providers that nobody defined. */
const withMissingProviders = (plugins: Plugins["Service"], config: Config): ReadonlyMap<string, string> => {
  const reasons = new Map(config.unresolved)
  for (const [key, text] of Object.entries(config.raw)) {
    const missing = text.includes("${") ? missingProvider(plugins, text) : undefined
    if (missing !== undefined) reasons.set(key, missing)
    else if (!reasons.has(key) && !Object.hasOwn(config.resolved, key)) {
      reasons.set(key, "Its variable cannot be resolved")
    }
  }
  return reasons
}

/** The providers of the variables in a text. One pass: the text may be long and full of openings. */
const providersIn = (text: string): ReadonlyArray<string> => {
  const providers: Array<string> = []
  let start = text.indexOf("${")
  while (start >= 0) {
    const end = text.indexOf("}", start)
    if (end < 0) break
    const [provider = "", ...rest] = text.slice(start + 2, end).split(":")
    if (provider !== "" && rest.length > 0) providers.push(provider)
    start = text.indexOf("${", end)
  }
  return providers
}

const missingProvider = (plugins: Plugins["Service"], text: string): string | undefined => {
  for (const provider of providersIn(text)) {
    if (Option.isSome(plugins.find("variables", provider))) continue
    const near = plugins.near(["variables"], provider)
    return `No variable provider is called ${provider}${
      near.length > 0 ? `; near matches are: ${near.join(", ")}` : ""
    }`
  }
  return undefined
}

const versionKey = <R extends boolean>(
  key: ConfigKey.ConfigKey<string | undefined, R>,
  version: string
): ConfigKey.ConfigKey<string | undefined, R> => ({ ...key, options: { ...key.options, default: version } })

const uses = {
  key: { name: "key.converter", kinds: ["converter"], type: "Converter" },
  value: { name: "value.converter", kinds: ["converter"], type: "Converter" },
  header: { name: "header.converter", kinds: ["header_converter", "converter"], type: "HeaderConverter" },
  transform: { name: "transforms", kinds: ["transform"], type: "Transformation" },
  predicate: { name: "predicates", kinds: ["predicate"], type: "Predicate" }
} as const
type ConverterUse = "key" | "value" | "header"

const findFor = (plugins: Plugins["Service"], use: keyof typeof uses, name: string): Plugin.Any | undefined =>
  Option.getOrUndefined(
    Option.firstSomeOf(uses[use].kinds.map((kind): Option.Option<Plugin.Any> => plugins.find(kind, name.trim())))
  )

/** Why a named plugin cannot be used so. `shown` is the name as it was written. */
const notFound = (plugins: Plugins["Service"], use: keyof typeof uses, name: string, shown: string): string => {
  const wanted = name.trim()
  if (plugins.all.some((plugin) => plugin.name === wanted || plugin.aliases.includes(wanted))) {
    return `Class ${shown} does not implement the ${uses[use].type} interface`
  }
  const near = plugins.near(uses[use].kinds, wanted)
  return `Class ${shown} could not be found.${near.length > 0 ? ` Near matches are: ${near.join(", ")}` : ""}`
}

/** Tells a version key which versions there are, and refuses another one. */
const checkVersion = (
  draft: Draft,
  key: string,
  plugin: Plugin.Any | undefined,
  resolved: Plugin.ConnectorConfig
): string | undefined => {
  const wanted = ConfigKey.textOf(resolved, key)
  if (plugin === undefined || wanted === undefined) return undefined
  const shown = draft.text(key)
  const problem = versionProblem(plugin, wanted)
  // told again with the text as it was written, which may hold a variable
  const told = problem === undefined || shown === wanted ? problem : `Plugin ${plugin.name} has no version ${shown}`
  if (told !== undefined) draft.problems([{ key, errors: [told] }])
  return told
}

const versionDetails = (plugin: Plugin.Any | undefined): Details =>
  plugin === undefined ? { visible: false } : { default: plugin.version, recommended: [plugin.version] }

const addFramework = (
  draft: Draft,
  plugins: Plugins["Service"],
  defaults: ConnectorKeys.Defaults,
  connector: Connector,
  resolved: Plugin.ConnectorConfig
): void => {
  const details = new Map<string, Details>([["connector.plugin.version", versionDetails(connector)]])
  const inUse = new Map<string, Plugin.Any | undefined>()
  for (const use of ["key", "value", "header"] as const) {
    const { kinds, name } = uses[use]
    const used = findFor(plugins, use, ConfigKey.textOf(resolved, name) ?? ConfigKey.textOf(defaults, name) ?? "")
    inUse.set(`${name}.plugin.version`, used)
    details.set(name, { recommended: namesOf(plugins, kinds) })
    details.set(`${name}.plugin.version`, versionDetails(used))
  }
  const { common, sink, source } = ConnectorKeys.keys(defaults)
  draft.define(common, details)
  draft.define(connector.kind === "source" ? source : sink)
  const wrong = checkVersion(draft, "connector.plugin.version", connector, resolved)
  if (wrong !== undefined) draft.problems([{ key: "connector.class", errors: [wrong] }])
  for (const [key, plugin] of inUse) checkVersion(draft, key, plugin, resolved)
}

/** The keys of the transforms or predicates of a list, each with the keys of the plugin that it names. */
const addAliases = (
  draft: Draft,
  plugins: Plugins["Service"],
  use: "transform" | "predicate",
  resolved: Plugin.ConnectorConfig
): void => {
  const { kinds, name } = uses[use]
  for (const alias of ConnectorKeys.aliases(resolved, name, draft.shown)) {
    const prefix = `${name}.${alias}.`
    const keys = use === "transform" ? ConnectorKeys.transform(alias) : ConnectorKeys.predicate(alias)
    const type = ConfigKey.textOf(resolved, keys.type.name)
    const plugin = type === undefined ? undefined : findFor(plugins, use, type)
    draft.define(
      keys,
      new Map([[keys.type.name, { recommended: namesOf(plugins, kinds) }], [keys.version.name, versionDetails(plugin)]])
    )
    if (plugin === undefined) {
      // whose keys these are is not known
      draft.claim(prefix)
      if (type !== undefined) draft.refuse(keys.type.name, notFound(plugins, use, type, draft.text(keys.type.name)))
      continue
    }
    checkVersion(draft, keys.version.name, plugin, resolved)
    const taken = new Set(Object.values(keys).map((key) => key.name))
    addPlugin(draft, ownKeys(plugin, prefix, taken, keys.type.options.group), resolved)
  }
}

/** The keys of a plugin under its prefix, in the group of its alias, without those that the framework reads itself. */
const ownKeys = (
  plugin: Plugin.Any,
  prefix: string,
  taken: ReadonlySet<string>,
  group: string | undefined
): ConfigKey.Fields =>
  Object.fromEntries(
    Object.entries(ConfigKey.under(prefix, plugin.fields))
      .filter(([, key]) => !taken.has(key.name))
      .map(([property, key], index) => {
        const options = { ...key.options, group, order: taken.size + index }
        return [property, group === undefined ? key : { ...key, options }]
      })
  )

const addPlugin = (draft: Draft, fields: ConfigKey.Fields, resolved: Plugin.ConnectorConfig): void => {
  draft.define(fields)
  draft.problems(ConfigKey.decodePartial(fields, resolved, draft.shown).problems)
}

/** The keys of a converter in each of its uses, made once. */
const converterKeys = weakMemo((plugin: Plugin.Any) => {
  const known = new Map<ConverterUse, ConfigKey.Fields>()
  return (use: ConverterUse): ConfigKey.Fields => {
    let keys = known.get(use)
    if (keys === undefined) {
      const { name } = uses[use]
      keys = ownKeys(plugin, `${name}.`, new Set([`${name}.plugin.version`]), undefined)
      known.set(use, keys)
    }
    return keys
  }
})

/** The keys of a converter that the connector sets itself. */
const addConverter = (
  draft: Draft,
  plugins: Plugins["Service"],
  use: ConverterUse,
  resolved: Plugin.ConnectorConfig
): void => {
  const { name } = uses[use]
  const type = ConfigKey.textOf(resolved, name)
  const plugin = type === undefined ? undefined : findFor(plugins, use, type)
  if (plugin !== undefined) {
    addPlugin(draft, converterKeys(plugin)(use), resolved)
  } else if (type !== undefined || draft.text(name) !== "") {
    draft.claim(`${name}.`)
    if (type !== undefined) draft.refuse(name, notFound(plugins, use, type, draft.text(name)))
  }
}

/** A key that nobody defined; it is hidden, for it may hold anything. */
const undeclaredKey = (name: string) => ConfigKey.Redacted(name, { optional: true, importance: "low" })
const undeclaredInfo = (name: string): ConfigInfo => ({
  definition: definitionOf(undeclaredKey(name)),
  value: { name, value: null, recommended_values: [], errors: [], visible: true }
})

const overrides = ["producer.override.", "consumer.override.", "admin.override."]
const secret = /password|passphrase|secret|token|jaas|credential|\.key$/i

/** Settings of clients, accepted as they are: the engine knows them. */
const addOverrides = (draft: Draft, { raw, resolved }: Config): void => {
  for (const name of Object.keys(raw)) {
    const prefix = overrides.find((prefix) => name.startsWith(prefix))
    if (prefix === undefined || draft.has(name)) continue
    const options = { optional: true, importance: "low", displayName: name.slice(prefix.length) } as const
    const key = secret.test(name) ? ConfigKey.Redacted(name, options) : ConfigKey.String(name, options)
    addPlugin(draft, { override: key }, resolved)
  }
}

/** How many unknown keys are looked up among the known ones; whoever sends more has other troubles. */
const maxSuggestions = 20

/** Keys that no definition reads: a warning, or an error when their variable cannot be resolved. */
const addUndeclared = (draft: Draft, { raw, resolved }: Config): ReadonlyArray<Warning> => {
  const known = draft.names()
  const warnings: Array<Warning> = []
  for (const key of Object.keys(raw)) {
    if (draft.has(key)) continue
    if (draft.shown.unresolved?.has(key) === true) addPlugin(draft, { undeclared: undeclaredKey(key) }, resolved)
    else if (!draft.isClaimed(key)) {
      const near = warnings.length < maxSuggestions ? nearestKey(key, known) : []
      warnings.push({ key, message: notRead(key, near) })
    }
  }
  return warnings
}

const notRead = (key: string, near: ReadonlyArray<string>): string => {
  const converter = Object.values(uses).find(({ name }) => name.endsWith(".converter") && key.startsWith(`${name}.`))
  return converter !== undefined
    ? `${key} is not read: without ${converter.name} the converter of the runtime and its settings are used`
    : `${key} is not read by anybody${near.length > 0 ? `; did you mean ${near.join(" or ")}?` : ""}`
}
