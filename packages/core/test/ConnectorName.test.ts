import { assert, describe, it } from "@effect/vitest"
import { ConfigKey, ConnectorKeys, ConnectorName } from "@kelpie/core"
import { Result, Schema } from "effect"

describe("ConnectorName", () => {
  for (
    const name of [
      "orders",
      "a/b",
      "100%",
      "a b",
      "a\\b",
      "{a}",
      "a;b=c",
      "été",
      "🦀",
      "__proto__",
      "constructor",
      "...",
      ".a"
    ]
  ) {
    it(`accepts ${JSON.stringify(name)}`, () => {
      assert.strictEqual(ConnectorName.check(name), undefined)
    })
  }

  it("refuses empty and blank names", () => {
    for (const name of ["", " ", "\t\n", "\u00a0"]) {
      assert.strictEqual(ConnectorName.check(name), "String may not be empty")
    }
  })

  it("lists the control characters of a name", () => {
    assert.strictEqual(
      ConnectorName.check("cr-\n\tb"),
      "String may not contain control sequences but had the following ASCII chars: 10, 9"
    )
    assert.match(ConnectorName.check("a\u007fb\u0085") ?? "", /ASCII chars: 127, 133$/)
  })

  it("refuses white space around a name, half surrogates and path segments that clients resolve", () => {
    for (const name of [" a", "a ", "a\u2003", "\ud83e", "a\udc00b", ".", ".."]) {
      assert.isString(ConnectorName.check(name), JSON.stringify(name))
    }
  })

  it("counts bytes of UTF-8, not characters", () => {
    assert.strictEqual(ConnectorName.check("a".repeat(255)), undefined)
    assert.strictEqual(ConnectorName.check("a".repeat(256)), "String may not be longer than 255 bytes but had 256")
    assert.strictEqual(ConnectorName.check("é".repeat(127)), undefined)
    assert.strictEqual(ConnectorName.check("é".repeat(128)), "String may not be longer than 255 bytes but had 256")
    assert.strictEqual(ConnectorName.check("🦀".repeat(64)), "String may not be longer than 255 bytes but had 256")
  })

  it.prop("an accepted name survives its percent-encoded path", { name: Schema.String }, ({ name }) => {
    if (ConnectorName.check(name) !== undefined) return
    const url = new URL(`http://worker/connectors/${encodeURIComponent(name)}/config`)
    assert.strictEqual(decodeURIComponent(url.pathname.split("/")[2] ?? ""), name)
    assert.strictEqual(url.pathname.split("/").length, 4)
    assert.isAtMost(new TextEncoder().encode(name).length, ConnectorName.maxBytes)
  })

  it("is the rule of the key name, which is not trimmed", () => {
    assert.deepStrictEqual(
      ConfigKey.decodeKey(ConnectorKeys.common.name, { name: " a" }),
      Result.fail("Invalid value  a for configuration name: String may not begin or end with white space")
    )
  })
})
