/**
 * The way of a record through its task: transforms and converters, between what a source gives and what the log holds,
 * and back for a sink. Synchronous and per record; a failure throws and `stage` says where.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { PermanentError } from "@kelpie/core/ConnectorError"
import type * as ConnectorKeys from "@kelpie/core/ConnectorKeys"
import type { ConnectRecord, Header, SinkRecord, SourceRecord } from "@kelpie/core/ConnectRecord"
import type { Codec } from "@kelpie/core/Converter"
import type * as Plugin from "@kelpie/core/Plugin"
import type { Definitions, Plugins } from "@kelpie/core/Plugins"
import type { TopicLog } from "@kelpie/core/TopicLog"
import type { Apply } from "@kelpie/core/Transform"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

/** Connect's names of the stages of a record. */
export type Stage = "TRANSFORMATION" | "KEY_CONVERTER" | "VALUE_CONVERTER" | "HEADER_CONVERTER" | "TASK_PUT"

/** Where the last failure was. */
export interface Where {
  stage: Stage
  /** The plugin that failed. */
  plugin: string
}

/** The converters and transforms of one task. */
export interface Pipeline {
  readonly where: Where
  /** A source's record as the log holds it; `undefined`: dropped by a transform. */
  readonly toLog: (record: SourceRecord, now: number) => { readonly topic: string; readonly record: TopicLog.LogRecord } | undefined
  /** A record of the log as a sink takes it; `undefined`: dropped by a transform. */
  readonly fromLog: (topic: string, partition: number, offset: number, record: TopicLog.LogRecord) => SinkRecord | undefined
}

/** Opens the plugins of a task. A plugin that does not exist, or refuses its keys, is a permanent failure. */
export const make = Effect.fnUntraced(function*(
  plugins: Plugins["Service"],
  settings: ConnectorKeys.ConnectorSettings
): Effect.fn.Return<Pipeline, PermanentError> {
  const where: Where = { stage: "TRANSFORMATION", plugin: "" }
  const key = yield* openConverter(plugins, settings.converters.key, "key")
  const value = yield* openConverter(plugins, settings.converters.value, "value")
  const header = yield* openConverter(plugins, settings.converters.header, "header")
  const transform = yield* openTransforms(plugins, settings, where)
  const at = (stage: Stage, plugin: string) => {
    where.stage = stage
    where.plugin = plugin
  }
  const names = {
    key: settings.converters.key?.type ?? "",
    value: settings.converters.value?.type ?? "",
    header: settings.converters.header?.type ?? ""
  }
  return {
    where,
    toLog: (given, now) => {
      const record = transform === undefined ? given : transform(given)
      if (record === undefined) return undefined
      const { headers, topic } = record
      at("KEY_CONVERTER", names.key)
      const keyBytes = record.key === undefined || record.key === null ? null : key.toBytes(topic, record.key, record.keySchema)
      at("VALUE_CONVERTER", names.value)
      const valueBytes = value.toBytes(topic, record.value, record.valueSchema)
      at("HEADER_CONVERTER", names.header)
      return {
        topic,
        record: {
          partition: record.partition,
          key: keyBytes,
          value: valueBytes,
          headers: headers === undefined || headers.length === 0
            ? noHeaders
            : headers.map(([name, content, schema]) => [name, header.toBytes(topic, content, schema)] as const),
          timestampMillis: record.timestampMillis ?? now
        }
      }
    },
    fromLog: (topic, partition, offset, stored) => {
      at("KEY_CONVERTER", names.key)
      const readKey = stored.key === null ? nothing : key.fromBytes(topic, stored.key)
      at("VALUE_CONVERTER", names.value)
      const read = value.fromBytes(topic, stored.value)
      at("HEADER_CONVERTER", names.header)
      const record: SinkRecord = {
        topic,
        partition,
        offset,
        originalTopic: topic,
        timestampMillis: stored.timestampMillis,
        key: readKey.value,
        keySchema: readKey.schema,
        value: read.value,
        valueSchema: read.schema,
        headers: stored.headers.length === 0 ? noHeaders : readHeaders(header, topic, stored.headers)
      }
      return transform === undefined ? record : transform(record)
    }
  }
})

