import { assert, describe, it } from "@effect/vitest"
import { SourceConnector } from "@kelpie/core"
import { Harness, ScriptedSource } from "@kelpie/testkit"
import { Clock, Context, Effect, Exit, Scope, Stream } from "effect"

describe("Harness", () => {
  it.effect("stops with its scope, also what does not return: nobody has to move time", () =>
    Effect.gen(function*() {
      const source = yield* ScriptedSource.make()
      const scope = yield* Scope.make()
      const harness = yield* Scope.provide(Harness.make({ plugins: [source] }), scope)
      yield* harness.deploy("hangs", source.config({ poll: "hang:uninterruptible" }))
      yield* harness.deploy("waits", source.config())
      assert.strictEqual((yield* source.live()).length, 4)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* source.live("waits"), [])
      assert.isAbove(yield* Clock.currentTimeMillis, 0)
    }))

  it.effect("gives plugins what they need from its own surroundings", () =>
    Effect.gen(function*() {
      class Shop extends Context.Service<Shop, { readonly regions: ReadonlyArray<string> }>()("test/Shop") {}
      const source = SourceConnector.make("Regions", {
        version: "1.0.0",
        config: {},
        start: () =>
          Effect.map(Shop, ({ regions }) => ({ taskConfigs: () => Effect.succeed(regions.map(() => ({}))) })),
        task: () => Stream.never
      })
      const harness = yield* Effect.provideService(Harness.make({ plugins: [source] }), Shop, {
        regions: ["north", "south"]
      })
      yield* harness.deploy("regions", source.config({}, { tasksMax: 2 }))
      assert.strictEqual((yield* harness.status("regions")).tasks.length, 2)
    }))
})
