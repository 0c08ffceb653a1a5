/**
 * What every sink has to keep, as the herder relies on it: what it put is there, in order, also when a batch comes again; a
 * record that it cannot write is given up alone; it stops in time and leaves nothing.
 *
 * A sink has to have something to write to: `world` makes it, `value` makes what can be written, `read` looks at what was.
 * The other options say what else is possible with it; laws about what is left out are left out.
 */
import { PermanentError } from "@kelpie/core/ConnectorError"
import type { SinkRecord } from "@kelpie/core/ConnectRecord"
import type * as SinkConnector from "@kelpie/core/SinkConnector"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Contract from "./Contract.ts"
import { equal, isTrue } from "./internal/check.ts"
import * as Laws from "./internal/connectorLaws.ts"
import * as Hosted from "./internal/hosted.ts"
import * as Session from "./internal/sinkSession.ts"

/** How a sink is tested. `W` is the world that is made for each law. */
export type SinkContractOptions<W, R = never> =
  & Laws.BaseOptions<W>
  & Laws.Services<W, R>
  & {
    /** The value of record `n`, from 0, as it comes out of the topic: other values for other numbers. */
    readonly value: (n: number) => unknown
    /** What stands beside the value, where the sink needs more than a value; it may be the key or the headers. */
    readonly more?:
      | ((n: number) => Partial<Pick<SinkRecord, "key" | "headers" | "keySchema" | "valueSchema">>)
      | undefined
    /** The numbers of the records that are in the target, in its order. Left out: no law looks there. */
    readonly read?: ((world: W) => Effect.Effect<ReadonlyArray<number>, unknown>) | undefined
    /** A record that comes again is there once. Default false: it may be there twice. */
    readonly once?: boolean | undefined
    /** A value that the sink cannot write and gives up. */
    readonly badValue?: unknown
    /** Topic of the records. Default `records`. */
    readonly topic?: string | undefined
  }

/** How long a task is left alone, so that it comes to where it waits. */
const settleMillis = 50

interface Bench<W> {
  readonly suite: Laws.Suite<W>
  readonly once: boolean
  readonly read: ((world: W) => Effect.Effect<ReadonlyArray<number>, unknown>) | undefined
  readonly badValue: unknown
  readonly subjectOf: (hosted: Hosted.Hosted<W>) => Session.Subject<W>
  /** A law about a sink in its world. */
  readonly law: (name: string, body: (subject: Session.Subject<W>) => Effect.Effect<unknown, unknown>) => Contract.Law
}

/** The target holds the records `0` to `count`, in the order of each partition; none is missing. */
const holds = Effect.fnUntraced(function*(
  what: string,
  found: Effect.Effect<ReadonlyArray<number>, unknown>,
  count: number,
  once: boolean
) {
  const all = yield* found
  const numbers = once ? all : [...new Set(all)]
  for (let partition = 0; partition < Session.partitions; partition++) {
    const isIn = (n: number) => Session.partitionOf(n) === partition
    const expected = Array.from({ length: count }, (_, n) => n).filter(isIn)
    yield* equal(`${what}, of partition ${partition}`, numbers.filter(isIn), expected)
  }
})

const writing = <W>({ law, once, read, suite }: Bench<W>): ReadonlyArray<Contract.Law> => {
  if (read === undefined) return []
  const { outage } = suite.options
  return [
    law(
      "writes what it is given, each record once, in the order of its partition",
      (subject) =>
        Effect.gen(function*() {
          yield* Session.use(subject, {}, ({ flush, put }) =>
            Effect.gen(function*() {
              yield* put(0, 1, 2, 3)
              yield* put(4)
              yield* flush
              yield* put(5, 6, 7)
              yield* flush
            }))
          yield* holds("the records", read(subject.world), 8, true)
        })
    ),

    law("writes nothing for an empty list", (subject) =>
      Effect.gen(function*() {
        yield* Session.use(subject, {}, ({ flush, put }) =>
          Effect.gen(function*() {
            yield* put()
            yield* put(0, 1)
            yield* put()
            yield* flush
          }))
        yield* holds("the records", read(subject.world), 2, true)
      })),

    law("may be flushed twice, and with nothing put", (subject) =>
      Effect.gen(function*() {
        yield* Session.use(subject, {}, ({ flush, put }) =>
          Effect.gen(function*() {
            yield* flush
            yield* put(0, 1)
            yield* flush
            yield* flush
          }))
        yield* holds("the records", read(subject.world), 2, true)
      })),

    law(
      `takes a batch that comes again${once ? ": its records are there once" : ""}`,
      (subject) =>
        Effect.gen(function*() {
          yield* Session.use(subject, {}, ({ flush, put }) =>
            Effect.gen(function*() {
              yield* put(0, 1, 2)
              yield* put(0, 1, 2)
              yield* put(3)
              yield* flush
            }))
          // nobody stored the positions: a later run begins at the batch before
          yield* Session.use(subject, { start: 2 }, ({ flush, put }) => Effect.andThen(put(3, 4), flush))
          yield* holds("the records", read(subject.world), 5, once)
        })
    ),

    law("keeps what it flushed when it stops, and goes on behind it", (subject) =>
      Effect.gen(function*() {
        yield* Session.use(subject, {}, ({ flush, put }) => Effect.andThen(put(0, 1, 2), flush))
        yield* holds("the records after the stop", read(subject.world), 3, true)
        yield* Session.use(subject, { start: 2 }, ({ flush, put }) => Effect.andThen(put(3, 4), flush))
        yield* holds("the records of both runs", read(subject.world), 5, true)
      })),

    law("may run as several tasks at the same time", (subject) =>
      Effect.gen(function*() {
        const task = (task: number, numbers: ReadonlyArray<number>) =>
          Session.use(subject, { task }, ({ flush, put }) =>
            Effect.andThen(
              Effect.forEach(numbers, (n) => put(n)),
              flush
            ))
        yield* Effect.all([task(0, [0, 2, 4]), task(1, [1, 3, 5])], { concurrency: 2 })
        yield* holds("the records of both tasks", read(subject.world), 6, true)
      })),

    ...(outage === undefined ? [] : [
      law(
        "fails in an outage with one of the three error classes, and takes the batch after it",
        (subject) =>
          Effect.gen(function*() {
            yield* Session.use(subject, {}, ({ flush, put }) =>
              Effect.gen(function*() {
                yield* put(0, 1)
                const failed = yield* Effect.scoped(Effect.gen(function*() {
                  yield* outage(subject.world)
                  return yield* Effect.exit(Effect.andThen(put(2, 3), flush))
                }))
                yield* isTrue("put and flush succeed in an outage", Exit.isFailure(failed))
                yield* Laws.failsByClass("put or flush", failed)
                yield* put(2, 3)
                yield* flush
              }))
            yield* holds("the records after the outage", read(subject.world), 4, once)
          })
      )
    ])
  ]
}

