/**
 * The configuration keys that the framework itself reads from a connector's configuration, and what it reads from them.
 *
 * Names, types, defaults, groups and places are Connect's (specification, 2.4 to 2.6). `reconfiguration.*`, `restart.*` and
 * `placement.*` are Kelpie's own: backoff and limits of task reconfiguration, the restart of what has failed, and the
 * workers that may run a connector.
 */
import * as Result from "effect/Result"
import * as ConfigKey from "./ConfigKey.ts"
import * as ConnectorName from "./ConnectorName.ts"
import { nearestKey } from "./internal/nearest.ts"
import { weakMemo } from "./internal/weakMemo.ts"
import type { ConnectorConfig } from "./Plugin.ts"
import * as TopicPattern from "./TopicPattern.ts"

/** Which keys a connector has beside the common ones. */
export type ConnectorKind = "source" | "sink"

/** The longest duration of Kelpie's own keys: ten years, in milliseconds. */
export const maxMillis = 10 * 365.25 * 24 * 60 * 60 * 1000

/** At most so many transforms, predicates and topic creation groups each. */
export const maxAliases = 100

// ---------------------------------------------------------------------------------------------------------------------
// keys
// ---------------------------------------------------------------------------------------------------------------------

/** Where a key stands: group, place in it, name for people, width of a field. */
const place = (group: string, order: number, displayName: string, width: "short" | "medium" | "long") => ({
  group,
  order,
  displayName,
  width
})

const low = { importance: "low" } as const
const medium = { importance: "medium" } as const
const high = { importance: "high" } as const

const checkAliases = (aliases: ReadonlyArray<string>): string | undefined =>
  aliases.includes("")
    ? "Alias may not be empty."
    : new Set(aliases).size < aliases.length
    ? "Duplicate alias provided."
    : aliases.length > maxAliases
    ? `More than ${maxAliases} aliases provided.`
    : undefined

/** Name and value of a label; `undefined` for what is none. A value may be empty, and may hold further equals signs. */
const labelOf = (text: string): readonly [string, string] | undefined => {
  const equals = text.indexOf("=")
  const name = text.slice(0, Math.max(0, equals)).trim()
  return name === "" ? undefined : [name, text.slice(equals + 1).trim()]
}

const checkLabels = (labels: ReadonlyArray<string>): string | undefined => {
  const names = labels.map((label) => labelOf(label)?.[0])
  return names.includes(undefined)
    ? "A label must have the form name=value."
    : new Set(names).size < names.length
    ? "Duplicate label provided."
    : undefined
}

const labelsOf = (labels: ReadonlyArray<string>): Labels =>
  Object.fromEntries(labels.flatMap((text) => {
    const label = labelOf(text)
    return label === undefined ? [] : [label]
  }))

/** The name is not trimmed: it has to be the one in the path. */
const nameKey: ConfigKey.ConfigKey<string, true> = {
  ...ConfigKey.String("name", {
    ...high,
    ...place("Common", 1, "Connector name", "medium"),
    doc: "The name of this connector. No other connector of the cluster has it."
  }),
  decode: (text) => {
    const reason = ConnectorName.check(text)
    return reason === undefined ? Result.succeed(text) : Result.fail(reason)
  }
}

const converterKeys = {
  keyConverter: ConfigKey.Class("key.converter", {
    ...low,
    ...place("Common", 6, "Key converter class", "short"),
    optional: true,
    doc: "Turns record keys into the bytes of a topic and back. Left out, the converter of the runtime does. " +
      "Keys that begin with key.converter. are its settings."
  }),
  keyConverterVersion: ConfigKey.String("key.converter.plugin.version", {
    ...low,
    ...place("Common", 7, "Key converter version", "short"),
    optional: true,
    doc: "The version that the key converter has to have: a version, a range, or latest."
  }),
  valueConverter: ConfigKey.Class("value.converter", {
    ...low,
    ...place("Common", 8, "Value converter class", "short"),
    optional: true,
    doc: "Turns record values into the bytes of a topic and back. Left out, the converter of the runtime does. " +
      "Keys that begin with value.converter. are its settings."
  }),
  valueConverterVersion: ConfigKey.String("value.converter.plugin.version", {
    ...low,
    ...place("Common", 9, "Value converter version", "short"),
    optional: true,
    doc: "The version that the value converter has to have: a version, a range, or latest."
  }),
  headerConverter: ConfigKey.Class("header.converter", {
    ...low,
    ...place("Common", 10, "Header converter class", "short"),
    optional: true,
    doc: "Turns record headers into bytes and back. Left out, the converter of the runtime does. " +
      "Keys that begin with header.converter. are its settings."
  }),
  headerConverterVersion: ConfigKey.String("header.converter.plugin.version", {
    ...low,
    ...place("Common", 11, "Header converter version", "short"),
    optional: true,
    doc: "The version that the header converter has to have: a version, a range, or latest."
  })
}

