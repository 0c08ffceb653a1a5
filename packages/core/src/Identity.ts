/** Draws identities: sessions, incarnations, command ids. From `Random`, so that a seeded run draws the same ones. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const word = (random: Random.Random): string =>
  Math.floor(random.nextDoubleUnsafe() * 2 ** 32).toString(16).padStart(8, "0")

/** 128 bits in hexadecimal. */
export const draw: Effect.Effect<string> = Effect.map(
  Random.Random,
  (random) => word(random) + word(random) + word(random) + word(random)
)
