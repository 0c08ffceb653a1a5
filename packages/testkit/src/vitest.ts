/** Contracts as Vitest suites: one test per law, with the live clock. */
import * as Effect from "effect/Effect"
import { describe, it } from "vitest"
import type { Law } from "./Contract.ts"

/** Registers every law as a test of a suite of that name. */
export const describeContract = (name: string, laws: ReadonlyArray<Law>): void => {
  describe(name, () => {
    // a law has its own limit and says so when it is over it
    for (const law of laws) it(law.name, { timeout: 0 }, () => Effect.runPromise(law.run))
  })
}
