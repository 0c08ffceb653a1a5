import { assert, describe, it } from "@effect/vitest"
import * as Report from "../src/Report.ts"

const right = { table: "fruits", source: 3, file: 3, duplicates: 0, database: 3, missing: 0 }

describe("Report", () => {
  it("finds nothing wrong when every count is right, and lets duplicates be", () => {
    assert.deepStrictEqual(Report.problems(3, right), [])
    assert.deepStrictEqual(Report.problems(3, { ...right, duplicates: 7 }), [])
  })

  it("says what is wrong", () => {
    assert.deepStrictEqual(Report.problems(4, right), ["fruits has 3 rows at the source, not 4"])
    assert.deepStrictEqual(Report.problems(3, { ...right, file: 2 }), ["fruits has 2 rows in the file, not 3"])
    assert.deepStrictEqual(Report.problems(3, { ...right, database: 4 }), ["fruits has 4 rows in the database, not 3"])
    assert.deepStrictEqual(Report.problems(3, { ...right, missing: 1 }), ["1 rows of fruits are missing"])
  })

  it("lines up the counts", () => {
    assert.strictEqual(
      Report.format([{ ...right, source: 12_345 }]),
      [
        "table   source  file  duplicates  database  missing",
        "fruits  12,345     3           0         3        0"
      ].join("\n")
    )
  })
})
