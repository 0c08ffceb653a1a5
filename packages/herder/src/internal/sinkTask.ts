/**
 * A sink task: read -> converters -> transforms -> put -> flush -> store positions.
 *
 * One fiber reads and converts ahead, another puts. Positions are stored after what stands before them is durable in the
 * target, never ahead of it (I9).
 */
import { type ConnectorError, PermanentError } from "@kelpie/core/ConnectorError"
import type { SinkRecord } from "@kelpie/core/ConnectRecord"
import type * as ConnectorKeys from "@kelpie/core/ConnectorKeys"
import type * as SinkConnector from "@kelpie/core/SinkConnector"
import type { StoreError } from "@kelpie/core/StoreError"
import type { TopicLog } from "@kelpie/core/TopicLog"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { deadLetterReport, logReport, type Placed } from "./errorReport.ts"
import * as Handoff from "./handoff.ts"
import * as Pipeline from "./pipeline.ts"
import { persist, type Task, type TaskEnv } from "./taskEnv.ts"
import { giveUp, processAll, type Report } from "./tolerance.ts"

/** Records, ready to be put, and where the group goes on after them. */
interface Ready {
  readonly records: ReadonlyArray<SinkRecord>
  readonly batch: TopicLog.Batch
}

const place = ({ firstOffset, partition, records, topic }: TopicLog.Batch, index: number): Placed | undefined => {
  const record = records[index]
  return record === undefined ? undefined : { topic, partition, offset: firstOffset + index, record }
}

/** Opens the subscription and the writer of the run, then makes the task. */
export const make = Effect.fnUntraced(function*(
  env: TaskEnv,
  definition: SinkConnector.SinkConnector<any, any>
): Effect.fn.Return<Task, ConnectorError | StoreError, Scope.Scope> {
  const { item, run } = env
  const scope = yield* Effect.scope
  const subscription = yield* env.log.subscribe({
    group: `connect-${item.connector}`,
    item,
    run,
    topics: yield* topicsOf(env.config.settings.topics),
    member: item.task,
    members: env.members
  })
  const deadLetters = deadLetterReport(env, yield* env.log.open(item, run))
  const logged = logReport<Placed>(env, ({ offset, partition, topic }) => ({ topic, partition, offset }))
  const report: Report<Placed> = (failed) => Effect.andThen(logged(failed), deadLetters(failed))
  const pipeline = yield* Pipeline.make(env.plugins, env.config.settings)
  const handoff = Handoff.make<Ready>(1)
  const convert = converter(env, pipeline, definition["~sink"].value, report)
  const stopping = Latch.makeUnsafe(false)
  const flow = makeFlow(env, subscription, handoff, stopping)

  const context = {
    name: item.connector,
    task: item.task,
    config: env.config.values,
    run,
    report: (record: SinkRecord, error: ConnectorError) => {
      const batch = flow.current()
      const placed = batch === undefined ? undefined : place(batch, record.offset - batch.firstOffset)
      if (placed === undefined) return Effect.die(new Error("report: this record is not of the batch that is put"))
      const failed = { record: placed, stage: "TASK_PUT", plugin: definition.name, error } as const
      return toConnectorError(giveUp(env.config.settings, failed, report))
    }
  }

  const read = Effect.gen(function*() {
    const batches = yield* persist(env, subscription.read(env.flow.maxPollRecords))
    for (const batch of batches) yield* Effect.flatMap(convert(batch), handoff.offer)
  })

  let reader: Fiber.Fiber<never, ConnectorError | StoreError> | undefined
  return {
    pump: Effect.scoped(Effect.gen(function*() {
      // a target that is down at the start is like one that goes down later
      const task = yield* persist(env, env.plugins.provide(Scope.provide(definition["~sink"].task(context), scope)))
      reader = yield* Effect.forkScoped(Effect.forever(read))
      const broken = Effect.flatMap(Fiber.await(reader), (exit) =>
        exit._tag === "Failure" && !stopping.isOpen() ? Effect.failCause(exit.cause) : Effect.never)
      yield* Effect.raceFirst(flow.run(task), broken)
    })),
    drain: Effect.suspend(() => {
      stopping.openUnsafe()
      return Effect.andThen(reader === undefined ? Effect.void : Fiber.interrupt(reader), flow.finished)
    })
  }
})

