/** What a task runs with, and how it goes on after failures that may pass. */
import * as Backoff from "@kelpie/core/Backoff"
import type { ConnectorError } from "@kelpie/core/ConnectorError"
import type * as Item from "@kelpie/core/Item"
import type * as Middleware from "@kelpie/core/Middleware"
import type { OffsetStore } from "@kelpie/core/OffsetStore"
import type { Plugins } from "@kelpie/core/Plugins"
import type { FlowSettings } from "@kelpie/core/Policies"
import type * as Status from "@kelpie/core/Status"
import { StoreError } from "@kelpie/core/StoreError"
import type { TopicLog } from "@kelpie/core/TopicLog"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { ResolvedConfig } from "./resolved.ts"

/** The surroundings of one run of a task. */
export interface TaskEnv {
  readonly item: { readonly connector: string; readonly task: number }
  readonly run: Item.Run
  /** Under which the topics that it uses are remembered: the connector's incarnation. */
  readonly usage: string | undefined
  /** Tasks in the set. */
  readonly members: number
  readonly config: ResolvedConfig
  readonly taskConfig: unknown
  readonly offsets: OffsetStore["Service"]
  readonly log: TopicLog["Service"]
  readonly plugins: Plugins["Service"]
  readonly middleware: Middleware.Middleware
  readonly flow: FlowSettings
  /** Shows that the task cannot go on at the moment, or can again. */
  readonly retrying: (retrying: Status.Retrying | undefined) => Effect.Effect<void>
}

/** A task whose writers are open. */
export interface Task {
  /**
   * Starts to move records, in fibers of the scope; a source that ends leaves it waiting. `broken` is told when one of
   * them ends by a failure: then the scope is to be closed, for the others go on.
   */
  readonly start: (broken: Broken) => Effect.Effect<void, never, Scope.Scope>
  /** Takes nothing new, and waits until what is under way is stored. */
  readonly drain: Effect.Effect<void>
}

/** Told why a task cannot go on. */
export type Broken = (cause: Cause.Cause<ConnectorError | StoreError>) => void

/** Forks into the scope; an end by a failure is told. An observer costs less than a fiber that waits. */
export const forkWatched = <A, E extends ConnectorError | StoreError, R>(
  effect: Effect.Effect<A, E, R>,
  broken: Broken
): Effect.Effect<Fiber.Fiber<A, E>, never, R | Scope.Scope> =>
  Effect.map(Effect.forkScoped(effect), (fiber) => {
    fiber.addObserver((exit) => {
      if (exit._tag === "Failure" && !Cause.hasInterruptsOnly(exit.cause)) broken(exit.cause)
    })
    return fiber
  })

const delays = Backoff.exponential(250, 60_000)

/** Milliseconds to wait before the next try; `undefined` for a failure that does not pass. */
const delayAfter = (error: ConnectorError | StoreError, failures: number): number | undefined => {
  if (error instanceof StoreError) return error.kind === "Unavailable" ? delays(failures) : undefined
  switch (error._tag) {
    case "TransientError":
      return delays(failures)
    case "ThrottledError":
      return Math.max(delays(failures) ?? 0, Duration.toMillis(error.retryAfter))
    case "PermanentError":
      return undefined
  }
}

/** Counts failures in a row, waits after each, and shows it. */
export interface Retrier {
  /** Waits as long as the failure asks for; fails with a failure that does not pass. */
  readonly wait: (error: ConnectorError | StoreError) => Effect.Effect<void, ConnectorError | StoreError>
  /** It went on: the next failure is a first one. */
  readonly recovered: Effect.Effect<void>
}

/** A retrier without failures. */
export const retrier = (env: Pick<TaskEnv, "retrying" | "config">): Retrier => {
  let failures = 0
  let since = 0
  return {
    wait: Effect.fnUntraced(function*(error) {
      failures++
      const delay = delayAfter(error, failures)
      if (delay === undefined) return yield* Effect.fail(error)
      const now = yield* Clock.currentTimeMillis
      if (failures === 1) since = now
      const message = env.config.redact(error.message)
      yield* env.retrying({ message, attempt: failures + 1, since, nextAttemptAt: now + delay })
      yield* Effect.sleep(delay)
    }),
    recovered: Effect.suspend(() => {
      if (failures === 0) return Effect.void
      failures = 0
      return env.retrying(undefined)
    })
  }
}

/** Tries again, for ever and with growing delays, while failures may pass. Costs nothing to speak of until one comes. */
export const persist = <A>(
  env: Pick<TaskEnv, "retrying" | "config">,
  effect: Effect.Effect<A, ConnectorError | StoreError>
): Effect.Effect<A, ConnectorError | StoreError> =>
  Effect.catch(effect, (first) => {
    const { recovered, wait } = retrier(env)
    const again = (error: ConnectorError | StoreError): Effect.Effect<A, ConnectorError | StoreError> =>
      Effect.andThen(wait(error), Effect.catch(effect, again))
    return Effect.tap(again(first), () => recovered)
  })
