import { assert, describe, it } from "@effect/vitest"
import { ConfigKey } from "@kelpie/core"
import { Redacted, Result } from "effect"

const reasonOf = (key: ConfigKey.ConfigKey<any>, text: string): string | undefined =>
  Result.match(key.decode(text), { onFailure: (reason) => reason, onSuccess: () => undefined })

describe("ConfigKey", () => {
  it("reads numbers of Connect's types within their range", () => {
    assert.deepStrictEqual(ConfigKey.Short("n").decode(" -32768 "), Result.succeed(-32768))
    assert.strictEqual(reasonOf(ConfigKey.Short("n"), "32768"), "Not a number of type SHORT")
    assert.strictEqual(reasonOf(ConfigKey.Int("n"), "2147483648"), "Not a number of type INT")
    for (const text of ["", "x", "NaN", "1.5", "0x10", "1e3", "Infinity", "1 2"]) {
      assert.strictEqual(reasonOf(ConfigKey.Int("n"), text), "Not a number of type INT", text)
    }
    assert.deepStrictEqual(ConfigKey.Double("n").decode("1.5e3"), Result.succeed(1500))
    for (const text of ["", "0x10", "NaN", "1e999", ".", "1.2.3"]) {
      assert.strictEqual(reasonOf(ConfigKey.Double("n"), text), "Not a number of type DOUBLE", text)
    }
  })

  it("says the limit for a whole number that cannot be held exactly", () => {
    assert.strictEqual(
      reasonOf(ConfigKey.Long("n"), "9223372036854775807"),
      "Value must be no more than 9007199254740991"
    )
    assert.strictEqual(reasonOf(ConfigKey.Long("n"), "many"), "Not a number of type LONG")
  })

  it("reads words in any case only where it is told so", () => {
    const exact = ConfigKey.Literals(["poll", "interval"])("k")
    const loose = ConfigKey.Literals(["poll", "interval"])("k", { ignoreCase: true })
    assert.strictEqual(reasonOf(exact, "POLL"), "String must be one of: poll, interval")
    assert.deepStrictEqual(loose.decode(" POLL "), Result.succeed("poll"))
    assert.strictEqual(reasonOf(loose, "x"), "String must be one of (case insensitive): poll, interval")
    assert.deepStrictEqual(exact.options.recommended, ["poll", "interval"])
  })

  it("splits lists at commas, and keeps empty items", () => {
    assert.deepStrictEqual(ConfigKey.List("k").decode(" a ,b,, c "), Result.succeed(["a", "b", "", "c"]))
    assert.deepStrictEqual(ConfigKey.List("k").decode("  "), Result.succeed([]))
    assert.strictEqual(
      ConfigKey.invalid(ConfigKey.List("k"), "a,a", "No."),
      "Invalid value [a, a] for configuration k: No."
    )
  })

  it("contains a check that throws", () => {
    const key = ConfigKey.String("k", {
      check: () => {
        throw new Error("boom")
      }
    })
    assert.strictEqual(reasonOf(key, "a"), "The check of this key failed: boom")
  })

  it("names a key under a prefix by its whole name, and shows people the short one", () => {
    const key = ConfigKey.prefixed("transforms.a.", ConfigKey.Int("size", { min: 1, dependents: ["unit"] }))
    assert.deepStrictEqual(
      ConfigKey.decodeKey(key, { "transforms.a.size": "0" }),
      Result.fail("Invalid value 0 for configuration transforms.a.size: Value must be at least 1")
    )
    assert.strictEqual(key.options.displayName, "size")
    assert.deepStrictEqual(key.options.dependents, ["transforms.a.unit"])
  })

  it("does not take inherited properties for keys", () => {
    assert.deepStrictEqual(
      ConfigKey.decodeKey(ConfigKey.String("constructor"), {}),
      Result.fail("Missing required configuration \"constructor\" which has no default value.")
    )
  })

  it("shows the variable instead of what it stands for", () => {
    const key = ConfigKey.Int("n", { min: 1 })
    const options = { raw: { n: "${env:N}" } }
    assert.deepStrictEqual(
      ConfigKey.decodeKey(key, { n: "-77" }, options),
      Result.fail("Invalid value ${env:N} for configuration n: Value must be at least 1")
    )
    assert.deepStrictEqual(
      ConfigKey.decodeKey(key, {}, options),
      Result.fail("Invalid value ${env:N} for configuration n: Its variable cannot be resolved")
    )
    assert.deepStrictEqual(
      ConfigKey.decodeKey(key, { n: "${env:N}" }, { ...options, unresolved: new Map([["n", "N is not set"]]) }),
      Result.fail("Invalid value ${env:N} for configuration n: N is not set")
    )
  })

  it("does not pass on a reason that quotes a secret", () => {
    const check = (value: string) => value === "ok" ? undefined : `It begins with ${value.slice(0, 5)}`
    const plain = ConfigKey.String("k", { check })
    const secret = ConfigKey.Redacted("k", { check: (value) => check(Redacted.value(value)) })
    const constant = ConfigKey.Redacted("k", { check: () => "It has to have 20 characters" })
    assert.deepStrictEqual(
      ConfigKey.decodeKey(secret, { k: "hunter2" }),
      Result.fail("Invalid value [hidden] for configuration k: The value is not accepted")
    )
    assert.deepStrictEqual(
      ConfigKey.decodeKey(constant, { k: "hunter2" }),
      Result.fail("Invalid value [hidden] for configuration k: It has to have 20 characters")
    )
    assert.deepStrictEqual(
      ConfigKey.decodeKey(plain, { k: "hunter2" }, { raw: { k: "${env:K}" } }),
      Result.fail("Invalid value ${env:K} for configuration k: The value is not accepted")
    )
    assert.deepStrictEqual(
      ConfigKey.decodeKey(plain, { k: "hunter2" }),
      Result.fail("Invalid value hunter2 for configuration k: It begins with hunte")
    )
  })

  it("gives the right keys and all problems", () => {
    const fields = { a: ConfigKey.Int("a"), b: ConfigKey.Int("b", { default: 2 }), c: ConfigKey.Boolean("c") }
    const { problems, values } = ConfigKey.decodePartial(fields, { a: "x" })
    assert.deepStrictEqual(values, { b: 2 })
    assert.deepStrictEqual(problems.map((problem) => problem.key), ["a", "c"])
  })
})
