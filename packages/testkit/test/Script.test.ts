import { assert, describe, it } from "@effect/vitest"
import { PermanentError, ThrottledError, TransientError } from "@kelpie/core"
import { Script } from "@kelpie/testkit"
import { Duration, Result } from "effect"

const parsed = (text: string): ReadonlyArray<Script.Call> => {
  const calls: Array<Script.Call> = []
  for (const call of Result.getOrThrow(Script.parse(text))) {
    if (calls.push(call) === 3) break
  }
  return calls
}
const error = (text: string) => {
  const [call] = parsed(text)
  return call?._tag === "Fail" ? call.error : undefined
}

describe("Script.parse", () => {
  it("reads how often to fail, how, and with which message", () => {
    assert.deepStrictEqual(parsed("fail:2:transient:database is locked").map((call) => call._tag), ["Fail", "Fail"])
    const transient = error("fail:1:transient:a: b\nc")
    assert.instanceOf(transient, TransientError)
    assert.strictEqual(transient.message, "a: b\nc")
    assert.instanceOf(error("fail:1:permanent:no such table"), PermanentError)
    const throttled = error("fail:1:throttled:5000:slow down")
    assert.instanceOf(throttled, ThrottledError)
    assert.strictEqual(Duration.toMillis(throttled.retryAfter), 5000)
    assert.strictEqual(throttled.message, "slow down")
  })

  it("fails for ever with `always`", () => {
    assert.deepStrictEqual(parsed("fail:always:transient:x").map((call) => call._tag), ["Fail", "Fail", "Fail"])
  })

  it("reads what every call does", () => {
    assert.deepStrictEqual(parsed("ok"), [])
    assert.deepStrictEqual(parsed("hang"), [Script.hang(), Script.hang(), Script.hang()])
    assert.deepStrictEqual(parsed("hang:uninterruptible")[2], Script.hang({ interruptible: false }))
    assert.deepStrictEqual(parsed("sleep:500")[2], Script.sleep(500))
    const [death] = parsed("die:a bug")
    assert.strictEqual(death?._tag === "Die" && death.defect instanceof Error && death.defect.message, "a bug")
  })

  it.each([
    "",
    "fails",
    "fail",
    "fail:2",
    "fail:2:transient",
    "fail:two:transient:x",
    "fail:1:throttled:x",
    "sleep",
    "sleep:soon",
    "hang:up"
  ])(
    "refuses %j and says what it expects",
    (text) => {
      const result = Script.parse(text)
      assert.isTrue(Result.isFailure(result))
      assert.include(Script.problem(text), "fail:<times>:")
    }
  )
})
