/**
 * A sink task: read -> converters -> transforms -> put -> flush -> store positions.
 *
 * One fiber reads and converts ahead, another puts. Positions are stored after what stands before them is durable in the
 * target, never ahead of it (I9).
 */
import { type ConnectorError, PermanentError } from "@kelpie/core/ConnectorError"
import type * as ConnectorKeys from "@kelpie/core/ConnectorKeys"
import type { SinkRecord } from "@kelpie/core/ConnectRecord"
import type * as SinkConnector from "@kelpie/core/SinkConnector"
import type { StoreError } from "@kelpie/core/StoreError"
import type { TopicLog } from "@kelpie/core/TopicLog"
import * as TopicPattern from "@kelpie/core/TopicPattern"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { contain } from "./contained.ts"
import { deadLetterReport, logReport, type Placed } from "./errorReport.ts"
import * as Handoff from "./handoff.ts"
import * as Pipeline from "./pipeline.ts"
import * as Signal from "./signal.ts"
import { forkWatched, persist, type Task, type TaskEnv } from "./taskEnv.ts"
import { giveUp, processAll, type Report } from "./tolerance.ts"

/** Records, ready to be put, and the batches of one partition, one behind the other, that they were made from. */
interface Ready {
  readonly records: ReadonlyArray<SinkRecord>
  readonly batches: ReadonlyArray<TopicLog.Batch>
}

const endOf = ({ firstOffset, records }: TopicLog.Batch): number => firstOffset + records.length

/** Puts neighbours of one partition together: a log gives them as they were appended, which may be one by one. */
const neighbours = (batches: ReadonlyArray<TopicLog.Batch>): ReadonlyArray<ReadonlyArray<TopicLog.Batch>> => {
  const groups: Array<Array<TopicLog.Batch>> = []
  let last: TopicLog.Batch | undefined
  for (const batch of batches) {
    const follows = last?.topic === batch.topic && last.partition === batch.partition &&
      endOf(last) === batch.firstOffset
    if (follows) groups[groups.length - 1]?.push(batch)
    else groups.push([batch])
    last = batch
  }
  return groups
}

const place = ({ batches }: Ready, offset: number): Placed | undefined => {
  for (const { firstOffset, partition, records, topic } of batches) {
    const record = records[offset - firstOffset]
    if (record !== undefined) return { topic, partition, offset, record }
  }
  return undefined
}

/** The group under which the positions of a connector are stored. */
export const group = (connector: string): string => `connect-${connector}`

