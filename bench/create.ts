/** Connectors created in group commits, placement included, not started; in memory and in SQLite. */
import { ConfigKey, LeaderClient, Membership, Plugins, SourceConnector, Stores } from "@kelpie/core"
import { Stepped } from "@kelpie/herder"
import { Sqlite } from "@kelpie/sqlite"
import { Effect, Layer, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { compared, Report } from "./src/Report.ts"
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

/** Creates `count` connectors on a herder that is never ticked before, and looks that they are there and placed. */
const kelpie = (stores: Layer.Layer<Stores.Stores>, count: number): Promise<number> => {
  const program = Effect.gen(function*() {
    const { leader, service, tick } = yield* Stepped.make
    yield* leader.claim
    const names = Array.from({ length: count }, (_, i) => i)
    const from = performance.now()
    yield* Effect.forEach(names, (i) => service.create(nameOf(i), configOf(i)), { concurrency, discard: true })
    const millis = performance.now() - from
    const outcome = yield* tick.tick
    const starts = outcome.transitions.filter(({ event, to }) => to === "Queued" && event === "Wanted")
    if (starts.length !== count) throw new Error(`${starts.length} connectors are placed, not ${count}`)
    return millis
  })
  const ports = Layer.mergeAll(stores, Plugins.layer([Source]), Membership.layerSolo(), LeaderClient.layerSolo)
  return Effect.runPromise(Effect.scoped(Effect.provide(program, Layer.orDie(ports))))
}

const inFolder = async <A>(use: (directory: string) => A | Promise<A>): Promise<A> => {
  const directory = mkdtempSync(join(tmpdir(), "bench-"))
  try {
    return await use(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Bare inserts of the same two records for each connector, in transactions of as many as are under way. */
const inserts = (count: number) => (directory: string): number => {
  const database = new DatabaseSync(join(directory, "floor.db"))
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
  database.exec("CREATE TABLE records (key TEXT PRIMARY KEY, value TEXT, position INTEGER UNIQUE)")
  const insert = database.prepare("INSERT INTO records VALUES (?, ?, ?)")
  const from = performance.now()
  for (let start = 0; start < count; start += concurrency) {
    database.exec("BEGIN IMMEDIATE")
    for (let i = start; i < Math.min(count, start + concurrency); i++) {
      const entry = {
        incarnation: "a".repeat(32),
        revision: 1,
        config: configOf(i),
        target: "STARTED",
        retries: 0,
        held: false
      }
      insert.run(`connector/${nameOf(i)}`, JSON.stringify(entry), 2 * i)
      const owned = { _tag: "Owned", session: "a".repeat(32) }
      insert.run(`placement/connector/${nameOf(i)}`, JSON.stringify(owned), 2 * i + 1)
    }
    database.exec("COMMIT")
  }
  const millis = performance.now() - from
  database.close()
  return millis
}

const report = new Report("create", "connectors created in group commits with their placement records, not started")
const count = Number(process.env["COUNT"] ?? 20_000)
const rounds = 5
const memory: Array<number> = []
for (let round = 0; round < rounds; round++) memory.push(count / (await kelpie(Stores.layerMemory, count)) * 1000)
report.add({
  measure: "memory",
  value: Rounds.median(memory),
  unit: "connectors/s",
  budget: { atLeast: 10_000 },
  note: `best ${Math.round(Math.max(...memory))}, ${rounds} rounds`
})
const sqlite = await Rounds.compare({
  rounds,
  warmUp: 1,
  kelpie: () =>
    Rounds.sample(count, () => inFolder((directory) => kelpie(Layer.orDie(Sqlite.layer({ directory })), count))),
  floor: () => Rounds.sample(count, () => inFolder(inserts(count)))
})
report.add(...compared("sqlite", "connectors/s", sqlite, { perSecond: 3000 }))
report.finish()