const errorKeys = {
  retryTimeout: ConfigKey.Long("errors.retry.timeout", {
    ...medium,
    ...place("Error Handling", 1, "Retry Timeout for Errors", "medium"),
    default: 0,
    doc: "For how many milliseconds a step that failed for one record is tried again: 0 is not at all, -1 is for ever."
  }),
  retryDelayMax: ConfigKey.Long("errors.retry.delay.max.ms", {
    ...medium,
    ...place("Error Handling", 2, "Maximum Delay Between Retries for Errors", "medium"),
    default: 60000,
    doc: "The longest pause between two tries of a step that failed for one record, in milliseconds."
  }),
  tolerance: ConfigKey.Literals(["none", "all"])("errors.tolerance", {
    ...medium,
    ...place("Error Handling", 3, "Error Tolerance", "short"),
    default: "none",
    doc: "What happens with a record that cannot be processed: none fails the task, all skips the record and goes on."
  }),
  logErrors: ConfigKey.Boolean("errors.log.enable", {
    ...medium,
    ...place("Error Handling", 4, "Log Errors", "short"),
    default: false,
    doc: "Whether skipped records are logged too. Those that fail a task always are."
  }),
  logMessages: ConfigKey.Boolean("errors.log.include.messages", {
    ...medium,
    ...place("Error Handling", 5, "Log Error Details", "short"),
    default: false,
    doc: "Whether the log shows what was in a record that failed. Mind what your records hold before you turn it on."
  })
}

const reconfigurationKeys = {
  reconfigurationBackoff: ConfigKey.Long("reconfiguration.retry.backoff.ms", {
    ...low,
    ...place("Task Reconfiguration", 1, "Reconfiguration Backoff", "medium"),
    default: 250,
    min: 1,
    max: maxMillis,
    doc:
      "How long the first retry of a failed task reconfiguration waits, in milliseconds. Each further one waits twice " +
      "as long."
  }),
  reconfigurationBackoffMax: ConfigKey.Long("reconfiguration.retry.backoff.max.ms", {
    ...low,
    ...place("Task Reconfiguration", 2, "Maximum Reconfiguration Backoff", "medium"),
    default: 60000,
    min: 1,
    max: maxMillis,
    doc: "The longest wait between two tries of a task reconfiguration, in milliseconds."
  }),
  reconfigurationMaxAttempts: ConfigKey.Int("reconfiguration.retry.max.attempts", {
    ...low,
    ...place("Task Reconfiguration", 3, "Maximum Reconfiguration Attempts", "short"),
    optional: true,
    min: 1,
    doc: "After so many failures in a row a task reconfiguration is given up. Left out: never."
  }),
  reconfigurationTimeout: ConfigKey.Long("reconfiguration.retry.timeout.ms", {
    ...low,
    ...place("Task Reconfiguration", 4, "Reconfiguration Timeout", "medium"),
    optional: true,
    min: 1,
    max: maxMillis,
    doc: "So many milliseconds after its first failure a task reconfiguration is given up. Left out: never."
  }),
  reconfigurationJitter: ConfigKey.Literals(["none", "equal"])("reconfiguration.retry.jitter", {
    ...low,
    ...place("Task Reconfiguration", 5, "Reconfiguration Jitter", "short"),
    default: "none",
    doc: "Spreads the retries of many connectors: equal waits between half of the delay and all of it."
  }),
  reconfigurationExhausted: ConfigKey.Literals(["fail", "park"])("reconfiguration.retry.exhausted", {
    ...low,
    ...place("Task Reconfiguration", 6, "Exhausted Reconfiguration", "short"),
    default: "fail",
    doc:
      "What giving up means: fail makes the connector FAILED, park leaves its tasks running as they are. Both wait " +
      "for a new configuration or an operator."
  })
}

const restartKeys = {
  restartPolicy: ConfigKey.Literals(["none", "on-failure"])("restart.policy", {
    ...low,
    ...place("Automatic Restart", 1, "Restart Policy", "short"),
    default: "none",
    doc: "Whether a connector or task that failed is started again by itself: none waits for an operator, on-failure " +
      "restarts it with a growing delay."
  }),
  restartBackoff: ConfigKey.Long("restart.backoff.ms", {
    ...low,
    ...place("Automatic Restart", 2, "Restart Backoff", "medium"),
    default: 1000,
    min: 1,
    max: maxMillis,
    doc: "How long the first automatic restart waits, in milliseconds. Each further one waits twice as long."
  }),
  restartBackoffMax: ConfigKey.Long("restart.backoff.max.ms", {
    ...low,
    ...place("Automatic Restart", 3, "Maximum Restart Backoff", "medium"),
    default: 300000,
    min: 1,
    max: maxMillis,
    doc: "The longest wait before an automatic restart, in milliseconds."
  }),
  restartMaxAttempts: ConfigKey.Int("restart.max.attempts", {
    ...low,
    ...place("Automatic Restart", 4, "Maximum Restarts", "short"),
    default: 5,
    min: 1,
    doc: "So many automatic restarts are made within restart.window.ms; then it stays FAILED."
  }),
  restartWindow: ConfigKey.Long("restart.window.ms", {
    ...low,
    ...place("Automatic Restart", 5, "Restart Window", "medium"),
    default: 600000,
    min: 1,
    max: maxMillis,
    doc: "Restarts that are longer ago than this, in milliseconds, are forgotten."
  })
}

