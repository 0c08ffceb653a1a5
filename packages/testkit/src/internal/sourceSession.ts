/** Runs the instance and the tasks of a source without a herder: everything that is stored goes through JSON. */
import type { SourceRecord } from "@kelpie/core/ConnectRecord"
import type * as SourceConnector from "@kelpie/core/SourceConnector"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { equal, isTrue, Mismatch, show } from "./check.ts"
import * as Hosted from "./hosted.ts"

/** A source, and how long it is waited for. */
export interface Subject<out W> extends Hosted.Hosted<W> {
  readonly source: SourceConnector.Runtime
  readonly maxTasks: number
  readonly patience: Duration.Input
  readonly stopWithin: Duration.Input
}

/** Stored offsets: the text of a source partition to the JSON text of an offset. */
export type Offsets = Map<string, string>

/** A batch, as far as it is compared. */
export interface Pulled {
  readonly task: number
  /** A text that is equal for equal source partitions. */
  readonly partition: string
  /** JSON text. */
  readonly encodedPartition: string
  readonly partitionValue: unknown
  /** JSON text; `undefined` when there is nothing to store. */
  readonly offset: string | undefined
  readonly offsetValue: unknown
  readonly records: ReadonlyArray<string>
  readonly ack: Effect.Effect<void, unknown>
}

/** A value, and its JSON text. */
export interface Encoded {
  readonly value: unknown
  readonly text: string
}

/** A running source. */
export interface Session {
  readonly taskConfigs: ReadonlyArray<Encoded>
  /** The next batch of any task. */
  readonly next: Effect.Effect<Pulled, Mismatch>
  /** Fails when a task has failed. */
  readonly healthy: Effect.Effect<void, Mismatch>
}

type Event =
  | { readonly _tag: "Pulled"; readonly pulled: Pulled }
  | { readonly _tag: "Ended" }
  | { readonly _tag: "Failed"; readonly cause: Cause.Cause<unknown> }

/** The JSON text of a value; a value that has none is an error of the connector. */
export const encode = (
  what: string,
  schema: Schema.Codec<unknown, unknown>,
  value: unknown
): Effect.Effect<string, Mismatch> =>
  Effect.try({
    try: () => JSON.stringify(Schema.encodeUnknownSync(Schema.toCodecJson(schema))(value)) ?? "null",
    catch: (error) => new Mismatch({ message: `a ${what} has no JSON: ${String(error)}` })
  })

/** Reads the JSON text of a value. */
export const decode = (
  what: string,
  schema: Schema.Codec<unknown, unknown>,
  text: string
): Effect.Effect<unknown, Mismatch> =>
  Effect.try({
    try: () => Schema.decodeUnknownSync(Schema.toCodecJson(schema))(JSON.parse(text)),
    catch: (error) => new Mismatch({ message: `a stored ${what} cannot be read, ${text}: ${String(error)}` })
  })

/** What is stored is read as it was. */
export const roundTrip = Effect.fnUntraced(function*(
  what: string,
  schema: Schema.Codec<unknown, unknown>,
  value: unknown
) {
  const text = yield* encode(what, schema, value)
  const read = yield* decode(what, schema, text)
  yield* equal(`a ${what} that was stored and read`, read, value)
  yield* equal(`the text of a ${what} that was stored and read`, yield* encode(what, schema, read), text)
})

const encodePartition = (source: SourceConnector.Runtime, partition: unknown) =>
  encode("source partition", source.partition, partition)

/** Members in another order are the same source partition; a source without partitions has one. */
const partitionText = (encoded: string): string => show(JSON.parse(encoded) ?? {})

const recordText = ({ headers, key, partition, topic, value }: SourceRecord): string =>
  show({ topic, partition, key, value, headers })

const name = "contract"

/** Starts the instance in a scope. */
export const startInstance = (subject: Subject<unknown>, scope: Scope.Scope) => {
  const { source, values } = subject
  const start = source.start?.({ name, config: values, requestReconfiguration: Effect.void })
  return start === undefined
    ? Effect.succeed<SourceConnector.Started<unknown>>({ taskConfigs: () => Effect.succeed([{}]) })
    : subject.provide(Scope.provide(start, scope))
}

/** The task configs, as they are stored. */
export const generate = Effect.fnUntraced(function*(
  { provide, source }: Subject<unknown>,
  started: SourceConnector.Started<unknown>,
  maxTasks: number
) {
  const configs = yield* provide(Effect.suspend(() => started.taskConfigs(maxTasks)))
  return yield* Effect.forEach(
    configs,
    (value) => Effect.map(encode("task config", source.taskConfig, value), (text): Encoded => ({ value, text }))
  )
})

/** The stream of a task. */
export const runTask = Effect.fnUntraced(function*(
  { provide, source, values }: Subject<unknown>,
  task: number,
  taskConfig: Encoded,
  offsets: ReadonlyMap<string, string>,
  took: (pulled: Pulled) => Effect.Effect<unknown>
) {
  const get = Effect.fnUntraced(function*(partition: unknown) {
    const text = offsets.get(partitionText(yield* encodePartition(source, partition)))
    return text === undefined ? Option.none() : Option.some(yield* decode("offset", source.offset, text))
  })
  const stream = source.task({
    name,
    task,
    config: values,
    taskConfig: yield* decode("task config", source.taskConfig, taskConfig.text),
    offsets: { get: (partition) => Effect.orDie(get(partition)) }
  })
  yield* provide(
    Stream.runForEach(
      stream,
      Effect.fnUntraced(function*({ ack = Effect.void, offset, partition, records }) {
        const encoded = yield* encode("offset", source.offset, offset)
        const encodedPartition = yield* encodePartition(source, partition)
        yield* took({
          task,
          partition: partitionText(encodedPartition),
          encodedPartition,
          partitionValue: partition,
          offsetValue: offset,
          offset: encoded === "null" ? undefined : encoded,
          records: records.map(recordText),
          ack: provide(ack)
        })
      })
    )
  )
})

