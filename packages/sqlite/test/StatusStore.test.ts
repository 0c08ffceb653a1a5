import { assert, describe, it } from "@effect/vitest"
import { Item, type Status, StatusStore } from "@kelpie/core"
import { SqliteStatusStore } from "@kelpie/sqlite"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Fixtures from "./fixtures.ts"

const { patience } = Fixtures

const on = (directory: string) => SqliteStatusStore.layer({ directory })
const status = (connector: string, token: number, change: Partial<Status.StatusRecord> = {}): Status.StatusRecord => ({
  connector,
  token,
  state: "RUNNING",
  workerId: "w1",
  version: "1.0.0",
  since: 5,
  ...change
})

describe("SqliteStatusStore", () => {
  it.effect("keeps the latest status of each item over a restart, whole", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const failed = status("a", 7, { task: 0, state: "FAILED", trace: "Error: ü\n at x", revision: 3 })
      yield* StatusStore.use((store) =>
        store.put([status("a", 1), status("a", 2, { task: 0 }), failed, status("a", 3)])
      )
        .pipe(Effect.provide(on(directory)))
      const loaded = yield* StatusStore.use((store) => store.load).pipe(Effect.provide(on(directory)))
      assert.sameDeepMembers([...loaded], [failed, status("a", 3)])
    }), patience)

  it.effect("drops a status with an older token, and stores one with the same", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const store = yield* StatusStore
        yield* store.put([status("a", 5)])
        yield* store.put([status("a", 4, { state: "FAILED" })])
        assert.deepStrictEqual(yield* store.load, [status("a", 5)])
        yield* store.put([status("a", 5, { state: "PAUSED" })])
        assert.deepStrictEqual(yield* store.load, [status("a", 5, { state: "PAUSED" })])
      }).pipe(Effect.provide(on(directory)))
    }), patience)

  it.effect("forgets items", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const store = yield* StatusStore
        yield* store.put([status("a", 5), status("a", 5, { task: 1 })])
        yield* store.remove([Item.connector("a"), Item.connector("nobody")])
        assert.deepStrictEqual(yield* store.load, [status("a", 5, { task: 1 })])
      }).pipe(Effect.provide(on(directory)))
    }), patience)

  it.effect("tells what other processes stored, and not what this one did", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const store = yield* StatusStore
        const seen = yield* store.changes.pipe(
          Stream.take(1),
          Stream.runCollect,
          Effect.forkScoped({ startImmediately: true })
        )
        yield* store.load // answered after the first look, which marks the place
        yield* store.put([status("mine", 1)])
        assert.strictEqual(yield* (yield* Fixtures.start("opener", [directory, "theirs"])).line, "done")
        yield* Fixtures.until(
          Effect.andThen(TestClock.adjust("5 seconds"), Effect.sync(() => seen.pollUnsafe() !== undefined))
        )
        const changes = yield* Fiber.join(seen)
        assert.deepStrictEqual(changes.flat().map(({ connector }) => connector), ["theirs"])
      }).pipe(Effect.scoped, Effect.provide(on(directory)))
    }), patience)
})
