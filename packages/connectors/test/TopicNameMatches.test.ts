import { assert, describe, it } from "@effect/vitest"
import { TopicNameMatches } from "@kelpie/connectors/TopicNameMatches"
import { assertRefused, predicate } from "./transforming.ts"

describe("TopicNameMatches", () => {
  it("is true when the whole name matches", () => {
    const test = predicate(TopicNameMatches, { pattern: "orders-\\d+|users" })
    assert.isTrue(test({ topic: "orders-12", value: 1 }))
    assert.isTrue(test({ topic: "orders-12", value: null }))
    assert.isTrue(test({ topic: "users", value: 1 }))
    assert.isFalse(test({ topic: "orders-12x", value: 1 }))
    assert.isFalse(test({ topic: "my-users", value: 1 }))
  })

  it("refuses a bad configuration", () => {
    assertRefused(() => predicate(TopicNameMatches, {}), "pattern")
    assertRefused(() => predicate(TopicNameMatches, { pattern: "" }), "pattern", "empty")
    assertRefused(() => predicate(TopicNameMatches, { pattern: "[a" }), "pattern", "not closed")
  })
})
