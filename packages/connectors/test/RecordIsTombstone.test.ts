import { assert, it } from "@effect/vitest"
import { RecordIsTombstone } from "@kelpie/connectors/RecordIsTombstone"
import { predicate, struct, valued } from "./transforming.ts"

it("RecordIsTombstone is true for a value of null only", () => {
  const test = predicate(RecordIsTombstone)
  assert.isTrue(test(valued(null)))
  assert.isTrue(test(valued(null, struct({}))))
  for (const value of [0, "", false, {}, []]) assert.isFalse(test(valued(value)))
})
