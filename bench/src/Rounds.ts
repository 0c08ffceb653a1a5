/**
 * Compares ways to do the same, in turn and in one process: what else the machine does hits all of them alike, so that
 * their ratio means more than each of the numbers.
 */
import * as Heap from "./Heap.ts"

/** One measurement. */
export interface Sample {
  /** Units of work in a second of wall time. */
  readonly perSecond: number
  /** Seconds of processor time, of all threads of this process. */
  readonly cpuSeconds: number
}

/** All measurements of one way. */
export interface Samples {
  readonly all: ReadonlyArray<Sample>
  /** Units in a second: the middle of all rounds, and the best. */
  readonly median: number
  readonly best: number
  readonly cpuSeconds: number
}

/** Kelpie against the floor, and the floor against itself: what the second differs from 1 is noise. */
export interface Compared {
  readonly kelpie: Samples
  readonly floor: Samples
  /** Middle of the ratios of each round. */
  readonly ratio: number
  readonly control: number
}

/** The middle of some numbers. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low = NaN, high = NaN] = sorted.length % 2 === 1
    ? [sorted[middle], sorted[middle]]
    : [sorted[middle - 1], sorted[middle]]
  return (low + high) / 2
}

/** Measures a piece of work of so many units; `run` gives the milliseconds that count when not all of it does. */
export const sample = async (
  units: number,
  run: () => number | undefined | Promise<number | undefined>
): Promise<Sample> => {
  await Heap.collect()
  const cpu = process.cpuUsage()
  const from = performance.now()
  const counted = await run()
  const millis = counted ?? performance.now() - from
  const { system, user } = process.cpuUsage(cpu)
  return { perSecond: units / (millis / 1000), cpuSeconds: (system + user) / 1e6 }
}

const collected = (all: ReadonlyArray<Sample>): Samples => ({
  all,
  median: median(all.map((one) => one.perSecond)),
  best: Math.max(...all.map((one) => one.perSecond)),
  cpuSeconds: median(all.map((one) => one.cpuSeconds))
})

/** Measures floor, Kelpie and the floor again, round after round; the first `warmUp` rounds are not counted. */
export const compare = async (options: {
  readonly rounds: number
  readonly warmUp: number
  readonly kelpie: () => Promise<Sample>
  readonly floor: () => Promise<Sample>
}): Promise<Compared> => {
  const kelpie: Array<Sample> = []
  const floor: Array<Sample> = []
  const again: Array<Sample> = []
  const ways = [
    { samples: floor, run: options.floor },
    { samples: kelpie, run: options.kelpie },
    { samples: again, run: options.floor }
  ]
  for (let round = 0; round < options.warmUp + options.rounds; round++) {
    // who is first changes, so that nobody always runs after the same one
    for (let place = 0; place < ways.length; place++) {
      const way = ways[(round + place) % ways.length]
      const measured = await way?.run()
      if (round >= options.warmUp && measured !== undefined) way?.samples.push(measured)
    }
  }
  const ratios = (samples: ReadonlyArray<Sample>) =>
    floor.map((one, round) => (samples[round]?.perSecond ?? NaN) / one.perSecond)
  return {
    kelpie: collected(kelpie),
    floor: collected([...floor, ...again]),
    ratio: median(
      kelpie.map((one, round) =>
        2 * one.perSecond / ((floor[round]?.perSecond ?? NaN) + (again[round]?.perSecond ?? NaN))
      )
    ),
    control: median(ratios(again))
  }
}