const topicsOf = (
  topics: ConnectorKeys.Topics | undefined
): Effect.Effect<TopicLog.SubscribeOptions["topics"], PermanentError> => {
  if (topics === undefined) return Effect.fail(new PermanentError({ message: "a sink needs topics or topics.regex" }))
  return Effect.succeed(topics.list !== undefined ? { list: topics.list } : { pattern: new RegExp(topics.regex) })
}

const toConnectorError = (effect: Effect.Effect<void, ConnectorError | StoreError>): Effect.Effect<void, ConnectorError> =>
  Effect.catchTag(effect, "StoreError", (error) => Effect.fail(new PermanentError({ message: error.message, cause: error })))

/** Converts and transforms the records of a batch; dropped ones move the position too. */
const converter = (
  env: TaskEnv,
  pipeline: Pipeline.Pipeline,
  schema: Schema.Codec<unknown, unknown> | undefined,
  report: Report<Placed>
) => {
  const decode = schema === undefined ? undefined : Schema.decodeUnknownSync(schema)
  return Effect.fnUntraced(function*(batch: TopicLog.Batch) {
    const { firstOffset, partition, topic } = batch
    const records: Array<SinkRecord> = []
    let at = 0
    const one = (record: TopicLog.LogRecord, index: number) => {
      at = index
      const converted = pipeline.fromLog(topic, partition, firstOffset + index, record)
      if (converted === undefined) return
      pipeline.where.stage = "VALUE_CONVERTER"
      records.push(decode === undefined ? converted : { ...converted, value: decode(converted.value) })
    }
    yield* processAll(env.config.settings, pipeline.where, batch.records, one, (failed) =>
      report({ ...failed, record: { topic, partition, offset: firstOffset + at, record: failed.record } }))
    return { records, batch }
  })
}

/** Puts batch after batch, and flushes and stores positions in their interval. */
const makeFlow = (
  env: TaskEnv,
  subscription: TopicLog.Subscription,
  handoff: Handoff.Handoff<Ready>,
  stopping: Latch.Latch
) => {
  const interval = Duration.toMillis(Duration.fromInputUnsafe(env.flow.offsetFlushInterval))
  const dirty = new Map<string, TopicLog.Position>()
  const finished = Latch.makeUnsafe(false)
  let current: TopicLog.Batch | undefined
  /** When positions have to be stored; `undefined` when they are. */
  let dueAt: number | undefined

  const commit = (task: SinkConnector.Task<unknown>) =>
    Effect.gen(function*() {
      if (task.flush !== undefined) yield* persist(env, env.plugins.provide(task.flush))
      yield* persist(env, subscription.commit([...dirty.values()]))
      dirty.clear()
      dueAt = undefined
    })

  const put = Effect.fnUntraced(function*(task: SinkConnector.Task<unknown>, { batch, records }: Ready) {
    current = batch
    if (records.length > 0) {
      const operation = { _tag: "PutSink", connector: env.item.connector, task: env.item.task, records: records.length } as const
      yield* persist(env, env.middleware(operation, env.plugins.provide(task.put(records))))
    }
    const { firstOffset, partition, records: stored, topic } = batch
    dirty.set(`${partition}\n${topic}`, { topic, partition, offset: firstOffset + stored.length })
    if (dueAt === undefined) dueAt = (yield* Clock.currentTimeMillis) + interval
  })

  const step = Effect.fnUntraced(function*(task: SinkConnector.Task<unknown>) {
    const now = yield* Clock.currentTimeMillis
    if (dueAt !== undefined && dueAt <= now) yield* commit(task)
    const wake = Effect.raceFirst(handoff.ready, stopping.await)
    yield* dueAt === undefined ? wake : Effect.timeoutOption(wake, dueAt - now)
    if (stopping.isOpen()) return false
    for (const ready of handoff.takeUnsafe(1)) yield* put(task, ready)
    handoff.settled()
    return true
  })

  return {
    /** The batch that is put. */
    current: () => current,
    /** Moves records until told to stop, then stores what was put. */
    run: (task: SinkConnector.Task<unknown>) =>
      Effect.gen(function*() {
        while (yield* step(task));
        if (dirty.size > 0) yield* commit(task)
        finished.openUnsafe()
        return yield* Effect.never
      }),
    finished: finished.await
  }
}
