import { assert, describe, it } from "@effect/vitest"
import { joinedNames } from "../src/internal/joinedNames.ts"

describe("joinedNames", () => {
  it("joins with the delimiter, and leaves a name without a prefix", () => {
    const join = joinedNames("__")
    assert.strictEqual(join("", "a"), "a")
    assert.strictEqual(join("a", "b"), "a__b")
    assert.strictEqual(join("a__b", ""), "a__b__")
    assert.strictEqual(join("constructor", "toString"), "constructor__toString")
  })

  it("gives the same names for more of them than it remembers", () => {
    const join = joinedNames(".")
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 10_000; i++) {
        assert.strictEqual(join(`p${i % 7}`, `n${i}`), `p${i % 7}.n${i}`)
        assert.strictEqual(join(`q${i}`, "n"), `q${i}.n`)
      }
    }
  })
})
