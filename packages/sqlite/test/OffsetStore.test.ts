import { assert, describe, it } from "@effect/vitest"
import { Item, OffsetStore, TopicLog } from "@kelpie/core"
import { SqliteOffsetStore } from "@kelpie/sqlite"
import { Effect } from "effect"
import * as Fixtures from "./fixtures.ts"

const { patience } = Fixtures

const on = (directory: string) => SqliteOffsetStore.layer({ directory })
const item = Item.task("orders", 0)
const run = (token: number, start = 1): Item.Run => ({ token, start })
const at = (partition: string, offset: string | null) => ({ partition, offset })

describe("SqliteOffsetStore", () => {
  it.effect("keeps offsets over a restart; null removes a partition", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const writer = yield* OffsetStore.use((store) => store.open(item, run(1)))
        yield* writer.prepare([at("p1", "1"), at("p2", "2"), at("p3", "3")]).commit
        yield* writer.prepare([at("p1", "10"), at("p2", null)]).commit
      }).pipe(Effect.scoped, Effect.provide(on(directory)))
      yield* Effect.gen(function*() {
        const store = yield* OffsetStore
        assert.deepStrictEqual(yield* store.read("orders", ["p3", "p2", "p1"]), ["3", undefined, "10"])
        assert.sameDeepMembers([...yield* store.list("orders")], [at("p1", "10"), at("p3", "3")])
        assert.deepStrictEqual(yield* store.list("others"), [])
      }).pipe(Effect.provide(on(directory)))
    }), patience)

  it.effect("accepts writes of the newest run only, also after a restart (I7)", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const store = yield* OffsetStore
        const older = yield* store.open(item, run(1, 2))
        const prepared = older.prepare([at("p", "old")])
        const newer = yield* store.open(item, run(2, 1))
        assert.strictEqual((yield* Effect.flip(prepared.commit)).kind, "Fenced")
        assert.strictEqual((yield* Effect.flip(store.open(item, run(1, 3)))).kind, "Fenced")
        yield* newer.prepare([at("p", "new")]).commit
        assert.deepStrictEqual(yield* store.read("orders", ["p"]), ["new"])
      }).pipe(Effect.scoped, Effect.provide(on(directory)))
      yield* Effect.gen(function*() {
        const store = yield* OffsetStore
        assert.strictEqual((yield* Effect.flip(store.open(item, run(1, 9)))).kind, "Fenced")
        yield* store.open(item, run(2, 1))
        yield* store.open(Item.task("orders", 1), run(1, 1)) // floors are per item
        yield* store.open(Item.connector("orders"), run(1, 1))
      }).pipe(Effect.scoped, Effect.provide(on(directory)))
    }), patience)

  it.effect("a fence stops older runs without a writer, and never lowers a floor", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const store = yield* OffsetStore
        const writer = yield* store.open(item, run(3))
        yield* store.fence([{ item, run: run(2) }, { item: Item.connector("x"), run: run(9) }])
        yield* writer.prepare([at("p", "1")]).commit
        yield* store.fence([{ item, run: run(4) }])
        assert.strictEqual((yield* Effect.flip(writer.prepare([at("p", "2")]).commit)).kind, "Fenced")
        assert.strictEqual((yield* Effect.flip(store.open(Item.connector("x"), run(8)))).kind, "Fenced")
        assert.deepStrictEqual(yield* store.read("orders", ["p"]), ["1"])
      }).pipe(Effect.scoped, Effect.provide(on(directory)))
    }), patience)

  it.effect("stores offsets after the records when the log is of another engine", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const offsets = yield* OffsetStore
        const log = yield* TopicLog
        const source = yield* offsets.open(item, run(1))
        const writer = yield* log.open(item, run(1))
        yield* writer.append([{ topic: "t", records: [] }], source.prepare([at("p", "1")]))
        assert.deepStrictEqual(yield* offsets.read("orders", ["p"]), ["1"])
      }).pipe(Effect.scoped, Effect.provide([on(directory), TopicLog.layerMemory]))
    }), patience)
})