/** Opens the subscription and the writer of the run, then makes the task. */
export const make = Effect.fnUntraced(function*(
  env: TaskEnv,
  definition: SinkConnector.SinkConnector<any, any>
): Effect.fn.Return<Task, ConnectorError | StoreError, Scope.Scope> {
  const { item, run } = env
  const scope = yield* Effect.scope
  const subscription = yield* env.log.subscribe({
    group: group(item.connector),
    usage: env.usage,
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
  const awake = Signal.make(false)
  const handoff = Handoff.make<Ready>(1, awake)
  const convert = converter(env, pipeline, definition["~sink"].value, report)
  const flow = makeFlow(env, subscription, handoff, awake)

  const context = {
    name: item.connector,
    task: item.task,
    config: env.config.values,
    run,
    report: (record: SinkRecord, error: ConnectorError) => {
      const current = flow.current()
      const placed = current === undefined ? undefined : place(current, record.offset)
      if (placed === undefined) return Effect.die(new Error("report: this record is not of the batch that is put"))
      const failed = { record: placed, stage: "TASK_PUT", plugin: definition.name, error } as const
      return toConnectorError(giveUp(env.config.settings, failed, report))
    }
  }

  // what the author's code needs was provided to the whole task
  const acquire = Effect.suspend(() =>
    Scope.provide<SinkConnector.Task<unknown>, ConnectorError, Scope.Scope>(
      definition["~sink"].task(context),
      scope
    )
  )
  const read = Effect.flatMap(
    persist(env, subscription.read(env.flow.maxPollRecords)),
    (batches) =>
      Effect.forEach(neighbours(batches), (group) => Effect.flatMap(convert(group), handoff.offer), { discard: true })
  )

  let reader: Fiber.Fiber<never, ConnectorError | StoreError> | undefined
  return {
    start: (broken) =>
      forkWatched(
        Effect.gen(function*() {
          // a target that is down at the start is like one that goes down later
          const task = yield* persist(env, contain(env.config.redact, acquire))
          reader = yield* forkWatched(Effect.forever(read, { disableYield: true }), broken)
          yield* flow.run(task, scope)
        }),
        broken
      ),
    drain: Effect.suspend(() => {
      flow.stop()
      // before its target is there it has put nothing
      return reader === undefined ? Effect.void : Effect.andThen(Fiber.interrupt(reader), flow.finished)
    })
  }
})

const topicsOf = (
  topics: ConnectorKeys.Topics | undefined
): Effect.Effect<TopicLog.SubscribeOptions["topics"], PermanentError> => {
  if (topics === undefined) return Effect.fail(new PermanentError({ message: "a sink needs topics or topics.regex" }))
  if (topics.list !== undefined) return Effect.succeed({ list: topics.list })
  return Result.match(TopicPattern.compile(topics.regex), {
    onFailure: (message) => Effect.fail(new PermanentError({ message })),
    onSuccess: (pattern) => Effect.succeed({ pattern })
  })
}

const toConnectorError = (
  effect: Effect.Effect<void, ConnectorError | StoreError>
): Effect.Effect<void, ConnectorError> =>
  Effect.catchTag(
    effect,
    "StoreError",
    (error) => Effect.fail(new PermanentError({ message: error.message, cause: error }))
  )

/** Converts and transforms the records of a batch; dropped ones move the position too. */
const converter = (
  env: TaskEnv,
  pipeline: Pipeline.Pipeline,
  schema: Schema.Codec<unknown, unknown> | undefined,
  report: Report<Placed>
) => {
  const decode = schema === undefined ? undefined : Schema.decodeUnknownSync(schema)
  return (batches: ReadonlyArray<TopicLog.Batch>): Effect.Effect<Ready, ConnectorError | StoreError> => {
    const records: Array<SinkRecord> = []
    const one = (batch: TopicLog.Batch) => {
      const { firstOffset, partition, topic } = batch
      const process = (from: number, to: number) => pipeline.fromLog(batch, from, to, decode, records)
      return processAll(
        env.config.settings,
        pipeline.where,
        batch.records,
        process,
        (failed) =>
          report({
            ...failed,
            record: { topic, partition, offset: firstOffset + pipeline.where.index, record: failed.record }
          })
      )
    }
    return Effect.as(Effect.forEach(batches, one, { discard: true }), { records, batches })
  }
}

/** Puts batch after batch, and flushes and stores positions in their interval. */
const makeFlow = (
  env: TaskEnv,
  subscription: TopicLog.Subscription,
  handoff: Handoff.Handoff<Ready>,
  awake: Signal.Signal
) => {
  const interval = Duration.toMillis(Duration.fromInputUnsafe(env.flow.offsetFlushInterval))
  const dirty = new Map<string, TopicLog.Position>()
  const finished = Signal.make(false)
  let current: Ready | undefined
  let stopping = false
  /** Positions have waited for the interval. */
  let due = false

  const timer = Effect.andThen(
    Effect.sleep(interval),
    Effect.sync(() => {
      due = true
      awake.openUnsafe()
    })
  )

  const commit = (task: SinkConnector.Task<unknown>) =>
    Effect.gen(function*() {
      if (task.flush !== undefined) yield* persist(env, contain(env.config.redact, task.flush))
      yield* persist(env, subscription.commit([...dirty.values()]))
      dirty.clear()
      due = false
    })

  const put = (task: SinkConnector.Task<unknown>, ready: Ready): Effect.Effect<void, ConnectorError | StoreError> => {
    const { records } = ready
    current = ready
    if (records.length === 0) return Effect.void
    const operation = {
      _tag: "PutSink",
      connector: env.item.connector,
      task: env.item.task,
      records: records.length
    } as const
    const putting = contain(env.config.redact, Effect.suspend(() => task.put(records)))
    return persist(env, env.middleware(operation, putting))
  }

  /** The group goes on behind these once they are durable. */
  const moved = ({ batches }: Ready, scope: Scope.Scope): Effect.Effect<unknown> => {
    const last = batches[batches.length - 1]
    if (last === undefined) return Effect.void
    const isFirst = dirty.size === 0
    dirty.set(`${last.partition}\n${last.topic}`, { topic: last.topic, partition: last.partition, offset: endOf(last) })
    handoff.settled()
    return isFirst ? Effect.forkIn(timer, scope) : Effect.void
  }

  /** What comes next. In one step with closing the latch, so that no signal between the two is lost. */
  const step = (task: SinkConnector.Task<unknown>, scope: Scope.Scope) =>
    Effect.suspend(() => {
      if (stopping) return Effect.succeed(false)
      if (due) return Effect.as(commit(task), true)
      const [ready] = handoff.takeUnsafe(1)
      if (ready === undefined) return Effect.as(awake.await, true)
      return Effect.as(Effect.flatMap(put(task, ready), () => moved(ready, scope)), true)
    })

  return {
    /** What is put. */
    current: () => current,
    /** Moves records until told to stop, then stores what was put. The scope ends with it. */
    run: (task: SinkConnector.Task<unknown>, scope: Scope.Scope) =>
      Effect.gen(function*() {
        while (yield* step(task, scope));
        if (dirty.size > 0) yield* commit(task)
        finished.openUnsafe()
      }),
    stop: () => {
      stopping = true
      awake.openUnsafe()
    },
    finished: finished.await
  }
}
