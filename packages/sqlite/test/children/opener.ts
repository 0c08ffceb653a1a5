/** Opens all stores, stores a status, and says how it went. */
import { StatusStore } from "@kelpie/core/StatusStore"
import * as Sqlite from "@kelpie/sqlite/Sqlite"
import * as Effect from "effect/Effect"

const [directory = "", connector = "orders"] = process.argv.slice(2)

const program = StatusStore.use((store) =>
  store.put([{ connector, token: 1, state: "RUNNING", workerId: "child", version: null, since: 0 }])
)

await program.pipe(
  Effect.as("done"),
  Effect.provide(Sqlite.layer({ directory })),
  Effect.catch((error) => Effect.succeed(error.message)),
  Effect.tap((outcome) => Effect.sync(() => console.log(outcome))),
  Effect.runPromise
)
