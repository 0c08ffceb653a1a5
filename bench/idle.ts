/**
 * What a connector costs that has nothing to do, and whether a tick notices how many of them there are.
 *
 * An idle connector here is a source whose instance runs, whose one task runs and waits for data for ever, and whose
 * lane is idle; with its config, its task set, its placement records and its statuses.
 */
import {
  type ConnectorError,
  LeaderClient,
  Membership,
  Plugins,
  SourceConnector,
  Stores,
  TransientError
} from "@kelpie/core"
import { Stepped } from "@kelpie/herder"
import { Effect, Layer, References, Stream } from "effect"
import * as Heap from "./src/Heap.ts"
import { JumpClock } from "./src/JumpClock.ts"
import { Report } from "./src/Report.ts"
import { median } from "./src/Rounds.ts"

const sizes = (process.env["SIZES"] ?? "1000,10000,100000").split(",").map(Number)
/** Where the heap is measured. */
const heapAt = 10_000
const ticks = 400

/** A source that waits; the one called `due` cannot say its task configs. */
const Idle = SourceConnector.make("Idle", {
  version: "1.0.0",
  config: {},
  start: ({ name }) =>
    Effect.succeed({
      taskConfigs: (): Effect.Effect<ReadonlyArray<{}>, ConnectorError> =>
        name === "due" ? Effect.fail(new TransientError({ message: "database is locked" })) : Effect.succeed([{}])
    }),
  task: () => Stream.never
})

const report = new Report(
  "idle",
  "idle connectors: each with its running instance and its one running task; heap after forced collections, and the " +
    `time of a tick in which one lane is due, the middle of ${ticks}`
)

const measure = (count: number) =>
  Effect.gen(function*() {
    const clock = new JumpClock()
    const ports = yield* Layer.build(Layer.mergeAll(
      Stores.layerMemory,
      Plugins.layer([Idle]),
      Membership.layerSolo(),
      LeaderClient.layerSolo
    ))
    const run = Effect.gen(function*() {
      const { leader, service, tick } = yield* Stepped.make
      yield* leader.claim
      const quiet = Effect.gen(function*() {
        for (let calm = 0; calm < 3;) {
          const { consumed } = yield* tick.tick
          for (let turn = 0; turn < 8; turn++) yield* Effect.yieldNow
          calm = consumed.length === 0 ? calm + 1 : 0
        }
      })
      yield* quiet
      const empty = yield* Effect.promise(Heap.used)
      const names = Array.from({ length: count }, (_, i) => `orders-${i}`)
      yield* Effect.forEach(names, (name) => service.create(name, Idle.config({})), { concurrency: 256, discard: true })
      yield* quiet
      const last = yield* service.status(`orders-${count - 1}`)
      if (last.health !== "healthy" || last.taskCounts.running !== 1) throw new Error(`it is ${last.health}`)
      const full = yield* Effect.promise(Heap.used)
      if (count === heapAt) {
        const bytes = (full - empty) / count
        report.add({
          measure: `heap of an idle connector, ${count} of them`,
          value: bytes,
          unit: "B",
          budget: { atMost: 8192 }
        })
      }

      yield* service.create("due", Idle.config({}))
      yield* quiet
      const millis: Array<number> = []
      for (let i = 0; i < ticks; i++) {
        clock.jump(60_000)
        const from = performance.now()
        const { transitions } = yield* tick.tick
        millis.push(performance.now() - from)
        if (!transitions.some(({ event }) => event === "Due")) throw new Error("nothing was due")
        yield* quiet
      }
      return median(millis.slice(ticks / 4)) * 1000
    })
    return yield* run.pipe(Effect.provideContext(ports), Effect.provide(clock.layer))
  }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))

let smallest: number | undefined
for (const count of sizes) {
  const micros = await Effect.runPromise(measure(count))
  smallest ??= micros
  report.add({
    measure: `tick, ${count.toLocaleString("en-US")} idle and one due`,
    value: micros,
    unit: "us",
    budget: { atMost: 50 },
    note: `${(micros / smallest).toFixed(2)} of the first`
  })
}
report.finish()
