/**
 * Exact decimal numbers: the text that Kelpie holds, and the bytes that Connect's `Decimal` puts into a topic (the unscaled
 * value as a big-endian two's complement number).
 */

/** `unscaled / 10 ** scale`. */
export interface Decimal {
  readonly unscaled: bigint
  readonly scale: number
}

/** Longer numbers are refused: work on a `bigint` grows faster than its length. */
const mostDigits = 1000

const grammar = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/

/** Reads a decimal text, with or without an exponent. `undefined` when it is none, or has over 1,000 digits. */
export const parse = (text: string): Decimal | undefined => {
  if (text.length > mostDigits + 10) return undefined
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = grammar.exec(text) ?? []
  const digits = whole + fraction
  const scale = fraction.length - Number(exponent)
  if (digits === "" || digits.length > mostDigits || Math.abs(scale) > mostDigits) return undefined
  const magnitude = BigInt(digits)
  return { unscaled: sign === "-" ? -magnitude : magnitude, scale }
}

/** The digits of a decimal, without an exponent: as many after the point as its scale says. */
export const print = ({ scale, unscaled }: Decimal): string => {
  if (scale <= 0) return unscaled === 0n ? "0" : `${unscaled}${"0".repeat(-scale)}`
  const digits = `${unscaled < 0n ? -unscaled : unscaled}`.padStart(scale + 1, "0")
  const point = digits.length - scale
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** The same number at another scale; `undefined` when digits would be lost. */
export const rescale = ({ scale, unscaled }: Decimal, to: number): Decimal | undefined => {
  const factor = 10n ** BigInt(Math.abs(to - scale))
  if (to >= scale) return { unscaled: unscaled * factor, scale: to }
  return unscaled % factor === 0n ? { unscaled: unscaled / factor, scale: to } : undefined
}

/** The shortest two's complement bytes of a whole number, high byte first. */
export const toBytes = (unscaled: bigint): Uint8Array => {
  let length = 1
  while (BigInt.asIntN(length * 8, unscaled) !== unscaled) length++
  const hex = BigInt.asUintN(length * 8, unscaled).toString(16).padStart(length * 2, "0")
  return Uint8Array.from({ length }, (_, i) => Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16))
}

/** The whole number of two's complement bytes; `undefined` for no bytes, or for over 1,000 of them. */
export const fromBytes = (bytes: Uint8Array): bigint | undefined => {
  if (bytes.length === 0 || bytes.length > mostDigits) return undefined
  let hex = "0x"
  for (const byte of bytes) hex += byte.toString(16).padStart(2, "0")
  return BigInt.asIntN(bytes.length * 8, BigInt(hex))
}
