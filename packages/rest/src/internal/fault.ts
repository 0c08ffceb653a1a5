/** Faults of this worker while it answers a request. */
import * as Effect from "effect/Effect"

/** What is answered. */
export const message = "Internal error: the log of the worker tells more"

/** Tells the log where it happened. The message is left out: it may quote what was sent, and that may be a secret. */
export const log = (error: unknown, annotations: Readonly<Record<string, string>> = {}): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logError("A request failed by a fault of this worker", faultOf(error)), annotations)

const faultOf = (error: unknown): { readonly error: string; readonly at: string } => ({
  error: error instanceof Error ? error.name : typeof error,
  at: (error instanceof Error ? error.stack ?? "" : "").split("\n").filter((line) => /^\s+at /.test(line)).join("\n")
})
