/**
 * Decorates operations and ports. In every list and every pipe the first is the outermost (design, section 5).
 *
 * `make`, `on`, `compose` and `layer` are for operations, `decorate` is for ports. The others are ready to use; those
 * that keep state are effects, so that the state is made when the layer is built and belongs to that layer only.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type ConnectorError, PermanentError, ThrottledError, TransientError } from "./ConnectorError.ts"
import * as CircuitBreaker from "./internal/circuitBreaker.ts"
import { describe } from "./internal/describeOperation.ts"
import * as OperationMetrics from "./internal/operationMetrics.ts"
import * as RateLimiter from "./internal/rateLimiter.ts"
import type * as Operation from "./Operation.ts"

/**
 * Runs around every operation, off the tick, inside the operation's slot and deadline.
 *
 * It is generic in the result: it may run `next` never, once or often and may fail with a classified error, but it
 * cannot invent a result, and the error of the operation passes through with its type.
 */
export interface Middleware {
  <A, E>(operation: Operation.Operation, next: Effect.Effect<A, E>): Effect.Effect<A, E | ConnectorError>
}

/** Types a function as a middleware. */
export const make = (middleware: Middleware): Middleware => middleware

/** A middleware of some operations only, with their fields and result typed; the others pass. */
export const on = <const T extends Operation.Tag>(
  tag: T | ReadonlyArray<T>,
  middleware: (
    operation: Operation.Of<T>,
    next: Effect.Effect<Operation.Result<T>, ConnectorError>
  ) => Effect.Effect<Operation.Result<T>, ConnectorError>
): Middleware => {
  const tags = new Set<string>(typeof tag === "string" ? [tag] : tag)
  // the tag decides the types of fields and result: the table of Operation says which
  return (operation, next) => tags.has(operation._tag) ? middleware(operation as any, next as any) as any : next
}

/** One middleware of many: the first is the outermost. What each does is done anew whenever the one around it runs it. */
export const compose =
  (all: ReadonlyArray<Middleware>): Middleware => <A, E>(operation: Operation.Operation, next: Effect.Effect<A, E>) =>
    all.reduceRight<Effect.Effect<A, E | ConnectorError>>(
      (inner, middleware) => Effect.suspend(() => middleware(operation, inner)),
      next
    )

/** The middleware of a runtime: none by default. */
export const Current = Context.Reference<Middleware>("@kelpie/core/Middleware", {
  defaultValue: () => (_, next) => next
})

type Item = Middleware | Effect.Effect<Middleware, any, any>
type ErrorOf<I> = I extends Effect.Effect<any, infer E, any> ? E : never
type ServicesOf<I> = I extends Effect.Effect<any, any, infer R> ? R : never

/**
 * The middleware of a runtime, outermost first. An item may be an effect, for middleware that has services or state: it
 * runs when the layer is built, once for every runtime that is given the layer.
 */
export const layer = <const Items extends ReadonlyArray<Item>>(
  items: Items
): Layer.Layer<never, ErrorOf<Items[number]>, Exclude<ServicesOf<Items[number]>, Scope.Scope>> =>
  // the items' errors and services are known by their union only
  Layer.fresh(Layer.effect(
    Current,
    Effect.map(
      Effect.forEach(items, (item: Item): Effect.Effect<Middleware, any, any> =>
        Effect.isEffect(item) ? item : Effect.succeed(item)),
      compose
    )
  )) as any

/**
 * A layer over the layer below it: needs the port and gives the port. `wrap` returns the members that change; it may be
 * an effect, for a wrapper that has services or state.
 */
export const decorate = <I, S extends object, E = never, R = never>(
  port: Context.Key<I, S>,
  wrap: (below: NoInfer<S>) => Partial<NoInfer<S>> | Effect.Effect<Partial<NoInfer<S>>, E, R>
): Layer.Layer<I, E, I | Exclude<R, Scope.Scope>> =>
  Layer.effect(
    port,
    Effect.flatMap(port, (below) => {
      const above = wrap(below)
      const effect = Effect.isEffect(above) ? above : Effect.succeed(above)
      return Effect.map(effect, (members): S => ({ ...below, ...members }))
    })
  )

/** A setting for some operations; the others pass. */
export type PerOperation<A> = { readonly [T in Operation.Tag]?: A | undefined }

/** Milliseconds of the monotonic clock, with fractions: for durations, not for dates. */
const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): CircuitBreaker.Outcome =>
  exit._tag === "Success" ? "success" : Cause.hasInterrupts(exit.cause) ? "interrupted" : "failure"

