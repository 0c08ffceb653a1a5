import { assert, describe, it } from "@effect/vitest"
import { Plugins, SourceConnector } from "@kelpie/core"
import { Clock, Context, Effect, Exit, Layer, Option, References, Scheduler, Scope, Stream } from "effect"

class Database extends Context.Service<Database, { readonly name: string }>()("test/Database") {}

const Tables = SourceConnector.make("Tables", {
  version: "1",
  aliases: ["org.example.TablesSource"],
  config: {},
  task: () => Stream.unwrap(Effect.map(Database, () => Stream.empty))
})
const layer = Plugins.layer([Tables]).pipe(Layer.provide(Layer.succeed(Database, { name: "of the host" })))

describe("Plugins", () => {
  it.effect("finds a definition by its name and its aliases, and only by its kind", () =>
    Effect.gen(function*() {
      const plugins = yield* Plugins
      for (const name of ["Tables", "org.example.TablesSource"]) {
        assert.strictEqual(Option.getOrThrow(plugins.connector(name)).name, "Tables")
      }
      assert.isTrue(Option.isNone(plugins.connector("tables")))
      assert.isTrue(Option.isNone(plugins.find("sink", "Tables")))
    }).pipe(Effect.provide(layer)))

  it.effect("gives a definition what the host provided, also where another one is around", () =>
    Effect.gen(function*() {
      const plugins = yield* Plugins
      const name = plugins.provide(Effect.map(Database, (database) => database.name))
      assert.strictEqual(yield* name, "of the host")
      assert.strictEqual(yield* Effect.provideService(name, Database, { name: "around" }), "of the host")
    }).pipe(Effect.provide(layer)))

  it.effect("lets what is acquired live as long as the scope of whoever runs it", () =>
    Effect.gen(function*() {
      const plugins = yield* Plugins
      const log: Array<string> = []
      const scope = yield* Scope.make()
      const acquire = Effect.acquireRelease(Effect.void, () => Effect.sync(() => log.push("released")))
      yield* Scope.provide(plugins.provide(acquire), scope)
      assert.deepStrictEqual(log, [])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(log, ["released"])
    }).pipe(Effect.provide(layer)))

  it.effect("leaves clock, scheduler and log annotations to whoever runs it", () =>
    Effect.gen(function*() {
      const plugins = yield* Plugins
      const scheduler = new Scheduler.MixedScheduler()
      const clock = yield* Clock.Clock
      const mine: Clock.Clock = { ...clock, currentTimeMillis: Effect.succeed(42) }
      const seen = yield* plugins.provide(
        Effect.all([Scheduler.Scheduler, Clock.currentTimeMillis, References.CurrentLogAnnotations])
      ).pipe(
        Effect.provideService(Scheduler.Scheduler, scheduler),
        Effect.provideService(Clock.Clock, mine),
        Effect.annotateLogs("connector", "orders")
      )
      assert.strictEqual(seen[0], scheduler)
      assert.deepStrictEqual([seen[1], { ...seen[2] }], [42, { connector: "orders" }])
    }).pipe(Effect.provide(layer), Effect.annotateLogs("connector", "none")))
})
