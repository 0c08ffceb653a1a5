import { assert, describe, it } from "@effect/vitest"
import { HasHeaderKey } from "@kelpie/connectors/HasHeaderKey"
import { assertRefused, predicate } from "./transforming.ts"

describe("HasHeaderKey", () => {
  it("is true for a record with at least one header of the name", () => {
    const test = predicate(HasHeaderKey, { name: "trace" })
    assert.isTrue(test({ topic: "t", value: 1, headers: [["a", 1], ["trace", null], ["trace", 2]] }))
    assert.isFalse(test({ topic: "t", value: 1, headers: [["Trace", 1]] }))
    assert.isFalse(test({ topic: "t", value: 1, headers: [] }))
    assert.isFalse(test({ topic: "t", value: 1 }))
  })

  it("refuses a configuration without a name", () => {
    assertRefused(() => predicate(HasHeaderKey, {}), "name")
    assertRefused(() => predicate(HasHeaderKey, { name: " " }), "name", "empty")
  })
})
