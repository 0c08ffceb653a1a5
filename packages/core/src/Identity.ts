/** Draws identities: sessions, incarnations, command ids. From `Random`, so that a seeded run draws the same ones. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const word = (random: Random.Random): string =>
  Math.floor(random.nextDoubleUnsafe() * 2 ** 32).toString(16).padStart(8, "0")

/** 128 bits in hexadecimal. */
export const draw: Effect.Effect<string> = Effect.map(
  Random.Random,
  (random) => word(random) + word(random) + word(random) + word(random)
)

/** The id of a command: says when it was drawn, so that a leader knows whether it may have forgotten the outcome (I10). */
export const drawCommand: Effect.Effect<string> = Effect.zipWith(
  Clock.currentTimeMillis,
  draw,
  (now, drawn) => `${now.toString(36)}-${drawn}`
)

/** When a command's id was drawn, in epoch milliseconds; `undefined` for an id from elsewhere. */
export const drawnAt = (id: string): number | undefined => {
  const match = /^([0-9a-z]{1,9})-[0-9a-f]{32}$/.exec(id)
  return match?.[1] === undefined ? undefined : Number.parseInt(match[1], 36)
}
