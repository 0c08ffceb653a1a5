/** What the worker can run. */
import * as Connectors from "@kelpie/connectors"
import * as Effect from "effect/Effect"

/** Every plugin that Kelpie ships. The scripted connectors are for tests, so they are loaded only when they are asked for. */
export const plugins = Effect.fnUntraced(function*({ withTestkit }: { readonly withTestkit: boolean }) {
  if (!withTestkit) return Connectors.all
  const { ScriptedSink, ScriptedSource } = yield* Effect.promise(() => import("@kelpie/testkit"))
  return [...Connectors.all, yield* ScriptedSource.make(), yield* ScriptedSink.make()]
})
