/**
 * A source task: poll -> transforms -> converters -> append with the offsets that stand for the records.
 *
 * One fiber pulls and converts, another stores: what gathers while a commit is under way goes into the next one. Offsets
 * are stored with their records or after them, never before (I9).
 */
import { type ConnectorError, PermanentError } from "@kelpie/core/ConnectorError"
import type { SourceRecord } from "@kelpie/core/ConnectRecord"
import type { OffsetStore } from "@kelpie/core/OffsetStore"
import type * as SourceConnector from "@kelpie/core/SourceConnector"
import type { StoreError } from "@kelpie/core/StoreError"
import type { TopicLog } from "@kelpie/core/TopicLog"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { canonical } from "./digest.ts"
import { logReport } from "./errorReport.ts"
import * as Handoff from "./handoff.ts"
import * as Pipeline from "./pipeline.ts"
import { persist, retrier, type Task, type TaskEnv } from "./taskEnv.ts"
import { processAll } from "./tolerance.ts"

/** A batch, ready for the log. */
interface Converted {
  readonly appends: ReadonlyArray<TopicLog.Append>
  readonly offset: OffsetStore.Entry | undefined
  readonly ack: Effect.Effect<void, ConnectorError> | undefined
}

/** Opens the writers of the run, then makes the task. */
export const make = Effect.fnUntraced(function*(
  env: TaskEnv,
  definition: SourceConnector.SourceConnector<any, any>
): Effect.fn.Return<Task, ConnectorError | StoreError, Scope.Scope> {
  const offsetWriter = yield* env.offsets.open(env.item, env.run)
  const logWriter = yield* env.log.open(env.item, env.run)
  const pipeline = yield* Pipeline.make(env.plugins, env.config.settings)
  const codecs = jsonCodecs(definition["~source"])
  const handoff = Handoff.make<Converted>(env.flow.batchesInFlight)
  const convert = converter(env, pipeline, codecs)
  const createTopics = topicCreator(env)
  let producer: Fiber.Fiber<void, ConnectorError | StoreError> | undefined

  const taskConfig = yield* decode(codecs.taskConfig, env.taskConfig, "task config")
  const context = {
    name: env.item.connector,
    task: env.item.task,
    config: env.config.values,
    taskConfig,
    offsets: { get: (partition: unknown) => storedOffset(env, codecs, partition) }
  }

  const { recovered, wait } = retrier(env)

  /** One life of the author's stream. */
  const produce = Effect.scoped(Effect.gen(function*() {
    const pull = yield* Stream.toPull(definition["~source"].task(context as never))
    const operation = { _tag: "PollSource", connector: env.item.connector, task: env.item.task } as const
    let pulled: Array<SourceConnector.Batch<unknown, unknown>> = []
    const poll = env.middleware(
      operation,
      Effect.map(pull, (batches) => {
        pulled.push(...batches)
        return batches.reduce((sum, batch) => sum + batch.records.length, 0)
      })
    )
    const step = Effect.andThen(Effect.andThen(poll, recovered), Effect.suspend(() => {
      const batches = pulled
      pulled = []
      return Effect.forEach(batches, (batch) => Effect.flatMap(convert(batch), handoff.offer), { discard: true })
    }))
    return yield* Effect.forever(step)
  }))

  // a failure that may pass: what was pulled is stored first, then the author's code starts anew at the stored offsets
  const producing: Effect.Effect<void, ConnectorError | StoreError> = Effect.catch(
    env.plugins.provide(produce),
    (error: ConnectorError | StoreError | Cause.Done) =>
      error._tag === "Done" ? Effect.never : Effect.andThen(Effect.andThen(handoff.drained, wait(error)), producing)
  )

  const store = Effect.gen(function*() {
    yield* handoff.ready
    const batches = handoff.takeUnsafe(env.flow.batchesInFlight)
    const appends = mergeAppends(batches)
    const offsets = mergeOffsets(batches)
    yield* createTopics(appends)
    const prepared = offsets.length === 0 ? undefined : offsetWriter.prepare(offsets)
    yield* persist(env, logWriter.append(appends, prepared))
    for (const { ack } of batches) if (ack !== undefined) yield* persist(env, env.plugins.provide(ack))
    handoff.settled()
  })

  return {
    pump: Effect.scoped(Effect.gen(function*() {
      producer = yield* Effect.forkScoped(producing)
      // a producer that is interrupted was told to stop: what it made is still stored
      const broken = Effect.flatMap(Fiber.await(producer), (exit) =>
        exit._tag === "Failure" && !Cause.hasInterruptsOnly(exit.cause) ? Effect.failCause(exit.cause) : Effect.never)
      yield* Effect.raceFirst(Effect.forever(store), broken)
    })),
    drain: Effect.suspend(() =>
      producer === undefined ? Effect.void : Effect.andThen(Fiber.interrupt(producer), handoff.drained)
    )
  }
})

interface Codecs {
  readonly taskConfig: Schema.Codec<unknown, unknown>
  readonly partition: Schema.Codec<unknown, unknown>
  readonly offset: Schema.Codec<unknown, unknown>
}

const cachedCodecs = new WeakMap<SourceConnector.Runtime, Codecs>()

