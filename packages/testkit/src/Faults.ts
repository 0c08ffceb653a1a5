/**
 * Faults around any port or operation: failures, lost answers, delays, hangs, duplicates and stale reads, at named
 * operations, from a script or drawn from a seed.
 *
 * An operation of a port is named by its path: `refresh`, or `claim.commit` for what is done with the handle that `claim`
 * gives. Its calls are numbered from 1, whichever handle makes them. What is drawn depends on the seed, the operation and
 * the number of the call only, so that it does not change when other calls come in another order.
 */
import * as Backoff from "@kelpie/core/Backoff"
import type { ConnectorError } from "@kelpie/core/ConnectorError"
import * as Middleware from "@kelpie/core/Middleware"
import type * as Operation from "@kelpie/core/Operation"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { show } from "./internal/check.ts"

/** Which calls: a chance from 0 to 1, or a choice by the number of the call, from 1. */
export type When = number | ((call: number) => boolean)

/** The calls of these numbers, from 1. */
export const calls = (...numbers: ReadonlyArray<number>): When => (call) => numbers.includes(call)

/** The first calls. */
export const first = (count: number): When => (call) => call <= count

/** Every call. */
export const always: When = () => true

/** What goes wrong. */
export type Fault<E> =
  | { readonly _tag: "Fail"; readonly when: When; readonly error: E }
  | { readonly _tag: "Lose"; readonly when: When; readonly error: E }
  | { readonly _tag: "Delay"; readonly when: When; readonly duration: Duration.Input }
  | { readonly _tag: "Hang"; readonly when: When; readonly after: boolean }
  | { readonly _tag: "Duplicate"; readonly when: When }
  | { readonly _tag: "Stale"; readonly when: When }

/** The operation is not done: it fails. */
export const fail = <E>(when: When, error: E): Fault<E> => ({ _tag: "Fail", when, error })

/** The operation is done, but the answer is lost: it fails, and nobody knows. */
export const lose = <E>(when: When, error: E): Fault<E> => ({ _tag: "Lose", when, error })

/** The operation is done later. */
export const delay = (when: When, duration: Duration.Input): Fault<never> => ({ _tag: "Delay", when, duration })

/** The operation never answers; with `after` it is done first. */
export const hang = (when: When, options?: { readonly after?: boolean | undefined }): Fault<never> => ({
  _tag: "Hang",
  when,
  after: options?.after ?? false
})

/** The operation is done twice, one after the other; the second answer counts. */
export const duplicate = (when: When): Fault<never> => ({ _tag: "Duplicate", when })

/** The operation is not done: it gives its last answer to the same arguments, if there is one. For reads. */
export const stale = (when: When): Fault<never> => ({ _tag: "Stale", when })

/** Settings of a plan. */
export interface Settings {
  /** What is drawn depends on it. Default 0. */
  readonly seed?: number | string | undefined
  /** Asked at every call; no fault happens while it is false. Default: always true. */
  readonly active?: Effect.Effect<boolean> | undefined
}

type Answer<M> = M extends (...args: never) => infer R ? R : M
type Given<M> = Answer<M> extends Effect.Effect<infer A, any, any> ? A : Answer<M>
type IsEffect<M> = Answer<M> extends Effect.Effect<any, any, any> ? true : false
/** Handles are plain objects; collections have no operations. */
type IsHandle<A> = A extends string | number | boolean | null | undefined | Iterable<any> | ((...args: never) => any) ?
  false
  : A extends object ? true
  : false
type Deeper = { readonly 3: 2; readonly 2: 1; readonly 1: 0 }

/** The operations of a port and of the handles that it gives, by path. */
export type Names<S, Depth extends 0 | 1 | 2 | 3 = 3> = Depth extends keyof Deeper ? {
    readonly [K in keyof S & string]:
      | (IsEffect<S[K]> extends true ? K : never)
      | (IsHandle<Given<S[K]>> extends true ? `${K}.${Names<Given<S[K]>, Deeper[Depth]>}` : never)
  }[keyof S & string]
  : never

/** What the operation of that path fails with. */
export type ErrorOf<S, P extends string> = P extends `${infer K}.${infer Rest}`
  ? K extends keyof S ? ErrorOf<Given<S[K]>, Rest> : never
  : P extends keyof S ? Answer<S[P]> extends Effect.Effect<any, infer E, any> ? E : never
  : never

/** Faults by operation; the first of a list is the outermost. Errors have to be ones that the operation can fail with. */
export type Plan<S> = Settings & { readonly [P in Names<S>]?: ReadonlyArray<Fault<ErrorOf<S, P>>> | undefined }

