/** Finds fibers that outlive the effect that started them. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"

/** How long a fiber that was told to end may take. */
const graceMillis = 1000

/** Runs an effect and gives how many of the fibers that it started are still running when it has ended. */
export const leftFibers = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const below = yield* Scheduler.Scheduler
  const own = yield* Effect.fiber
  const seen = new Set<Fiber.Fiber<unknown, unknown>>()
  // a scheduler is asked about each fiber before each of its steps, so it sees them all
  const watching: Scheduler.Scheduler = {
    executionMode: below.executionMode,
    makeDispatcher: () => below.makeDispatcher(),
    shouldYield: (fiber) => {
      seen.add(fiber)
      return below.shouldYield(fiber)
    }
  }
  yield* Effect.provideService(effect, Scheduler.Scheduler, watching)
  // what was forked last has not started yet
  for (let turn = 0; turn < 3; turn++) yield* Effect.yieldNow
  let left = 0
  for (const fiber of seen) {
    if (fiber.id === own.id || fiber.pollUnsafe() !== undefined) continue
    const ended = yield* Effect.timeoutOption(Fiber.await(fiber), graceMillis)
    if (ended._tag === "None") left++
  }
  return left
})
