import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import { cluster } from "../src/cluster.ts"

it.live(
  "loses nothing when a worker is killed, one stands still beyond its lease, and one is drained",
  () =>
    Effect.gen(function*() {
      const { wrong } = yield* cluster(Console.log)
      assert.deepStrictEqual(wrong, [])
    }).pipe(Effect.provide(Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici))),
  240_000
)