const noHeaders: ReadonlyArray<never> = []
const nothing = { value: null, schema: undefined }

const readHeaders = (codec: Codec, topic: string, headers: TopicLog.LogRecord["headers"]): ReadonlyArray<Header> =>
  headers.map(([name, bytes]) => {
    const { schema, value } = codec.fromBytes(topic, bytes)
    return [name, value, schema]
  })

const find = <K extends Plugin.Kind>(
  plugins: Plugins["Service"],
  kinds: ReadonlyArray<K>,
  name: string
): Effect.Effect<Definitions[K], PermanentError> => {
  for (const kind of kinds) {
    const found = plugins.find(kind, name)
    if (Option.isSome(found)) return Effect.succeed(found.value)
  }
  return Effect.fail(new PermanentError({ message: `Class ${name} could not be found.` }))
}

const decode = (plugin: Plugin.Any, config: Plugin.ConnectorConfig): Effect.Effect<Record<string, unknown>, PermanentError> => {
  const values = ConfigKey.decode(plugin.fields, config)
  return Result.isSuccess(values)
    ? Effect.succeed(values.success)
    : Effect.fail(new PermanentError({ message: values.failure.flatMap((problem) => problem.errors).join("\n") }))
}

/** Runs an author's set-up: what it throws is a permanent failure that names the plugin. */
const open = <A>(name: string, f: () => A): Effect.Effect<A, PermanentError> =>
  Effect.try({
    try: f,
    catch: (cause) =>
      new PermanentError({ message: `${name}: ${cause instanceof Error ? cause.message : String(cause)}`, cause })
  })

const openConverter = Effect.fnUntraced(function*(
  plugins: Plugins["Service"],
  settings: ConnectorKeys.PluginSettings | undefined,
  use: "key" | "value" | "header"
): Effect.fn.Return<Codec, PermanentError> {
  if (settings === undefined) return yield* new PermanentError({ message: `no ${use}.converter is set` })
  const kinds = use === "header" ? ["header_converter", "converter"] as const : ["converter"] as const
  const definition = yield* find(plugins, kinds, settings.type)
  const values = yield* decode(definition, settings.config)
  return yield* open(settings.type, () => definition.open(values, use))
})

const openTransforms = Effect.fnUntraced(function*(
  plugins: Plugins["Service"],
  settings: ConnectorKeys.ConnectorSettings,
  where: Where
): Effect.fn.Return<Apply | undefined, PermanentError> {
  const predicates = new Map<string, (record: ConnectRecord) => boolean>()
  for (const { alias, config, type } of settings.predicates) {
    const definition = yield* find(plugins, ["predicate"], type)
    const values = yield* decode(definition, config)
    predicates.set(alias, yield* open(type, () => definition.test(values)))
  }
  const steps: Array<Step> = []
  for (const { config, negate, predicate, type } of settings.transforms) {
    const definition = yield* find(plugins, ["transform"], type)
    const values = yield* decode(definition, config)
    const test = predicate === undefined ? undefined : predicates.get(predicate)
    if (predicate !== undefined && test === undefined) {
      return yield* new PermanentError({ message: `the predicate ${predicate} of a transform is not defined` })
    }
    steps.push({ type, apply: yield* open(type, () => definition.apply(values)), test, negate })
  }
  return steps.length === 0 ? undefined : chain(steps, where)
})

interface Step {
  readonly type: string
  readonly apply: Apply
  readonly test: ((record: ConnectRecord) => boolean) | undefined
  readonly negate: boolean
}

const chain = (steps: ReadonlyArray<Step>, where: Where): Apply => (given) => {
  let record: typeof given | undefined = given
  where.stage = "TRANSFORMATION"
  for (const { apply, negate, test, type } of steps) {
    where.plugin = type
    if (test !== undefined && test(record) === negate) continue
    record = apply(record)
    if (record === undefined) return undefined
  }
  return record
}
