import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Console, Effect, Layer, Random } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Dataset from "../src/Dataset.ts"
import * as Report from "../src/Report.ts"
import * as Run from "../src/Run.ts"
import { connectors } from "../src/Site.ts"
import { addTables } from "../src/sourceDatabase.ts"
import { until } from "../src/until.ts"

const services = Layer.merge(NodeServices.layer, FetchHttpClient.layer)

/** `pnpm soak` kills more often than a build does. */
const kills = Number(process.env["KELPIE_KILLS"] ?? 5)
/** The seed of the row counts at which it is killed; another one for every run, unless it is given. */
const seed = process.env["KELPIE_SEED"] ?? `${Date.now()}`

it.live(`loses no row when it is killed ${kills} times in the middle of a copy`, () =>
  Effect.gen(function*() {
    yield* Console.log(`KELPIE_SEED=${seed}`)
    const table = yield* Dataset.read("zipcodes")
    const run = yield* Run.make()
    yield* addTables(run.site.database, [table])
    const points = yield* Effect.map(
      Effect.all(Array.from({ length: kills }, () => Random.nextIntBetween(0, table.rows.length))),
      (points) => points.sort((a, b) => a - b)
    ).pipe(Random.withSeed(seed))

    for (const [index, point] of points.entries()) {
      yield* Effect.scoped(Effect.gen(function*() {
        const worker = yield* run.startWorker
        if (index === 0) {
          for (const [connector, config] of Object.entries(connectors(run.site))) {
            yield* worker.client.connectors.putConfig({ params: { connector }, payload: config })
          }
        }
        yield* until(`${point} rows are in the file`, run.file.refresh, () =>
          run.file.arrived(table.name).ids.size >= point)
        yield* worker.kill
      }))
    }
    const worker = yield* run.startWorker
    yield* run.complete([table], () =>
      Effect.void)
    assert.strictEqual(yield* worker.stop, 0)

    const count = yield* Report.count(run, table)
    yield* Console.log(`${Report.format([count])}\nkilled at ${points.join(", ")}`)
    assert.deepStrictEqual(Report.problems(table.rows.length, count), [])
  }).pipe(Effect.provide(services)), kills * 60_000)
