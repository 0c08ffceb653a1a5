/** Cuts bytes into lines: many at a time, with one decoding for all of them. */

/** The lines that were cut. */
export interface Taken {
  readonly lines: ReadonlyArray<string>
  /** Where the first byte stands that was not taken. */
  readonly next: number
  /** The line at `next` is longer than allowed, whether its end is there yet or not. */
  readonly tooLong: boolean
}

const newline = 10
const carriageReturn = 13

/**
 * Takes at most `maxLines` whole lines of UTF-8, from `start` on. A line ends with LF or CR LF, which are not part of it; a
 * CR elsewhere is. Bytes that are no UTF-8 become U+FFFD. A last line without an end is left where it is.
 */
export const takeLines = (bytes: Buffer, start: number, maxLines: number, maxLineBytes: number): Taken => {
  let next = start
  let count = 0
  let tooLong = false
  while (count < maxLines && next < bytes.length) {
    const found = bytes.indexOf(newline, next)
    const end = found < 0 ? bytes.length : found
    const length = end - next
    tooLong = length > maxLineBytes && (length > maxLineBytes + 1 || bytes[end - 1] !== carriageReturn)
    if (tooLong || found < 0) break
    next = found + 1
    count++
  }
  return { lines: count === 0 ? [] : decode(bytes, start, next - 1), next, tooLong }
}

/** The line without an end that stands behind the last whole line. */
export const lastLine = (bytes: Buffer, start: number): ReadonlyArray<string> =>
  start < bytes.length ? decode(bytes, start, bytes.length) : []

// a byte sequence that breaks off before an LF does not swallow it, so decoding all lines at once is decoding each
const decode = (bytes: Buffer, start: number, end: number): ReadonlyArray<string> => {
  const text = bytes.toString("utf8", start, end)
  const lines = text.split("\n")
  if (text.includes("\r")) {
    for (const [i, line] of lines.entries()) if (line.endsWith("\r")) lines[i] = line.slice(0, -1)
  }
  return lines
}
