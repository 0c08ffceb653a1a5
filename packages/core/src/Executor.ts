/** Runs labelled work off the tick. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** A job: it reports its own outcome, so it neither fails nor gives a value. */
export interface Job {
  readonly label: string
  readonly run: Effect.Effect<void>
}

/** Takes jobs. */
export interface Executor {
  /** Starts a job and gives its fiber; does not wait for it. */
  readonly submit: (job: Job) => Effect.Effect<Fiber.Fiber<void>>
}

/** How a herder makes its executor: each herder has one of its own, so the reference holds the recipe. */
export type Make = Effect.Effect<Executor, never, Scope.Scope>

/** Every job is a fiber of the scope. */
export const fibers: Make = Effect.map(Effect.scope, (scope) => ({
  submit: (job) => Effect.forkIn(job.run, scope)
}))

/** The executor of a runtime. */
export const Executor: Context.Reference<Make> = Context.Reference("@kelpie/core/Executor", {
  defaultValue: () => fibers
})

/** Replaces the executor. */
export const layer = (make: Make): Layer.Layer<never> => Layer.succeed(Executor, make)
