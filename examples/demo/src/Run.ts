/** One run: its files, its tables, its worker, and what has arrived so far. */
import * as WorkerProcess from "@kelpie-examples/worker/WorkerProcess"
import { ConnectClient } from "@kelpie/rest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as path from "node:path"
import * as DatabaseCopy from "./DatabaseCopy.ts"
import type { Dataset } from "./Dataset.ts"
import { FileCopy } from "./FileCopy.ts"
import * as Site from "./Site.ts"
import { until } from "./until.ts"

/** A worker, and the client of its API: everything is asked and ordered through it. */
export interface Worker extends WorkerProcess.WorkerProcess {
  readonly client: ConnectClient["Service"]
}

/** A run in a fresh folder, which is removed when the scope closes. */
export const make = Effect.fn("Run.make")(function*() {
  const fs = yield* FileSystem.FileSystem
  const site = Site.make(yield* fs.makeTempDirectoryScoped({ prefix: "kelpie-demo-" }))
  const file = new FileCopy(site.file)
  const database = yield* DatabaseCopy.counter(site.target)

  /** Starts a worker on the run's data directory, at any free port. */
  const startWorker = Effect.gen(function*() {
    const flags = ["--port", "0", "--data-dir", site.dataDir]
    // compiled code is kept from one start to the next
    const worker = yield* WorkerProcess.start(flags, { NODE_COMPILE_CACHE: path.join(site.folder, "compiled") })
    return { ...worker, client: yield* ConnectClient.make({ baseUrl: worker.url }) } satisfies Worker
  })

  /** Rows of a table that have arrived at both copies. */
  const arrived = (table: string) =>
    Effect.map(database.count(table), (rows) => Math.min(rows, file.arrived(table).ids.size))

  /** Waits until every row of the tables has arrived. */
  const complete = <E, R>(
    tables: ReadonlyArray<Dataset>,
    onLook: (counts: ReadonlyArray<number>) => Effect.Effect<void, E, R>
  ) =>
    until(
      `all rows of ${tables.map(({ name }) => name).join(", ")} have arrived`,
      file.refresh.pipe(
        Effect.andThen(Effect.forEach(tables, ({ name }) => arrived(name))),
        Effect.tap(onLook)
      ),
      (counts) => counts.every((count, index) => count >= (tables[index]?.rows.length ?? 0))
    )

  return { site, file, database, startWorker, complete }
})

/** One run. */
export interface Run extends Effect.Success<ReturnType<typeof make>> {}
