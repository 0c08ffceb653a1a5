/**
 * Regular expressions in Java's syntax, as Connect's configurations hold them, run by JavaScript's engine.
 *
 * What both have in common stays; what only looks alike is translated (`\s`, `\Q..\E`, `\h`, POSIX classes, nested classes
 * and intersections, flags at the start). What cannot be translated faithfully is refused: possessive quantifiers, atomic
 * groups, flags within, and groups that the two engines report differently.
 */
import * as Result from "effect/Result"
import { className, parseClass } from "./javaClass.ts"
import * as Cursor from "./javaCursor.ts"

/** A compiled expression. */
export interface JavaRegex {
  /** Whether the whole text matches, as `Matcher.matches`. */
  readonly matches: (text: string) => boolean
  /** The first part that matches, as `Matcher.find`. */
  readonly find: (text: string) => RegExpExecArray | null
  /** How many groups there are. */
  readonly groups: number
  /** The names of groups with their numbers. */
  readonly names: ReadonlyMap<string, number>
}

/** Compiles an expression, or says what is wrong with it. */
export const compile = (pattern: string): Result.Result<JavaRegex, string> =>
  Result.try({
    try: () => build(pattern),
    catch: (error) => error instanceof Error ? error.message : String(error)
  })

const build = (pattern: string): JavaRegex => {
  const { flags, rest } = leadingFlags(unquote(pattern))
  const cursor = Cursor.make(rest)
  const { source } = alternatives(cursor, new Set(), false)
  if (!cursor.done()) throw cursor.fail("a ) without a (")
  const whole = new RegExp(`^(?:${source})$`, flags)
  const part = new RegExp(source, flags)
  return {
    matches: (text) => whole.test(text),
    find: (text) => part.exec(text),
    groups: cursor.groups,
    names: cursor.names
  }
}

/** Rewrites `\Q...\E`, which may span anything, as escaped characters. */
const unquote = (pattern: string): string =>
  pattern.replace(
    /(\\[^Q])|\\Q([\s\S]*?)(?:\\E|$)/g,
    (_, other: string | undefined, quoted: string | undefined) =>
      other ?? (quoted ?? "").replace(/[^0-9A-Za-z\u0080-\uffff]/g, "\\$&")
  )

/** Flags at the start hold for all of it. `u` and `d` change nothing here, nor does `m` in a text of one line. */
const leadingFlags = (pattern: string): { readonly flags: string; readonly rest: string } => {
  const found = /^\(\?([ismud]+)\)/.exec(pattern)
  if (found === null) return { flags: "v", rest: pattern }
  const [whole, letters = ""] = found
  return {
    flags: `v${letters.includes("i") ? "i" : ""}${letters.includes("s") ? "s" : ""}`,
    rest: pattern.slice(whole.length)
  }
}

/** A piece of an expression: its translation, the groups in it, and those that have surely matched behind it. */
interface Piece {
  readonly source: string
  readonly groups: ReadonlyArray<number>
  readonly sure: ReadonlySet<number>
}

/** Branches divided by `|`; only what every branch matched is sure behind them. */
const alternatives = (cursor: Cursor.Cursor, sure: ReadonlySet<number>, behind: boolean): Piece => {
  const branches = [sequence(cursor, sure, behind)]
  while (cursor.take("|")) branches.push(sequence(cursor, sure, behind))
  const groups = branches.flatMap((branch) => branch.groups)
  return {
    source: branches.map((branch) => branch.source).join("|"),
    groups,
    sure: new Set([...sure, ...groups].filter((group) => branches.every((branch) => branch.sure.has(group))))
  }
}

const sequence = (cursor: Cursor.Cursor, before: ReadonlySet<number>, behind: boolean): Piece => {
  let source = ""
  let sure = before
  const groups: Array<number> = []
  while (!cursor.done() && !cursor.at("|") && !cursor.at(")")) {
    const piece = atom(cursor, sure, behind)
    const { max, min, source: repeat } = quantifier(cursor)
    if (repeat !== "" && !piece.repeatable) throw cursor.fail("nothing to repeat")
    // A group keeps its last match in Java and loses it in JavaScript when a later round passes it by.
    if (max > 1 && piece.groups.some((group) => !piece.sure.has(group))) {
      throw cursor.fail("a repeated group with a group in it that some rounds pass by is not supported")
    }
    source += piece.source + repeat
    groups.push(...piece.groups)
    if (min > 0) sure = piece.sure
  }
  return { source, groups, sure }
}

interface Quantifier {
  readonly source: string
  readonly min: number
  readonly max: number
}

