/** Character classes of Java's regular expressions: `[a-z&&[^aeiou]]`, `\s`, `\p{Alpha}`. */
import * as Cursor from "./javaCursor.ts"

const posix: Readonly<Record<string, string>> = {
  Lower: "a-z",
  Upper: "A-Z",
  ASCII: "\\x00-\\x7f",
  Alpha: "a-zA-Z",
  Digit: "0-9",
  Alnum: "0-9a-zA-Z",
  Punct: "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
  Graph: "\\x21-\\x7e",
  Print: "\\x20-\\x7e",
  Blank: "\\x20\\t",
  Cntrl: "\\x00-\\x1f\\x7f",
  XDigit: "0-9a-fA-F",
  Space: "\\x20\\t-\\r"
}

const letters: Readonly<Record<string, string>> = {
  d: "[0-9]",
  D: "[^0-9]",
  w: "[0-9A-Za-z_]",
  W: "[^0-9A-Za-z_]",
  s: "[\\x20\\t-\\r]",
  S: "[^\\x20\\t-\\r]",
  h: "[\\x20\\t\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000]",
  H: "[^\\x20\\t\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000]",
  v: "[\\n-\\r\\x85\\u2028\\u2029]",
  V: "[^\\n-\\r\\x85\\u2028\\u2029]"
}

/** The class that an escape names, if it names one; the cursor is behind the backslash. */
export const className = (cursor: Cursor.Cursor): string | undefined => {
  const letter = letters[cursor.peek()]
  if (letter !== undefined) {
    cursor.next()
    return letter
  }
  const property = cursor.match(/([pP])(?:\{([^}]*)\}|([A-Z]))/y)
  if (property === undefined) return undefined
  const [, p, long, short = ""] = property
  const name = long ?? short
  const negated = p === "P" ? "^" : ""
  if (Object.hasOwn(posix, name)) return `[${negated}${posix[name]}]`
  const category = /^(?:Is)?([CLMNPSZ][a-z]?)$/.exec(name)?.[1]
  if (category === undefined) {
    throw cursor.fail(
      `the class \\${p}{${name}} is not supported; supported are ${
        Object.keys(posix).join(", ")
      } and general categories`
    )
  }
  return `[${negated}\\p{${category}}]`
}

/** A class in brackets; the cursor is behind the opening one. */
export const parseClass = (cursor: Cursor.Cursor): string => {
  const negated = cursor.take("^") ? "^" : ""
  const operands: Array<string> = []
  let items = ""
  for (;;) {
    if (cursor.done()) throw cursor.fail("a [ is not closed")
    // A bracket that closes at once stands for itself.
    if (cursor.at("]") && (items !== "" || operands.length > 0)) break
    if (cursor.take("&&")) {
      if (items === "") throw cursor.fail("nothing before &&")
      operands.push(`[${items}]`)
      items = ""
      continue
    }
    items += item(cursor)
  }
  cursor.next()
  if (operands.length === 0) return `[${negated}${items}]`
  if (items === "") throw cursor.fail("nothing after &&")
  return `[${negated}${[...operands, `[${items}]`].join("&&")}]`
}

const item = (cursor: Cursor.Cursor): string => {
  if (cursor.take("[")) return parseClass(cursor)
  if (cursor.take("\\")) {
    const named = className(cursor)
    return named ?? range(cursor, Cursor.escaped(cursor))
  }
  return range(cursor, cursor.next())
}

/** A character, or a range that starts with it; a `-` before a bracket stands for itself. */
const range = (cursor: Cursor.Cursor, from: string): string => {
  const end = cursor.peekSecond()
  if (!cursor.at("-") || end === "]" || end === "[" || end === "") return Cursor.literal(from)
  cursor.next()
  const to = cursor.take("\\") ? Cursor.escaped(cursor) : cursor.next()
  if ((to.codePointAt(0) ?? 0) < (from.codePointAt(0) ?? 0)) throw cursor.fail("a range is backwards")
  return `${Cursor.literal(from)}-${Cursor.literal(to)}`
}
