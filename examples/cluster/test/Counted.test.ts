import { assert, describe, it } from "@effect/vitest"
import * as Counted from "../src/Counted.ts"
import * as Placed from "../src/Placed.ts"

describe("what arrived", () => {
  it("is counted: what is there, what is missing, what comes twice", () => {
    assert.deepStrictEqual(Counted.count([0, 1, 1, 3, 3, 3], 5), { arrived: 3, gaps: 2, duplicates: 3 })
    assert.deepStrictEqual(
      Counted.sum([Counted.count([0], 1), Counted.count([0, 0], 2)]),
      { arrived: 2, gaps: 1, duplicates: 1 }
    )
    assert.strictEqual(Counted.numberOf("42abc"), 42)
  })
})

describe("who runs what", () => {
  const answer = (worker: string, state = "RUNNING") => ({
    orders: {
      status: {
        connector: { state: "RUNNING", worker_id: "a:1" },
        tasks: [{ id: 0, state, worker_id: worker }]
      }
    }
  })

  it("is read from the statuses: only what runs", () => {
    assert.deepStrictEqual([...Placed.read(answer("b:1"))], [["orders", "a:1"], ["orders-0", "b:1"]])
    assert.deepStrictEqual(Placed.of(Placed.read(answer("b:1", "FAILED")), "b:1"), [])
  })

  it("is compared: what moved", () => {
    assert.deepStrictEqual(Placed.moved(Placed.read(answer("b:1")), Placed.read(answer("c:1"))), ["orders-0"])
  })
})
