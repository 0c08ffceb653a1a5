/** Opens all stores as a user who may not write, and says how it went. */
import * as Sqlite from "@kelpie/sqlite/Sqlite"
import * as Effect from "effect/Effect"

await Effect.void.pipe(
  Effect.provide(Sqlite.layer({ directory: process.argv[2] ?? "" })),
  Effect.as("opened"),
  Effect.catch((error) => Effect.succeed(error.message)),
  Effect.tap((outcome) => Effect.sync(() => console.log(outcome))),
  Effect.runPromise
)
