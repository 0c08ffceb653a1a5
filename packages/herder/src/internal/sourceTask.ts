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
import * as Channel from "effect/Channel"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { contain } from "./contained.ts"
import { canonical } from "./digest.ts"
import { logReport } from "./errorReport.ts"
import * as Handoff from "./handoff.ts"
import * as Pipeline from "./pipeline.ts"
import { type Broken, forkWatched, persist, type Retrier, retrier, type Task, type TaskEnv } from "./taskEnv.ts"
import { processAll } from "./tolerance.ts"

type AnyBatch = SourceConnector.Batch<unknown, unknown>

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
  const offsets = yield* env.offsets.open(env.item, env.run)
  const log = yield* env.log.open(env.item, env.run, { usage: env.usage })
  const pipeline = yield* Pipeline.make(env.plugins, env.config.settings)
  const runtime: SourceConnector.Runtime = definition["~source"]
  const taskConfig = yield* decode(jsonCodecs(runtime).taskConfig, env.taskConfig, "task config")
  return new SourceTask(env, runtime, taskConfig, { offsets, log }, pipeline)
})

interface Writers {
  readonly offsets: OffsetStore.Writer
  readonly log: TopicLog.Writer
}

/** What batches need on their way: made with the first one, since most tasks wait for one. */
interface Flow {
  readonly handoff: Handoff.Handoff<Converted>
  readonly convert: (batch: AnyBatch) => Effect.Effect<Converted, ConnectorError | StoreError>
  readonly createTopics: ReturnType<typeof topicCreator>
}

class SourceTask implements Task {
  readonly #env: TaskEnv
  readonly #runtime: SourceConnector.Runtime
  readonly #taskConfig: unknown
  readonly #writers: Writers
  readonly #pipeline: Pipeline.Pipeline
  #flow: Flow | undefined
  #producer: Fiber.Fiber<void, ConnectorError | StoreError> | undefined
  /** Since the first failure. */
  #failing: Retrier | undefined

  constructor(
    env: TaskEnv,
    runtime: SourceConnector.Runtime,
    taskConfig: unknown,
    writers: Writers,
    pipeline: Pipeline.Pipeline
  ) {
    this.#env = env
    this.#runtime = runtime
    this.#taskConfig = taskConfig
    this.#writers = writers
    this.#pipeline = pipeline
  }

  start(broken: Broken): Effect.Effect<void, never, Scope.Scope> {
    return Effect.flatMap(
      Effect.scope,
      (scope) =>
        Effect.map(forkWatched(this.#producing(scope, broken), broken), (producer) => {
          this.#producer = producer
        })
    )
  }

