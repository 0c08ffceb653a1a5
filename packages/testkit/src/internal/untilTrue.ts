/** Waiting for what an engine may show a little later. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { isTrue, type Mismatch } from "./check.ts"

/** Looks again every 20 ms until it is so, for the duration; then fails with the text. */
export const untilTrue = Effect.fnUntraced(function*<E, R>(
  text: string,
  look: Effect.Effect<boolean, E, R>,
  within: Duration.Input = "10 seconds"
): Effect.fn.Return<void, E | Mismatch, R> {
  const again: Effect.Effect<boolean, E, R> = Effect.flatMap(
    look,
    (holds) => holds ? Effect.succeed(true) : Effect.andThen(Effect.sleep(20), again)
  )
  const seen = yield* Effect.timeoutOption(again, within)
  yield* isTrue(text, seen._tag === "Some")
})
