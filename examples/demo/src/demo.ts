/** The demo: a copy of real tables that has to live through what happens to real ones. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Dataset from "./Dataset.ts"
import type { Progress } from "./Progress.ts"
import * as Report from "./Report.ts"
import * as Retries from "./retries.ts"
import * as Run from "./Run.ts"
import { connectors } from "./Site.ts"
import { addTables } from "./sourceDatabase.ts"
import * as StateChanges from "./stateChanges.ts"
import { until } from "./until.ts"

/** Failed attempts before the database is put in place. */
const failedAttempts = 3
/** Rows of the largest table in the file when the worker is killed. */
const killAtRows = 12_000

/** The connector that reads the tables. */
const source = "tables"

const thousands = (count: number): string => count.toLocaleString("en")

/** Runs all of it; gives what is wrong, which should be nothing. */
export const demo = Effect.fn("demo")(function*(progress: Progress) {
  const run = yield* Run.make()

  yield* progress.print("\n1  A source whose database is not there yet")
  const [worker, tables] = yield* Effect.all([
    run.startWorker,
    Effect.forEach(["airports", "birdstrikes", "zipcodes"], Dataset.read)
  ], { concurrency: "unbounded" })
  const small = tables.slice(0, 2)
  const largest = tables.slice(2)
  yield* progress.say(`worker ${worker.pid} is up at ${worker.url}`)
  yield* submit(run, worker)
  const retries = yield* Retries.follow(
    worker.client,
    source,
    failedAttempts,
    (retry) => progress.say(`attempt ${retry.attempt} failed: ${retry.cause}; next attempt in ${retry.delayMillis} ms`)
  )

  yield* progress.print("\n2  The database appears")
  yield* putInPlace(run, small)
  yield* progress.say("database put in place; nobody tells the connector")
  yield* running(worker, small.length)
  yield* progress.say(`the source has recovered: ${small.length} tasks run`)
  yield* run.complete(small, showCounts(progress, small))
  yield* progress.say("every row of the two tables has arrived at both sinks")

  yield* progress.print("\n3  A table is added while everything runs")
  const before = yield* StateChanges.read(worker.client)
  yield* addTables(run.site.database, largest)
  yield* running(worker, tables.length)
  const changes = StateChanges.between(before, yield* StateChanges.read(worker.client)).join(", ")
  yield* progress.say(`zipcodes has a task. Changes of state since, of all connectors and tasks: ${changes}`)

  yield* progress.print("\n4  The worker is killed in the middle of the copy")
  const killedAt = yield* killInTheMiddle(run, worker, "zipcodes")
  yield* progress.say(`kill -9 at ${thousands(killedAt)} rows of zipcodes`)
  const second = yield* run.startWorker
  yield* progress.say(`worker ${second.pid} is up on the same data directory; nobody tells it what to do`)
  yield* run.complete(tables, showCounts(progress, tables))
  yield* running(second, tables.length)
  const exitCode = yield* second.stop
  yield* progress.say(`every row has arrived; the worker was asked to stop, and ended with exit code ${exitCode}`)

  yield* progress.print("\n5  The count")
  const counts = yield* Effect.forEach(tables, (table) => Report.count(run, table))
  yield* progress.print(Report.format(counts))
  yield* progress.print(`retries came after ${retries.map(({ delayMillis }) => delayMillis).join(", ")} ms`)
  return [
    ...counts.flatMap((count, index) => Report.problems(tables[index]?.rows.length ?? 0, count)),
    ...(changes === "UNASSIGNED->RUNNING 1 time" ? [] : ["adding a table changed more than its own task"]),
    ...(killedAt < (largest[0]?.rows.length ?? 0) ? [] : ["the copy was over before the worker was killed"]),
    ...(exitCode === 0 ? [] : [`the worker ended with exit code ${exitCode}`])
  ]
})

/** How far the copies of the tables are. */
const showCounts = (progress: Progress, tables: ReadonlyArray<Dataset.Dataset>) => (counts: ReadonlyArray<number>) =>
  progress.show(
    tables.map(({ name, rows }, index) => `${name} ${thousands(counts[index] ?? 0)} of ${thousands(rows.length)}`)
      .join(", ")
  )

/** Waits for a number of rows, not for a time; gives how many there were. */
const killInTheMiddle = Effect.fnUntraced(function*({ file }: Run.Run, worker: Run.Worker, table: string) {
  const rows = () => file.arrived(table).ids.size
  yield* until(`${killAtRows} rows of ${table} are in the file`, file.refresh, () => rows() >= killAtRows)
  yield* worker.kill
  yield* file.refresh
  return rows()
})

/** Creates the connectors. */
const submit = ({ site }: Run.Run, { client }: Run.Worker) =>
  Effect.forEach(
    Object.entries(connectors(site)),
    ([connector, config]) => client.connectors.putConfig({ params: { connector }, payload: config }),
    { discard: true }
  )

/** Written elsewhere, then renamed: nobody sees half a database. */
const putInPlace = Effect.fnUntraced(function*({ site }: Run.Run, tables: ReadonlyArray<Dataset.Dataset>) {
  yield* addTables(`${site.database}.new`, tables)
  yield* (yield* FileSystem.FileSystem).rename(`${site.database}.new`, site.database)
})

/** Waits until the source and so many tasks run, and the sinks too. */
const running = ({ client }: Run.Worker, tasks: number) =>
  until(
    `${source} runs with ${tasks} tasks, and every connector is healthy`,
    Effect.map(client.connectors.list({ query: { expand: ["status"] } }), (all) =>
      Array.isArray(all) ? [] : Object.values(all).map(({ status }) => ({
        name: status?.name,
        health: status?.health,
        running: status?.taskCounts.running
      }))),
    (all) =>
      all.length > 0 && all.every(({ health }) =>
        health === "healthy"
      ) &&
      all.some(({ name, running }) => name === source && running === tasks)
  )
