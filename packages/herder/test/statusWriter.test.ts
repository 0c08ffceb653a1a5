import { assert, describe, it } from "@effect/vitest"
import { Item, type Status, StatusStore, StoreError } from "@kelpie/core"
import { Deferred, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as StatusWriter from "../src/internal/statusWriter.ts"

const status = (connector: string, state: Status.State, token = 1): Status.StatusRecord => ({
  connector,
  token,
  state,
  workerId: "w",
  version: "1",
  since: 0
})
const unavailable = new StoreError({ kind: "Unavailable", operation: "put" })

/** A store that notes what it is told; `gate` and `fails` hold up or refuse the next calls. */
const makeStore = () => {
  const script = { calls: [] as Array<string>, gate: undefined as Deferred.Deferred<void> | undefined, fails: 0 }
  const call = (text: string) =>
    Effect.suspend(() => {
      const { gate } = script
      script.gate = undefined
      const wait = gate === undefined ? Effect.void : Deferred.await(gate)
      return Effect.andThen(
        wait,
        Effect.suspend(() => {
          if (script.fails > 0) {
            script.fails--
            script.calls.push(`${text} fails`)
            return Effect.fail(unavailable)
          }
          script.calls.push(text)
          return Effect.void
        })
      )
    })
  const store: StatusStore["Service"] = {
    load: Effect.succeed([]),
    put: (records) => call(`put ${records.map(({ connector, state }) => `${connector} ${state}`).join(", ")}`),
    remove: (items) => call(`remove ${items.map(Item.format).join(", ")}`),
    changes: Stream.never
  }
  return { store, script }
}
const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

describe("the status writer", () => {
  it.effect("writes what it is given, in groups, the last of each item only", () =>
    Effect.gen(function*() {
      const { script, store } = makeStore()
      const writer = yield* StatusWriter.make(store)
      writer.put([status("a", "PAUSED"), status("b", "RUNNING")], [])
      writer.put([status("a", "RUNNING")], [Item.connector("c")])
      yield* settle
      assert.deepStrictEqual(script.calls, ["put a RUNNING, b RUNNING", "remove c"])
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(script.calls.length, 2, "it does not write without need")
    }))

  it.effect("keeps items apart that look alike, and forgets only what was removed last", () =>
    Effect.gen(function*() {
      const { script, store } = makeStore()
      const writer = yield* StatusWriter.make(store)
      writer.put([{ ...status("a", "RUNNING"), task: 0 }, status("a-0", "PAUSED"), status("b", "RUNNING")], [])
      writer.put([], [Item.connector("b"), Item.connector("c")])
      writer.put([status("c", "RUNNING")], [])
      yield* settle
      assert.deepStrictEqual(script.calls, ["put a RUNNING, a-0 PAUSED, c RUNNING", "remove b"])
    }))

  it.effect("gathers while a write is under way, and keeps the order", () =>
    Effect.gen(function*() {
      const { script, store } = makeStore()
      const gate = yield* Deferred.make<void>()
      script.gate = gate
      const writer = yield* StatusWriter.make(store)
      writer.put([status("a", "RUNNING", 1)], [])
      yield* settle
      writer.put([status("a", "FAILED", 2)], [])
      writer.put([status("a", "RUNNING", 3), status("b", "RUNNING")], [])
      yield* settle
      assert.deepStrictEqual(script.calls, [])
      yield* Deferred.succeed(gate, undefined)
      yield* settle
      assert.deepStrictEqual(script.calls, ["put a RUNNING", "put a RUNNING, b RUNNING"])
    }))

  it.effect("tries again with growing delays until the store takes it, with what is newer meanwhile", () =>
    Effect.gen(function*() {
      const { script, store } = makeStore()
      script.fails = 3
      const writer = yield* StatusWriter.make(store)
      writer.put([status("a", "PAUSED"), status("b", "RUNNING")], [Item.connector("c")])
      yield* settle
      writer.put([status("a", "RUNNING")], [])
      const seen: Array<number> = []
      for (const millis of [249, 1, 499, 1, 999, 1]) {
        yield* TestClock.adjust(millis)
        seen.push(script.calls.length)
      }
      assert.deepStrictEqual(seen, [1, 2, 2, 3, 3, 5])
      assert.deepStrictEqual(script.calls, [
        "put a PAUSED, b RUNNING fails",
        "put a RUNNING, b RUNNING fails",
        "put a RUNNING, b RUNNING fails",
        "put a RUNNING, b RUNNING",
        "remove c"
      ])
      script.fails = 1
      writer.put([status("a", "FAILED")], [])
      yield* TestClock.adjust(250)
      assert.strictEqual(script.calls.at(-1), "put a FAILED", "the first delay again after a success")
    }))

  it.effect("keeps what came while a write was under way that fails: it is newer", () =>
    Effect.gen(function*() {
      const { script, store } = makeStore()
      const gate = yield* Deferred.make<void>()
      script.gate = gate
      script.fails = 1
      const writer = yield* StatusWriter.make(store)
      writer.put([status("a", "PAUSED"), status("b", "RUNNING")], [])
      yield* settle
      writer.put([status("a", "RUNNING")], [])
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(script.calls, ["put a PAUSED, b RUNNING fails", "put a RUNNING, b RUNNING"])
    }))

  it.effect("removes an item that is gone by the time the store answers again", () =>
    Effect.gen(function*() {
      const { script, store } = makeStore()
      script.fails = 1
      const writer = yield* StatusWriter.make(store)
      writer.put([status("a", "RUNNING")], [])
      yield* settle
      writer.put([], [Item.connector("a")])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(script.calls, ["put a RUNNING fails", "remove a"])
    }))

  it.effect("flushes at once, also while it waits after a failure", () =>
    Effect.gen(function*() {
      const { script, store } = makeStore()
      script.fails = 1
      const writer = yield* StatusWriter.make(store)
      writer.put([status("a", "RUNNING")], [])
      yield* settle
      yield* writer.flush
      assert.deepStrictEqual(script.calls, ["put a RUNNING fails", "put a RUNNING"])
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(script.calls.length, 2)
    }))

  it.effect("flushes behind the write that is under way: an older status is not stored after a newer one", () =>
    Effect.gen(function*() {
      const { script, store } = makeStore()
      const gate = yield* Deferred.make<void>()
      script.gate = gate
      const scope = yield* Scope.make()
      const writer = yield* Scope.provide(StatusWriter.make(store), scope)
      writer.put([status("a", "PAUSED")], [])
      yield* settle
      writer.put([status("a", "RUNNING")], [])
      const flushing = yield* Effect.forkChild(writer.flush)
      yield* settle
      assert.isUndefined(flushing.pollUnsafe(), "what is under way is not stored yet")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(flushing)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(script.calls, ["put a PAUSED", "put a RUNNING"])
    }))

  it.effect("gives up flushing when the store refuses once more, and goes on afterwards", () =>
    Effect.gen(function*() {
      const { script, store } = makeStore()
      const writer = yield* StatusWriter.make(store)
      yield* settle
      script.fails = 1
      writer.put([status("a", "RUNNING")], [])
      yield* writer.flush
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(script.calls, ["put a RUNNING fails", "put a RUNNING"])
    }))

  it.effect("writes through the store in memory", () =>
    Effect.gen(function*() {
      const store = yield* StatusStore
      const writer = yield* StatusWriter.make(store)
      writer.put([status("a", "RUNNING"), status("b", "RUNNING")], [])
      yield* writer.flush
      writer.put([], [Item.connector("b")])
      yield* writer.flush
      assert.deepStrictEqual((yield* store.load).map((record) => record.connector), ["a"])
    }).pipe(Effect.provide(Layer.fresh(StatusStore.layerMemory))))
})