const quantifier = (cursor: Cursor.Cursor): Quantifier => {
  const found = cursor.match(/[*+?]|\{(\d+)(,(\d*))?\}/y)
  if (found === undefined) return { source: "", min: 1, max: 1 }
  const [whole, low, comma, high] = found
  if (cursor.at("+")) throw cursor.fail("possessive quantifiers are not supported")
  const source = whole + (cursor.take("?") ? "?" : "")
  if (whole === "*") return { source, min: 0, max: Infinity }
  if (whole === "+") return { source, min: 1, max: Infinity }
  if (whole === "?") return { source, min: 0, max: 1 }
  const min = Number(low)
  return { source, min, max: comma === undefined ? min : high === "" ? Infinity : Number(high) }
}

interface Atom extends Piece {
  readonly repeatable: boolean
}

const atom = (cursor: Cursor.Cursor, sure: ReadonlySet<number>, behind: boolean): Atom => {
  const plain = (source: string, repeatable = true): Atom => ({ source, groups: [], sure, repeatable })
  const character = cursor.next()
  switch (character) {
    case "(":
      return group(cursor, sure, behind)
    case "[":
      return plain(parseClass(cursor))
    case ".":
      return plain(".")
    case "^":
    case "$":
      return plain(character, false)
    case "*":
    case "+":
    case "?":
    case "{":
      throw cursor.fail("nothing to repeat")
    case "\\":
      return escape(cursor, sure, plain)
    default:
      return plain(Cursor.literal(character))
  }
}

const openings: Readonly<Record<string, "group" | "ahead" | "not" | "behind">> = {
  "?:": "group",
  "?=": "ahead",
  "?!": "not",
  "?<=": "behind",
  "?<!": "not"
}

const group = (cursor: Cursor.Cursor, sure: ReadonlySet<number>, behind: boolean): Atom => {
  const opening = cursor.match(/\?(?:[:=!]|<[=!]|<([a-zA-Z][a-zA-Z0-9]*)>)/y)
  if (opening === undefined) {
    if (cursor.at("?")) throw cursor.fail("this kind of group is not supported; flags may stand at the start only")
    return capture(cursor, sure, undefined, behind)
  }
  const [text, name] = opening
  if (name !== undefined) return capture(cursor, sure, name, behind)
  const kind = openings[text] ?? "group"
  const inner = alternatives(cursor, sure, behind || text.startsWith("?<"))
  close(cursor)
  return {
    source: `(${text}${inner.source})`,
    groups: inner.groups,
    sure: kind === "not" ? sure : inner.sure,
    repeatable: kind === "group"
  }
}

const capture = (
  cursor: Cursor.Cursor,
  sure: ReadonlySet<number>,
  name: string | undefined,
  behind: boolean
): Atom => {
  // JavaScript matches backwards there, so that the groups would hold other parts.
  if (behind) throw cursor.fail("a group that captures within a look-behind is not supported; use (?:...)")
  const number = cursor.open(name)
  const inner = alternatives(cursor, sure, behind)
  close(cursor)
  return {
    source: `(${inner.source})`,
    groups: [number, ...inner.groups],
    sure: new Set([...inner.sure, number]),
    repeatable: true
  }
}

const close = (cursor: Cursor.Cursor): void => {
  if (!cursor.take(")")) throw cursor.fail("a ( is not closed")
}

const escape = (
  cursor: Cursor.Cursor,
  sure: ReadonlySet<number>,
  plain: (source: string, repeatable?: boolean) => Atom
): Atom => {
  const reference = cursor.match(/[1-9]|k<([a-zA-Z][a-zA-Z0-9]*)>/y)
  if (reference !== undefined) return plain(backReference(cursor, sure, reference))
  const edge = cursor.match(/[AbBzZ](?!\{)/y)?.[0]
  if (edge !== undefined) return plain(edge === "A" ? "^" : edge === "z" || edge === "Z" ? "$" : `\\${edge}`, false)
  if (cursor.take("R")) return plain("(?:\\r\\n|[\\n-\\r\\x85\\u2028\\u2029])")
  return plain(className(cursor) ?? Cursor.literal(Cursor.escaped(cursor)))
}

/** A reference to a group without a match fails in Java and matches nothing in JavaScript, so the group must be sure. */
const backReference = (cursor: Cursor.Cursor, sure: ReadonlySet<number>, [text, name]: RegExpExecArray): string => {
  const number = name === undefined ? longest(cursor, Number(text)) : cursor.names.get(name) ?? 0
  if (!sure.has(number)) throw cursor.fail("a back reference to a group that may have no match is not supported")
  return `(?:\\${number})`
}

/** Takes as many more digits as still name a group. */
const longest = (cursor: Cursor.Cursor, first: number): number => {
  let number = first
  while (/^\d$/.test(cursor.peek()) && Number(`${number}${cursor.peek()}`) <= cursor.groups) {
    number = Number(`${number}${cursor.next()}`)
  }
  return number
}