/** A layer over the layer below it, with faults at some operations of the port. */
export const layer = <I, S extends object>(port: Context.Key<I, S>, plan: Plan<NoInfer<S>>): Layer.Layer<I, never, I> =>
  Middleware.decorate(port, (below) => Effect.sync(() => ({ ...below, ...wrapMembers(below, "", makePlayer(plan)) })))

/** Faults of operations; the first of a list is the outermost. */
export type OperationPlan =
  & Settings
  & { readonly [T in Operation.Tag]?: ReadonlyArray<Fault<ConnectorError>> | undefined }

/** A middleware with faults at some operations. */
export const middleware = (plan: OperationPlan): Effect.Effect<Middleware.Middleware> =>
  Effect.sync(() => {
    const player = makePlayer(plan)
    return (operation, next) => player.play(operation._tag, [operation], next)
  })

interface Player {
  /** Whether something goes wrong at that operation, or further down its path. */
  readonly concerns: (path: string) => boolean
  /**
   * Runs an operation with what goes wrong this time. Its type stays: a stale answer is one to the same operation, and the
   * plan holds only errors that the operation can fail with.
   */
  readonly play: <A, E, R>(
    path: string,
    args: ReadonlyArray<unknown>,
    run: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>
}

/** How many answers are kept for stale reads; the oldest go first. */
const rememberedAnswers = 1000

const makePlayer = (plan: Settings & object): Player => {
  const { active = Effect.succeed(true), seed = 0, ...rest } = plan
  const operations = new Map<string, ReadonlyArray<Fault<any>>>(
    Object.entries<ReadonlyArray<Fault<any>> | undefined>(rest).map(([path, faults]) => [path, faults ?? []])
  )
  const counts = new Map<string, number>()
  const answers = new Map<string, { readonly value: unknown }>()
  const remember = (key: string, value: unknown) => {
    answers.delete(key)
    answers.set(key, { value })
    const oldest = answers.keys().next()
    if (answers.size > rememberedAnswers && oldest.done !== true) answers.delete(oldest.value)
  }
  const happens = (when: When, path: string, call: number, place: number) =>
    typeof when === "function" ? when(call) : Backoff.draw(seed, path, call, place) < when
  return {
    concerns: (path) => {
      for (const name of operations.keys()) if (name === path || name.startsWith(`${path}.`)) return true
      return false
    },
    play: (path, args, run) => {
      const faults = operations.get(path)
      if (faults === undefined) return run
      const isStale = faults.some(({ _tag }) => _tag === "Stale")
      return Effect.flatMap(active, (on) => {
        const call = (counts.get(path) ?? 0) + 1
        counts.set(path, call)
        const key = isStale ? `${path} ${show(args)}` : ""
        const kept = isStale ? Effect.tap(run, (value) => Effect.sync(() => remember(key, value))) : run
        if (!on) return kept
        return faults.reduceRight(
          (inner, fault, place) =>
            happens(fault.when, path, call, place) ? commit(fault, inner, answers.get(key)) : inner,
          kept
        )
      })
    }
  }
}

const commit = (
  fault: Fault<any>,
  run: Effect.Effect<any, any, any>,
  last: { readonly value: unknown } | undefined
): Effect.Effect<any, any, any> => {
  switch (fault._tag) {
    case "Fail":
      return Effect.fail(fault.error)
    case "Lose":
      return Effect.andThen(run, Effect.fail(fault.error))
    case "Delay":
      return Effect.andThen(Effect.sleep(fault.duration), run)
    case "Hang":
      return fault.after ? Effect.andThen(run, Effect.never) : Effect.never
    case "Duplicate":
      return Effect.andThen(run, run)
    default:
      return last === undefined ? run : Effect.succeed(last.value)
  }
}

/** A member with what goes wrong in it: an operation, a function that gives one, or a handle that has some. */
const wrap = (member: unknown, path: string, player: Player, args: ReadonlyArray<unknown> = []): unknown => {
  if (!player.concerns(path)) return member
  if (Effect.isEffect(member)) {
    const run = player.play(path, args, member as Effect.Effect<unknown, unknown, any>)
    return Effect.map(run, (given) => wrapMembers(given, `${path}.`, player))
  }
  if (typeof member === "function") {
    return (...given: ReadonlyArray<unknown>) => wrap(member(...given), path, player, given)
  }
  return wrapMembers(member, `${path}.`, player)
}

/** A copy of an object whose members may go wrong; anything else as it is. */
const wrapMembers = <A>(value: A, prefix: string, player: Player): A => {
  if (typeof value !== "object" || value === null || Symbol.iterator in value) return value
  const members = Object.entries(value).filter(([name]) => player.concerns(prefix + name))
  return members.length === 0 ? value : {
    ...value,
    ...Object.fromEntries(members.map(([name, member]) => [name, wrap(member, prefix + name, player)]))
  }
}
