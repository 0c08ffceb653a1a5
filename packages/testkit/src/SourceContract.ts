/**
 * What every source has to keep, as the herder relies on it: it stops in time and leaves nothing, it goes on from any offset
 * that it gave, what it gives is JSON and holds no secret.
 *
 * A source has to have something to talk to: `world` makes it, `produce` puts records there. The other options say what else
 * is possible with it; laws about what is left out are left out.
 */
import type * as SourceConnector from "@kelpie/core/SourceConnector"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Contract from "./Contract.ts"
import { equal, isTrue } from "./internal/check.ts"
import * as Laws from "./internal/connectorLaws.ts"
import type * as Hosted from "./internal/hosted.ts"
import * as Session from "./internal/sourceSession.ts"

/** How a source is tested. `W` is the world that is made for each law. */
export type SourceContractOptions<W, R = never> =
  & Laws.BaseOptions<W>
  & Laws.Services<W, R>
  & {
    /** Makes so many more records available; they differ from each other and from all before. */
    readonly produce: (world: W, count: number) => Effect.Effect<unknown, unknown>
    /** Records that a law produces at once. Default 6: choose the configuration so that they are several batches. */
    readonly records?: number | undefined
    /** The source may give records again after a stop. Default false. */
    readonly repeats?: boolean | undefined
    /** How many tasks are asked for. Default 2. */
    readonly maxTasks?: number | undefined
  }

/** How long a task is left alone, so that it comes to where it waits. */
const settleMillis = 50

/** Stops in a row, at most, until everything has been read. */
const maxStops = 1000

interface Bench<W> {
  readonly suite: Laws.Suite<W>
  readonly records: number
  readonly produce: (world: W, count: number) => Effect.Effect<unknown, unknown>
  readonly repeats: boolean
  readonly subjectOf: (hosted: Hosted.Hosted<W>) => Session.Subject<W>
  /** A law about a source in its world. */
  readonly law: (name: string, body: (subject: Session.Subject<W>) => Effect.Effect<unknown, unknown>) => Contract.Law
}

/** Reads so many records from the beginning, without storing anything. */
const readAll = <W>(subject: Session.Subject<W>, count: number) =>
  Session.use(subject, new Map(), (session) => Session.take(subject, session, count))

/** Compares what was read in parts with what is read at once, partition by partition; either may have gone on further. */
const sameRecords = Effect.fnUntraced(function*(
  what: string,
  batches: ReadonlyArray<Session.Pulled>,
  expected: ReadonlyArray<Session.Pulled>,
  repeats: boolean
) {
  const parts = Session.byPartition(batches)
  const wholes = Session.byPartition(expected)
  yield* equal(
    "source partitions that are others after a stop",
    [...parts.keys()].filter((one) => !wholes.has(one)),
    []
  )
  for (const [partition, whole] of wholes) {
    const all = parts.get(partition) ?? []
    const read = repeats ? [...new Set(all)] : all
    const length = Math.min(read.length, whole.length)
    yield* equal(`${what}, of source partition ${partition}`, read.slice(0, length), whole.slice(0, length))
  }
})

const reading = <W>({ law, produce, records, repeats }: Bench<W>): ReadonlyArray<Contract.Law> => [
  law(
    "goes on from the offset of every batch: nothing is lost, and the order stays",
    (subject) =>
      Effect.gen(function*() {
        yield* produce(subject.world, records)
        const whole = yield* readAll(subject, records)
        const offsets: Session.Offsets = new Map()
        const batches: Array<Session.Pulled> = []
        const read = () => {
          const all = batches.flatMap((batch) => batch.records)
          return repeats ? new Set(all).size : all.length
        }
        for (let stops = 0; read() < records; stops++) {
          yield* isTrue(`read only ${read()} of ${records} records with ${stops} stops in between`, stops < maxStops)
          const [batch] = yield* Session.use(subject, offsets, (session) => Session.take(subject, session, 1))
          if (batch === undefined) continue
          batches.push(batch)
          yield* Session.store(offsets, batch)
        }
        yield* sameRecords("the records, read with a stop after each batch", batches, whole, repeats)
      })
  ),

  law("reads what came while it was stopped", (subject) =>
    Effect.gen(function*() {
      const offsets: Session.Offsets = new Map()
      const batches: Array<Session.Pulled> = []
      const round = Session.use(
        subject,
        offsets,
        Effect.fnUntraced(function*(session) {
          for (const batch of yield* Session.take(subject, session, records)) {
            batches.push(batch)
            yield* Session.store(offsets, batch)
          }
        })
      )
      yield* produce(subject.world, records)
      yield* round
      yield* produce(subject.world, records)
      yield* round
      yield* sameRecords(
        "the records before and after the stop",
        batches,
        yield* readAll(subject, 2 * records),
        repeats
      )
    })),

  law("reads what comes while it waits", (subject) =>
    Effect.gen(function*() {
      yield* produce(subject.world, records)
      const later = Effect.andThen(Effect.sleep(settleMillis), produce(subject.world, records))
      const batches = yield* Session.use(subject, new Map(), (session) =>
        Effect.gen(function*() {
          const first = yield* Session.take(subject, session, records)
          const [more] = yield* Effect.all([Session.take(subject, session, records), later], { concurrency: 2 })
          return [...first, ...more]
        }))
      yield* sameRecords("the records", batches, yield* readAll(subject, 2 * records), repeats)
    }))
]