  // a producer that is interrupted was told to stop: what it made is still stored
  get drain(): Effect.Effect<void> {
    const producer = this.#producer
    return producer === undefined
      ? Effect.void
      : Fiber.interrupt(producer).pipe(
        Effect.andThen(this.#drained),
        Effect.andThen(Fiber.await(producer)),
        Effect.andThen(thrown)
      )
  }

  get #drained(): Effect.Effect<void> {
    return Effect.suspend(() => this.#flow?.handoff.drained ?? Effect.void)
  }

  /** Makes batches until it is interrupted; a stream that ends leaves it waiting. */
  #producing(scope: Scope.Scope, broken: Broken): Effect.Effect<void, ConnectorError | StoreError> {
    return Effect.catch(
      this.#produce(scope, broken),
      (error: ConnectorError | StoreError | Cause.Done) =>
        error._tag === "Done"
          ? Effect.never
          // it may pass: what was pulled is stored first, then the author's code starts anew at the stored offsets
          : this.#drained.pipe(
            Effect.andThen((this.#failing ??= retrier(this.#env)).wait(error)),
            Effect.andThen(Effect.suspend(() => this.#producing(scope, broken)))
          )
    )
  }

  /** One life of the author's stream. */
  #produce(taskScope: Scope.Scope, broken: Broken): Effect.Effect<void, ConnectorError | StoreError | Cause.Done> {
    return Effect.scoped(Effect.flatMap(Effect.scope, (scope) => {
      // what the author's code needs was provided to the whole task
      const opened = Effect.suspend(() => {
        const stream = this.#runtime.task(this.#context() as never) as Stream.Stream<AnyBatch, ConnectorError>
        return Channel.toPullScoped(Stream.toChannel(stream), scope)
      })
      return Effect.flatMap(contain(this.#env.config.redact, opened), (pull) => this.#pullAll(pull, taskScope, broken))
    }))
  }

  #context() {
    const { config, item } = this.#env
    return {
      name: item.connector,
      task: item.task,
      config: config.values,
      taskConfig: this.#taskConfig,
      offsets: { get: (partition: unknown) => storedOffset(this.#env, jsonCodecs(this.#runtime), partition) }
    }
  }

  #pullAll<E>(pull: Effect.Effect<ReadonlyArray<AnyBatch>, E>, scope: Scope.Scope, broken: Broken) {
    const { config, item, middleware } = this.#env
    let pulled: Array<AnyBatch> = []
    const poll = middleware(
      { _tag: "PollSource", connector: item.connector, task: item.task },
      Effect.map(contain(config.redact, pull), (batches) => {
        let records = 0
        for (const batch of batches) {
          pulled.push(batch)
          records += batch.records.length
        }
        return records
      })
    )
    const passPulled = Effect.suspend(() => {
      const batches = pulled
      pulled = []
      return Effect.andThen(this.#recovered(), this.#pass(batches, scope, broken))
    })
    // the hand-over makes it wait; a yield for every batch would cost more than the batch
    return Effect.forever(Effect.andThen(poll, passPulled), { disableYield: true })
  }

  #recovered(): Effect.Effect<void> {
    return this.#failing === undefined ? Effect.void : this.#failing.recovered
  }

  /** Converts batches and hands them over to be stored. */
  #pass(batches: ReadonlyArray<AnyBatch>, scope: Scope.Scope, broken: Broken) {
    const flow = this.#flow
    if (flow === undefined) {
      return batches.length === 0
        ? Effect.void
        : Effect.flatMap(this.#open(scope, broken), (opened) => passAll(opened, batches))
    }
    return passAll(flow, batches)
  }

  #open(scope: Scope.Scope, broken: Broken): Effect.Effect<Flow> {
    const flow: Flow = {
      handoff: Handoff.make<Converted>(this.#env.flow.batchesInFlight),
      convert: converter(this.#env, this.#pipeline, jsonCodecs(this.#runtime)),
      createTopics: topicCreator(this.#env)
    }
    this.#flow = flow
    // who made the first batch may have more at once: they are stored together
    const store = flow.handoff.ready.pipe(Effect.andThen(Effect.yieldNow), Effect.andThen(this.#store(flow)))
    return Effect.as(
      Scope.provide(forkWatched(Effect.forever(store, { disableYield: true }), broken), scope),
      flow
    )
  }

  /** Stores what waits: records first, or in one transaction with the offsets that stand for them (I9). */
  #store({ createTopics, handoff }: Flow): Effect.Effect<void, ConnectorError | StoreError> {
    return Effect.suspend(() => {
      const batches = handoff.takeUnsafe(this.#env.flow.batchesInFlight)
      const appends = appendsOf(batches)
      const offsets = lastOffsets(batches)
      const prepared = offsets.length === 0 ? undefined : this.#writers.offsets.prepare(offsets)
      const append = Effect.andThen(
        createTopics(appends),
        persist(this.#env, this.#writers.log.append(appends, prepared))
      )
      const stored = batches.some(({ ack }) => ack !== undefined)
        ? Effect.andThen(append, acknowledge(this.#env, batches))
        : append
      return Effect.map(stored, handoff.settled)
    })
  }
}

const passAll = ({ convert, handoff }: Flow, batches: ReadonlyArray<AnyBatch>) => {
  const [only, ...more] = batches
  const pass = (batch: AnyBatch) => Effect.flatMap(convert(batch), handoff.offer)
  return only !== undefined && more.length === 0 ? pass(only) : Effect.forEach(batches, pass, { discard: true })
}

const acknowledge = (env: TaskEnv, batches: ReadonlyArray<Converted>) =>
  Effect.forEach(
    batches,
    ({ ack }) => ack === undefined ? Effect.void : persist(env, contain(env.config.redact, ack)),
    { discard: true }
  )

/** What finalizers of an author's stream threw while it was interrupted: the stop was not clean. */
const thrown = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
  const dies = exit._tag === "Failure" ? exit.cause.reasons.filter(Cause.isDieReason) : []
  return dies.length === 0 ? Effect.void : Effect.failCause(Cause.fromReasons(dies))
}

type Encode = (value: unknown) => Effect.Effect<unknown, PermanentError>

interface Codecs {
  readonly taskConfig: Schema.Codec<unknown, unknown>
  readonly partition: Schema.Codec<unknown, unknown>
  readonly offset: Schema.Codec<unknown, unknown>
  readonly encodePartition: Encode
  readonly encodeOffset: Encode
}

const cachedCodecs = new WeakMap<SourceConnector.Runtime, Codecs>()

/** The codecs of a definition to JSON; made once per definition. */
export const jsonCodecs = (runtime: SourceConnector.Runtime): Codecs => {
  let codecs = cachedCodecs.get(runtime)
  if (codecs === undefined) {
    const partition = Schema.toCodecJson(runtime.partition)
    const offset = Schema.toCodecJson(runtime.offset)
    codecs = {
      taskConfig: Schema.toCodecJson(runtime.taskConfig),
      partition,
      offset,
      encodePartition: encoder(partition, "partition"),
      encodeOffset: encoder(offset, "offset")
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

const encoder = (codec: Schema.Codec<unknown, unknown>, what: string): Encode => {
  const encode = Schema.encodeUnknownEffect(codec)
  return (value) =>
    Effect.mapErrorEager(
      encode(value),
      (error) =>
        new PermanentError({ message: `the connector gave a ${what} that does not fit its schema: ${error.message}` })
    )
}

/** A source partition as text; a source without partitions has one. */
const partitionText = (codecs: Codecs, partition: unknown): Effect.Effect<string, PermanentError> =>
  Effect.mapEager(codecs.encodePartition(partition), (json) => canonical(json ?? {}))

const storedOffset = (
  env: TaskEnv,
  codecs: Codecs,
  partition: unknown
): Effect.Effect<Option.Option<unknown>, ConnectorError> =>
  Effect.gen(function*() {
    const text = yield* partitionText(codecs, partition)
    const [offset] = yield* persist(env, env.offsets.read(env.item.connector, [text]))
    if (offset === undefined) return Option.none()
    const json = yield* Effect.try({
      try: (): unknown => JSON.parse(offset),
      catch: () => new PermanentError({ message: "the stored offset does not fit the connector: it is not JSON" })
    })
    return Option.some(yield* decode(codecs.offset, json, "offset"))
  }).pipe(
    Effect.catchTag("StoreError", (error) => Effect.fail(new PermanentError({ message: error.message, cause: error })))
  )

/** Transforms and converts the records of a batch. */
const converter = (env: TaskEnv, pipeline: Pipeline.Pipeline, codecs: Codecs) => {
  const report = logReport<SourceRecord>(env, (record) => ({ topic: record.topic, partition: record.partition }))
  return (batch: AnyBatch): Effect.Effect<Converted, ConnectorError | StoreError> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { ack, records } = batch
      const byTopic = new Map<string, Array<TopicLog.LogRecord>>()
      const process = (from: number, to: number) => pipeline.toLog(records, from, to, now, byTopic)
      const processed = processAll(env.config.settings, pipeline.where, records, process, report)
      const entry = Effect.flatMapEager(processed, () => offsetEntry(codecs, batch))
      return Effect.mapEager(entry, (offset) => ({
        appends: Array.from(byTopic, ([topic, records]) => ({ topic, records })),
        offset,
        ack
      }))
    })
}

/** What to store once the records of a batch are durable; `undefined` for nothing. */
const offsetEntry = (
  codecs: Codecs,
  batch: AnyBatch
): Effect.Effect<OffsetStore.Entry | undefined, PermanentError> =>
  Effect.flatMapEager(codecs.encodeOffset(batch.offset), (offset) =>
    offset === undefined || offset === null
      ? Effect.undefined
      : Effect.mapEager(
        partitionText(codecs, batch.partition),
        (partition) => ({ partition, offset: JSON.stringify(offset) })
      ))

/** Fewer records than these are copied to those before them: each append costs an entry of the log. */
const small = 256

/** The appends of some batches, in the order of each topic. */
const appendsOf = (batches: ReadonlyArray<Converted>): ReadonlyArray<TopicLog.Append> => {
  if (batches.length === 1) return batches[0]?.appends ?? []
  const all: Array<TopicLog.Append> = []
  const copies = new Map<string, Array<TopicLog.LogRecord>>()
  for (const { appends } of batches) {
    for (const append of appends) {
      const { records, topic } = append
      const copy = copies.get(topic)
      if (records.length >= small) {
        copies.delete(topic)
        all.push(append)
      } else if (copy === undefined) {
        const records = [...append.records]
        copies.set(topic, records)
        all.push({ topic, records })
      } else for (const record of records) copy.push(record)
    }
  }
  return all
}

/** The last offset of each partition. */
const lastOffsets = (batches: ReadonlyArray<Converted>): ReadonlyArray<OffsetStore.Entry> => {
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
    if (groups.length === 0 || appends.every(({ topic }) => known.has(topic))) return Effect.void
    const fresh = new Set(appends.map(({ topic }) => topic).filter((topic) => !known.has(topic)))
    return Effect.forEach(fresh, (topic) => {
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