const givingUp = <W>({ badValue, law, read }: Bench<W>): ReadonlyArray<Contract.Law> => {
  if (badValue === undefined) return []
  return [
    law("reports a record that it cannot write, and writes the others", (subject) =>
      Effect.gen(function*() {
        yield* Session.use(subject, {}, ({ flush, putRecords, record, reported }) =>
          Effect.gen(function*() {
            const bad = { ...record(1), value: badValue }
            yield* putRecords([record(0), bad, record(2)])
            yield* flush
            yield* equal("how many records were reported", reported.length, 1)
            yield* isTrue("the record that was reported is another one", reported[0] === bad)
          }))
        if (read !== undefined) {
          yield* equal("the other records", [...new Set(yield* read(subject.world))].sort((a, b) => a - b), [0, 2])
        }
      })),

    law("fails with what the report of a record fails with", (subject) =>
      Effect.gen(function*() {
        const refusal = new PermanentError({ message: "no record may be given up" })
        const report = Effect.fail(refusal)
        const exit = yield* Session.use(subject, { report }, ({ putRecords, record }) =>
          Effect.exit(putRecords([{ ...record(0), value: badValue }])))
        yield* isTrue("put succeeds although the report failed", Exit.isFailure(exit))
        if (Exit.isFailure(exit)) {
          yield* isTrue(`put failed with ${Cause.pretty(exit.cause)}`, Cause.squash(exit.cause) === refusal)
        }
      }))
  ]
}

const stopping = <W>({ law, subjectOf, suite }: Bench<W>): ReadonlyArray<Contract.Law> => [
  law("stops within its time, idle or in the middle of a put", (subject) =>
    Effect.gen(function*() {
      yield* Session.use(subject, {}, () => Effect.sleep(settleMillis))
      yield* Session.use(subject, { start: 2 }, ({ put }) =>
        Effect.gen(function*() {
          const numbers = Array.from({ length: 200 }, (_, n) => n)
          // a sink that never waits lets others run in the pause
          const again = Effect.andThen(put(...numbers), Effect.sleep(1))
          const putting = yield* Effect.forkChild(Effect.forever(again), { startImmediately: true })
          yield* Effect.sleep(settleMillis)
          yield* Hosted.within("a put that is interrupted", subject.stopWithin, Fiber.interrupt(putting))
        }))
    })),

  Laws.leavesNothing(
    suite,
    "leaves nothing behind when it stops",
    (hosted) =>
      Session.use(
        subjectOf(hosted),
        {},
        ({ flush, put }) => Effect.andThen(Effect.andThen(put(0, 1, 2), flush), Effect.sleep(settleMillis))
      )
  ),

  ...Laws.secretLaws(suite, (hosted, heard) => Session.attempt(subjectOf(hosted), heard.hear))
]

/** The laws of a sink; each has a world of its own. */
export const SinkContract = <W, R = never>(
  definition: SinkConnector.SinkConnector<any, R>,
  options: SinkContractOptions<W, NoInfer<R>>
): ReadonlyArray<Contract.Law> => {
  const {
    badValue,
    more,
    once = false,
    patience = "10 seconds",
    read,
    stopWithin = "5 seconds",
    topic = "records",
    value
  } = options
  const suite: Laws.Suite<W> = { definition, options }
  const subjectOf = (hosted: Hosted.Hosted<W>): Session.Subject<W> => ({
    ...hosted,
    sink: definition["~sink"],
    record: (n) => ({ value: value(n), ...more?.(n) }),
    topic,
    patience,
    stopWithin
  })
  const bench: Bench<W> = {
    suite,
    once,
    read,
    badValue,
    subjectOf,
    law: (name, body) => Laws.law(suite, name, (hosted) => body(subjectOf(hosted)))
  }
  return [...Laws.configLaws(suite), ...writing(bench), ...givingUp(bench), ...stopping(bench)]
}
