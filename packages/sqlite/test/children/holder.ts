/** Holds a data directory until it is told to let go, or says why it cannot. */
import { ConfigStore } from "@kelpie/core/ConfigStore"
import * as SqliteConfigStore from "@kelpie/sqlite/SqliteConfigStore"
import * as Effect from "effect/Effect"

const program = Effect.gen(function*() {
  const store = yield* ConfigStore
  yield* store.exclusive
  console.log("held")
  yield* Effect.promise(() => new Promise((resolve) => process.stdin.once("data", resolve)))
})

await program.pipe(
  Effect.scoped,
  Effect.provide(SqliteConfigStore.layer({ directory: process.argv[2] ?? "" })),
  Effect.catch((error) => Effect.sync(() => console.log(error.message))),
  Effect.runPromise
)
process.stdin.destroy()