/** A whole number from 1, or a defect that names the middleware and the operation. */
const positive = (middleware: string, name: string, value: number): Effect.Effect<number> =>
  Number.isSafeInteger(value) && value > 0
    ? Effect.succeed(value)
    : Effect.die(new RangeError(`Middleware.${middleware}: ${name} must be a whole number from 1, not ${value}`))

/** The settings that are there, by operation. */
const settings = <A>(perOperation: PerOperation<A>): ReadonlyArray<readonly [tag: Operation.Tag, setting: A]> =>
  (Object.entries(perOperation) as ReadonlyArray<[Operation.Tag, A | undefined]>).flatMap(([tag, setting]) =>
    setting === undefined ? [] : [[tag, setting] as const]
  )

/**
 * Interrupts operations that take longer, and fails with a `TransientError` that names the operation and the limit. Code
 * that cannot be interrupted is waited for: the deadline of the herder is what frees its slot.
 */
export const timeout = (limits: PerOperation<Duration.Input>): Middleware => {
  const byTag = new Map(settings(limits).map(([tag, limit]) => [tag, Duration.fromInputUnsafe(limit)]))
  return (operation, next) => {
    const limit = byTag.get(operation._tag)
    if (limit === undefined) return next
    return Effect.timeoutOrElse(next, {
      duration: limit,
      orElse: () =>
        Effect.fail(
          new TransientError({ message: `${describe(operation)} took longer than ${Duration.format(limit)}` })
        )
    })
  }
}

/** A tracing span around every operation, named after it, with the connector and the task as attributes. */
export const span: Middleware = (operation, next) =>
  Effect.withSpan(next, operation._tag, {
    attributes: "task" in operation
      ? { connector: operation.connector, task: operation.task }
      : { connector: operation.connector }
  })

/**
 * Counts operations in `kelpie_operations_total` by `operation` and `outcome` (`success`, `failure`, `interrupted`), and
 * measures those that ended by themselves in `kelpie_operation_seconds` by `operation`.
 */
export const metrics: Middleware = (operation, next) =>
  Effect.flatMap(monotonicMillis, (startedAt) =>
    Effect.onExit(next, (exit) => {
      const outcome = outcomeOf(exit)
      const series = OperationMetrics.series(operation._tag)
      const count = Metric.update(series.count[outcome], 1)
      if (outcome === "interrupted") return count
      return Effect.flatMap(
        monotonicMillis,
        (now) => Effect.andThen(count, Metric.update(series.seconds, (now - startedAt) / 1000))
      )
    }))

/** Logs the end of every operation: a failure as a warning with its cause, everything else for debugging. */
export const logging: Middleware = (operation, next) =>
  Effect.flatMap(
    monotonicMillis,
    (startedAt) =>
      Effect.onExit(next, (exit) =>
        Effect.flatMap(monotonicMillis, (now) => {
          const took = Duration.format(Duration.millis(Math.round(now - startedAt)))
          const name = describe(operation)
          const line = exit._tag === "Success"
            ? Effect.logDebug(`${name} ended after ${took}`)
            : Cause.hasInterrupts(exit.cause)
            ? Effect.logDebug(`${name} was interrupted after ${took}`)
            : Effect.logWarning(`${name} failed after ${took}`, exit.cause)
          return Effect.annotateLogs(line, "logger", "kelpie.operations")
        }))
  )

/** At most so many of an operation at the same time; the others wait for their turn, in order. */
export const concurrency: (limits: PerOperation<number>) => Effect.Effect<Middleware> = Effect.fnUntraced(
  function*(limits) {
    const byTag = new Map<Operation.Tag, Semaphore.Semaphore>()
    for (const [tag, limit] of settings(limits)) {
      byTag.set(tag, yield* Semaphore.make(yield* positive("concurrency", tag, limit)))
    }
    return (operation, next) => byTag.get(operation._tag)?.withPermits(1)(next) ?? next
  }
)

/** A limit of a rate. */
export interface Rate {
  /** How many may start within any window. */
  readonly limit: number
  readonly window: Duration.Input
  /** What happens to one too many: it waits for its turn (the default), or fails with a `ThrottledError`. */
  readonly exceeded?: "wait" | "fail" | undefined
}

/** At most so many starts of an operation within any window of time. Who is interrupted while it waits takes no turn. */
export const rateLimit: (limits: PerOperation<Rate>) => Effect.Effect<Middleware> = Effect.fnUntraced(
  function*(limits) {
    const byTag = new Map<Operation.Tag, (operation: Operation.Operation) => Effect.Effect<void, ThrottledError>>()
    for (const [tag, rate] of settings(limits)) {
      const limit = yield* positive("rateLimit", tag, rate.limit)
      const limiter = RateLimiter.make(limit, Duration.toMillis(Duration.fromInputUnsafe(rate.window)))
      const line = waitFor(limiter, yield* Semaphore.make(1))
      byTag.set(tag, rate.exceeded === "fail" ? refuseAbove(limiter) : () => line)
    }
    return (operation, next) => {
      const turn = byTag.get(operation._tag)
      return turn === undefined ? next : Effect.andThen(turn(operation), next)
    }
  }
)

