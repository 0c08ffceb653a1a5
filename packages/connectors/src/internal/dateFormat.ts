/**
 * Date formats in the pattern language of Java's `SimpleDateFormat`, in UTC and English.
 *
 * Letters: `y M d H h m s S a E z Z X`; text in single quotes stands for itself, `''` for a quote. As in Java: numbers are
 * read as far as they go unless another number follows at once, values that are too large roll over, text behind the
 * pattern is passed over, `S` is a number of milliseconds whatever its length, and what is left out is that of the epoch.
 *
 * Unlike Java: dates before October 1582 are Gregorian too, and the two-digit years are always 1946 to 2045, where Java's
 * hundred years move with the clock; of zones by name only UTC, GMT and those of North America are known.
 */
import * as Result from "effect/Result"
import * as Read from "./dateRead.ts"

/** A compiled pattern. */
export interface DateFormat {
  readonly format: (millis: number) => string
  /** Epoch milliseconds, `undefined` when the text does not have the form. */
  readonly parse: (text: string) => number | undefined
}

/** Letters in a row, or text that stands for itself (`letter` is empty then). */
interface Token {
  readonly letter: string
  readonly count: number
  readonly text: string
}

const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December"
]
const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

/** Compiles a pattern, or says what is wrong with it. */
export const compile = (pattern: string): Result.Result<DateFormat, string> =>
  Result.map(tokenize(pattern), (tokens) => {
    const writers = tokens.map(writer)
    const readers = tokens.map((token, i) => reader(token, tokens[i + 1]))
    return {
      format: (millis) => {
        const date = new Date(millis)
        let text = ""
        for (const write of writers) text += write(date)
        return text
      },
      parse: (text) => Read.run(readers, text)
    }
  })

const tokenize = (pattern: string): Result.Result<ReadonlyArray<Token>, string> => {
  const tokens: Array<Token> = []
  const parts = pattern.matchAll(/''|'((?:[^']|'')*)'|([a-zA-Z])\2*|[^'a-zA-Z]+|'/g)
  for (const [part, quoted, letter] of parts) {
    if (part === "'") return Result.fail("a quote is not closed")
    if (letter === undefined) {
      tokens.push({ letter: "", count: 0, text: part === "''" ? "'" : (quoted ?? part).replaceAll("''", "'") })
      continue
    }
    if (!"yMdHhmsSaEzZX".includes(letter)) {
      return Result.fail(
        `the letter ${letter} is not supported; supported are y M d H h m s S a E z Z X, and text in single quotes`
      )
    }
    if (letter === "X" && part.length > 3) return Result.fail("X may stand at most three times in a row")
    tokens.push({ letter, count: part.length, text: "" })
  }
  return Result.succeed(tokens)
}

const padded = (n: number, width: number): string =>
  width === 2 ? (n < 10 ? `0${n}` : `${n}`) : String(n).padStart(width, "0")

const names = (all: ReadonlyArray<string>, long: boolean) => (i: number): string =>
  long ? all[i] ?? "" : (all[i] ?? "").slice(0, 3)

const yearOf = (date: Date): number => {
  const year = date.getUTCFullYear()
  return year > 0 ? year : 1 - year
}

const writer = ({ count, letter, text }: Token): (date: Date) => string => {
  const name = names(letter === "M" ? months : days, count > 3)
  switch (letter) {
    case "y":
      return count === 2 ? (date) => padded(yearOf(date) % 100, 2) : (date) => padded(yearOf(date), count)
    case "M":
      return count > 2 ? (date) => name(date.getUTCMonth()) : (date) => padded(date.getUTCMonth() + 1, count)
    case "d":
      return (date) => padded(date.getUTCDate(), count)
    case "H":
      return (date) => padded(date.getUTCHours(), count)
    case "h":
      return (date) => padded(date.getUTCHours() % 12 || 12, count)
    case "m":
      return (date) => padded(date.getUTCMinutes(), count)
    case "s":
      return (date) => padded(date.getUTCSeconds(), count)
    case "S":
      return (date) => padded(date.getUTCMilliseconds(), count)
    case "a":
      return (date) => date.getUTCHours() < 12 ? "AM" : "PM"
    case "E":
      return (date) => name(date.getUTCDay())
    case "z":
      return () => count > 3 ? "Coordinated Universal Time" : "UTC"
    case "Z":
      return () => "+0000"
    case "X":
      return () => "Z"
    default:
      return () => text
  }
}

/** Numbers that stand at once behind each other are as long as their letters. */
const isNumber = (token: Token | undefined): boolean =>
  token !== undefined &&
  ("ydHhmsS".includes(token.letter) && token.letter !== "" || token.letter === "M" && token.count < 3)

const numeric: Readonly<Record<string, Read.NumberPart>> = {
  d: "day",
  H: "hour",
  h: "hour12",
  m: "minute",
  s: "second",
  S: "milli"
}

const reader = (token: Token, next: Token | undefined): Read.Reader => {
  const { count, letter, text } = token
  const width = isNumber(next) ? count : undefined
  switch (letter) {
    case "":
      return Read.literal(text)
    case "y":
      return Read.year(width, count <= 2)
    case "M":
      return count > 2 ? Read.month(months) : Read.number("month", width)
    case "a":
      return Read.halfDay
    case "E":
      return Read.weekday(days)
    case "z":
    case "Z":
      return Read.zone
    case "X":
      return Read.isoZone(count)
    default:
      return Read.number(numeric[letter] ?? "day", width)
  }
}
