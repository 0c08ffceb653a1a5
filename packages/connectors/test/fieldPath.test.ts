import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as FieldPath from "../src/internal/fieldPath.ts"

const v2 = (text: string) => Result.getOrUndefined(FieldPath.parse(text, "V2"))

describe("fieldPath", () => {
  it("takes a name of V1 as it stands", () => {
    assert.deepStrictEqual(FieldPath.parse("a.`b", "V1"), Result.succeed(["a.`b"]))
  })

  it("divides a path of V2 at its dots", () => {
    assert.deepStrictEqual(v2("a"), ["a"])
    assert.deepStrictEqual(v2("a.b.c"), ["a", "b", "c"])
    assert.deepStrictEqual(v2("a..b."), ["a", "", "b", ""])
  })

  it("keeps the dots of a name in backticks", () => {
    assert.deepStrictEqual(v2("`a.b`.c"), ["a.b", "c"])
    assert.deepStrictEqual(v2("a.`b.c`"), ["a", "b.c"])
  })

  it("keeps backticks within a name", () => {
    assert.deepStrictEqual(v2("a`b`.c"), ["a`b`", "c"])
    assert.deepStrictEqual(v2("`a`b.c`.d"), ["a`b.c", "d"])
    assert.deepStrictEqual(v2("`a\\`.b`.c"), ["a`.b", "c"])
  })

  it("refuses a backtick without a partner, and an empty path", () => {
    assert.isUndefined(v2("`a.b"))
    assert.isUndefined(v2("a.`b\\`"))
    assert.isUndefined(v2(""))
  })
})
