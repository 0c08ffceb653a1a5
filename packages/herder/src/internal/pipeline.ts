/**
 * The way of a record through its task: transforms and converters, between what a source gives and what the log holds,
 * and back for a sink. Synchronous and per record; a failure throws and `stage` says where.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { PermanentError } from "@kelpie/core/ConnectorError"
import type * as ConnectorKeys from "@kelpie/core/ConnectorKeys"
import type { ConnectRecord, Header, SinkRecord, SourceRecord } from "@kelpie/core/ConnectRecord"
import type { Codec, SchemaAndValue } from "@kelpie/core/Converter"
import type * as Plugin from "@kelpie/core/Plugin"
import type { Definitions, Plugins } from "@kelpie/core/Plugins"
import type { TopicLog } from "@kelpie/core/TopicLog"
import type { Apply } from "@kelpie/core/Transform"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

/** Connect's names of the stages of a record. */
export type Stage = "TRANSFORMATION" | "KEY_CONVERTER" | "VALUE_CONVERTER" | "HEADER_CONVERTER" | "TASK_PUT"

/** Where a record is on its way: read when it fails. Kept by plain writes, for it is written for every record. */
export class Where {
  stage: Stage = "TRANSFORMATION"
  /** The place of the record in its batch. */
  index = 0
  /** The transform that runs, by its type. */
  transform = ""
  readonly #converters: ConnectorKeys.ConnectorSettings["converters"]
  constructor(converters: ConnectorKeys.ConnectorSettings["converters"]) {
    this.#converters = converters
  }
  /** The plugin of the present stage. */
  get plugin(): string {
    const { header, key, value } = this.#converters
    switch (this.stage) {
      case "KEY_CONVERTER":
        return key?.type ?? ""
      case "VALUE_CONVERTER":
        return value?.type ?? ""
      case "HEADER_CONVERTER":
        return header?.type ?? ""
      default:
        return this.transform
    }
  }
}

type LogRecord = TopicLog.LogRecord

/** Opens the plugins of a task. A plugin that does not exist, or refuses its keys, is a permanent failure. */
export const make = Effect.fnUntraced(function*(
  plugins: Plugins["Service"],
  settings: ConnectorKeys.ConnectorSettings
): Effect.fn.Return<Pipeline, PermanentError> {
  const where = new Where(settings.converters)
  const key = yield* openConverter(plugins, settings.converters.key, "key")
  const value = yield* openConverter(plugins, settings.converters.value, "value")
  const header = yield* openConverter(plugins, settings.converters.header, "header")
  return new Pipeline(where, key, value, header, yield* openTransforms(plugins, settings, where))
})

/** The converters and transforms of one task. Both ways note in `where` at which record they are before it can fail. */
export class Pipeline {
  readonly where: Where
  readonly #key: Codec
  readonly #value: Codec
  readonly #header: Codec
  readonly #transform: Apply | undefined

  constructor(where: Where, key: Codec, value: Codec, header: Codec, transform: Apply | undefined) {
    this.where = where
    this.#key = key
    this.#value = value
    this.#header = header
    this.#transform = transform
  }

  /** Turns the records `from` to `to` of a source into what the log holds, and adds it to the lists of its topics. */
  toLog(
    records: ReadonlyArray<SourceRecord>,
    from: number,
    to: number,
    now: number,
    byTopic: Map<string, Array<LogRecord>>
  ): void {
    const transform = this.#transform
    let topic: string | undefined
    let list: Array<LogRecord> = []
    for (let index = from; index < to; index++) {
      this.where.index = index
      const given = records[index]
      if (given === undefined) continue
      const record = transform === undefined ? given : transform(given)
      if (record === undefined) continue
      const encoded = this.#encode(record, now)
      if (record.topic !== topic) {
        topic = record.topic
        list = byTopic.get(topic) ?? []
        byTopic.set(topic, list)
      }
      list.push(encoded)
    }
  }

  /** Turns the records `from` to `to` of the log into what a sink takes, and adds it to a list. */
  fromLog(
    { firstOffset, partition, records: stored, topic }: TopicLog.Batch,
    from: number,
    to: number,
    decodeValue: ((value: unknown) => unknown) | undefined,
    records: Array<SinkRecord>
  ): void {
    const transform = this.#transform
    for (let index = from; index < to; index++) {
      this.where.index = index
      const one = stored[index]
      if (one === undefined) continue
      const decoded = this.#decode(topic, partition, firstOffset + index, one)
      const record = transform === undefined ? decoded : transform(decoded)
      if (record === undefined) continue
      if (decodeValue === undefined) records.push(record)
      else {
        this.where.stage = "VALUE_CONVERTER"
        records.push({ ...record, value: decodeValue(record.value) })
      }
    }
  }

  #encode(record: ConnectRecord, now: number): LogRecord {
    const { headers, topic } = record
    let key: Uint8Array | null = null
    if (record.key !== undefined && record.key !== null) {
      this.where.stage = "KEY_CONVERTER"
      key = this.#key.toBytes(topic, record.key, record.keySchema)
    }
    this.where.stage = "VALUE_CONVERTER"
    const value = this.#value.toBytes(topic, record.value, record.valueSchema)
    return {
      partition: record.partition,
      key,
      value,
      headers: headers === undefined || headers.length === 0 ? noHeaders : this.#encodeHeaders(topic, headers),
      timestampMillis: record.timestampMillis ?? now
    }
  }

  #encodeHeaders(topic: string, headers: ReadonlyArray<Header>): LogRecord["headers"] {
    this.where.stage = "HEADER_CONVERTER"
    return headers.map(([name, content, schema]) => [name, this.#header.toBytes(topic, content, schema)] as const)
  }

  #decode(topic: string, partition: number, offset: number, stored: LogRecord): SinkRecord {
    let key: SchemaAndValue = nothing
    if (stored.key !== null) {
      this.where.stage = "KEY_CONVERTER"
      key = this.#key.fromBytes(topic, stored.key)
    }
    this.where.stage = "VALUE_CONVERTER"
    const value = this.#value.fromBytes(topic, stored.value)
    return {
      topic,
      partition,
      offset,
      originalTopic: topic,
      timestampMillis: stored.timestampMillis,
      key: key.value,
      keySchema: key.schema,
      value: value.value,
      valueSchema: value.schema,
      headers: stored.headers.length === 0 ? noHeaders : this.#decodeHeaders(topic, stored.headers)
    }
  }

  #decodeHeaders(topic: string, headers: LogRecord["headers"]): ReadonlyArray<Header> {
    this.where.stage = "HEADER_CONVERTER"
    return headers.map(([name, bytes]) => {
      const { schema, value } = this.#header.fromBytes(topic, bytes)
      return [name, value, schema]
    })
  }
}

const noHeaders: ReadonlyArray<never> = []
const nothing: SchemaAndValue = { value: null, schema: undefined }

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

const decode = (
  plugin: Plugin.Any,
  config: Plugin.ConnectorConfig
): Effect.Effect<Record<string, unknown>, PermanentError> => {
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
    where.transform = type
    if (test !== undefined && test(record) === negate) continue
    record = apply(record)
    if (record === undefined) return undefined
  }
  return record
}
