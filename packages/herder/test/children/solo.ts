/** Runs a solo herder on a folder until it is killed, and says when; or says why it cannot. */
import { Plugins } from "@kelpie/core"
import { Herder } from "@kelpie/herder"
import { Sqlite } from "@kelpie/sqlite"
import { Effect, Layer, Logger } from "effect"
import { Sink, Source } from "../fixtures/Numbers.ts"

const directory = process.argv[2] ?? ""

await Effect.gen(function*() {
  yield* Herder
  process.stdout.write("running\n")
  return yield* Effect.never
}).pipe(
  Effect.provide(Herder.layerSolo.pipe(
    Layer.provide(Sqlite.layer({ directory })),
    Layer.provide([Plugins.layer([Source, Sink]), Logger.layer([])])
  )),
  Effect.catch((error) => Effect.sync(() => process.stdout.write(`${error.message}\n`))),
  Effect.runPromise
)