const placementKeys = {
  placementLabels: ConfigKey.List("placement.labels", {
    ...low,
    ...place("Placement", 1, "Placement Labels", "long"),
    default: [],
    check: checkLabels,
    doc:
      "Labels in the form name=value. Only workers that carry all of them run the connector and its tasks; while there " +
      "is none, they wait."
  })
}

/** The keys of every connector. */
export const common = {
  name: nameKey,
  class: ConfigKey.String("connector.class", {
    ...high,
    ...place("Common", 2, "Connector class", "long"),
    doc: "Which connector this is: its plain name or one of its other names, such as the Java name of its model."
  }),
  version: ConfigKey.String("connector.plugin.version", {
    ...medium,
    ...place("Common", 3, "Connector version", "medium"),
    optional: true,
    doc: "The version that the connector has to have: a version, a range, or latest."
  }),
  tasksMax: ConfigKey.Int("tasks.max", {
    ...high,
    ...place("Common", 4, "Tasks max", "short"),
    default: 1,
    min: 1,
    doc: "The connector splits its work into at most so many tasks."
  }),
  tasksMaxEnforce: ConfigKey.Boolean("tasks.max.enforce", {
    ...low,
    ...place("Common", 5, "Enforce tasks max", "short"),
    default: true,
    doc:
      "Whether a connector that asks for more than tasks.max tasks fails. Turn it off only to keep an old connector going."
  }),
  ...converterKeys,
  transforms: ConfigKey.List("transforms", {
    ...low,
    ...place("Transforms", 12, "Transforms", "long"),
    default: [],
    check: checkAliases,
    doc:
      "Aliases of the transforms that every record passes, in this order. Their settings begin with transforms.<alias>."
  }),
  predicates: ConfigKey.List("predicates", {
    ...low,
    ...place("Predicates", 13, "Predicates", "long"),
    default: [],
    check: checkAliases,
    doc: "Aliases of the predicates that transforms may name. Their settings begin with predicates.<alias>."
  }),
  reloadAction: ConfigKey.Literals(["none", "restart"])("config.action.reload", {
    ...low,
    ...place("Common", 14, "Reload Action", "medium"),
    default: "restart",
    doc:
      "What happens when the value of a variable expires: restart takes up the new one, none waits for the next start."
  }),
  ...errorKeys,
  ...reconfigurationKeys,
  ...restartKeys,
  ...placementKeys
}

/** The further keys of a source. */
export const source = {
  topicCreationGroups: ConfigKey.List("topic.creation.groups", {
    ...low,
    ...place("Topic Creation", 1, "Topic Creation Groups", "long"),
    default: [],
    check: checkAliases,
    doc: "Names of groups of topics that are created alike. Their settings begin with topic.creation.<group>. " +
      "The group default takes every topic that no other does."
  }),
  exactlyOnce: ConfigKey.Literals(["requested", "required"])("exactly.once.support", {
    ...medium,
    ...place("Exactly Once Support", 2, "Exactly once support", "short"),
    default: "requested",
    ignoreCase: true,
    doc: "required refuses the connector where records cannot be written exactly once, requested takes what there is."
  }),
  transactionBoundary: ConfigKey.Literals(["poll", "interval", "connector"])("transaction.boundary", {
    ...medium,
    ...place("Exactly Once Support", 3, "Transaction Boundary", "short"),
    default: "poll",
    ignoreCase: true,
    dependents: ["transaction.boundary.interval.ms"],
    doc: "What one transaction of the producer holds: poll is one batch of a task, interval is all of some time."
  }),
  transactionBoundaryInterval: ConfigKey.Long("transaction.boundary.interval.ms", {
    ...low,
    ...place("Exactly Once Support", 4, "Transaction boundary interval", "short"),
    optional: true,
    min: 0,
    doc:
      "The time between two commits in milliseconds, where transaction.boundary is interval. Left out, the runtime decides."
  }),
  offsetsTopic: ConfigKey.String("offsets.storage.topic", {
    ...low,
    ...place("offsets.topic", 1, "Offsets topic", "long"),
    optional: true,
    check: (topic) => topic === "" ? "String must be non-empty" : undefined,
    doc: "A topic of its own for the source offsets of this connector, on engines that keep offsets in topics."
  })
}

