/** Finds fibers that outlive the effect that started them. */
import * as Effect from "effect/Effect"
import * as Leaks from "../Leaks.ts"

/** Runs an effect and gives how many of the fibers that it started are still running when it has ended. */
export const leftFibers = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const { exit, leaks } = yield* Leaks.watch(effect)
  yield* exit
  return leaks.filter(({ kind }) => kind === "fiber").length
})
