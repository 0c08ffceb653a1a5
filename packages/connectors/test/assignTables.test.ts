import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { assignTables } from "../src/internal/assignTables.ts"

type Split = ReadonlyArray<ReadonlyArray<string>>

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `t${from + i}`)

/** The tasks that are not the same any more. */
const changes = (before: Split, after: Split): number => {
  let changed = 0
  for (let i = 0; i < Math.max(before.length, after.length); i++) {
    if (JSON.stringify(before[i]) !== JSON.stringify(after[i])) changed++
  }
  return changed
}

const max = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 }))
const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))
const steps = Schema.Array(Schema.Struct({ drop: Schema.Boolean, which: count })).check(Schema.isMaxLength(20))

describe("assignTables", () => {
  it("deals tables to tasks in turn, one task for each table until there are enough tasks", () => {
    assert.deepStrictEqual(assignTables([], names(0, 5), 2), [["t0", "t2", "t4"], ["t1", "t3"]])
    assert.deepStrictEqual(assignTables([], names(0, 2), 5), [["t0"], ["t1"]])
    assert.deepStrictEqual(assignTables([], [], 5), [])
  })

  it.prop("gives a new table to one task, in the same way after a restart", { max, count }, ({ count, max }) => {
    const before = assignTables([], names(0, count), max)
    const after = assignTables(before, names(0, count + 1), max)
    assert.strictEqual(changes(before, after), 1)
    assert.deepStrictEqual(after, assignTables([], names(0, count + 1), max))
  })

  it("fills the place of a task that has no tables left with the last task's", () => {
    assert.deepStrictEqual(assignTables([["a"], ["b"], ["c"]], ["b", "c"], 3), [["c"], ["b"]])
    assert.deepStrictEqual(assignTables([["a"], ["b"], ["c"]], ["b", "c", "d"], 3), [["d"], ["b"], ["c"]])
  })

  it.prop("keeps every table in exactly one task and touches few tasks, whatever comes and goes", { max, steps }, ({
    max,
    steps
  }) => {
    let tables: ReadonlyArray<string> = []
    let split: Split = []
    let created = 0
    for (const { drop, which } of steps) {
      tables = drop && tables.length > 0
        ? tables.filter((_, i) => i !== which % tables.length)
        : [...tables, `t${created++}`]
      const next = assignTables(split, tables, max)
      assert.sameMembers(next.flat(), [...tables])
      assert.strictEqual(next.flat().length, tables.length)
      assert.isTrue(next.every((group) => group.length > 0))
      assert.isAtMost(next.length, max)
      // its own task, and the one that moved into a free place
      assert.isAtMost(changes(split, next), drop ? 2 : 1)
      split = next
    }
  })
})
