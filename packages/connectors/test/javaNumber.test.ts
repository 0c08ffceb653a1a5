import { assert, describe, it } from "@effect/vitest"
import * as JavaNumber from "../src/internal/javaNumber.ts"

describe("javaNumber", () => {
  it("writes doubles", () => {
    const cases: ReadonlyArray<readonly [number, string]> = [
      [0, "0.0"],
      [-0, "-0.0"],
      [1, "1.0"],
      [-1.25, "-1.25"],
      [0.001, "0.001"],
      [0.0009, "9.0E-4"],
      [9_999_999, "9999999.0"],
      [1e7, "1.0E7"],
      [1.5e300, "1.5E300"],
      [NaN, "NaN"],
      [-Infinity, "-Infinity"]
    ]
    for (const [n, text] of cases) assert.strictEqual(JavaNumber.doubleText(n), text)
  })

  it("writes floats with as few digits as it takes", () => {
    assert.strictEqual(JavaNumber.floatText(Math.fround(0.1)), "0.1")
    assert.strictEqual(JavaNumber.floatText(16_777_216), "1.6777216E7")
    assert.strictEqual(JavaNumber.floatText(-0), "-0.0")
    assert.strictEqual(JavaNumber.floatText(NaN), "NaN")
  })

  it("reads whole numbers within their type", () => {
    assert.strictEqual(JavaNumber.readInt("127", "int8"), 127)
    assert.strictEqual(JavaNumber.readInt("128", "int8"), undefined)
    assert.strictEqual(JavaNumber.readInt("-32768", "int16"), -32_768)
    assert.strictEqual(JavaNumber.readInt("9223372036854775807", "int64"), 2n ** 63n - 1n)
    assert.strictEqual(JavaNumber.readInt("9223372036854775808", "int64"), undefined)
    assert.strictEqual(JavaNumber.readInt(`1${"0".repeat(100)}`, "int64"), undefined)
    assert.strictEqual(JavaNumber.readInt(`${"0".repeat(100)}1`, "int64"), 1)
    for (const text of ["", "-", " 1", "1.0", "0x1", "1e3"]) assert.isUndefined(JavaNumber.readInt(text, "int64"))
  })

  it("reads floats", () => {
    const cases: ReadonlyArray<readonly [string, number]> = [
      [" 1. ", 1],
      [".5", 0.5],
      ["1e-3d", 0.001],
      ["-Infinity", -Infinity],
      ["NaN", NaN]
    ]
    for (const [text, n] of cases) assert.deepStrictEqual(JavaNumber.readFloat(text), n)
    for (const text of ["", ".", "nan", "infinity", "1e", "1_0", "0x1p3"]) {
      assert.isUndefined(JavaNumber.readFloat(text))
    }
  })

  it("drops the fraction of decimals and keeps the low 64 bits", () => {
    const cases: ReadonlyArray<readonly [string, bigint]> = [
      ["12.99", 12n],
      ["-12.99", -12n],
      ["1.5e1", 15n],
      ["1e-400", 0n],
      ["1e999999999", 0n],
      ["18446744073709551621", 5n]
    ]
    for (const [text, n] of cases) assert.strictEqual(JavaNumber.decimalToInt64(text), n)
    for (const text of ["", ".", "x", "1e", "1 "]) assert.isUndefined(JavaNumber.decimalToInt64(text))
  })
})
