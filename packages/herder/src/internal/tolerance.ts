/**
 * Records that cannot be processed: retried, then skipped or not, then reported (specification, section 8).
 *
 * The common way costs a loop and a try; only a failing record leaves it. Better than Connect: a retriable failure that
 * runs out of retries obeys `errors.tolerance` like any other, and dead letters are stored before positions are.
 */
import { type ConnectorError, isConnectorError, PermanentError } from "@kelpie/core/ConnectorError"
import type * as ConnectorKeys from "@kelpie/core/ConnectorKeys"
import type { StoreError } from "@kelpie/core/StoreError"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Stage, Where } from "./pipeline.ts"

/** A record that failed. */
export interface FailedRecord<A> {
  readonly record: A
  readonly stage: Stage
  readonly plugin: string
  readonly error: unknown
}

/** Where failed records are told, before anything after them is stored. */
export type Report<A> = (failed: FailedRecord<A>) => Effect.Effect<void, ConnectorError | StoreError>

type Settings = Pick<
  ConnectorKeys.ConnectorSettings,
  "tolerance" | "retryTimeoutMillis" | "retryDelayMaxMillis"
>

/** 300 ms doubling; above the longest delay a random one below it. Saturates, so no number of retries overflows. */
const retryDelay = (attempt: number, max: number): Effect.Effect<number> => {
  const delay = 300 * 2 ** Math.min(attempt - 1, 40)
  if (delay <= max) return Effect.succeed(delay)
  return Effect.map(Random.next, (draw) => Math.max(1, Math.floor(draw * max)))
}

/**
 * Runs `process` over the records of a batch, in order: from one place up to another. It notes in `where` at which record
 * it is, and throws to refuse that one; then that one alone is tried again or given up, and it goes on behind it. It runs
 * at once, not when the effect does: a batch without failures costs no step.
 */
export const processAll = <A>(
  settings: Settings,
  where: Where,
  records: ReadonlyArray<A>,
  process: (from: number, to: number) => void,
  report: Report<A>
): Effect.Effect<void, ConnectorError | StoreError> => {
  const from = (start: number): Effect.Effect<void, ConnectorError | StoreError> => {
    try {
      process(start, records.length)
      return Effect.void
    } catch (error) {
      const at = where.index
      const record = records[at]
      if (record === undefined) return Effect.die(error)
      return Effect.flatMap(
        failed(settings, where, { record, error }, () => process(at, at + 1), report),
        () => from(at + 1)
      )
    }
  }
  return from(0)
}

const isRetriable = (error: unknown): boolean => isConnectorError(error) && error._tag !== "PermanentError"

/** Retries one record within `errors.retry.timeout`, then gives up on it. */
const failed = Effect.fnUntraced(function*<A>(
  settings: Settings,
  where: Where,
  first: { readonly record: A; readonly error: unknown },
  again: () => void,
  report: Report<A>
) {
  const start = yield* Clock.currentTimeMillis
  const deadline = settings.retryTimeoutMillis < 0 ? Infinity : start + settings.retryTimeoutMillis
  let error = first.error
  for (let attempt = 1; isRetriable(error); attempt++) {
    const now = yield* Clock.currentTimeMillis
    if (now >= deadline) break
    const delay = yield* retryDelay(attempt, settings.retryDelayMaxMillis)
    yield* Effect.sleep(Math.min(delay, deadline - now))
    const exit = yield* Effect.exit(Effect.sync(again))
    if (exit._tag === "Success") return
    error = Cause.squash(exit.cause)
  }
  yield* giveUp(settings, { record: first.record, stage: where.stage, plugin: where.plugin, error }, report)
})

/** Reports a record; fails the task unless `errors.tolerance` is `all`. */
export const giveUp = Effect.fnUntraced(function*<A>(
  settings: Pick<Settings, "tolerance">,
  record: FailedRecord<A>,
  report: Report<A>
) {
  yield* report(record)
  if (settings.tolerance === "all") return
  const reason = record.error instanceof Error ? record.error.message : String(record.error)
  return yield* new PermanentError({
    message: `Tolerance exceeded in error handler: ${record.stage} of ${record.plugin}: ${reason}`,
    cause: record.error
  })
})