/** The codecs of a definition to JSON; made once per definition. */
export const jsonCodecs = (runtime: SourceConnector.Runtime): Codecs => {
  let codecs = cachedCodecs.get(runtime)
  if (codecs === undefined) {
    codecs = {
      taskConfig: Schema.toCodecJson(runtime.taskConfig),
      partition: Schema.toCodecJson(runtime.partition),
      offset: Schema.toCodecJson(runtime.offset)
    }
    cachedCodecs.set(runtime, codecs)
  }
  return codecs
}

const decode = (codec: Schema.Codec<unknown, unknown>, value: unknown, what: string) =>
  Effect.mapError(
    Schema.decodeUnknownEffect(codec)(value),
    (error) => new PermanentError({ message: `the stored ${what} does not fit the connector: ${error.message}` })
  )

const encode = (codec: Schema.Codec<unknown, unknown>, value: unknown, what: string) =>
  Effect.mapError(
    Schema.encodeUnknownEffect(codec)(value),
    (error) => new PermanentError({ message: `the connector gave a ${what} that does not fit its schema: ${error.message}` })
  )

/** A source partition as text; a source without partitions has one. */
const partitionText = (codecs: Codecs, partition: unknown) =>
  Effect.map(encode(codecs.partition, partition, "partition"), (json) => canonical(json ?? {}))

const storedOffset = (env: TaskEnv, codecs: Codecs, partition: unknown): Effect.Effect<Option.Option<unknown>, ConnectorError> =>
  Effect.gen(function*() {
    const text = yield* partitionText(codecs, partition)
    const [offset] = yield* persist(env, env.offsets.read(env.item.connector, [text]))
    if (offset === undefined) return Option.none()
    return Option.some(yield* decode(codecs.offset, JSON.parse(offset), "offset"))
  }).pipe(Effect.catchTag("StoreError", (error) => Effect.fail(new PermanentError({ message: error.message, cause: error }))))

/** Transforms and converts the records of a batch. */
const converter = (env: TaskEnv, pipeline: Pipeline.Pipeline, codecs: Codecs) => {
  const report = logReport<SourceRecord>(env, (record) => ({ topic: record.topic, partition: record.partition }))
  return Effect.fnUntraced(function*(batch: SourceConnector.Batch<unknown, unknown>) {
    const now = yield* Clock.currentTimeMillis
    const byTopic = new Map<string, Array<TopicLog.LogRecord>>()
    let topic: string | undefined
    let records: Array<TopicLog.LogRecord> = []
    const one = (record: SourceRecord) => {
      const converted = pipeline.toLog(record, now)
      if (converted === undefined) return
      if (converted.topic !== topic) {
        topic = converted.topic
        records = byTopic.get(topic) ?? []
        byTopic.set(topic, records)
      }
      records.push(converted.record)
    }
    yield* processAll(env.config.settings, pipeline.where, batch.records, one, report)
    const offset = yield* encode(codecs.offset, batch.offset, "offset")
    const entry = offset === undefined || offset === null
      ? undefined
      : { partition: yield* partitionText(codecs, batch.partition), offset: JSON.stringify(offset) }
    const appends = Array.from(byTopic, ([topic, records]) => ({ topic, records }))
    return { appends, offset: entry, ack: batch.ack }
  })
}

/** One append per topic, in order. */
const mergeAppends = (batches: ReadonlyArray<Converted>): ReadonlyArray<TopicLog.Append> => {
  if (batches.length === 1) return batches[0]?.appends ?? []
  const byTopic = new Map<string, Array<TopicLog.LogRecord>>()
  for (const { appends } of batches) {
    for (const { records, topic } of appends) {
      const all = byTopic.get(topic)
      if (all === undefined) byTopic.set(topic, [...records])
      else for (const record of records) all.push(record)
    }
  }
  return Array.from(byTopic, ([topic, records]) => ({ topic, records }))
}

/** The last offset of each partition. */
const mergeOffsets = (batches: ReadonlyArray<Converted>): ReadonlyArray<OffsetStore.Entry> => {
  const last = new Map<string, OffsetStore.Entry>()
  for (const { offset } of batches) if (offset !== undefined) last.set(offset.partition, offset)
  return [...last.values()]
}

/** Creates topics as `topic.creation.*` says, before their first records. */
const topicCreator = (env: TaskEnv) => {
  const groups = env.config.settings.topicCreation.map((group) => ({
    partitions: Math.max(1, group.partitions),
    include: group.include.map((pattern) => new RegExp(`^(?:${pattern})$`)),
    exclude: group.exclude.map((pattern) => new RegExp(`^(?:${pattern})$`))
  }))
  const known = new Set<string>()
  return (appends: ReadonlyArray<TopicLog.Append>): Effect.Effect<void, ConnectorError | StoreError> => {
    const fresh = groups.length === 0 ? [] : appends.filter(({ topic }) => !known.has(topic))
    return Effect.forEach(fresh, ({ topic }) => {
      known.add(topic)
      const group = groups.find(({ exclude, include }) =>
        include.some((pattern) => pattern.test(topic)) && !exclude.some((pattern) => pattern.test(topic))
      )
      return group === undefined
        ? Effect.void
        : persist(env, env.log.create({ name: topic, partitions: group.partitions }))
    }, { discard: true })
  }
}

