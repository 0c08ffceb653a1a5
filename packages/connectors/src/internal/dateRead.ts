/** The parts of a date format that read: each takes its piece of a text and sets what it found. */

/** What has been read so far; the hours are as they stand in the text. */
export interface Parts {
  year: number
  /** From 1. */
  month: number
  day: number
  hour: number | undefined
  hour12: number
  afternoon: boolean
  minute: number
  second: number
  milli: number
  offsetMinutes: number
}

/** Reads at a position and gives the position behind, or -1 when the text does not fit. */
export type Reader = (text: string, at: number, parts: Parts) => number

/** Reads a whole text; what stands behind the last piece is passed over. */
export const run = (readers: ReadonlyArray<Reader>, text: string): number | undefined => {
  const parts: Parts = {
    year: 1970,
    month: 1,
    day: 1,
    hour: undefined,
    hour12: 0,
    afternoon: false,
    minute: 0,
    second: 0,
    milli: 0,
    offsetMinutes: 0
  }
  let at = 0
  for (const read of readers) {
    at = read(text, at, parts)
    if (at < 0) return undefined
  }
  const millis = instant(parts)
  return Number.isNaN(millis) ? undefined : millis
}

/** Months, days, hours and so on may be too large or too small: they roll over. */
const instant = (parts: Parts): number => {
  const hour = parts.hour ?? (parts.hour12 === 12 ? 0 : parts.hour12) + (parts.afternoon ? 12 : 0)
  // `Date.UTC` takes the years 0 to 99 for those of the last century, so the year is set apart.
  const date = new Date(Date.UTC(2000, 0, 1, hour, parts.minute - parts.offsetMinutes, parts.second, parts.milli))
  const shiftDays = Math.floor((date.getTime() - Date.UTC(2000, 0, 1)) / 86_400_000)
  return date.setUTCFullYear(parts.year, parts.month - 1, parts.day + shiftDays)
}

const skipBlanks = (text: string, at: number): number => {
  let start = at
  while (text[start] === " " || text[start] === "\t") start++
  return start
}

/** Text that stands for itself. */
export const literal = (expected: string): Reader => (text, at) =>
  text.startsWith(expected, at) ? at + expected.length : -1

const digits = /-?\d+/y

/**
 * Where the number at a position begins and ends, -1 and -1 if there is none. With a width it ends so far behind the
 * position: blanks in front of it count, as in Java.
 */
const numberAt = (text: string, at: number, width: number | undefined): readonly [start: number, end: number] => {
  if (width !== undefined && text.length < at + width) return [-1, -1]
  const bounded = width === undefined ? text : text.slice(0, at + width)
  const start = skipBlanks(text, at)
  digits.lastIndex = start
  return digits.test(bounded) ? [start, digits.lastIndex] : [-1, -1]
}

/** The parts that are plain numbers. */
export type NumberPart = Exclude<keyof Parts, "afternoon">

/** A number; with a width, of that many characters. */
export const number = (part: NumberPart, width: number | undefined): Reader => (text, at, parts) => {
  const [start, end] = numberAt(text, at, width)
  if (end >= 0) parts[part] = Number(text.slice(start, end))
  return end
}

/** A year; with `short`, two digits are those of 1946 to 2045. */
export const year = (width: number | undefined, short: boolean): Reader => (text, at, parts) => {
  const [start, end] = numberAt(text, at, width)
  if (end < 0) return end
  const value = Number(text.slice(start, end))
  const two = short && end - start === 2 && text[start] !== "-"
  parts.year = two ? value + (value < 46 ? 2000 : 1900) : value
  return end
}

/** The index of the name that the text has at a position, in full or by its first three letters, in any case. */
const nameAt = (text: string, start: number, names: ReadonlyArray<string>): readonly [index: number, end: number] => {
  const rest = text.slice(start, start + 10).toLowerCase()
  const full = names.findIndex((name) => rest.startsWith(name.toLowerCase()))
  if (full >= 0) return [full, start + (names[full]?.length ?? 0)]
  const short = names.findIndex((name) => rest.startsWith(name.slice(0, 3).toLowerCase()))
  return [short, short < 0 ? -1 : start + 3]
}

/** The name of a month. */
export const month = (names: ReadonlyArray<string>): Reader => (text, at, parts) => {
  const [index, end] = nameAt(text, at, names)
  parts.month = index + 1
  return end
}

/** The name of a day: it must be one, and decides nothing. */
export const weekday = (names: ReadonlyArray<string>): Reader => (text, at) => nameAt(text, at, names)[1]

/** AM or PM, in any case. */
export const halfDay: Reader = (text, at, parts) => {
  const word = text.slice(at, at + 2).toLowerCase()
  if (word !== "am" && word !== "pm") return -1
  parts.afternoon = word === "pm"
  return at + 2
}

/** Minutes by which the named zones of the internet's mail format are ahead of UTC. */
const zones: ReadonlyArray<readonly [name: string, minutes: number]> = [
  ["COORDINATED UNIVERSAL TIME", 0],
  ["UTC", 0],
  ["EST", -300],
  ["EDT", -240],
  ["CST", -360],
  ["CDT", -300],
  ["MST", -420],
  ["MDT", -360],
  ["PST", -480],
  ["PDT", -420]
]

const offset = (sign: string | undefined, hours: string | undefined, minutes: string | undefined): number =>
  (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes ?? 0))

/** Matches at a position and sets the offset; 0 is the sign, hours and minutes of the groups. */
const offsetAt = (form: RegExp, text: string, at: number, parts: Parts): number => {
  form.lastIndex = at
  const found = form.exec(text)
  if (found === null) return -1
  const [whole, sign, hours, minutes] = found
  parts.offsetMinutes = offset(sign, hours, minutes)
  return at + whole.length
}

const ofGmt = /([+-])([01]?\d|2[0-3]):([0-5]\d)/y
const rfc822 = /([+-])([01]\d|2[0-3])([0-5]\d)/y

/** `GMT`, `GMT+1:00`, `+0100`, `UTC`, or one of the named zones. */
export const zone: Reader = (text, at, parts) => {
  const start = skipBlanks(text, at)
  const first = text[start]
  if (first === "+" || first === "-") return offsetAt(rfc822, text, start, parts)
  if (text.slice(start, start + 3).toUpperCase() === "GMT") {
    const sign = text[start + 3]
    if (sign === "+" || sign === "-") return offsetAt(ofGmt, text, start + 3, parts)
    parts.offsetMinutes = 0
    return start + 3
  }
  const rest = text.slice(start, start + 26).toUpperCase()
  const named = zones.find(([name]) => rest.startsWith(name))
  if (named === undefined) return -1
  parts.offsetMinutes = named[1]
  return start + named[0].length
}

const isoForms = [/([+-])([01]\d|2[0-3])/y, /([+-])([01]\d|2[0-3])([0-5]\d)/y, /([+-])([01]\d|2[0-3]):([0-5]\d)/y]

/** `Z`, or an offset of hours (1 letter), hours and minutes (2), or with a colon between (3). */
export const isoZone = (count: number): Reader => (text, at, parts) => {
  const start = skipBlanks(text, at)
  if (text[start] === "Z") {
    parts.offsetMinutes = 0
    return start + 1
  }
  return offsetAt(isoForms[count - 1] ?? rfc822, text, start, parts)
}
