/**
 * 10,000 connectors whose generation fails for ten minutes, then heals: what an attempt costs, what the lanes hold, how
 * soon all are healthy, and what share of a core they take once they are at their longest delay.
 */
import { Middleware, Plugins, SourceConnector, StatusStore, Stores, TransientError } from "@kelpie/core"
import { Herder } from "@kelpie/herder"
import { Effect, Layer, References, Stream } from "effect"
import { setImmediate as turn } from "node:timers/promises"
import * as Heap from "./src/Heap.ts"
import { JumpClock } from "./src/JumpClock.ts"
import { Report } from "./src/Report.ts"

const count = Number(process.env["COUNT"] ?? 10_000)
const names = Array.from({ length: count }, (_, i) => `orders-${i}`)
const outageMillis = 10 * 60_000
const realSeconds = Number(process.env["SECONDS"] ?? 61)

const clock = new JumpClock()
let failing = true
let attempts = 0
const Source = SourceConnector.make("Unsteady", {
  version: "1.0.0",
  config: {},
  start: () =>
    Effect.succeed({
      taskConfigs: () =>
        Effect.suspend(() => {
          attempts++
          return failing ? Effect.fail(new TransientError({ message: "database is locked" })) : Effect.succeed([{}])
        })
    }),
  task: () => Stream.never
})

/** Names whose stored status waits for an attempt, by its number; whose tasks run. */
const waiting = new Map<number, number>()
const running = new Set<string>()
const counting = Middleware.decorate(StatusStore, (below) => ({
  put: (records) => {
    for (const { connector, reconfiguration, state, task } of records) {
      if (reconfiguration?.state === "Waiting") {
        waiting.set(reconfiguration.attempt, (waiting.get(reconfiguration.attempt) ?? 0) + 1)
      }
      if (task !== undefined && state === "RUNNING") running.add(connector)
    }
    return below.put(records)
  }
}))

const until = async (done: () => boolean): Promise<void> => {
  while (!done()) await turn()
}

/** Nothing happens any more, for some turns. */
const quiet = async (): Promise<void> => {
  let last = ""
  let since = performance.now()
  while (performance.now() - since < 100) {
    await turn()
    const now = `${attempts}/${running.size}`
    if (now !== last) since = performance.now()
    last = now
  }
}

const runtime = Herder.layerSolo.pipe(
  Layer.provide(Layer.provideMerge(counting, Stores.layerMemory)),
  Layer.provide(Plugins.layer([Source])),
  Layer.provideMerge(clock.layer),
  // what is told is measured; where it is written to is not
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

const report = new Report(
  "storm",
  `${
    count.toLocaleString("en-US")
  } connectors whose generation fails for ten minutes of a clock that jumps from deadline to ` +
    "deadline, in memory, with events read, metrics counted and statuses stored; then it heals"
)

/** The delays between attempts: the default policy. */
const delays = (): ReadonlyArray<number> => {
  const all: Array<number> = []
  for (let at = 0, delay = 250; at < outageMillis; delay = Math.min(delay * 2, 60_000)) {
    all.push(delay)
    at += delay
  }
  return all
}

const program = Effect.gen(function*() {
  const herder = yield* Herder
  let events = 0
  yield* Effect.forkScoped(Stream.runForEach(herder.events, () => Effect.sync(() => void events++)))
  const empty = yield* Effect.promise(Heap.used)

  const config = Source.config({})
  const create = Effect.forEach(names, (name) => herder.create(name, config), { concurrency: 256, discard: true })
  yield* create
  yield* Effect.promise(() => until(() => waiting.get(2) === count))

  const cpu = process.cpuUsage()
  const thread = process.threadCpuUsage()
  const before = attempts
  let wall = 0
  let attempt = 2
  for (const delay of delays()) {
    attempt++
    const started = performance.now()
    clock.jump(delay)
    yield* Effect.promise(() => until(() => waiting.get(attempt) === count))
    wall += performance.now() - started
  }
  const made = attempts - before
  const used = process.cpuUsage(cpu)
  const main = process.threadCpuUsage(thread)
  report.add(
    {
      measure: "microseconds an attempt",
      value: wall * 1000 / made,
      unit: "us",
      budget: { atMost: 90 },
      note: `${made} attempts, ${events} events`
    },
    {
      measure: "processor time an attempt",
      value: (main.user + main.system) / made,
      unit: "us",
      note: `main thread; all ${((used.user + used.system) / made).toFixed(1)}`
    }
  )
  const full = yield* Effect.promise(Heap.used)
  report.add({
    measure: "heap above none",
    value: (full - empty) / 2 ** 20,
    unit: "MiB",
    budget: { atMost: 120 },
    note: `${((full - empty) / count).toFixed(0)} bytes a connector`
  })

  if (realSeconds > 0) {
    // the real clock from here: one whole round of the longest delay
    const cpu = process.cpuUsage()
    const before = attempts
    const started = performance.now()
    clock.start()
    yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, realSeconds * 1000)))
    const { system, user } = process.cpuUsage(cpu)
    const millis = performance.now() - started
    clock.stop()
    report.add({
      measure: "share of one core, minutes in",
      value: (user + system) / 1000 / millis * 100,
      unit: "%",
      budget: { atMost: 2 },
      note: `${(millis / 1000).toFixed(0)} real seconds, ${attempts - before} attempts`
    })
  }

  failing = false
  const healed = clock.now()
  for (let step = 0; step < 120 && running.size < count; step++) {
    clock.jump(1000)
    yield* Effect.promise(quiet)
  }
  const late = yield* Effect.filter(
    names,
    (name) => Effect.map(herder.status(name), ({ health }) => health !== "healthy")
  )
  report.add({
    measure: "until all are healthy",
    value: (clock.now() - healed) / 1000,
    unit: "s",
    budget: { atMost: 61 },
    note: `${late.length} are not`
  })
})

await Effect.runPromise(Effect.provide(Effect.scoped(program), runtime))
report.finish()
