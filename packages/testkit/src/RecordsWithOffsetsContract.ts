/** What a `TopicLog` and an `OffsetStore` have to keep together: records, and the source offsets that stand for them. */
import * as Item from "@kelpie/core/Item"
import { OffsetStore } from "@kelpie/core/OffsetStore"
import { TopicLog } from "@kelpie/core/TopicLog"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Contract from "./Contract.ts"
import { equal, fails } from "./internal/check.ts"

/** Both ports, as one thing to open. */
class Both extends Context.Service<Both, {
  readonly log: TopicLog["Service"]
  readonly offsets: OffsetStore["Service"]
}>()("@kelpie/testkit/RecordsWithOffsetsContract/Both") {}

type Ports = Both["Service"]

const task = Item.task("orders", 0)
const run = (token: number): Item.Run => ({ token, start: 1 })
const record = (value: string): TopicLog.LogRecord => ({
  key: null,
  value: new TextEncoder().encode(value),
  headers: [],
  timestampMillis: 0
})

/** Writers of one run. */
const open = ({ log, offsets }: Ports, token: number) =>
  Effect.all({ records: log.open(task, run(token)), offsets: offsets.open(task, run(token)) })

type Writers = Effect.Success<ReturnType<typeof open>>

const append = ({ offsets, records }: Writers, value: string) =>
  records.append([{ topic: "t", records: [record(value)] }], offsets.prepare([{ partition: "p", offset: value }]))

/** Reads the values of the topic up to one that is appended now, and the stored offset. */
const holds = Effect.fnUntraced(
  function*({ log, offsets }: Ports, values: ReadonlyArray<string>, offset: string | undefined) {
    yield* equal("the stored offset", yield* offsets.read("orders", ["p"]), [offset])
    const writer = yield* log.open(Item.task("end marker", 0), run(1))
    yield* writer.append([{ topic: "t", records: [record("the end")] }])
    const subscription = yield* log.subscribe({
      item: Item.task("sink", 0),
      run: run(1),
      group: "connect-sink",
      topics: { list: ["t"] },
      member: 0,
      members: 1
    })
    const all: Array<string> = []
    while (all.at(-1) !== "the end") {
      for (const batch of yield* subscription.read(100)) {
        for (const { value } of batch.records) all.push(new TextDecoder().decode(value ?? undefined))
      }
    }
    yield* equal("the values", all.slice(0, -1), values)
  }
)

/** Options of the contract. */
export interface RecordsWithOffsetsOptions extends Contract.Options {
  /** Both are stored in one transaction. Default true. */
  readonly oneEngine?: boolean | undefined
}

/** The laws of records with the offsets that stand for them. */
export const RecordsWithOffsetsContract = (
  world: Contract.World<TopicLog | OffsetStore>,
  options: RecordsWithOffsetsOptions = {}
): ReadonlyArray<Contract.Law> => {
  const both = Layer.effect(Both, Effect.all({ log: TopicLog, offsets: OffsetStore }))
  return Contract.laws(Both, Effect.map(world, (layer) => Layer.provide(both, layer)), options, ({ durable, law }) => [
    law("stores the offsets with the records (I9)", (ports) =>
      Effect.gen(function*() {
        const writers = yield* open(ports, 1)
        yield* append(writers, "1")
        yield* append(writers, "2")
        yield* holds(ports, ["1", "2"], "2")
      })),

    law("stores neither when the run is fenced (I7)", (ports) =>
      Effect.gen(function*() {
        const older = yield* open(ports, 5)
        yield* append(older, "1")
        const newer = yield* open(ports, 6)
        yield* fails("an append of the older run", "Fenced", append(older, "late"))
        yield* append(newer, "2")
        yield* holds(ports, ["1", "2"], "2")
      })),

    law("stores no offset when only the log has fenced the run (I9)", (ports) =>
      Effect.gen(function*() {
        const older = yield* open(ports, 5)
        yield* append(older, "1")
        yield* ports.log.fence([{ item: task, run: run(6) }])
        yield* fails("an append of the older run", "Fenced", append(older, "late"))
        yield* holds(ports, ["1"], "1")
      })),

    ...(options.oneEngine === false ? [] : [
      law(
        "stores no record when its offset is refused: both are one transaction (I7)",
        (ports) =>
          Effect.gen(function*() {
            const older = yield* open(ports, 5)
            yield* append(older, "1")
            yield* ports.offsets.fence([{ item: task, run: run(6) }])
            yield* fails("an append of the older run", "Fenced", append(older, "late"))
            yield* holds(ports, ["1"], "1")
          })
      )
    ]),

    durable("has both after it is opened again (I9)", (reopen) =>
      Effect.gen(function*() {
        yield* Effect.scoped(Effect.gen(function*() {
          const writers = yield* open(yield* reopen, 1)
          for (const value of ["1", "2", "3"]) yield* append(writers, value)
        }))
        yield* holds(yield* reopen, ["1", "2", "3"], "3")
      }))
  ])
}
