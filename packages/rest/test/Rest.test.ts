import { Effect, Layer } from "effect"
import { serve } from "../src/NodeServer.ts"
import { BaseUrl, conformance } from "./conformance.ts"
import * as FakeHerder from "./FakeHerder.ts"

for (const prefix of [undefined, "/connect"] as const) {
  conformance(
    `the API, ${prefix === undefined ? "without a prefix" : `below ${prefix}`}`,
    Layer.effect(BaseUrl, Effect.map(serve({ port: 0, prefix }), ({ url }) => url)).pipe(
      Layer.provide(FakeHerder.layer)
    )
  )
}
