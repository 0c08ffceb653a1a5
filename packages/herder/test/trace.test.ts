import { assert, describe, it } from "@effect/vitest"
import { PermanentError, StoreError, ThrottledError, TransientError } from "@kelpie/core"
import { Cause, Duration } from "effect"
import * as Redaction from "../src/internal/redaction.ts"
import { describe as describeCause, stackOf } from "../src/internal/trace.ts"

const plain = Redaction.make([], [])
const ofFail = (error: unknown, redact = plain) => describeCause(Cause.fail(error), redact)

describe("describe", () => {
  it("takes the class from the author's error", () => {
    assert.strictEqual(ofFail(new TransientError({ message: "locked" })).class, "transient")
    assert.strictEqual(ofFail(new PermanentError({ message: "no such table" })).class, "permanent")
    const throttled = ofFail(new ThrottledError({ message: "slow down", retryAfter: Duration.seconds(7) }))
    assert.deepStrictEqual([throttled.class, throttled.message, throttled.retryAfterMillis], [
      "throttled",
      "slow down",
      7000
    ])
  })

  it("takes any other failure for transient, and what dies for a defect", () => {
    assert.strictEqual(ofFail(new StoreError({ kind: "Unavailable", operation: "append" })).class, "transient")
    assert.strictEqual(ofFail("a text").class, "transient")
    const defect = describeCause(Cause.die(new TypeError("undefined is not a function")), plain)
    assert.strictEqual(defect.class, "defect")
    assert.match(defect.trace, /^TypeError: undefined is not a function\n\s+at /)
    const classed = describeCause(Cause.die(new PermanentError({ message: "thrown" })), plain)
    assert.strictEqual(classed.class, "defect", "only a failure has a class")
  })

  it("is a defect when something died beside the failure", () => {
    const cause = Cause.combine(
      Cause.fail(new PermanentError({ message: "no" })),
      Cause.die(new Error("on the way out"))
    )
    assert.strictEqual(describeCause(cause, plain).class, "defect")
  })

  it("hides secrets in message and trace, also those of the cause", () => {
    const error = new TransientError({ message: "login with s3cret failed", cause: new Error("s3cret was refused") })
    const { message, trace } = ofFail(error, Redaction.make(["s3cret"], []))
    assert.strictEqual(message, "login with [hidden] failed")
    assert.include(trace, "TransientError: login with [hidden] failed")
    assert.include(trace, "Caused by: Error: [hidden] was refused")
    assert.notInclude(trace, "s3cret")
  })

  it("hides a secret before it cuts a long text", () => {
    const text = `${"x".repeat(16_380)}s3cret!`
    const { message, trace } = ofFail(new TransientError({ message: text }), Redaction.make(["s3cret!"], []))
    assert.strictEqual(message.length, 16_384)
    assert.isAtMost(trace.length, 16_384)
    assert.notInclude(message, "s3")
  })
})

describe("stackOf", () => {
  it("tells the causes, one after the other", () => {
    const lines = stackOf(new Error("a", { cause: new Error("b", { cause: "c" }) })).split("\n")
    assert.deepStrictEqual(lines.filter((line) => !line.trimStart().startsWith("at ")), [
      "Error: a",
      "Caused by: Error: b",
      "Caused by: c"
    ])
  })

  it("ends when causes lead in a circle", () => {
    const error = new Error("round")
    error.cause = new Error("and", { cause: error })
    assert.strictEqual(stackOf(error).split("Caused by").length, 11)
  })

  it("tells twenty frames of each, at most", () => {
    const error = new Error("deep")
    error.stack = ["Error: deep", ...Array.from({ length: 50 }, (_, n) => `    at f (file.js:${n}:1)`)].join("\n")
    assert.strictEqual(stackOf(error).split("\n").length, 21)
  })
})
