/** Draws identities: sessions, incarnations, command ids. From `Random`, so that a seeded run draws the same ones. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const word: Effect.Effect<string> = Effect.map(
  Random.nextIntBetween(0, 2 ** 32 - 1),
  (n) => n.toString(16).padStart(8, "0")
)

/** 128 bits in hexadecimal. */
export const draw: Effect.Effect<string> = Effect.map(Effect.all([word, word, word, word]), (words) => words.join(""))
