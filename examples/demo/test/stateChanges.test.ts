import { assert, describe, it } from "@effect/vitest"
import * as StateChanges from "../src/stateChanges.ts"

describe("stateChanges", () => {
  it("tells what came between two readings", () => {
    const before = new Map([["UNASSIGNED->RUNNING", 3], ["RUNNING->FAILED", 1]])
    const after = new Map([["UNASSIGNED->RUNNING", 4], ["RUNNING->FAILED", 1], ["FAILED->RUNNING", 2]])
    assert.deepStrictEqual(StateChanges.between(before, before), [])
    assert.deepStrictEqual(StateChanges.between(before, after), [
      "UNASSIGNED->RUNNING 1 time",
      "FAILED->RUNNING 2 times"
    ])
  })
})
