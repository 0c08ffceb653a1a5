/** Which whole numbers an integer type of Connect holds. */

/** Type -> the lowest and the highest value. `int64` is not here: it may be a `bigint`. */
export const integerRange = {
  int8: { min: -(2 ** 7), max: 2 ** 7 - 1 },
  int16: { min: -(2 ** 15), max: 2 ** 15 - 1 },
  int32: { min: -(2 ** 31), max: 2 ** 31 - 1 }
} as const

/** Whether a number is a whole one of that type. */
export const isWithin = (type: keyof typeof integerRange, value: number): boolean =>
  Number.isInteger(value) && value >= integerRange[type].min && value <= integerRange[type].max

/** Whether 64 bits hold it. */
export const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value

/** How an `int64` is held: a `number` when that is exact. */
export const int64 = (value: bigint): number | bigint => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
