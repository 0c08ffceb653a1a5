/**
 * Three workers share a data directory and the work on it, while one is killed, one is stopped for longer than its lease and
 * then goes on, and one is drained. Gives what is wrong in the end, and what took too long; nothing, if all is well.
 */
import * as WorkerProcess from "@kelpie-examples/worker/WorkerProcess"
import { ConnectClient } from "@kelpie/rest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Counted from "./Counted.ts"
import * as Placed from "./Placed.ts"
import { standStill } from "./standStill.ts"
import * as Topics from "./topics.ts"
import { until } from "./until.ts"

const connectors = Array.from({ length: 6 }, (_, n) => `orders-${n}`)
const tasks = 3
const recordsEach = 9000
const ratePerSecond = 300
/** Short, so that a worker that stands still is not waited for long. */
const leaseMillis = 3000

type Say = (text: string) => Effect.Effect<void>

/** A row of the table in the end. */
interface Event {
  readonly what: string
  readonly millis: number
  readonly moved: number
}

/** What is known of one of the workers. */
interface Worker {
  readonly process: WorkerProcess.WorkerProcess
  readonly client: ConnectClient["Service"]
  readonly id: string
}

/** The whole story. */
export const cluster = Effect.fnUntraced(function*(say: Say) {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped({ prefix: "kelpie-cluster-" })
  const copy = `${directory}/copy.txt`
  const start = Effect.fnUntraced(function*(port: number) {
    const flags = ["--shared", "--lease-ms", `${leaseMillis}`, "--data-dir", directory, "--port", `${port}`]
    const process = yield* WorkerProcess.start([...flags, "--log-level", "Warn"])
    const id = new URL(process.url).host
    return { process, id, client: yield* ConnectClient.make({ baseUrl: process.url }) } satisfies Worker
  })
  let workers: ReadonlyArray<Worker> = yield* Effect.forEach([0, 0, 0], start, { concurrency: 3 })
  const first = (): Worker => workers[0] as Worker
  const members = (worker: Worker) => Effect.map(worker.client.worker.workers(), (answer) => answer.workers)
  yield* until("three members", members(first()), (all) => all.length === 3)
  yield* say(`three workers share ${directory}: ${workers.map(({ id }) => id).join(", ")}`)

  const placed = (worker: Worker) =>
    Effect.map(
      worker.client.connectors.list({ query: { expand: ["status"] } }),
      (answer) => Placed.read(answer as never)
    )
  const items = connectors.length * (tasks + 1) + 2
  const events: Array<Event> = []
  /** Does something, and waits until everything runs again without the worker that it happened to. */
  const happen = Effect.fnUntraced(
    function*<E>(what: string, act: Effect.Effect<unknown, E>, without: string | undefined) {
      const observer = workers.find(({ id }) => id !== without) as Worker
      const before = yield* placed(observer)
      const from = yield* Clock.currentTimeMillis
      yield* act
      const after = yield* until(
        `everything runs after: ${what}`,
        placed(observer),
        (now) => now.size === items && (without === undefined || Placed.of(now, without).length === 0)
      )
      const event = { what, millis: (yield* Clock.currentTimeMillis) - from, moved: Placed.moved(before, after).length }
      events.push(event)
      yield* say(`${what}: everything runs after ${event.millis} ms; ${event.moved} of ${items} items moved`)
      return after
    }
  )

  const create = Effect.gen(function*() {
    yield* Effect.forEach(connectors, (name, n) =>
      (workers[n % 3] as Worker).client.connectors.create({
        payload: {
          name,
          config: {
            "connector.class": "GeneratorSource",
            topic: name,
            "tasks.max": `${tasks}`,
            count: `${recordsEach}`,
            rate: `${ratePerSecond}`,
            "value.bytes": "20",
            // so that every line of the copy is another one
            seed: `${n}`
          }
        }
      }))
    yield* first().client.connectors.create({
      payload: {
        name: "copy",
        config: { "connector.class": "FileSink", "topics.regex": "orders-.*", file: copy, "tasks.max": "1" }
      }
    })
  })
  yield* happen("6 sources and a sink are created", create, undefined)

  const leader = (yield* members(first())).find((member) => member.leader)?.worker_id ?? ""
  const killed = workers.find(({ id }) => id === leader) as Worker
  yield* happen(`the leader ${leader} is killed`, killed.process.kill, leader)
  workers = workers.filter((worker) => worker !== killed)
  const returned = yield* start(Number(new URL(killed.process.url).port))
  workers = [...workers, returned]
  yield* until("the killed one is back", members(first()), (all) => all.length === 3)
  yield* until(
    "it runs its share",
    placed(first()),
    (now) => Placed.of(now, returned.id).length > 0 && now.size === items
  )
  yield* say(`${returned.id} is back, and has got its share of the work`)

  const frozen = workers[1] as Worker
  const held = Placed.of(yield* placed(first()), frozen.id)
  const session = (yield* members(first())).find(({ worker_id }) => worker_id === frozen.id)?.session
  yield* happen(`${frozen.id} stands still`, standStill(frozen.process.pid, directory), frozen.id)
  const continued = yield* Clock.currentTimeMillis
  yield* Effect.sync(() => process.kill(frozen.process.pid, "SIGCONT"))
  yield* until(
    "it knows that it has ended",
    members(frozen),
    (all) => !all.some((member) => member.self && member.session === session)
  )
  const overlap = (yield* Clock.currentTimeMillis) - continued
  yield* say(
    `${frozen.id} goes on, finds itself ended after ${overlap} ms, and stops ${held.length} items that others run`
  )
  yield* until("everything runs", placed(first()), (now) => now.size === items)

  const drained = workers[2] as Worker
  yield* happen(`${drained.id} is drained`, drained.client.worker.drain(), drained.id)

  const expected = connectors.length * recordsEach
  const lines = Effect.map(fs.readFileString(copy), (text) => text.split("\n").filter((line) => line !== ""))
  yield* until("every record is copied", lines, (all) => all.length >= expected && new Set(all).size === expected)
  yield* Effect.forEach(workers, ({ process }) => process.stop, { concurrency: 3 })

  const stored = yield* Effect.forEach(
    connectors,
    (name) =>
      Effect.map(
        Topics.values(directory, name, recordsEach),
        (all) => Counted.count(all.map(Counted.numberOf), recordsEach)
      )
  )
  const topics = Counted.sum(stored)
  const copied = yield* lines
  const distinct = new Set(copied).size
  const table = [
    ["", "ms until all runs", "items moved"],
    ...events.map(({ millis, moved, what }) => [what, `${millis}`, `${moved}`])
  ]
  yield* say(`\n${table.map((row) => `| ${row.join(" | ")} |`).join("\n")}`)
  yield* say(
    `records: ${topics.arrived} in the topics, ${topics.gaps} gaps, ${topics.duplicates} duplicates; in the copy ${distinct}, and ${
      copied.length - distinct
    } of them twice (at least once: allowed)`
  )
  yield* say(
    `overlaps: ${held.length} items of ${frozen.id}, for ${overlap} ms after it went on; it stored nothing meanwhile`
  )
  return {
    wrong: [
      ...(topics.gaps > 0 ? [`${topics.gaps} records were lost`] : []),
      ...(topics.duplicates > 0 ? [`a store accepted ${topics.duplicates} records of replaced runs`] : []),
      ...(distinct < expected ? [`${expected - distinct} records are missing in the copy`] : [])
    ],
    // a matter of time, which a busy machine may not have
    late: overlap > leaseMillis * 0.3 ? [`the frozen worker went on for ${overlap} ms, more than a renewal`] : []
  }
})
