import { it } from "@effect/vitest"
import { withoutLeaks } from "@kelpie/testkit/vitest"
import { Effect } from "effect"

it.effect("ends what it started", () =>
  withoutLeaks(Effect.gen(function*() {
    yield* Effect.forkScoped(Effect.never) // `Effect.forkDetach` here fails the test
  })))
