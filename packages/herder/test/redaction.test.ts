import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as Redaction from "../src/internal/redaction.ts"

describe("redaction", () => {
  it("hides every occurrence of a password and of a resolved variable", () => {
    const redact = Redaction.make(["pass"], ["tokentoken"])
    assert.strictEqual(redact("pass: tokentoken and pass"), "[hidden]: [hidden] and [hidden]")
    assert.strictEqual(redact("nothing here"), "nothing here")
  })

  it("hides a secret that holds another as a whole", () => {
    assert.strictEqual(
      Redaction.make(["secret", "secret-long"], [])("is secret-long or secret"),
      "is [hidden] or [hidden]"
    )
    assert.strictEqual(Redaction.make(["secret-long", "secret"], [])("is secret-long"), "is [hidden]")
  })

  it("hides all of secrets that overlap", () => {
    assert.strictEqual(Redaction.make(["abcd", "cdef"], [])("<abcdef>"), "<[hidden]>")
    assert.strictEqual(Redaction.make(["aba"], [])("<ababa>"), "<[hidden]>")
  })

  it("hides a password of one character, without telling how often it stands in a row", () => {
    assert.strictEqual(Redaction.make(["x"], [])("axxb x"), "a[hidden]b [hidden]")
  })

  it("does not take its own mark for a secret", () => {
    assert.strictEqual(Redaction.make(["d", "hidden", "["], [])("d [x]"), "[hidden] [hidden]x]")
  })

  it("leaves short values of variables, which are words like true, and never an empty password", () => {
    const redact = Redaction.make([""], ["1", "yes", "true"])
    assert.strictEqual(redact("1 yes true"), "1 yes [hidden]")
    assert.strictEqual(Redaction.make([""], ["yes"])("say yes"), "say yes")
  })

  it("takes secrets for texts, not for patterns", () => {
    assert.strictEqual(Redaction.make([".*", "$&"], [])("a.* $& b"), "a[hidden] [hidden] b")
  })

  const letters = Arbitrary.map(
    Arbitrary.array(Arbitrary.schema(Schema.Literals(["a", "b", "c"])), { maxLength: 30 }),
    (letters) => letters.join("")
  )
  it.prop(
    "leaves no secret and changes nothing else",
    [letters, Arbitrary.array(letters, { maxLength: 5 })],
    ([text, secrets]) => {
      const shown = Redaction.make(secrets, [])(text)
      const pieces = shown.split("[hidden]")
      for (const secret of secrets) {
        if (secret !== "") assert.isFalse(pieces.some((piece) => piece.includes(secret)), `${secret} in ${shown}`)
      }
      let at = 0
      for (const piece of pieces) {
        assert.isAtLeast(text.indexOf(piece, at), at, `${shown} is not made of ${text}`)
        at = text.indexOf(piece, at) + piece.length
      }
    }
  )
})