/** The further keys of a sink. */
export const sink = {
  topics: ConfigKey.List("topics", {
    ...high,
    ...place("Common", 4, "Topics", "long"),
    default: [],
    check: (topics) => topics.includes("") ? "A topic may not be empty" : undefined,
    doc: "The topics that are read. Give either this or topics.regex."
  }),
  topicsRegex: ConfigKey.String("topics.regex", {
    ...high,
    ...place("Common", 4, "Topics regex", "long"),
    default: "",
    check: TopicPattern.check,
    doc: "A regular expression; topics whose whole name it matches are read, new ones too. Give either this or topics."
  }),
  deadLetterTopic: ConfigKey.String("errors.deadletterqueue.topic.name", {
    ...medium,
    ...place("Error Handling", 6, "Dead Letter Queue Topic Name", "medium"),
    default: "",
    doc: "The topic that takes the records which were skipped. Empty: they are dropped."
  }),
  deadLetterReplication: ConfigKey.Short("errors.deadletterqueue.topic.replication.factor", {
    ...medium,
    ...place("Error Handling", 7, "Dead Letter Queue Topic Replication Factor", "medium"),
    default: 3,
    doc: "How many copies of the dead letter topic are kept, where it has to be created."
  }),
  deadLetterHeaders: ConfigKey.Boolean("errors.deadletterqueue.context.headers.enable", {
    ...medium,
    ...place("Error Handling", 8, "Enable Error Context Headers", "medium"),
    default: false,
    doc: "Whether dead letters carry headers that say where they came from and what went wrong."
  })
}

/** The keys of one transform beside its own. `predicate` and `negate` hide keys of the transform that are called so. */
export const transform = (alias: string) => {
  const group = `Transforms: ${alias}`
  return {
    type: ConfigKey.Class(`transforms.${alias}.type`, {
      ...high,
      ...place(group, 0, `Transformation type for ${alias}`, "long"),
      doc: `Which transform ${alias} is.`
    }),
    version: ConfigKey.String(`transforms.${alias}.plugin.version`, {
      ...high,
      ...place(group, 1, `Transformation version for ${alias}`, "long"),
      optional: true,
      doc: `The version that ${alias} has to have: a version, a range, or latest.`
    }),
    predicate: ConfigKey.String(`transforms.${alias}.predicate`, {
      ...medium,
      ...place(group, 2, "predicate", "medium"),
      optional: true,
      dependents: [`transforms.${alias}.negate`],
      doc:
        "The alias of a predicate; only records for which it holds pass this transform, all others go on as they are."
    }),
    negate: ConfigKey.Boolean(`transforms.${alias}.negate`, {
      ...medium,
      ...place(group, 3, "negate", "short"),
      default: false,
      doc: "Turns the predicate around: the transform takes the records for which it does not hold."
    })
  }
}

/** The keys of one predicate beside its own. */
export const predicate = (alias: string) => {
  const group = `Predicates: ${alias}`
  return {
    type: ConfigKey.Class(`predicates.${alias}.type`, {
      ...high,
      ...place(group, 0, `Predicate type for ${alias}`, "long"),
      doc: `Which predicate ${alias} is.`
    }),
    version: ConfigKey.String(`predicates.${alias}.plugin.version`, {
      ...high,
      ...place(group, 1, `Predicate version for ${alias}`, "long"),
      optional: true,
      doc: `The version that ${alias} has to have: a version, a range, or latest.`
    })
  }
}

const checkPatterns = (patterns: ReadonlyArray<string>): string | undefined => {
  for (const pattern of patterns) {
    const reason = TopicPattern.check(pattern)
    if (reason !== undefined) return reason
  }
  return undefined
}
const checkCount = (n: number): string | undefined =>
  n === -1 || n >= 1 ? undefined : "Value must be at least 1, or -1 for the default of the engine"

