import { assert, describe, it } from "@effect/vitest"
import { PermanentError, StoreError, ThrottledError, TransientError } from "@kelpie/core"
import { Cause, Duration, Effect, Exit, Result } from "effect"
import { inspect } from "node:util"
import { contain } from "../src/internal/contained.ts"
import * as Redaction from "../src/internal/redaction.ts"

const redact = Redaction.make(["s3cret"], [])
const causeOf = Effect.fnUntraced(function*<E>(effect: Effect.Effect<unknown, E>) {
  const exit = yield* Effect.exit(contain(redact, effect))
  assert.isTrue(Exit.isFailure(exit))
  const cause = exit._tag === "Failure" ? exit.cause : Cause.empty
  assert.notInclude(inspect(cause, { depth: 20, showHidden: true }), "s3cret")
  assert.notInclude(Cause.pretty(cause), "s3cret")
  return cause
})
const failure = <E>(cause: Cause.Cause<E>) => {
  const error = Cause.findError(cause)
  assert.isTrue(Result.isSuccess(error))
  return Result.isSuccess(error) ? error.success : undefined
}

describe("contain", () => {
  it.effect("keeps the class of an author's error, and what a throttled one asks for", () =>
    Effect.gen(function*() {
      const about = { message: "s3cret failed", cause: new Error("s3cret again", { cause: "s3cret" }) }
      for (
        const error of [
          new TransientError(about),
          new PermanentError(about),
          new ThrottledError({ ...about, retryAfter: Duration.seconds(3) })
        ]
      ) {
        const clean = failure(yield* causeOf(Effect.fail(error)))
        assert.strictEqual(clean?._tag, error._tag)
        assert.strictEqual(clean?.message, "[hidden] failed")
        assert.include(String(clean?.cause), "Caused by: [hidden]")
        if (clean?._tag === "ThrottledError") assert.strictEqual(Duration.toMillis(clean.retryAfter), 3000)
      }
    }))

  it.effect("leaves out a cause that is not there", () =>
    Effect.gen(function*() {
      const clean = failure(yield* causeOf(Effect.fail(new TransientError({ message: "no" }))))
      assert.isUndefined(clean?.cause)
    }))

  it.effect("lets errors of the runtime through as they are", () =>
    Effect.gen(function*() {
      const error = new StoreError({ kind: "Fenced", operation: "append" })
      assert.strictEqual(failure(yield* causeOf(Effect.fail(error))), error)
    }))

  it.effect("takes a failure that is none of the classes for transient, with its texts cleaned", () =>
    Effect.gen(function*() {
      for (const error of [new Error("s3cret!"), { code: 7, login: ["s3cret!"] }, "s3cret!"]) {
        // as an author without a compiler may fail
        const clean: unknown = failure(yield* causeOf(Effect.fail<unknown>(error)))
        assert.instanceOf(clean, TransientError)
        assert.include(clean.message, "[hidden]!")
      }
    }))

  it.effect("keeps name and place of a defect, whatever was thrown", () =>
    Effect.gen(function*() {
      const thrown = new TypeError("no s3cret here", { cause: new Error("s3cret") })
      const reason = (yield* causeOf(Effect.die(thrown))).reasons[0]
      const copy = reason?._tag === "Die" ? reason.defect : undefined
      assert.instanceOf(copy, Error)
      assert.strictEqual(copy instanceof Error && copy.name, "TypeError")
      assert.strictEqual(copy instanceof Error && copy.message, "no [hidden] here")
      assert.match(
        copy instanceof Error ? copy.stack ?? "" : "",
        /^TypeError: no \[hidden\] here\n\s+at .*[^]*Caused by: Error: \[hidden\]/
      )
      const text = (yield* causeOf(Effect.die("s3cret!"))).reasons[0]
      assert.strictEqual(text?._tag === "Die" && text.defect instanceof Error && text.defect.message, "[hidden]!")
      yield* causeOf(Effect.sync((): never => {
        throw new Error("s3cret")
      }))
    }))

  it.effect("cleans every reason of a failure and keeps an interruption", () =>
    Effect.gen(function*() {
      const given = Cause.combine(
        Cause.combine(Cause.fail(new TransientError({ message: "s3cret" })), Cause.die(new Error("s3cret"))),
        Cause.interrupt(1)
      )
      const cause = yield* causeOf(Effect.failCause(given))
      assert.deepStrictEqual(cause.reasons.map((reason) => reason._tag), ["Fail", "Die", "Interrupt"])
    }))

  it.effect("changes nothing of a success", () =>
    Effect.gen(function*() {
      const value = { password: "s3cret" }
      assert.strictEqual(yield* contain(redact, Effect.succeed(value)), value)
    }))
})
