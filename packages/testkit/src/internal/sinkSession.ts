/** Runs a task of a sink without a herder. */
import type { ConnectorError } from "@kelpie/core/ConnectorError"
import type { SinkRecord } from "@kelpie/core/ConnectRecord"
import type * as SinkConnector from "@kelpie/core/SinkConnector"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { Mismatch } from "./check.ts"
import * as Hosted from "./hosted.ts"

/** A sink, what it is given, and how long it is waited for. */
export interface Subject<out W> extends Hosted.Hosted<W> {
  readonly sink: SinkConnector.Runtime
  readonly record: (n: number) => Partial<SinkRecord>
  readonly topic: string
  readonly patience: Duration.Input
  readonly stopWithin: Duration.Input
}

/** How many partitions the topic has; records are dealt to them in turn. */
export const partitions = 2

/** The partition of record `n`. */
export const partitionOf = (n: number): number => n % partitions

/** One run of a task. */
export interface Run {
  /** Default 0. */
  readonly task?: number | undefined
  /** Default 1. */
  readonly start?: number | undefined
  /** What becomes of a reported record, after it was noted. Default: the rest goes on. */
  readonly report?: Effect.Effect<void, ConnectorError> | undefined
}

/** A running task. */
export interface Session {
  /** Puts the records of these numbers, as one batch. */
  readonly put: (...numbers: ReadonlyArray<number>) => Effect.Effect<void, unknown>
  readonly putRecords: (records: ReadonlyArray<SinkRecord>) => Effect.Effect<void, unknown>
  readonly flush: Effect.Effect<void, unknown>
  /** The record of a number, as the herder gives it. */
  readonly record: (n: number) => SinkRecord
  /** What was given up. */
  readonly reported: ReadonlyArray<SinkRecord>
}

/** The record of a number, its value decoded as the sink wants it. */
const recordOf = ({ record, sink, topic }: Subject<unknown>, n: number): SinkRecord => {
  const given = record(n)
  return {
    ...given,
    topic,
    originalTopic: topic,
    partition: partitionOf(n),
    offset: Math.floor(n / partitions),
    timestampMillis: n,
    value: sink.value === undefined ? given.value : Schema.decodeUnknownSync(sink.value)(given.value)
  }
}

const startTask = (
  subject: Subject<unknown>,
  { report = Effect.void, start = 1, task = 0 }: Run,
  reported: Array<SinkRecord>
) =>
  subject.sink.task({
    name: "contract",
    task,
    config: subject.values,
    run: { token: 1, start },
    report: (record) => Effect.andThen(Effect.sync(() => void reported.push(record)), report)
  })

/** Starts a task, and stops it in time. */
export const use = <A, E>(
  subject: Subject<unknown>,
  run: Run,
  body: (session: Session) => Effect.Effect<A, E>
): Effect.Effect<A, unknown> =>
  Hosted.scoped("stopping", subject.stopWithin, (scope) =>
    Effect.gen(function*() {
      const { patience, provide } = subject
      const reported: Array<SinkRecord> = []
      const starting = provide(Scope.provide(startTask(subject, run, reported), scope))
      const task = yield* Hosted.within("the start", patience, starting)
      const record = (n: number) => recordOf(subject, n)
      const putRecords = (records: ReadonlyArray<SinkRecord>) =>
        Hosted.within("a put", patience, provide(Effect.suspend(() => task.put(records))))
      return yield* body({
        record,
        reported,
        putRecords,
        put: (...numbers) =>
          Effect.flatMap(
            Effect.try({
              try: () => numbers.map(record),
              catch: (error) => new Mismatch({ message: `a value does not fit the sink's schema: ${String(error)}` })
            }),
            putRecords
          ),
        flush: Hosted.within("a flush", patience, provide(task.flush ?? Effect.void))
      })
    }))

/** Starts a task, puts and flushes a batch, whatever comes of it, and tells what each part came to. */
export const attempt = (
  subject: Subject<unknown>,
  hear: (what: string, code: Effect.Effect<unknown, unknown>) => Effect.Effect<void>
): Effect.Effect<void, unknown> =>
  Hosted.scoped("stopping", subject.stopWithin, (scope) =>
    Effect.gen(function*() {
      const { patience, provide } = subject
      let task: SinkConnector.Task<unknown> | undefined
      const starting = Effect.map(
        provide(Scope.provide(startTask(subject, {}, []), scope)),
        (started) => void (task = started)
      )
      yield* hear("the start", Hosted.within("the start", patience, starting))
      if (task === undefined) return
      const { flush = Effect.void, put } = task
      const records = [0, 1, 2].map((n) => recordOf(subject, n))
      yield* hear("put", Hosted.within("a put", patience, provide(Effect.suspend(() => put(records)))))
      yield* hear("flush", Hosted.within("a flush", patience, provide(flush)))
    }))
