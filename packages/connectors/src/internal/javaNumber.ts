/**
 * Numbers as Java reads, narrows and writes them, so that a cast here gives what it gives in Connect.
 *
 * Whole numbers are `number` within the safe range and `bigint` outside it, as everywhere in records.
 */

/** The whole types by their width in bits. */
export const bits = { int8: 8, int16: 16, int32: 32, int64: 64 } as const

/** A whole type. */
export type IntType = keyof typeof bits

/** The least form of a whole number: a `number` when it is safe. */
export const compact = (n: bigint): number | bigint =>
  n >= Number.MIN_SAFE_INTEGER && n <= Number.MAX_SAFE_INTEGER ? Number(n) : n

/** Narrows a whole number: the low bits stay. */
export const wrap = (n: number | bigint, type: IntType): number | bigint => {
  if (typeof n === "number") {
    if (type === "int64") return n + 0
    if (type === "int32") return n | 0
    return type === "int16" ? n << 16 >> 16 : n << 24 >> 24
  }
  return compact(BigInt.asIntN(bits[type], n))
}

/** Narrows a float: the fraction goes, NaN is 0, and what is too large becomes the nearest `int64` or `int32`. */
export const truncate = (n: number, type: IntType): number | bigint => {
  if (Number.isNaN(n)) return 0
  const whole = Math.trunc(n)
  if (type !== "int64") return wrap(Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, whole)), type)
  if (Number.isSafeInteger(whole)) return whole + 0
  return whole >= 2 ** 63 ? 2n ** 63n - 1n : whole <= -(2 ** 63) ? -(2n ** 63n) : BigInt(whole)
}

/** Reads a whole number, `undefined` when the text is none or it does not fit. */
export const readInt = (text: string, type: IntType): number | bigint | undefined => {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const digits = text.replace(/^\+/, "")
  const short = Number(digits) + 0
  const n = Number.isSafeInteger(short) ? short : digits.length > 40 ? undefined : BigInt(digits)
  if (n === undefined) return undefined
  const bound = type === "int64" ? 2n ** 63n : 2 ** (bits[type] - 1)
  return n >= -bound && n < bound ? n : undefined
}

/** Reads a float, `undefined` when the text is none. Hexadecimal floats are not read. */
export const readFloat = (text: string): number | undefined => {
  const found = /^([+-]?)(?:(NaN)|(Infinity)|((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)[fd]?)$/i.exec(text.trim())
  if (found === null) return undefined
  const [, sign, nan, infinity, digits] = found
  // The words are case-sensitive; the letters in and after the digits are not.
  if (nan !== undefined) return nan === "NaN" ? NaN : undefined
  if (infinity !== undefined && infinity !== "Infinity") return undefined
  const n = infinity === undefined ? Number(digits) : Infinity
  return sign === "-" ? -n : n
}

/** Reads a decimal text and drops its fraction; only the low 64 bits are kept. `undefined` when the text is no decimal. */
export const decimalToInt64 = (text: string): bigint | undefined => {
  const found = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text)
  if (found === null) return undefined
  const [, sign, whole = "", fraction = "", exponent = "0"] = found
  if (whole === "" && fraction === "") return undefined
  const shift = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  // Ten to the 64th and above has 64 zero bits at its end; a text of n digits is nothing once n of them are dropped.
  const n = shift >= 64
    ? 0n
    : shift >= 0
    ? digits * 10n ** BigInt(shift)
    : -shift > whole.length + fraction.length
    ? 0n
    : digits / 10n ** BigInt(-shift)
  return BigInt.asIntN(64, sign === "-" ? -n : n)
}

/** Writes a `double`. */
export const doubleText = (n: number): string => {
  if (!Number.isFinite(n)) return String(n)
  if (n === 0) return Object.is(n, -0) ? "-0.0" : "0.0"
  const size = Math.abs(n)
  if (size >= 1e-3 && size < 1e7) return withFraction(String(n))
  const [digits = "", exponent = ""] = n.toExponential().split("e")
  return `${withFraction(digits)}E${Number(exponent)}`
}

/** Writes a `float` with as few digits as it takes. */
export const floatText = (n: number): string => {
  const single = Math.fround(n)
  if (single === 0) return doubleText(single)
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(single.toPrecision(digits))
    if (Math.fround(short) === single) return doubleText(short)
  }
  return doubleText(Number(single.toPrecision(9)))
}

const withFraction = (digits: string): string => digits.includes(".") ? digits : `${digits}.0`
