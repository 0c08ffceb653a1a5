/** Counts what arrived: every number of a sequence once, or missing, or more than once. */

/** The count of one sequence. */
export interface Counted {
  readonly arrived: number
  readonly gaps: number
  readonly duplicates: number
}

/** Counts the numbers 0 to `expected` - 1. */
export const count = (numbers: Iterable<number>, expected: number): Counted => {
  const times = new Map<number, number>()
  for (const number of numbers) times.set(number, (times.get(number) ?? 0) + 1)
  let duplicates = 0
  for (const seen of times.values()) duplicates += seen - 1
  return { arrived: times.size, gaps: expected - times.size, duplicates }
}

/** The sum of several. */
export const sum = (all: ReadonlyArray<Counted>): Counted => ({
  arrived: all.reduce((total, one) => total + one.arrived, 0),
  gaps: all.reduce((total, one) => total + one.gaps, 0),
  duplicates: all.reduce((total, one) => total + one.duplicates, 0)
})

/** The number that a generated value begins with. */
export const numberOf = (value: string): number => Number.parseInt(value, 10)
