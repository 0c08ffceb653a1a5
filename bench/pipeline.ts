/** source -> topic log -> sink: 1,000,000 records of 100 bytes, in memory and in SQLite, against hand-written loops. */
import { Plugins, Stores } from "@kelpie/core"
import { Herder } from "@kelpie/herder"
import { Sqlite } from "@kelpie/sqlite"
import { Deferred, Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as MemoryFloor from "./src/MemoryFloor.ts"
import { Counter, sink, Source, topic } from "./src/Records.ts"
import { compared, Report } from "./src/Report.ts"
import * as Rounds from "./src/Rounds.ts"
import * as SqliteFloor from "./src/SqliteFloor.ts"

const count = 1_000_000
const converters = { "key.converter": "ByteArrayConverter", "value.converter": "ByteArrayConverter" }

/** Milliseconds from before the source is created until the last record is at the sink, which runs already. */
const kelpie = (stores: Layer.Layer<Stores.Stores>): Promise<number> => {
  const counter = new Counter(count)
  const Sink = sink(() => counter)
  const program = Effect.gen(function*() {
    const herder = yield* Herder
    yield* herder.create("sink", { ...Sink.config({}, { topics: [topic] }), ...converters })
    while ((yield* herder.status("sink")).health !== "healthy") yield* Effect.sleep(10)
    const from = performance.now()
    yield* herder.create("source", { ...Source.config({ count }), ...converters })
    yield* Deferred.await(counter.done)
    const millis = performance.now() - from
    counter.check()
    return millis
  })
  const herder = Herder.layerSolo.pipe(Layer.provide(stores), Layer.provide(Plugins.layer([Source, Sink])))
  return Effect.runPromise(Effect.provide(program, herder))
}

const floor = (run: (count: number, counter: Counter) => void) => (): number => {
  const counter = new Counter(count)
  const from = performance.now()
  run(count, counter)
  const millis = performance.now() - from
  counter.check()
  return millis
}

const report = new Report(
  "pipeline",
  "1,000,000 records of 100 bytes from a source through a topic to a sink, counted at the sink, against a hand-written " +
    "loop that makes the same transactions in batches of 1,000"
)
report.add(...compared(
  "memory",
  "records/s",
  await Rounds.compare({
    rounds: 7,
    warmUp: 2,
    kelpie: () => Rounds.sample(count, () => kelpie(Stores.layerMemory)),
    floor: () => Rounds.sample(count, floor(MemoryFloor.run))
  }),
  { perSecond: 1_000_000, ratio: 0.8 }
))

/** Kelpie on a data directory of its own. */
const durable = async (): Promise<number> => {
  const directory = mkdtempSync(join(tmpdir(), "bench-"))
  try {
    return await kelpie(Layer.orDie(Sqlite.layer({ directory })))
  } finally {
    rmSync(directory, { recursive: true })
  }
}
report.add(...compared(
  "sqlite",
  "records/s",
  await Rounds.compare({
    rounds: 5,
    warmUp: 1,
    kelpie: () => Rounds.sample(count, durable),
    floor: () => Rounds.sample(count, floor(SqliteFloor.run))
  }),
  { ratio: 0.8 }
))
report.finish()
