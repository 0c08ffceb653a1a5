/** Replacement texts in Java's syntax: `$1` and `${name}` for groups, a backslash before what stands for itself. */
import * as Result from "effect/Result"
import type { JavaRegex } from "./javaRegex.ts"

/** Texts and numbers of groups, in order. */
export type Replacement = ReadonlyArray<string | number>

const form = /\\([\s\S]?)|\$(?:\{([^}]*)(\}?)|(\d*))|[^\\$]+/g

/** Reads a replacement for an expression, or says what is wrong with it. */
export const parse = (text: string, regex: JavaRegex): Result.Result<Replacement, string> => {
  const parts: Array<string | number> = []
  for (const [whole, escaped, name, end, digits] of text.matchAll(form)) {
    if (escaped !== undefined) {
      if (escaped === "") return Result.fail("nothing follows the backslash at the end")
      parts.push(escaped)
    } else if (name !== undefined) {
      const number = end === "}" ? regex.names.get(name) : undefined
      if (number === undefined) return Result.fail(`the regex has no group with the name ${name}`)
      parts.push(number)
    } else if (digits !== undefined) {
      const length = numberLength(digits, regex.groups)
      if (length === 0) {
        return Result.fail(
          digits === ""
            ? "a $ must stand before the number of a group; write \\$ for the sign"
            : `the regex has no group ${digits}`
        )
      }
      parts.push(Number(digits.slice(0, length)), digits.slice(length))
    } else {
      parts.push(whole)
    }
  }
  return Result.succeed(parts)
}

/** How many of the digits are the group's number: the first, and each that still leaves the number of a group. */
const numberLength = (digits: string, groups: number): number => {
  let length = 0
  while (length < digits.length && Number(digits.slice(0, length + 1)) <= groups) length += 1
  return length
}

/** Replaces the first part that matches, as `Matcher.replaceFirst`; a group without a match is empty. */
export const replaceFirst = (text: string, regex: JavaRegex, replacement: Replacement): string => {
  const found = regex.find(text)
  if (found === null) return text
  let result = text.slice(0, found.index)
  for (const part of replacement) result += typeof part === "string" ? part : found[part] ?? ""
  return result + text.slice(found.index + found[0].length)
}
