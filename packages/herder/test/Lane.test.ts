import { assert, describe, it } from "@effect/vitest"
import { Lane } from "@kelpie/herder"
import { Script } from "@kelpie/testkit"
import { Effect } from "effect"
import * as Scene from "./fixtures/Scene.ts"

const context: Lane.Context = {
  now: 1000,
  attempt: 8,
  policy: { delayMillis: () => 250, maxDefects: 10, failsWhenExhausted: true },
  leader: "session-1"
}
const tries: Lane.Tries = {
  failures: 3,
  defects: 1,
  firstAt: 0,
  lastAt: 500,
  last: { class: "transient", stage: "generating", message: "down" }
}
const queued: Lane.Lane = { _tag: "Queued", tries }
const running: Lane.Lane = {
  _tag: "Running",
  tries,
  attempt: 7,
  stage: "generating",
  since: 500,
  again: false,
  leader: "session-1"
}
const waiting: Lane.Lane = { _tag: "Waiting", tries, delayMillis: 2000, wakeAt: 2500 }
const parked: Lane.Lane = { _tag: "Parked", tries, reason: "exhausted", fails: true }
const all: ReadonlyArray<Lane.Lane> = [{ _tag: "Idle" }, queued, running, waiting, parked]

const step = (lane: Lane.Lane, event: Lane.Event) => Lane.machine.step(lane, event, context)
const interrupt = (lane: Lane.Lane): ReadonlyArray<Lane.Command> =>
  lane._tag === "Running" ? [{ _tag: "Interrupt", attempt: 7 }] : []

describe("a lane", () => {
  it("that is renewed is queued without failures, from every state; an attempt that runs is interrupted (law 2)", () => {
    for (const lane of all) {
      assert.deepStrictEqual(step(lane, { _tag: "Renewed" }), [{ _tag: "Queued", tries: Lane.fresh }, interrupt(lane)])
    }
  })

  it("that is asked keeps what it does: one that runs does so once more (law 2)", () => {
    const after = all.map((lane) => step(lane, { _tag: "Asked" }))
    assert.deepStrictEqual(after, [
      [{ _tag: "Queued", tries: Lane.fresh }, []],
      [queued, []],
      [{ ...running, again: true }, []],
      [waiting, []],
      [parked, []]
    ])
  })

  it("that is cancelled does nothing any more; an attempt that runs is interrupted (law 11)", () => {
    for (const lane of all) {
      assert.deepStrictEqual(step(lane, { _tag: "Cancelled" }), [{ _tag: "Idle" }, interrupt(lane)])
    }
  })

  it("that an operator parks keeps its failures; an attempt that runs is interrupted (law 8)", () => {
    for (const lane of all) {
      const kept = lane._tag === "Idle" ? Lane.fresh : tries
      const held: Lane.Lane = { _tag: "Parked", tries: kept, reason: "operator", fails: false }
      assert.deepStrictEqual(step(lane, { _tag: "Held" }), [held, interrupt(lane)])
    }
  })

  it("that is due goes on with its failures (law 6)", () => {
    assert.deepStrictEqual(step(waiting, { _tag: "Due" }), [queued, []])
  })
})

describe("an operator's retry", () => {
  it.effect("does not wait for the attempt that runs: it is interrupted, and the next one starts (laws 2 and 12)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", { taskConfigs: [Script.hang()] })
      yield* scene.deploy("orders", scene.source.config())
      yield* scene.advance(1000)
      yield* scene.herder.retry("orders")
      yield* scene.settle
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 1000])
      assert.strictEqual((yield* scene.status("orders")).health, "healthy")
    }))
})
