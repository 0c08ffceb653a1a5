/**
 * Simulation: real herders on virtual stores, time and seed. Random operations and random faults; safety is checked at
 * the stores at every step; then faults stop, and everything has to come to rest as asked.
 *
 * A run is reproducible: the same seed gives the same timeline. One that fails is made shorter before it is told.
 */
import * as Effect from "effect/Effect"
import * as operations from "./internal/simulation/operations.ts"
import { play } from "./internal/simulation/play.ts"

/** One step of a run. */
export type Operation = operations.Operation

/** What to run. */
export interface Options {
  readonly seed: number
  /** Steps before faults stop. Default 100. */
  readonly operations?: number | undefined
  /** How many workers there are; one holds its stores alone. Default 1. */
  readonly workers?: number | undefined
}

/** Every law held. */
export interface Passed {
  readonly _tag: "Passed"
  readonly seed: number
  readonly timeline: ReadonlyArray<string>
}

/** A law broke. */
export interface Failed {
  readonly _tag: "Failed"
  readonly seed: number
  readonly workers: number
  /** The invariant, by its number in the design, or what did not end. */
  readonly law: string
  readonly detail: string
  readonly timeline: ReadonlyArray<string>
  /** The shortest steps found that still break the law. */
  readonly operations: ReadonlyArray<Operation>
}

/** How a run ended. */
export type Result = Passed | Failed

const result = (seed: number, steps: ReadonlyArray<Operation>, workers: number): Result => {
  const { timeline, violation } = play(seed, steps, workers)
  return violation === undefined
    ? { _tag: "Passed", seed, timeline }
    : { _tag: "Failed", seed, workers, ...violation, timeline, operations: steps }
}

/** How many shorter runs are tried. */
const maxAttempts = 300

/** Leaves out steps, in halves, quarters and so on, as long as the same law still breaks. */
const shrink = (failed: Failed): Failed => {
  let shortest = failed
  let attempts = 0
  for (let size = Math.ceil(shortest.operations.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < shortest.operations.length && attempts < maxAttempts;) {
      attempts++
      const { operations, seed, workers } = shortest
      const shorter = result(seed, [...operations.slice(0, from), ...operations.slice(from + size)], workers)
      if (shorter._tag === "Failed" && shorter.law === failed.law) shortest = shorter
      else from += size
    }
  }
  return shortest
}

/** Runs one seed. */
export const run = (options: Options): Effect.Effect<Result> =>
  Effect.sync(() => {
    const { operations: count = 100, seed, workers = 1 } = options
    const first = result(seed, operations.draw(seed, count, workers), workers)
    return first._tag === "Passed" ? first : shrink(first)
  })

/** Runs the steps of a failed run again. */
export const replay = (
  failed: Pick<Failed, "seed" | "operations"> & { readonly workers?: number | undefined }
): Effect.Effect<Result> => Effect.sync(() => result(failed.seed, failed.operations, failed.workers ?? 1))

/** Seed, law, steps and timeline of a failed run, for people. */
export const format = (failed: Failed): string =>
  [
    `seed ${failed.seed} with ${failed.workers} worker${
      failed.workers === 1 ? "" : "s"
    } breaks ${failed.law}: ${failed.detail}`,
    "",
    "steps:",
    ...failed.operations.map((operation) => `  ${operations.format(operation)}`),
    "",
    "timeline:",
    ...failed.timeline
  ].join("\n")
