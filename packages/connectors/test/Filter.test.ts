import { assert, it } from "@effect/vitest"
import { Filter } from "@kelpie/connectors/Filter"
import { transform, valued } from "./transforming.ts"

it("Filter drops every record", () => {
  for (const value of [{ a: 1 }, "x", null]) assert.isUndefined(transform(Filter)(valued(value)))
})
