import { assert, describe, it } from "@effect/vitest"
import { Contract, TestRuntime } from "@kelpie/testkit"
import { describeContract } from "@kelpie/testkit/vitest"
import { Context, Effect, Exit, Layer, Ref } from "effect"

class Counter extends Context.Service<Counter, { readonly next: Effect.Effect<number> }>()("test/Counter") {}
/** Counts as long as its layer lives. */
const forgetful = Layer.effect(
  Counter,
  Effect.map(Ref.make(0), (count) => ({ next: Ref.updateAndGet(count, (n) => n + 1) }))
)
/** Counts as long as its world lives. */
const lasting = Effect.map(
  Ref.make(0),
  (count) => Layer.succeed(Counter, { next: Ref.updateAndGet(count, (n) => n + 1) })
)

const isOne = (n: number) => n === 1 ? Effect.void : Effect.fail(`${n} is not one`)
const CounterContract = (world: Contract.World<Counter>, options: Contract.Options = {}) =>
  Contract.laws(Counter, world, options, ({ durable, ends, law, notified, shared, sharing }) => [
    law("starts with one", (counter) => Effect.flatMap(counter.next, isOne)),
    durable("goes on", (open) =>
      Effect.gen(function*() {
        const once = Effect.scoped(Effect.flatMap(open, (counter) => counter.next))
        yield* isOne(yield* once)
        yield* isOne((yield* once) - 1)
      })),
    shared(
      "counts together",
      (one, other) => Effect.andThen(one.next, Effect.flatMap(other.next, (n) => isOne(n - 1)))
    ),
    sharing("opens by itself", (open) => open),
    notified("tells", () => Effect.void),
    ends((counter) => counter.next)
  ])
const names = (laws: ReadonlyArray<Contract.Law>) => laws.map(({ name }) => name)
const run = (laws: ReadonlyArray<Contract.Law>) => TestRuntime.runSync(Contract.broken(laws), { advance: "1 hour" })

describe("Contract", () => {
  it("gives each law a world of its own, which it may open again", () => {
    assert.deepStrictEqual(run(CounterContract(lasting)), [])
  })

  it("gives the laws that are broken, with what was wrong", () => {
    const all = run(CounterContract(Effect.succeed(forgetful)))
    assert.deepStrictEqual(all.map(({ law }) => law), ["goes on", "counts together"])
    assert.include(all[0]?.message, "0 is not one")
    assert.instanceOf(all[0], Contract.Broken)
  })

  it("leaves out what an implementation does not offer", () => {
    const world = Effect.succeed(forgetful)
    const own = ["starts with one", "closing the layer ends every fiber that was started in it"]
    assert.deepStrictEqual(names(CounterContract(world, { durable: false })), own)
    assert.sameMembers(names(CounterContract(world, { durable: false, shared: true, notifies: false })), [
      ...own,
      "counts together",
      "opens by itself"
    ])
    assert.sameMembers(names(CounterContract(world, { shared: false })), [...own, "goes on"])
    assert.strictEqual(CounterContract(world).length, 6)
  })

  it("takes a world that cannot be made, or a layer that cannot be built, for broken", () => {
    const messages = (world: Contract.World<Counter>) =>
      run(CounterContract(world, { durable: false })).map(({ message }) => message)
    assert.isTrue(messages(Effect.fail("no disk")).every((message) => message.includes("no disk")))
    const layer = Layer.effect(Counter, Effect.fail("locked"))
    assert.isTrue(messages(Effect.succeed(layer)).every((message) => message.includes("locked")))
  })

  it("takes defects, interruptions and hangs for broken, each under the name of its law", () => {
    const laws = [
      Contract.law("dies", Effect.die(new Error("a bug"))),
      Contract.law("is interrupted", Effect.interrupt),
      Contract.law("hangs", Effect.never, { limit: "5 seconds" }),
      Contract.law("hangs and does not listen", Effect.uninterruptible(Effect.never), { limit: "5 seconds" }),
      Contract.law("holds", Effect.void)
    ]
    const all = run(laws)
    assert.deepStrictEqual(all.map(({ law }) => law), ["dies", "is interrupted", "hangs", "hangs and does not listen"])
    assert.strictEqual(all[2]?.message, "did not end within 5s")
  })

  it("closes what a law opened, before the law ends", () => {
    const log: Array<string> = []
    const world = Effect.as(
      Effect.addFinalizer(() => Effect.sync(() => log.push("world"))),
      Layer.effect(
        Counter,
        Effect.as(Effect.addFinalizer(() => Effect.sync(() => log.push("layer"))), { next: Effect.succeed(1) })
      )
    )
    run(CounterContract(world, { durable: false }))
    assert.deepStrictEqual(log, ["layer", "world", "layer", "world"])
  })

  it.effect("is interrupted with whoever runs it", () =>
    Effect.gen(function*() {
      const law = Contract.law("hangs", Effect.never)
      const exit = TestRuntime.runSyncExit(Effect.timeoutOption(law.run, "1 second"), { advance: "1 minute" })
      assert.isTrue(Exit.isSuccess(exit) && exit.value._tag === "None")
    }))
})

describeContract("describeContract registers the laws", CounterContract(lasting))
