import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { createHmac } from "node:crypto"
import { canonical, digest } from "../src/internal/digest.ts"

/** The same value with the members of every object in the opposite order. */
const reversed = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(reversed)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).reverse().map(([key, member]) => [key, reversed(member)]))
    : value

describe("canonical", () => {
  it("sorts members at every depth by their code units, and keeps the order of lists", () => {
    assert.strictEqual(
      canonical({ b: [2, 1, { z: null, a: true }], a: "é\n", "A": 1.5 }),
      `{"A":1.5,"a":"é\\n","b":[2,1,{"a":true,"z":null}]}`
    )
  })

  it("leaves out members without a value, as JSON does", () => {
    assert.strictEqual(canonical({ a: undefined, b: 1 }), canonical({ b: 1 }))
    assert.strictEqual(canonical([undefined]), "[null]")
    assert.strictEqual(canonical(undefined), "null")
  })

  it.prop("is JSON of the same value, whatever the order of members", { value: Schema.Json }, ({ value }) => {
    assert.deepStrictEqual(JSON.parse(canonical(value)), JSON.parse(JSON.stringify(value)))
    assert.strictEqual(canonical(reversed(value)), canonical(value))
  })
})

describe("digest", () => {
  const config = { url: "db", password: "s3cret" }

  it("is the first half of the HMAC-SHA-256 of the canonical text", () => {
    assert.strictEqual(
      digest("c/i", config),
      createHmac("sha256", "c/i").update(`{"password":"s3cret","url":"db"}`).digest("hex").slice(0, 32)
    )
  })

  it("moves with a value and with its key, and with nothing else", () => {
    assert.strictEqual(digest("c/i", { password: "s3cret", url: "db" }), digest("c/i", config))
    assert.notStrictEqual(digest("c/i", { ...config, password: "other" }), digest("c/i", config))
    assert.notStrictEqual(
      digest("c/j", config),
      digest("c/i", config),
      "another incarnation does not show that two are equal"
    )
  })

  it.prop(
    "tells texts apart that only look alike when joined",
    [Arbitrary.array(Arbitrary.schema(Schema.String))],
    ([texts]) => {
      const split = texts.flatMap((text) => [text.slice(0, 1), text.slice(1)])
      assert.notStrictEqual(digest("k", { texts: [...texts, ""] }), digest("k", { texts: split.concat("", "") }))
    }
  )
})
