import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { createHash, createHmac } from "node:crypto"
import { inspect } from "node:util"
import * as Signature from "../src/internal/signature.ts"

const key = { id: "key-1", secret: Redacted.make("s3cret".repeat(8)), createdAtMillis: 0 }
const target = { method: "POST", path: "/internal/leader" }
const body = Buffer.from("{\"é\":1}")
const nonce = "0123456789abcdef".repeat(2)
const headers = Signature.sign(key, target, { body, nonce, timestampMillis: 1_700_000_000_123 })

describe("the signature of a request", () => {
  it("is what workers of other versions compute too", () => {
    const digest = createHash("sha256").update(body).digest("hex")
    const text = `kelpie-request-1\nPOST\n/internal/leader\n1700000000123\n${nonce}\nkey-1\n${digest}`
    assert.deepStrictEqual(headers, {
      "x-kelpie-key": "key-1",
      "x-kelpie-timestamp": "1700000000123",
      "x-kelpie-nonce": nonce,
      "x-kelpie-digest": digest,
      "x-kelpie-signature": createHmac("sha256", Redacted.value(key.secret)).update(text).digest("hex")
    })
  })

  it("is genuine for what was signed, and nothing else", () => {
    const signed = Signature.read(headers)
    assert.isDefined(signed)
    if (signed === undefined) return
    assert.isTrue(Signature.isGenuine(key.secret, target, signed))
    assert.isFalse(Signature.isGenuine(Redacted.make("another"), target, signed))
    for (
      const changed of [
        { keyId: "key-2" },
        { timestampMillis: 1 },
        { nonce: "f".repeat(32) },
        { digest: "0".repeat(64) },
        { signature: "0".repeat(64) }
      ]
    ) {
      assert.isFalse(Signature.isGenuine(key.secret, target, { ...signed, ...changed }))
    }
    assert.isFalse(Signature.isGenuine(key.secret, { ...target, method: "PUT" }, signed))
    assert.isFalse(Signature.isGenuine(key.secret, { ...target, path: "/" }, signed))
  })

  it("does not show the secret", () => {
    assert.notInclude(`${inspect(headers)}${inspect(key)}${JSON.stringify(key)}`, Redacted.value(key.secret))
  })
})
