import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as JavaRegex from "../src/internal/javaRegex.ts"

const compiled = (pattern: string) => Result.getOrThrowWith(JavaRegex.compile(pattern), (reason) => new Error(reason))

describe("javaRegex matches", () => {
  const cases: ReadonlyArray<readonly [pattern: string, yes: ReadonlyArray<string>, no: ReadonlyArray<string>]> = [
    ["a|ab", ["a", "ab"], ["abc", "b"]],
    ["^a.*z$", ["az", "abz"], ["za"]],
    ["\\Aa\\z", ["a"], ["aa"]],
    ["\\Qa.b*\\E+", ["a.b*", "a.b**"], ["axb*"]],
    ["\\Qa.b", ["a.b"], ["axb"]],
    ["\\\\Qa", ["\\Qa"], ["a"]],
    ["a\\-b\\_c", ["a-b_c"], []],
    ["(?i)orders-.*", ["ORDERS-1", "orders-"], ["order"]],
    ["(?s).", ["\n"], [""]],
    ["}a]", ["}a]"], []],
    ["\\x41\\u0042\\x{43}\\0104\\cE", ["ABCD\x05"], []],
    ["\\uD83D\\uDE00", ["😀"], []],
    ["\\t\\n\\r\\f\\a\\e", ["\t\n\r\f\x07\x1b"], []],
    ["\\s", [" ", "\t", "\v"], ["\u00a0", "\u2003"]],
    ["\\S", ["\u00a0", "a"], [" "]],
    ["\\h", [" ", "\t", "\u00a0"], ["\n"]],
    ["\\H\\V", ["aa"], [" a", "a\n"]],
    ["\\v", ["\n", "\u2028"], [" "]],
    ["\\R", ["\r\n", "\n"], ["\n\n"]],
    ["\\w\\W\\d\\D", ["a-1a"], ["aa1a", "é-1a"]],
    ["\\p{Alpha}\\p{Digit}\\P{Punct}", ["a1a"], ["1aa", "a1!"]],
    ["\\p{Lu}\\pL\\p{IsN}", ["Éé5"], ["éé5"]],
    ["[a-z&&[^aeiou]]", ["b"], ["a", "B"]],
    ["[\\w&&[^\\d_]&&[a-m]]", ["c"], ["1", "_", "z"]],
    ["[^a-c&&b-z]", ["a", "d", "A"], ["b"]],
    ["[[a-c][x-z]5]", ["b", "y", "5"], ["d"]],
    ["[]a]", ["]", "a"], ["b"]],
    ["[^]a]", ["b"], ["]", "a"]],
    ["[a-]", ["a", "-"], ["b"]],
    ["[-a]", ["a", "-"], ["b"]],
    ["[\\w-.]", ["a", "-", "."], ["/"]],
    ["[+--]", ["+", ",", "-"], ["."]],
    ["[\\x61-\\u0063]", ["b"], ["d"]],
    ["[&|!]", ["&", "|", "!"], ["a"]],
    ["a{2,3}?b{2}c{1,}", ["aabbc", "aaabbcc"], ["abbc"]],
    ["(\\w)\\1", ["aa"], ["ab"]],
    ["(?<x>a|b)\\k<x>", ["aa", "bb"], ["ab"]],
    ["(?:(a)|b)c", ["ac", "bc"], ["c"]],
    ["(?=a)\\w(?!c).*(?<=d)", ["abd", "ad"], ["acd"]],
    ["\\bab\\b", ["ab"], ["a"]],
    ["", [""], ["a"]]
  ]
  for (const [pattern, yes, no] of cases) {
    it(pattern === "" ? "an empty pattern" : pattern, () => {
      for (const text of yes) assert.isTrue(compiled(pattern).matches(text), JSON.stringify(text))
      for (const text of no) assert.isFalse(compiled(pattern).matches(text), JSON.stringify(text))
    })
  }
})

describe("javaRegex", () => {
  it("counts groups and knows their names", () => {
    const regex = compiled("(a)(?:b)(?<x>c)(?=d)")
    assert.strictEqual(regex.groups, 2)
    assert.deepStrictEqual([...regex.names], [["x", 2]])
  })

  const refused: ReadonlyArray<readonly [pattern: string, reason: string]> = [
    ["(a", "not closed"],
    ["a)", "without a ("],
    ["[a", "not closed"],
    ["*a", "nothing to repeat"],
    ["a**", "nothing to repeat"],
    ["a{x}", "nothing to repeat"],
    ["^*", "nothing to repeat"],
    ["a\\", "backslash"],
    ["\\y", "\\y is not supported"],
    ["\\G", "\\G is not supported"],
    ["\\p{InGreek}", "InGreek"],
    ["\\x{110000}", "no such character"],
    ["[z-a]", "backwards"],
    ["[a&&]", "after &&"],
    ["a++", "possessive"],
    ["(?>a)", "not supported"],
    ["a(?i)b", "start only"],
    ["(?i:a)", "start only"],
    ["(?<x>a)(?<x>b)", "two groups"],
    ["(?<=(a))b", "look-behind"],
    ["(a)|\\1", "back reference"],
    ["(a)?\\1", "back reference"],
    ["\\1(a)", "back reference"],
    ["(?:(a)|b)+", "repeated group"]
  ]
  for (const [pattern, reason] of refused) {
    it(`refuses ${pattern}`, () => {
      const result = JavaRegex.compile(pattern)
      assert.include(Result.isFailure(result) ? result.failure : "it was not refused", reason)
    })
  }
})
