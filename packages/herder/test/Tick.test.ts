import { assert, describe, it } from "@effect/vitest"
import { ConfigStore, Membership } from "@kelpie/core"
import { type Plan, Tick, type World } from "@kelpie/herder"
import { Context, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as Running from "./fixtures/Running.ts"

const settings: World.Settings = {
  workerId: "me:8083",
  limits: { generate: 1, generateSlow: 1, start: 1, orphans: 1 },
  policies: () => ({
    lane: { delayMillis: () => undefined, maxDefects: 1, failsWhenExhausted: true },
    restart: { delayMillis: () => undefined, budget: 0, windowMillis: 1 }
  }),
  confirmDelayMillis: () => 250
}
const membership = Membership.given("me:8083", Effect.succeed({ self: undefined, members: [], leader: undefined }))
const message: Plan.Message = { _tag: "Resync" }

/** A tick on an empty log. */
const make = Effect.fnUntraced(function*(act: (tick: Tick.Tick) => Effect.Effect<void>) {
  const configStore = Context.get(yield* Layer.build(ConfigStore.layerMemory), ConfigStore)
  return Tick.make(settings, (tick) => ({ configStore, membership, act: () => act(tick) }))
})

/** A tick each of whose rounds puts one more message into its inbox, so many times. */
const chain = (count: number) => {
  let acted = 0
  const act = (tick: Tick.Tick) =>
    Effect.sync(() => {
      if (++acted < count) tick.post(message)
    })
  return { act, acted: Effect.sync(() => acted) }
}

describe("a tick", () => {
  it.effect("takes what its own rounds bring", () =>
    Effect.gen(function*() {
      const { act } = chain(10)
      const tick = yield* make(act)
      tick.post(message)
      assert.strictEqual((yield* tick.tick).consumed.length, 10)
      assert.strictEqual((yield* tick.tick).consumed.length, 0)
    }))

  it.effect("has 64 rounds at most, and leaves the rest to the next one", () =>
    Effect.gen(function*() {
      const { act } = chain(100)
      const tick = yield* make(act)
      tick.post(message)
      assert.strictEqual((yield* tick.tick).consumed.length, 64)
      assert.strictEqual((yield* tick.tick).consumed.length, 36)
    }))
})

describe("the loop", () => {
  it.effect("ticks again at once when a tick leaves something", () =>
    Effect.gen(function*() {
      const { act, acted } = chain(1000)
      const tick = yield* make(act)
      yield* Effect.forkScoped(tick.loop)
      tick.post(message)
      yield* Running.settled(acted, (times) => times === 1000)
    }))

  it.effect("hears a message that comes while it acts", () =>
    Effect.gen(function*() {
      let acted = 0
      const tick = yield* make(() =>
        Effect.suspend(() => {
          acted++
          return Effect.sleep("1 second")
        })
      )
      yield* Effect.forkScoped(tick.loop)
      tick.post(message)
      yield* Running.settled(Effect.sync(() => acted), (times) => times === 1)
      tick.post(message)
      yield* TestClock.adjust("1 second")
      yield* Running.settled(Effect.sync(() => acted), (times) => times === 2)
    }))

  it.effect("goes on a second after a defect, looks at everything again, and says that it failed", () =>
    Effect.gen(function*() {
      let acted = 0
      const tick = yield* make(() => Effect.suspend(() => ++acted === 1 ? Effect.die(new Error("a bug")) : Effect.void))
      yield* Effect.forkScoped(Effect.provide(tick.loop, Logger.layer([])))
      tick.post(message)
      yield* Running.settled(Effect.sync(tick.failing), (failing) => failing)
      assert.strictEqual(acted, 1)
      yield* TestClock.adjust("1 second")
      yield* Running.settled(Effect.sync(tick.failing), (failing) => !failing)
      assert.strictEqual(acted, 2)
    }))
})
