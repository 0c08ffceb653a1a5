/** Connectors created in group commits, placement included, not started; in memory and in SQLite. */
import { ConfigKey, LeaderClient, Membership, Plugins, SourceConnector, Stores } from "@kelpie/core"
import { Stepped } from "@kelpie/herder"
import { Effect, Layer, Stream } from "effect"
import { Report } from "./src/Report.ts"
import * as Rounds from "./src/Rounds.ts"

/** Requests under way at the same time: what comes while a commit is under way goes into the next one. */
const concurrency = 256

const Source = SourceConnector.make("BenchSource", {
  version: "1.0.0",
  config: {
    table: ConfigKey.String("table"),
    interval: ConfigKey.Int("poll.interval.ms", { default: 1000 }),
    password: ConfigKey.Redacted("password", { optional: true })
  },
  task: () => Stream.never
})

const nameOf = (i: number) => `orders-${i}`
const configOf = (i: number) => ({
  ...Source.config({ table: `orders_${i}` }, { tasksMax: 4 }),
  "value.converter": "JsonConverter"
})

/** Creates `count` connectors on a herder that is never ticked, and looks that they are there and placed. */
const kelpie = (stores: Layer.Layer<Stores.Stores>, count: number): Promise<number> => {
  const program = Effect.gen(function*() {
    const { leader, service, tick } = yield* Stepped.make
    yield* leader.claim
    const names = Array.from({ length: count }, (_, i) => i)
    const cpu = process.threadCpuUsage()
    const from = performance.now()
    yield* Effect.forEach(names, (i) => service.create(nameOf(i), configOf(i)), { concurrency, discard: true })
    const millis = performance.now() - from
    {
      const u = process.threadCpuUsage(cpu)
      process.stdout.write(`cpu ${(u.user + u.system) / count} us each\n`)
    }
    const outcome = yield* tick.tick
    const starts = outcome.transitions.filter((transition) =>
      transition.to === "Queued" && transition.event === "Wanted"
    )
    if (starts.length !== count) throw new Error(`${starts.length} connectors are placed, not ${count}`)
    return millis
  })
  const ports = Layer.mergeAll(stores, Plugins.layer([Source]), Membership.layerSolo(), LeaderClient.layerSolo)
  return Effect.runPromise(Effect.scoped(Effect.provide(program, ports)))
}

const report = new Report("create", "connectors created in group commits with their placement records, not started")
const count = Number(process.env["COUNT"] ?? 20_000)
for (let i = 0; i < 5; i++) console.log(count / (await kelpie(Stores.layerMemory, count)) * 1000)