const outages = <W>({ law, produce, records, repeats, suite }: Bench<W>): ReadonlyArray<Contract.Law> => {
  const { outage } = suite.options
  return outage === undefined ? [] : [
    law(
      "fails in an outage, if it fails, with one of the three error classes, and goes on after it",
      (subject) =>
        Effect.gen(function*() {
          yield* produce(subject.world, records)
          const whole = yield* readAll(subject, records)
          const exits: Array<readonly [what: string, exit: Exit.Exit<unknown, unknown>]> = []
          const hear: Laws.Heard["hear"] = (what, code) =>
            Effect.map(Effect.exit(code), (exit) => void exits.push([what, exit]))
          yield* Effect.scoped(Effect.andThen(outage(subject.world), Session.attempt(subject, hear)))
          for (const [what, exit] of exits) yield* Laws.failsByClass(what, exit)
          yield* sameRecords("the records after the outage", yield* readAll(subject, records), whole, repeats)
        })
    )
  ]
}

const stopping = <W>({ law, produce, records, subjectOf, suite }: Bench<W>): ReadonlyArray<Contract.Law> => {
  const waits = ({ healthy }: Session.Session) => Effect.andThen(Effect.sleep(settleMillis), healthy)
  return [
    law(
      "stops within its time while it waits for the first data",
      (subject) => Session.use(subject, new Map(), waits)
    ),

    law("stops within its time while it waits for more data", (subject) =>
      Effect.gen(function*() {
        yield* produce(subject.world, records)
        yield* Session.use(subject, new Map(), (session) =>
          Effect.andThen(Session.take(subject, session, records), waits(session)))
      })),

    Laws.leavesNothing(suite, "leaves nothing behind when it stops", (hosted) =>
      Effect.gen(function*() {
        const subject = subjectOf(hosted)
        yield* produce(hosted.world, records)
        yield* Session.use(subject, new Map(), (session) =>
          Effect.andThen(Session.take(subject, session, records), waits(session)))
      }))
  ]
}

const encoding = <W>({ law, produce, records, subjectOf, suite }: Bench<W>): ReadonlyArray<Contract.Law> => [
  law("gives at most as many task configs as it is asked for", (subject) =>
    Effect.gen(function*() {
      yield* produce(subject.world, records)
      for (const maxTasks of [1, 2, 3, 64]) {
        const { taskConfigs } = yield* Session.use({ ...subject, maxTasks }, new Map(), Effect.succeed)
        yield* isTrue(`${taskConfigs.length} task configs for maxTasks=${maxTasks}`, taskConfigs.length <= maxTasks)
      }
    })),

  law(
    "gives the same task configs while nothing changes, and reads them from JSON as they were",
    (subject) =>
      Effect.gen(function*() {
        yield* produce(subject.world, records)
        const generated = Session.use(subject, new Map(), ({ taskConfigs }) => Effect.succeed(taskConfigs))
        const first = yield* generated
        const textsOf = (configs: ReadonlyArray<Session.Encoded>) => configs.map(({ text }) => text)
        yield* equal("the task configs after a restart", textsOf(yield* generated), textsOf(first))
        for (const { value } of first) yield* Session.roundTrip("task config", subject.source.taskConfig, value)
      })
  ),

  law("gives offsets that are read from JSON as they were", (subject) =>
    Effect.gen(function*() {
      yield* produce(subject.world, records)
      for (const { offsetValue } of yield* readAll(subject, records)) {
        yield* Session.roundTrip("offset", subject.source.offset, offsetValue)
      }
    })),

  law(
    "gives the same source partition for the same part of the data, whenever it runs",
    (subject) =>
      Effect.gen(function*() {
        yield* produce(subject.world, records)
        const partitions = (batches: ReadonlyArray<Session.Pulled>) =>
          [...new Set(batches.map((_) => _.partition))].sort()
        const batches = yield* readAll(subject, records)
        yield* equal(
          "the source partitions of a second run",
          partitions(yield* readAll(subject, records)),
          partitions(batches)
        )
        for (const { partitionValue } of batches) {
          yield* Session.roundTrip("source partition", subject.source.partition, partitionValue)
        }
      })
  ),

  ...Laws.secretLaws(suite, (hosted, heard) =>
    Effect.gen(function*() {
      yield* produce(hosted.world, records)
      yield* Session.attempt(subjectOf(hosted), heard.hear, heard.text)
    }))
]

/** The laws of a source; each has a world of its own. */
export const SourceContract = <W, R = never>(
  definition: SourceConnector.SourceConnector<any, R>,
  options: SourceContractOptions<W, NoInfer<R>>
): ReadonlyArray<Contract.Law> => {
  const { maxTasks = 2, patience = "10 seconds", produce, records = 6, repeats = false, stopWithin = "5 seconds" } =
    options
  const suite: Laws.Suite<W> = { definition, options }
  const subjectOf = (hosted: Hosted.Hosted<W>): Session.Subject<W> => ({
    ...hosted,
    source: definition["~source"],
    maxTasks,
    patience,
    stopWithin
  })
  const bench: Bench<W> = {
    suite,
    records,
    produce,
    repeats,
    subjectOf,
    law: (name, body) => Laws.law(suite, name, (hosted) => body(subjectOf(hosted)))
  }
  return [
    ...Laws.configLaws(suite),
    ...reading(bench),
    ...outages(bench),
    ...stopping(bench),
    ...encoding(bench)
  ]
}
