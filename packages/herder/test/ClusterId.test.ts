import { assert, describe, it } from "@effect/vitest"
import { Plugins } from "@kelpie/core"
import { Herder } from "@kelpie/herder"
import { Sqlite } from "@kelpie/sqlite"
import { Effect, Layer } from "effect"
import { folder } from "./fixtures/folder.ts"

const clusterId = (options: Sqlite.Options) =>
  Herder.use((herder) => herder.clusterId).pipe(
    Effect.provide(Herder.layerSolo.pipe(Layer.provide([Sqlite.layer(options), Plugins.layer([])])))
  )

describe("the identity of a cluster", () => {
  it.live("is the one that the store was given, and stays", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      assert.strictEqual(yield* clusterId({ directory, clusterId: "orders" }), "orders")
      assert.strictEqual(yield* clusterId({ directory }), "orders")
    }))

  it.live("is drawn when none was given", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const drawn = yield* clusterId({ directory })
      assert.match(drawn, /^[0-9a-f]{32}$/)
      assert.strictEqual(yield* clusterId({ directory }), drawn)
    }))
})
