/** A member of the group of a directory: tells its session whenever that changes, and leaves when it is told to. */
import { Membership } from "@kelpie/core/Membership"
import { MembershipPolicy } from "@kelpie/core/Policies"
import * as SqliteMembership from "@kelpie/sqlite/SqliteMembership"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const [directory = "", workerId = ""] = process.argv.slice(2)

const program = Effect.gen(function*() {
  const membership = yield* Membership
  const { self } = yield* membership.group
  console.log(`session ${self?.session}`)
  yield* Effect.forkScoped(
    Stream.runForEach(membership.changes, (group) => Effect.sync(() => console.log(`session ${group.self?.session}`)))
  )
  yield* Effect.promise(() => new Promise((resolve) => process.stdin.once("data", resolve)))
})

await program.pipe(
  Effect.scoped,
  Effect.provide(
    SqliteMembership.layer({ directory, worker: { workerId } }).pipe(
      Layer.provide(MembershipPolicy.layer({ lease: "2 seconds", renewal: "200 millis", margin: "200 millis" }))
    )
  ),
  Effect.catch((error) => Effect.sync(() => console.log(`refused ${error.message}`))),
  Effect.runPromise
)
process.stdin.destroy()
