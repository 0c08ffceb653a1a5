import { assert, describe, it } from "@effect/vitest"
import type { ConnectSchema } from "@kelpie/core"
import { perSchema } from "../src/internal/perSchema.ts"
import { assertRefused } from "./transforming.ts"

const schema = (type: ConnectSchema.Type): ConnectSchema.ConnectSchema => ({ type })

describe("perSchema", () => {
  it("does the work once for each schema object, however they alternate", () => {
    let calls = 0
    const typeOf = perSchema(({ type }) => {
      calls += 1
      return type
    })
    const [a, b] = [schema("int8"), schema("string")]
    for (let i = 0; i < 10; i++) {
      assert.strictEqual(typeOf(a), "int8")
      assert.strictEqual(typeOf(a), "int8")
      assert.strictEqual(typeOf(b), "string")
    }
    assert.strictEqual(calls, 2)
    assert.strictEqual(typeOf(schema("int8")), "int8")
    assert.strictEqual(calls, 3)
  })

  it("does not remember a refusal, nor mix it up with the schema before", () => {
    const typeOf = perSchema(({ type }) => {
      if (type === "map") throw new Error("no maps")
      return type
    })
    const [good, bad] = [schema("int8"), schema("map")]
    assert.strictEqual(typeOf(good), "int8")
    for (let i = 0; i < 2; i++) assertRefused(() => typeOf(bad), "no maps")
    assert.strictEqual(typeOf(good), "int8")
  })
})