/** The keys of one topic creation group. The group `default` has to say how many partitions and copies there are. */
export const topicCreation = (group: string) => {
  const prefix = `topic.creation.${group}.`
  const at = (order: number, name: string) => place(`Topic Creation: ${group}`, order, name, "medium")
  // other groups take what they do not say from the group default
  const count = (key: ConfigKey.ConfigKey<number | undefined>): ConfigKey.ConfigKey<number | undefined> =>
    group === "default" ? { ...key, required: true } : key
  return {
    include: ConfigKey.List(`${prefix}include`, {
      ...low,
      ...at(1, "Included topics"),
      default: group === "default" ? [".*"] : [],
      check: checkPatterns,
      doc: "Regular expressions; the group takes topics whose whole name one of them matches."
    }),
    exclude: ConfigKey.List(`${prefix}exclude`, {
      ...low,
      ...at(2, "Excluded topics"),
      default: [],
      check: checkPatterns,
      doc: "Regular expressions; the group does not take topics whose whole name one of them matches."
    }),
    replicationFactor: count(ConfigKey.Short(`${prefix}replication.factor`, {
      ...low,
      ...at(3, "Replication factor"),
      optional: true,
      check: checkCount,
      doc: "How many copies a new topic has; -1 leaves it to the engine."
    })),
    partitions: count(ConfigKey.Int(`${prefix}partitions`, {
      ...low,
      ...at(4, "Partitions"),
      optional: true,
      check: checkCount,
      doc: "How many partitions a new topic has; -1 leaves it to the engine."
    }))
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// what the runtime says where a connector says nothing
// ---------------------------------------------------------------------------------------------------------------------

/**
 * What holds in a runtime for connectors whose configuration does not say otherwise: framework key -> text, and the
 * settings of its converters under their prefix. The value of `ConverterDefaults` is one.
 */
export type Defaults = ConnectorConfig

const withDefaults = <F extends ConfigKey.Fields>(fields: F, defaults: Defaults): F =>
  Object.fromEntries(
    Object.entries(fields).map(([property, key]) => {
      const text = key.required ? undefined : ConfigKey.textOf(defaults, key.name)
      const value = text === undefined ? undefined : Result.getOrUndefined(key.decode(text))
      return [property, value === undefined ? key : { ...key, options: { ...key.options, default: value } }]
    })
  ) as F

/**
 * The framework's keys with the defaults of a runtime; a text that a key does not take is passed over. Remembered by the
 * defaults, since every validation asks for the same.
 */
export const keys = weakMemo((defaults: Defaults) => ({
  common: withDefaults(common, defaults),
  source: withDefaults(source, defaults),
  sink: withDefaults(sink, defaults)
}))

// ---------------------------------------------------------------------------------------------------------------------
// settings
// ---------------------------------------------------------------------------------------------------------------------

/** How task reconfiguration is retried; what is `undefined` is left to the runtime's policy. */
export interface ReconfigurationSettings {
  readonly backoffMillis: number | undefined
  readonly backoffMaxMillis: number | undefined
  readonly maxAttempts: number | undefined
  readonly timeoutMillis: number | undefined
  readonly jitter: "none" | "equal" | undefined
  readonly exhausted: "fail" | "park" | undefined
}

/** How a failed connector or task is restarted; what is `undefined` is left to the runtime's policy. */
export interface RestartSettings {
  readonly policy: "none" | "on-failure" | undefined
  readonly backoffMillis: number | undefined
  readonly backoffMaxMillis: number | undefined
  readonly maxAttempts: number | undefined
  readonly windowMillis: number | undefined
}

/** Label -> value. */
export type Labels = Readonly<Record<string, string>>

/** A plugin that a configuration names, with the keys under its prefix. */
export interface PluginSettings {
  readonly type: string
  readonly config: ConnectorConfig
}

/** A transform of the chain. */
export interface TransformSettings extends PluginSettings {
  readonly alias: string
  /** The alias of one of the predicates. */
  readonly predicate: string | undefined
  readonly negate: boolean
}

/** A predicate that transforms may name. */
export interface PredicateSettings extends PluginSettings {
  readonly alias: string
}

/** The topics that a sink reads. */
export type Topics =
  | { readonly list: ReadonlyArray<string>; readonly regex?: undefined }
  | { readonly regex: string; readonly list?: undefined }

/** How topics of a source are created. */
export interface TopicCreationSettings {
  readonly group: string
  readonly include: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
  readonly partitions: number
  readonly replicationFactor: number
  /** Any other key of the group: a setting of the topic. */
  readonly config: ConnectorConfig
}

/** What the framework reads from a connector's configuration. Durations are milliseconds. */
export interface ConnectorSettings {
  readonly name: string
  readonly class: string
  readonly tasksMax: number
  readonly tasksMaxEnforce: boolean
  /** The connector's own, else the runtime's with the runtime's settings; `undefined` when neither names one. */
  readonly converters: {
    readonly key: PluginSettings | undefined
    readonly value: PluginSettings | undefined
    readonly header: PluginSettings | undefined
  }
  readonly transforms: ReadonlyArray<TransformSettings>
  readonly predicates: ReadonlyArray<PredicateSettings>
  readonly reloadAction: "none" | "restart"
  readonly tolerance: "none" | "all"
  /** -1: for ever. */
  readonly retryTimeoutMillis: number
  readonly retryDelayMaxMillis: number
  readonly logErrors: boolean
  readonly logMessages: boolean
  readonly reconfiguration: ReconfigurationSettings
  readonly restart: RestartSettings
  /** What a worker has to carry to run it. */
  readonly placementLabels: Labels
  /** Of a sink; `undefined` for a source. */
  readonly topics: Topics | undefined
  /** Of a sink that has one. */
  readonly deadLetter:
    | { readonly topic: string; readonly replicationFactor: number; readonly contextHeaders: boolean }
    | undefined
  /** Of a source: the groups in their order, `default` last; empty when topics are created by the engine's own rules. */
  readonly topicCreation: ReadonlyArray<TopicCreationSettings>
  readonly exactlyOnce: "requested" | "required"
  readonly transactionBoundary: "poll" | "interval" | "connector"
  /** `undefined`: the runtime's. */
  readonly transactionBoundaryIntervalMillis: number | undefined
  /** `undefined`: the runtime's. */
  readonly offsetsTopic: string | undefined
}

/** How a configuration is decoded: the defaults of the runtime, and what errors may show. */
export interface DecodeOptions extends ConfigKey.Shown {
  readonly defaults?: Defaults | undefined
}

/**
 * Reads the framework's keys of a configuration whose variables are resolved; gives every key's errors, not the first.
 *
 * It knows no plugins: that types of transforms, predicates and converters exist, and that their own keys are right, is
 * for `Validation`.
 */
export const decode = (
  config: ConnectorConfig,
  kind: ConnectorKind,
  options: DecodeOptions = {}
): Result.Result<ConnectorSettings, ReadonlyArray<ConfigKey.KeyProblem>> => {
  const reading = makeReading(config, options)
  const base = reading.read(reading.keys.common)
  for (
    const list of [common.transforms, common.predicates, ...(kind === "source" ? [source.topicCreationGroups] : [])]
  ) {
    checkWritten(reading, list, "Aliases")
  }
  // the leader reads them as they are stored, and resolves no variables
  checkWritten(reading, common.placementLabels, "Labels")
  const transforms = readTransforms(reading)
  const predicates = readPredicates(reading)
  checkBackoff(reading, common.reconfigurationBackoff, common.reconfigurationBackoffMax, [
    base.reconfigurationBackoff,
    base.reconfigurationBackoffMax
  ])
  checkBackoff(reading, common.restartBackoff, common.restartBackoffMax, [base.restartBackoff, base.restartBackoffMax])
  const ofSource = kind === "source" ? readSource(reading) : notASource
  const ofSink = kind === "sink" ? readSink(reading) : notASink
  const problems = reading.problems()
  if (problems.length > 0) return Result.fail(problems)
  // no problem: every key was read
  const ofCommon = settingsOf(base as ConfigKey.Values<typeof common>, reading)
  return Result.succeed({ ...ofCommon, transforms, predicates, ...ofSource, ...ofSink })
}

/**
 * The aliases in a list of a configuration, each once, at most `maxAliases`; whether the list is right is another matter.
 *
 * None when the list as it was written is another one: aliases become names of keys, and those are shown, so they may not
 * come from a variable.
 */
export const aliases = (
  config: ConnectorConfig,
  list: "transforms" | "predicates" | "topic.creation.groups",
  { raw = config, unresolved }: ConfigKey.Shown = {}
): ReadonlyArray<string> => {
  const text = ConfigKey.textOf(config, list) ?? ""
  if (text === "") return []
  if (unresolved?.has(list) === true || text !== (ConfigKey.textOf(raw, list) ?? "")) return []
  return [...new Set(text.split(",").map((alias) => alias.trim()))].filter((alias) => alias !== "").slice(0, maxAliases)
}

/** The labels that a connector asks its workers for, from its configuration as it is stored; or why they cannot be read. */
export const placementLabels = (config: ConnectorConfig): Result.Result<Labels, string> =>
  Result.map(ConfigKey.decodeKey(common.placementLabels, config), labelsOf)

/** The keys under a prefix, without it: the configuration of a plugin. */
export const under = (config: ConnectorConfig, prefix: string): ConnectorConfig => {
  const found: Array<readonly [string, string]> = []
  for (const key of Object.keys(config)) {
    const text = config[key]
    if (text !== undefined && key.length > prefix.length && key.startsWith(prefix)) {
      found.push([key.slice(prefix.length), text])
    }
  }
  return Object.fromEntries(found)
}

/** Whether a sink reads a topic. */
export const matcher = (topics: Topics): (topic: string) => boolean => {
  if (topics.list !== undefined) {
    const list = new Set(topics.list)
    return (topic) => list.has(topic)
  }
  return Result.match(TopicPattern.compile(topics.regex), {
    onFailure: () => () => false,
    onSuccess: (pattern) => (topic) => pattern.test(topic)
  })
}

/** Whether a configuration says anything about the creation of topics: then the group `default` has to be complete. */
export const hasTopicCreation = (config: ConnectorConfig): boolean =>
  Object.entries(config).some(([key, text]) =>
    key.startsWith("topic.creation.") && (key !== "topic.creation.groups" || text.trim() !== "")
  )

/** The topic creation groups of a configuration in their order, `default` last. */
export const topicCreationGroups = (config: ConnectorConfig, shown?: ConfigKey.Shown): ReadonlyArray<string> =>
  hasTopicCreation(config)
    ? [...aliases(config, "topic.creation.groups", shown).filter((group) => group !== "default"), "default"]
    : []

// ---------------------------------------------------------------------------------------------------------------------

/** Decodes records of keys from one configuration and collects what is wrong, by key. */
interface Reading {
  readonly config: ConnectorConfig
  readonly options: DecodeOptions
  readonly defaults: Defaults
  readonly keys: ReturnType<typeof keys>
  readonly read: <F extends ConfigKey.Fields>(fields: F) => Partial<ConfigKey.Values<F>>
  /** What may be shown of a key. */
  readonly shown: (key: ConfigKey.ConfigKey<any>) => string | undefined
  readonly add: (key: ConfigKey.ConfigKey<any>, message: string) => void
  readonly refuse: (key: ConfigKey.ConfigKey<any>, reason: string) => void
  readonly problems: () => ReadonlyArray<ConfigKey.KeyProblem>
}

const noDefaults: Defaults = {}

const makeReading = (config: ConnectorConfig, options: DecodeOptions): Reading => {
  const found = new Map<string, Array<string>>()
  const add = (name: string, message: string) => {
    const errors = found.get(name)
    if (errors === undefined) found.set(name, [message])
    else errors.push(message)
  }
  const { defaults = noDefaults, raw = config } = options
  const shown = (key: ConfigKey.ConfigKey<any>) => ConfigKey.textOf(raw, key.name) ?? ConfigKey.textOf(config, key.name)
  return {
    config,
    options,
    defaults,
    keys: keys(defaults),
    shown,
    read: (fields) => {
      const { problems, values } = ConfigKey.decodePartial(fields, config, options)
      for (const { errors, key } of problems) for (const error of errors) add(key, error)
      return values
    },
    add: (key, message) => add(key.name, message),
    refuse: (key, reason) => add(key.name, ConfigKey.invalid(key, shown(key) ?? "", reason)),
    problems: () => Array.from(found, ([key, errors]) => ({ key, errors }))
  }
}

const settingsOf = (base: ConfigKey.Values<typeof common>, reading: Reading) => {
  const converters = readConverters(reading, base)
  /** A value that the configuration or the runtime's defaults say, as opposed to one that a policy decides. */
  const said = <A>(key: ConfigKey.ConfigKey<any>, value: A): A | undefined =>
    Object.hasOwn(reading.config, key.name) || Object.hasOwn(reading.defaults, key.name) ? value : undefined
  return {
    name: base.name,
    class: base.class,
    tasksMax: base.tasksMax,
    tasksMaxEnforce: base.tasksMaxEnforce,
    converters,
    reloadAction: base.reloadAction,
    tolerance: base.tolerance,
    // Connect accepts other negative numbers and means no retry
    retryTimeoutMillis: base.retryTimeout === -1 ? -1 : Math.max(0, base.retryTimeout),
    retryDelayMaxMillis: Math.max(0, base.retryDelayMax),
    logErrors: base.logErrors,
    logMessages: base.logMessages,
    reconfiguration: {
      backoffMillis: said(common.reconfigurationBackoff, base.reconfigurationBackoff),
      backoffMaxMillis: said(common.reconfigurationBackoffMax, base.reconfigurationBackoffMax),
      maxAttempts: base.reconfigurationMaxAttempts,
      timeoutMillis: base.reconfigurationTimeout,
      jitter: said(common.reconfigurationJitter, base.reconfigurationJitter),
      exhausted: said(common.reconfigurationExhausted, base.reconfigurationExhausted)
    },
    restart: {
      policy: said(common.restartPolicy, base.restartPolicy),
      backoffMillis: said(common.restartBackoff, base.restartBackoff),
      backoffMaxMillis: said(common.restartBackoffMax, base.restartBackoffMax),
      maxAttempts: said(common.restartMaxAttempts, base.restartMaxAttempts),
      windowMillis: said(common.restartWindow, base.restartWindow)
    },
    placementLabels: labelsOf(base.placementLabels)
  }
}

const readConverters = (
  { config, defaults }: Reading,
  base: ConfigKey.Values<typeof common>
): ConnectorSettings["converters"] => {
  const read = (name: string, type: string | undefined): PluginSettings | undefined => {
    if (type === undefined) return undefined
    // who names a converter settles all of it: the runtime's settings are for the runtime's converter
    const { "plugin.version": _, ...own } = under(Object.hasOwn(config, name) ? config : defaults, `${name}.`)
    return { type, config: own }
  }
  return {
    key: read("key.converter", base.keyConverter),
    value: read("value.converter", base.valueConverter),
    header: read("header.converter", base.headerConverter)
  }
}

const checkWritten = (reading: Reading, list: ConfigKey.ConfigKey<any>, what: string): void => {
  const text = ConfigKey.textOf(reading.config, list.name)
  if (text !== undefined && text !== reading.shown(list)) {
    reading.refuse(list, `${what} may not come from a variable; write them here`)
  }
}

/**
 * The keys under `<prefix><alias>.` for each alias, in one pass: a configuration may have many of both. Aliases may hold
 * dots, so a key may be of several.
 */
const underAliases = (
  config: ConnectorConfig,
  prefix: string,
  list: ReadonlyArray<string>,
  except: ReadonlyArray<string>
): (alias: string) => ConnectorConfig => {
  const found = new Map<string, Array<readonly [string, string]>>(list.map((alias) => [alias, []]))
  for (const [key, text] of list.length === 0 ? [] : Object.entries(config)) {
    if (!key.startsWith(prefix)) continue
    for (let dot = key.indexOf(".", prefix.length); dot >= 0; dot = key.indexOf(".", dot + 1)) {
      const name = key.slice(dot + 1)
      if (name !== "" && !except.includes(name)) found.get(key.slice(prefix.length, dot))?.push([name, text])
    }
  }
  return (alias) => Object.fromEntries(found.get(alias) ?? [])
}

const readPredicates = (reading: Reading): ReadonlyArray<PredicateSettings> => {
  const list = aliases(reading.config, "predicates", reading.options)
  const own = underAliases(reading.config, "predicates.", list, ["type", "plugin.version"])
  return list.map((alias) => ({ alias, type: reading.read(predicate(alias)).type ?? "", config: own(alias) }))
}

const readTransforms = (reading: Reading): ReadonlyArray<TransformSettings> => {
  const predicates = aliases(reading.config, "predicates", reading.options)
  const list = aliases(reading.config, "transforms", reading.options)
  const own = underAliases(reading.config, "transforms.", list, ["type", "plugin.version", "predicate", "negate"])
  return list.map((alias) => {
    const keys = transform(alias)
    const values = reading.read(keys)
    const named = values.predicate
    if (named !== undefined && !predicates.includes(named)) {
      const near = nearestKey(named, predicates)
      reading.refuse(
        keys.predicate,
        `It is not defined in predicates${near.length > 0 ? `, which has ${near.join(", ")}` : ""}`
      )
    }
    if (reading.shown(keys.negate) !== undefined && reading.shown(keys.predicate) === undefined) {
      reading.refuse(keys.negate, `There is no ${keys.predicate.name} to negate`)
    }
    return {
      alias,
      type: values.type ?? "",
      predicate: named,
      negate: values.negate ?? false,
      config: own(alias)
    }
  })
}

/** The backoff may not be above its own maximum; the key that was written is the one to change. */
const checkBackoff = (
  reading: Reading,
  backoffKey: ConfigKey.ConfigKey<number>,
  maxKey: ConfigKey.ConfigKey<number>,
  [backoff, max]: readonly [number | undefined, number | undefined]
): void => {
  if (backoff === undefined || max === undefined || backoff <= max) return
  const [shownBackoff, shownMax] = [reading.shown(backoffKey), reading.shown(maxKey)]
  if (shownBackoff !== undefined) {
    reading.refuse(backoffKey, `Value must be no more than ${maxKey.name}, which is ${shownMax ?? max}`)
  } else if (shownMax !== undefined) {
    reading.refuse(maxKey, `Value must be at least ${backoffKey.name}, which is ${backoff}`)
  }
}

type OfSource = Pick<
  ConnectorSettings,
  "topicCreation" | "exactlyOnce" | "transactionBoundary" | "transactionBoundaryIntervalMillis" | "offsetsTopic"
>
const notASource: OfSource = {
  topicCreation: [],
  exactlyOnce: "requested",
  transactionBoundary: "poll",
  transactionBoundaryIntervalMillis: undefined,
  offsetsTopic: undefined
}

const readSource = (reading: Reading): OfSource => {
  const values = reading.read(reading.keys.source)
  if (values.transactionBoundary === "connector") {
    reading.refuse(
      source.transactionBoundary,
      "The connector does not define transaction boundaries; use poll or interval"
    )
  }
  return {
    topicCreation: readTopicCreation(reading),
    exactlyOnce: values.exactlyOnce ?? "requested",
    transactionBoundary: values.transactionBoundary ?? "poll",
    transactionBoundaryIntervalMillis: values.transactionBoundaryInterval,
    offsetsTopic: values.offsetsTopic
  }
}

const readTopicCreation = (reading: Reading): ReadonlyArray<TopicCreationSettings> => {
  const list = topicCreationGroups(reading.config, reading.options)
  const own = underAliases(reading.config, "topic.creation.", list, [
    "include",
    "exclude",
    "partitions",
    "replication.factor"
  ])
  const groups = list.map((group) => ({
    group,
    values: reading.read(topicCreation(group)),
    config: own(group)
  }))
  const inherited = groups.at(-1)?.values
  return groups.map(({ config, group, values }) => ({
    group,
    include: values.include ?? [],
    exclude: values.exclude ?? [],
    partitions: values.partitions ?? inherited?.partitions ?? -1,
    replicationFactor: values.replicationFactor ?? inherited?.replicationFactor ?? -1,
    config
  }))
}

type OfSink = Pick<ConnectorSettings, "topics" | "deadLetter">
const notASink: OfSink = { topics: undefined, deadLetter: undefined }

const readSink = (reading: Reading): OfSink => {
  const values = reading.read(reading.keys.sink)
  const topic = values.deadLetterTopic ?? ""
  const topics = readTopics(reading, values.topics, values.topicsRegex)
  if (topic !== "" && topics !== undefined && matcher(topics)(topic)) {
    const consumed = topics.list !== undefined
      ? `list of topics ('topics=[${reading.shown(sink.topics)}]')`
      : `topics that match a regex ('topics.regex=${reading.shown(sink.topicsRegex)}')`
    reading.add(
      sink.deadLetterTopic,
      `The DLQ topic '${
        reading.shown(sink.deadLetterTopic)
      }' may not be included in the ${consumed} consumed by the connector`
    )
  }
  return {
    topics,
    deadLetter: topic === "" ? undefined : {
      topic,
      replicationFactor: values.deadLetterReplication ?? 3,
      contextHeaders: values.deadLetterHeaders ?? false
    }
  }
}

/** Exactly one of the two has to be set; both keys are told, as in Connect. */
const readTopics = (
  reading: Reading,
  list: ReadonlyArray<string> | undefined,
  regex: string | undefined
): Topics | undefined => {
  if (list === undefined || regex === undefined) return undefined
  const both = (message: string) => {
    reading.add(sink.topics, message)
    reading.add(sink.topicsRegex, message)
    return undefined
  }
  if (list.length === 0) {
    return regex === "" ? both("Must configure one of topics or topics.regex") : { regex }
  }
  return regex === ""
    ? { list: [...new Set(list)] }
    : both("topics and topics.regex are mutually exclusive options, but both are set.")
}
