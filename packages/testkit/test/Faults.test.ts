import { assert, describe, it } from "@effect/vitest"
import {
  ConfigStore,
  Item,
  Membership,
  Middleware,
  OffsetStore,
  type Operation,
  StoreError,
  TopicLog,
  TransientError
} from "@kelpie/core"
import { Faults } from "@kelpie/testkit"
import { Context, Effect, Fiber, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"

class NoPort extends Error {}
class Port extends Context.Service<Port, {
  readonly read: (key: string) => Effect.Effect<number, NoPort>
  readonly count: Effect.Effect<number>
  readonly open: (name: string) => Effect.Effect<{
    readonly write: (value: number) => Effect.Effect<string, NoPort>
    readonly prepare: (value: number) => { readonly commit: Effect.Effect<void, NoPort> }
  }>
}>()("test/Port") {
  /** Counts what is really done. */
  static readonly counting = Layer.effect(
    this,
    Effect.gen(function*() {
      const done = yield* Ref.make(0)
      const next = Ref.updateAndGet(done, (n) => n + 1)
      return {
        read: () => next,
        count: Ref.get(done),
        open: (name) =>
          Effect.succeed({
            write: (value) => Effect.as(next, `${name} ${value}`),
            prepare: () => ({ commit: Effect.asVoid(next) })
          })
      }
    })
  )
}
const down = new NoPort("down")
const withFaults = <A, E>(plan: Faults.Plan<Port["Service"]>, use: (port: Port["Service"]) => Effect.Effect<A, E>) =>
  Effect.provide(Effect.flatMap(Port, use), Faults.layer(Port, plan).pipe(Layer.provide(Port.counting)))
const outcome = (effect: Effect.Effect<unknown, unknown>) =>
  Effect.match(effect, { onSuccess: String, onFailure: () => "failed" })
const outcomes = (effect: Effect.Effect<unknown, unknown>, times: number) =>
  Effect.forEach(Array.from({ length: times }), () => outcome(effect))

describe("Faults.layer", () => {
  it.effect("fails the calls of a script, without doing them", () =>
    withFaults({ read: [Faults.fail(Faults.calls(1, 3), down)] }, (port) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcomes(port.read("a"), 4), ["failed", "1", "failed", "2"])
        assert.strictEqual(yield* port.count, 2)
      })))

  it.effect("loses the answer of what was done", () =>
    withFaults({ read: [Faults.lose(Faults.first(1), down)] }, (port) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcomes(port.read("a"), 2), ["failed", "2"])
      })))

  it.effect("delays, and does so at the virtual time", () =>
    withFaults({ read: [Faults.delay(Faults.always, "5 seconds")] }, (port) =>
      Effect.gen(function*() {
        const fiber = yield* Effect.forkChild(port.read("a"), { startImmediately: true })
        yield* TestClock.adjust("4999 millis")
        assert.strictEqual(yield* port.count, 0)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* Fiber.join(fiber), 1)
      })))

  it.effect("hangs before or after the operation, until it is interrupted", () =>
    withFaults({
      "read": [Faults.hang(Faults.calls(1))],
      "open.write": [Faults.hang(Faults.calls(1), { after: true })]
    }, (port) =>
      Effect.gen(function*() {
        const before = yield* Effect.forkChild(port.read("a"), { startImmediately: true })
        assert.strictEqual(yield* port.count, 0)
        const handle = yield* port.open("x")
        const after = yield* Effect.forkChild(handle.write(1), { startImmediately: true })
        assert.strictEqual(yield* port.count, 1)
        yield* TestClock.adjust("1 day")
        assert.deepStrictEqual([before.pollUnsafe(), after.pollUnsafe()], [undefined, undefined])
        yield* Fiber.interruptAll([before, after])
      })))

  it.effect("does an operation twice", () =>
    withFaults({ read: [Faults.duplicate(Faults.calls(2))] }, (port) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcomes(port.read("a"), 3), ["1", "3", "4"])
      })))

  it.effect("gives the last answer to the same arguments again", () =>
    withFaults({ read: [Faults.stale(Faults.calls(1, 3, 4))] }, (port) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcome(port.read("a")), "1") // there is no older answer
        assert.deepStrictEqual(yield* outcome(port.read("b")), "2")
        assert.deepStrictEqual(yield* outcome(port.read("a")), "1")
        assert.deepStrictEqual(yield* outcome(port.read("b")), "2")
        assert.deepStrictEqual(yield* outcome(port.read("a")), "3")
      })))

  it.effect("reaches the handles that a port gives, and counts their calls together", () =>
    withFaults({
      "open.write": [Faults.fail(Faults.calls(2), down)],
      "open.prepare.commit": [Faults.fail(Faults.first(1), down)]
    }, (port) =>
      Effect.gen(function*() {
        const [one, other] = [yield* port.open("one"), yield* port.open("other")]
        assert.deepStrictEqual(
          [yield* outcome(one.write(1)), yield* outcome(other.write(2)), yield* outcome(other.write(3))],
          ["one 1", "failed", "other 3"]
        )
        const prepared = one.prepare(1)
        assert.deepStrictEqual(yield* outcomes(prepared.commit, 2), ["failed", "undefined"])
        assert.deepStrictEqual(yield* outcomes(port.read("a"), 1), ["4"])
      })))

  it.effect("applies the first fault of a list outermost", () =>
    withFaults(
      { read: [Faults.duplicate(Faults.always), Faults.lose(Faults.always, down)] },
      (port) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* outcome(port.read("a")), "failed")
          assert.strictEqual(yield* port.count, 1)
        })
    ))

  const drawn = (seed: number | string, chance: number) =>
    withFaults({ seed, read: [Faults.fail(chance, down)] }, (port) => outcomes(port.read("a"), 400))

  it.effect("draws from the seed: the same again for the same, about as often as it was told", () =>
    Effect.gen(function*() {
      const first = yield* drawn("a", 0.25)
      assert.deepStrictEqual(
        (yield* drawn("a", 0.25)).map((one) => one === "failed"),
        first.map((one) => one === "failed")
      )
      assert.notDeepEqual(
        (yield* drawn("b", 0.25)).map((one) => one === "failed"),
        first.map((one) => one === "failed")
      )
      const failures = first.filter((one) => one === "failed").length
      assert.isTrue(failures > 60 && failures < 140, `${failures}`)
      assert.notInclude(yield* drawn("a", 0), "failed")
      assert.isTrue((yield* drawn("a", 1)).every((one) => one === "failed"))
    }))

  it.effect("stops when it is told to", () =>
    Effect.gen(function*() {
      const active = yield* Ref.make(true)
      yield* withFaults({ active: Ref.get(active), read: [Faults.fail(Faults.always, down)] }, (port) =>
        Effect.gen(function*() {
          assert.strictEqual(yield* outcome(port.read("a")), "failed")
          yield* Ref.set(active, false)
          assert.strictEqual(yield* outcome(port.read("a")), "1")
          yield* Ref.set(active, true)
          assert.strictEqual(yield* outcome(port.read("a")), "failed")
        }))
    }))

  it.effect("starts to count anew wherever the layer is built", () =>
    Effect.gen(function*() {
      const layer = Faults.layer(Port, { read: [Faults.fail(Faults.first(1), down)] })
      const read = Effect.flatMap(Port, (port) => outcomes(port.read("a"), 2))
      const provided = layer.pipe(Layer.provide(Port.counting))
      assert.deepStrictEqual(yield* Effect.provide(read, provided), ["failed", "1"])
      assert.deepStrictEqual(yield* Effect.provide(read, provided), ["failed", "1"])
    }))

  it.effect("fits the ports of Kelpie", () =>
    Effect.gen(function*() {
      const unavailable = new StoreError({ kind: "Unavailable", operation: "test" })
      const stores = Layer.mergeAll(
        Faults.layer(ConfigStore, {
          "refresh": [Faults.stale(0.1)],
          "claim": [Faults.delay(0.1, "1 second")],
          "claim.commit": [Faults.lose(Faults.first(1), unavailable)]
        }),
        Faults.layer(OffsetStore, { "open.prepare.commit": [Faults.fail(Faults.first(1), unavailable)] }),
        Faults.layer(TopicLog, { "open.append": [Faults.duplicate(0.1)], "subscribe.read": [Faults.hang(0.1)] }),
        Faults.layer(Membership, { group: [Faults.stale(0.5)] })
      ).pipe(
        Layer.provide([ConfigStore.layerMemory, OffsetStore.layerMemory, TopicLog.layerMemory, Membership.layerSolo()])
      )
      yield* Effect.gen(function*() {
        const claim = yield* (yield* ConfigStore).claim("s", Effect.succeed(true))
        assert.strictEqual(yield* Effect.flip(claim.commit([])), unavailable)
        yield* claim.commit([])
        const writer = yield* (yield* OffsetStore).open(Item.task("a", 0), { token: 1, start: 1 })
        const prepared = writer.prepare([{ partition: "p", offset: "1" }])
        assert.strictEqual(yield* Effect.flip(prepared.commit), unavailable)
        yield* prepared.commit
      }).pipe(Effect.scoped, Effect.provide(stores))
      // @ts-expect-error no such operation
      Faults.layer(ConfigStore, { "claim.comit": [] })
      // @ts-expect-error not an error of that operation
      Faults.layer(ConfigStore, { refresh: [Faults.fail(1, "down")] })
    }))
})

describe("Faults.middleware", () => {
  it.effect("makes some operations fail", () =>
    Effect.gen(function*() {
      const lost = new TransientError({ message: "lost" })
      const layer = Middleware.layer([
        Faults.middleware({
          StartTask: [Faults.fail(Faults.first(2), lost)],
          PollSource: [Faults.stale(Faults.calls(2))]
        })
      ])
      const middleware = yield* Effect.provide(Effect.service(Middleware.Current), layer)
      const start: Operation.Operation = { _tag: "StartTask", connector: "orders", task: 0 }
      assert.deepStrictEqual(yield* outcomes(middleware(start, Effect.succeed("ok")), 3), ["failed", "failed", "ok"])
      let polled = 0
      const poll = middleware({ _tag: "PollSource", connector: "orders", task: 0 }, Effect.sync(() => ++polled))
      assert.deepStrictEqual(yield* outcomes(poll, 3), ["1", "1", "2"])
      assert.strictEqual(yield* middleware({ _tag: "StopTask", connector: "orders", task: 0 }, Effect.succeed(7)), 7)
    }))
})