/** Starts the instance and its tasks. */
const open = Effect.fnUntraced(function*(
  subject: Subject<unknown>,
  offsets: Offsets,
  scope: Scope.Scope
): Effect.fn.Return<Session, unknown> {
  const { patience } = subject
  const taskConfigs = yield* Hosted.within(
    "start and taskConfigs",
    patience,
    Effect.gen(function*() {
      const started = yield* startInstance(subject, scope)
      return yield* generate(subject, started, subject.maxTasks)
    })
  )
  // one that waits for its turn: a source that never ends would fill the memory
  const events = yield* Queue.bounded<Event>(1)
  let failure: Cause.Cause<unknown> | undefined
  for (const [task, config] of taskConfigs.entries()) {
    const took = (pulled: Pulled) => Queue.offer(events, { _tag: "Pulled", pulled })
    const run = Effect.matchCauseEffect(runTask(subject, task, config, offsets, took), {
      onSuccess: () => Queue.offer(events, { _tag: "Ended" }),
      onFailure: (cause) => {
        failure = cause
        return Queue.offer(events, { _tag: "Failed", cause })
      }
    })
    yield* Effect.forkIn(run, scope)
  }
  let ended = 0
  const failed = (cause: Cause.Cause<unknown>) =>
    Effect.fail(new Mismatch({ message: `a task failed: ${Cause.pretty(cause)}` }))
  const next: Effect.Effect<Pulled, Mismatch> = Effect.flatMap(Queue.take(events), (event) => {
    switch (event._tag) {
      case "Pulled":
        return Effect.succeed(event.pulled)
      case "Failed":
        return failed(event.cause)
      case "Ended":
        return ++ended < taskConfigs.length ? next : Effect.fail(new Mismatch({ message: "every task has ended" }))
    }
  })
  return {
    taskConfigs,
    next: Effect.andThen(isTrue("taskConfigs gave none, with records to read", taskConfigs.length > 0), next),
    healthy: Effect.suspend(() => failure === undefined ? Effect.void : failed(failure))
  }
})

/** Starts a source at stored offsets, and stops it in time. */
export const use = <A, E>(
  subject: Subject<unknown>,
  offsets: Offsets,
  body: (session: Session) => Effect.Effect<A, E>
): Effect.Effect<A, unknown> =>
  Hosted.scoped("stopping", subject.stopWithin, (scope) => Effect.flatMap(open(subject, offsets, scope), body))

/** What the herder does with a batch whose records are durable. */
export const store = (offsets: Offsets, { ack, offset, partition }: Pulled): Effect.Effect<void, unknown> =>
  Effect.andThen(
    Effect.sync(() => {
      if (offset !== undefined) offsets.set(partition, offset)
    }),
    ack
  )

/** Takes batches until they hold so many records. */
export const take = Effect.fnUntraced(function*(
  { patience }: Subject<unknown>,
  { next }: Session,
  count: number
): Effect.fn.Return<ReadonlyArray<Pulled>, Mismatch> {
  const all: Array<Pulled> = []
  let records = 0
  while (records < count) {
    const pulled = yield* Effect.timeoutOption(next, patience).pipe(
      Effect.mapError(({ message }) => new Mismatch({ message: `${message}, after ${records} of ${count} records` }))
    )
    yield* isTrue(`waited for more, in vain, after ${records} of ${count} records`, pulled._tag === "Some")
    if (pulled._tag === "None") continue
    all.push(pulled.value)
    records += pulled.value.records.length
  }
  return all
})

/** The records by source partition, in order. */
export const byPartition = (batches: ReadonlyArray<Pulled>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const all = new Map<string, Array<string>>()
  for (const { partition, records } of batches) {
    const known = all.get(partition)
    if (known === undefined) all.set(partition, [...records])
    else for (const record of records) known.push(record)
  }
  return all
}

/** How long an attempt lets tasks run. */
const attemptMillis = 100

/** Starts the instance and its tasks for a moment, whatever comes of it, and tells what each part came to. */
export const attempt = (
  subject: Subject<unknown>,
  hear: (what: string, code: Effect.Effect<unknown, unknown>) => Effect.Effect<void>,
  text: (what: string, text: string) => void = () => {}
): Effect.Effect<void, unknown> =>
  Hosted.scoped("stopping", subject.stopWithin, (scope) =>
    Effect.gen(function*() {
      let configs: ReadonlyArray<Encoded> = []
      const starting = Effect.gen(function*() {
        const started = yield* startInstance(subject, scope)
        configs = yield* generate(subject, started, subject.maxTasks)
      })
      yield* hear("start and taskConfigs", Hosted.within("start and taskConfigs", subject.patience, starting))
      for (const config of configs) text("a task config", config.text)
      const took = ({ encodedPartition, offset = "" }: Pulled) =>
        Effect.sync(() => {
          text("a source partition", encodedPartition)
          text("an offset", offset)
        })
      yield* Effect.forEach(
        configs,
        (config, task) =>
          hear("poll", Effect.timeoutOption(runTask(subject, task, config, new Map(), took), attemptMillis)),
        { concurrency: "unbounded" }
      )
    }))
