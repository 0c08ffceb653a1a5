/** Paths to nested fields, in the two syntaxes of Connect's `field.syntax.version`. */
import * as Result from "effect/Result"

/** V1: the whole text is one name. V2: names divided by dots; a name in backticks may hold dots. */
export type SyntaxVersion = "V1" | "V2"

/** The names on the way to a field, outermost first; at least one. */
export type FieldPath = ReadonlyArray<string>

/**
 * Reads a path. In a name in backticks, a backtick that neither a dot nor the end follows is a character like any other,
 * and so is one after a backslash.
 */
export const parse = (text: string, version: SyntaxVersion): Result.Result<FieldPath, string> => {
  if (text === "") return Result.fail("Must name a field")
  return version === "V1" ? Result.succeed([text]) : steps(text)
}

const steps = (text: string): Result.Result<FieldPath, string> => {
  const found: Array<string> = []
  let at = 0
  while (at <= text.length) {
    if (text[at] !== "`") {
      const dot = text.indexOf(".", at)
      const end = dot < 0 ? text.length : dot
      found.push(text.slice(at, end))
      at = end + 1
      continue
    }
    const end = closing(text, at + 1)
    if (end < 0) {
      return Result.fail(
        `the backtick at position ${at} has no partner before a dot or the end; write \\\` within a name`
      )
    }
    found.push(text.slice(at + 1, end).replaceAll("\\`.", "`."))
    at = end + 2
  }
  return Result.succeed(found)
}

/** The backtick that ends a name: a dot or the end follows it, and no backslash stands before it. */
const closing = (text: string, from: number): number => {
  for (let at = text.indexOf("`", from); at >= 0; at = text.indexOf("`", at + 1)) {
    const ends = at === text.length - 1 || text[at + 1] === "."
    if (ends && text[at - 1] !== "\\") return at
  }
  return -1
}