const refuseAbove = (limiter: RateLimiter.RateLimiter) => (operation: Operation.Operation) =>
  Effect.flatMap(monotonicMillis, (now) => {
    const waitMillis = limiter.waitMillis(now)
    if (waitMillis <= 0) return Effect.sync(() => limiter.take(now))
    return Effect.fail(
      new ThrottledError({
        message: `${describe(operation)} is over its rate limit`,
        retryAfter: Duration.millis(waitMillis)
      })
    )
  })

const waitFor = (limiter: RateLimiter.RateLimiter, line: Semaphore.Semaphore) => {
  const turn: Effect.Effect<void> = Effect.flatMap(monotonicMillis, (now) => {
    const waitMillis = limiter.waitMillis(now)
    return waitMillis > 0
      ? Effect.andThen(Effect.sleep(Duration.millis(waitMillis)), turn)
      : Effect.sync(() => limiter.take(now))
  })
  // one waits for time, the others behind it for their place in the line
  return line.withPermits(1)(turn)
}

/** When a circuit opens, and for how long. */
export interface CircuitBreakerOptions<T extends Operation.Tag> {
  /** The operations it guards. */
  readonly on: ReadonlyArray<T>
  /** Operations of one key share a circuit. */
  readonly key: (operation: Operation.Of<T>) => string
  /** Failures in a row that open the circuit. */
  readonly failures: number
  /** How long it stays open; then one operation is let through to see. */
  readonly cooldown: Duration.Input
  /** Whether an error counts as a failure; left out: all but a `PermanentError`, which shows that the other side answers. */
  readonly isFailure?: ((error: unknown) => boolean) | undefined
}

const answers = (error: unknown): boolean => !(error instanceof PermanentError)

/**
 * Stops calling what keeps failing. After so many failures in a row the circuit of a key is open: operations fail at once
 * with a `ThrottledError` whose `retryAfter` is the rest of the cooldown. Then one is let through, and meanwhile the others
 * fail with a `TransientError`: its success closes the circuit, its failure opens it for another cooldown.
 *
 * An interrupted operation counts as neither. Defects count as failures.
 */
export const circuitBreaker: <const T extends Operation.Tag>(
  options: CircuitBreakerOptions<T>
) => Effect.Effect<Middleware> = Effect.fnUntraced(
  function*<const T extends Operation.Tag>({
    cooldown,
    failures,
    isFailure = answers,
    key,
    on: guarded
  }: CircuitBreakerOptions<T>) {
    const tags = new Set<string>(guarded)
    const circuits = CircuitBreaker.make(
      yield* positive("circuitBreaker", "failures", failures),
      Duration.toMillis(Duration.fromInputUnsafe(cooldown))
    )
    const judge = (exit: Exit.Exit<unknown, unknown>): CircuitBreaker.Outcome => {
      const outcome = outcomeOf(exit)
      if (outcome !== "failure" || exit._tag === "Success") return outcome
      const error = Cause.findError(exit.cause)
      return Result.isSuccess(error) && !isFailure(error.success) ? "success" : "failure"
    }
    return <A, E>(operation: Operation.Operation, next: Effect.Effect<A, E>): Effect.Effect<A, E | ConnectorError> => {
      if (!tags.has(operation._tag)) return next
      // the set of tags is what `Of<T>` says
      const name = key(operation as Operation.Of<T>)
      // nobody may come between the admission and the promise to settle it
      return Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(monotonicMillis, (now): Effect.Effect<A, E | ConnectorError> => {
          const admission = circuits.admit(name, now)
          if (admission._tag === "Refuse") return Effect.fail(refusal(operation, admission.waitMillis))
          return Effect.onExit(
            restore(next),
            (exit) => Effect.map(monotonicMillis, (now) => circuits.settle(name, admission.era, judge(exit), now))
          )
        })
      )
    }
  }
)

const refusal = (operation: Operation.Operation, waitMillis: number | undefined): ConnectorError =>
  waitMillis === undefined
    ? new TransientError({ message: `${describe(operation)} waits for the attempt that tries the other side` })
    : new ThrottledError({
      message: `${describe(operation)} is stopped after failures in a row`,
      retryAfter: Duration.millis(waitMillis)
    })
