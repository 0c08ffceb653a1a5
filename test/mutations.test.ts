/** Every known way to break the runtime can still be put into the code; `pnpm mutations` shows that each is noticed. */
import { assert } from "@effect/vitest"
import { describe, it } from "vitest"
import { check } from "../scripts/mutations.ts"
import { mutations } from "../scripts/mutations/list.ts"
import { apply, type Mutation, refusal } from "../scripts/mutations/Mutation.ts"

describe("the list of mutations", () => {
  it("fits the code: each text stands once in its file, and each suite exists", () => {
    assert.deepStrictEqual(check(), [])
  })

  it("breaks every part of the herder", () => {
    assert.isAtLeast(mutations.length, 16)
  })
})

describe("a mutation", () => {
  const mutation: Mutation = {
    name: "one",
    breaks: "nothing",
    file: "a.ts",
    find: "b + 1",
    replace: "b - $& 1",
    suites: ["simulate"]
  }

  it("is put into a text as it is", () => {
    assert.isUndefined(refusal(mutation, "a = b + 1"))
    assert.strictEqual(apply(mutation, "a = b + 1"), "a = b - $& 1")
  })

  it("is refused when its text is gone, stands there twice, or would not change", () => {
    assert.isDefined(refusal(mutation, "a = b"))
    assert.isDefined(refusal(mutation, "a = b + 1 + b + 1"))
    assert.isDefined(refusal({ ...mutation, replace: "b + 1" }, "a = b + 1"))
  })
})
