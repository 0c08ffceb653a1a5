/** Delays between attempts, as pure functions of the number of failures, known before they are waited for. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/** The delay in milliseconds after so many failures in a row (from 1), or `undefined` when there is none any more. */
export type Backoff = (failures: number) => number | undefined

/** 250 ms doubling to 60 s, for ever: the curve of KAFKA-14732. */
export const defaultSchedule: Schedule.Schedule<unknown> = Schedule.min([
  Schedule.exponential("250 millis"),
  Schedule.spaced("60 seconds")
])

/** `first` milliseconds growing by `factor` to `cap`. The exponent is bounded, so no number of failures overflows. */
export const exponential = (first: number, cap: number, factor = 2): Backoff => (failures) =>
  Math.min(cap, first * factor ** Math.min(failures - 1, 64))

/**
 * Steps a schedule ahead of time, so that a pure plan knows the delay before it is waited for. Its delay must depend on
 * the attempt only; elapsed time is the sum of the delays. Delays are remembered by attempt number, at most 1,000 of
 * them: what comes later repeats the last.
 */
export const fromSchedule = (schedule: Schedule.Schedule<unknown>): Backoff => {
  const delays: Array<number | undefined> = []
  let now = 0
  let step: Step | undefined
  const known = (failures: number): boolean =>
    delays.length >= Math.min(failures, 1000) || (delays.length > 0 && delays[delays.length - 1] === undefined)
  return (failures) => {
    step ??= Effect.runSync(Schedule.toStep(schedule as Schedule.Schedule<unknown, number>))
    while (!known(failures)) {
      const exit = Effect.runSyncExit(step(now, delays.length + 1))
      // a schedule that ends says so; one that fails, or waits for something outside, is a mistake of its author
      if (
        exit._tag === "Failure" &&
        !exit.cause.reasons.some((reason) => reason._tag === "Fail" && Cause.isDone(reason.error))
      ) {
        throw Cause.squash(exit.cause)
      }
      const delay = exit._tag === "Success" ? Duration.toMillis(exit.value[1]) : undefined
      delays.push(delay)
      now += delay ?? 0
    }
    return delays[Math.min(failures, delays.length) - 1]
  }
}

type Step = Effect.Success<ReturnType<typeof Schedule.toStep<unknown, number, never, never>>>

/** A number in [0, 1) that depends on its words only: jitter that spreads names and still replays. */
export const draw = (...words: ReadonlyArray<string | number>): number => {
  let hash = 0x811c9dc5
  for (const character of words.join("\u0000")) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  // spreads the low bits of similar names over all bits
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
