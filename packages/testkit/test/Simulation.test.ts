import { assert, describe, it } from "@effect/vitest"
import { ConfigRecord, Item } from "@kelpie/core"
import * as Simulation from "@kelpie/testkit/Simulation"
import { Effect } from "effect"
import * as Checker from "../src/internal/simulation/checker.ts"

describe("Simulation", () => {
  it.effect("holds every law over some seeds", () =>
    Effect.gen(function*() {
      for (let seed = 1; seed <= 10; seed++) {
        const result = yield* Simulation.run({ seed, operations: 80 })
        if (result._tag === "Failed") assert.fail(Simulation.format(result))
      }
    }), 60_000)

  it.effect("holds every law among several workers, over some seeds", () =>
    Effect.gen(function*() {
      for (const [seed, workers] of [[1, 3], [2, 3], [3, 5]] as const) {
        const result = yield* Simulation.run({ seed, workers, operations: 60 })
        if (result._tag === "Failed") assert.fail(Simulation.format(result))
      }
    }), 60_000)

  it.effect("gives the same timeline for the same seed with several workers", () =>
    Effect.gen(function*() {
      const first = yield* Simulation.run({ seed: 7, workers: 3, operations: 30 })
      assert.deepStrictEqual(yield* Simulation.run({ seed: 7, workers: 3, operations: 30 }), first)
    }), 60_000)

  it.effect("gives the same timeline for the same seed, and another one for another", () =>
    Effect.gen(function*() {
      const first = yield* Simulation.run({ seed: 7, operations: 60 })
      const again = yield* Simulation.run({ seed: 7, operations: 60 })
      const other = yield* Simulation.run({ seed: 8, operations: 60 })
      assert.deepStrictEqual(again, first)
      assert.notDeepEqual(other.timeline, first.timeline)
    }))

  it.effect("plays given steps again", () =>
    Effect.gen(function*() {
      const operations: ReadonlyArray<Simulation.Operation> = [
        { _tag: "Boot" },
        { _tag: "CreateSink", name: "sink", tasks: 1 },
        { _tag: "Create", name: "a", tasks: 1 },
        { _tag: "Emit", name: "a", task: 0, count: 1 },
        { _tag: "Crash" }
      ]
      const replayed = yield* Simulation.replay({ seed: 1, operations })
      assert.strictEqual(replayed._tag, "Passed")
      assert.deepStrictEqual(
        replayed.timeline.map((line) => line.slice(11)),
        [
          "Boot",
          "CreateSink name=sink tasks=1",
          "Create name=a tasks=1",
          "Emit name=a task=0 count=1",
          "Crash",
          "faults stop"
        ]
      )
    }))
})

describe("a worker that shuts down", () => {
  it.effect("leaves no connector code behind when its stores do not answer", () =>
    Effect.gen(function*() {
      const replayed = yield* Simulation.replay({
        seed: 47,
        operations: [
          { _tag: "Boot" },
          { _tag: "Create", name: "a", tasks: 2 },
          { _tag: "CreateSink", name: "sink", tasks: 2 },
          { _tag: "Emit", name: "a", task: 0, count: 5 },
          { _tag: "Trouble", chance: 1, millis: 60_000 },
          { _tag: "Emit", name: "a", task: 1, count: 5 },
          { _tag: "Shutdown" }
        ]
      })
      if (replayed._tag === "Failed") assert.fail(Simulation.format(replayed))
    }))
})

/** A commit as the log accepts it. */
const commit = (checker: Checker.Checker, writes: ReadonlyArray<ConfigRecord.Write>, position: number) =>
  checker.committed(1, 1, writes.map((write, index) => ({ ...ConfigRecord.encode(write), position: position + index })))

const entry = (revision: number): ConfigRecord.ConnectorEntry => ({
  incarnation: "first",
  revision,
  config: {},
  target: "STARTED",
  retries: 0,
  held: false
})
const owned = (session: string): ConfigRecord.PlacementEntry => ({ _tag: "Owned", session })
const releasing = (session: string): ConfigRecord.PlacementEntry => ({ _tag: "Releasing", session, reason: "changed" })

describe("the checker of a simulation", () => {
  const breaks = (law: string, what: string, act: (checker: Checker.Checker) => void) =>
    it(`${law}: ${what}`, () => {
      const checker = Checker.make()
      act(checker)
      assert.strictEqual(checker.violation()?.law, law)
    })

  breaks("I1", "an older claim appends", (checker) => checker.committed(1, 2, []))
  breaks("I2", "a position is given twice", (checker) => {
    commit(checker, [ConfigRecord.connector("a", entry(1))], 1)
    commit(checker, [ConfigRecord.connector("a", entry(2))], 1)
  })
  breaks("I4", "a task set names another incarnation", (checker) => {
    commit(checker, [ConfigRecord.connector("a", entry(1))], 1)
    const set = { incarnation: "second", revision: 1, digest: "", config: {}, tasks: [] }
    commit(checker, [ConfigRecord.taskSet("a", set)], 2)
  })
  breaks("I5", "an item is given away while its owner runs it", (checker) => {
    commit(checker, [ConfigRecord.placement(Item.connector("a"), owned("s1"))], 1)
    commit(checker, [ConfigRecord.placement(Item.connector("a"), owned("s2"))], 2)
  })
  breaks("I6", "a task is placed before another is released", (checker) => {
    commit(checker, [ConfigRecord.placement(Item.task("a", 0), releasing("s1"))], 1)
    commit(checker, [ConfigRecord.placement(Item.task("a", 1), owned("s1"))], 2)
  })
  breaks("I7", "a replaced run writes", (checker) => {
    checker.opened("offsets", Item.task("a", 0), { token: 2, start: 1 })
    checker.wrote("offsets", Item.task("a", 0), { token: 1, start: 1 })
  })
  breaks("I9", "an offset is ahead of its records", (checker) => checker.offsetStored("a", 0, 1))
  breaks("I9", "a position is ahead of the target", (checker) => checker.positionStored("sink", "t", 0, 1))
  breaks(
    "I14",
    "an acknowledged connector is not there",
    (checker) => checker.compare(new Map([["a", { known: true, exists: true }]]))
  )

  it("an owner whose session has ended may be replaced", () => {
    const checker = Checker.make()
    commit(checker, [ConfigRecord.placement(Item.connector("a"), owned("s1"))], 1)
    checker.ended("s1")
    commit(checker, [ConfigRecord.placement(Item.connector("a"), owned("s2"))], 2)
    assert.isUndefined(checker.violation())
  })
})
