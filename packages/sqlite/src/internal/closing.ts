/** The end of writers and subscriptions: what is under way is over before the end is, and afterwards all is refused. */
import { StoreError } from "@kelpie/core/StoreError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { DataEngine } from "./DataEngine.ts"

/** Whether the scope it was made in is closed. */
export interface Closing {
  readonly isClosed: () => boolean
}

/** Of the present scope. A write whose caller was interrupted may be under way still: its end is waited for. */
export const closing = (data: DataEngine["Service"]): Effect.Effect<Closing, never, Scope.Scope> =>
  Effect.gen(function*() {
    let closed = false
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        closed = true
        // answered after everything that was asked before; fails only when the store is closed, and nothing goes on
        return Effect.ignore(data.call("flush", null, { operation: "close" }))
      })
    )
    return { isClosed: () => closed }
  })

/** Runs an operation unless it comes too late. */
export const unlessClosed = <A>(
  { isClosed }: Closing,
  operation: string,
  run: () => Effect.Effect<A, StoreError>
): Effect.Effect<A, StoreError> =>
  Effect.suspend(() =>
    isClosed() ? Effect.fail(new StoreError({ kind: "Fenced", operation, detail: "the writer is closed" })) : run()
  )
