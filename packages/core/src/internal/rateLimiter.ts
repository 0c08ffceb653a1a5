/** A rate limit over a sliding window: at most so many starts within any window, exactly. */

/** The starts that still count. */
export interface RateLimiter {
  /** Milliseconds until the next start is allowed; 0 when it is now. */
  readonly waitMillis: (nowMillis: number) => number
  /** Notes a start. */
  readonly take: (nowMillis: number) => void
}

/** Remembers the last `limit` starts in a ring. Times are milliseconds of one monotonic clock. */
export const make = (limit: number, windowMillis: number): RateLimiter => {
  const starts = new Float64Array(limit).fill(-Infinity)
  let oldest = 0
  return {
    waitMillis: (nowMillis) => Math.max(0, (starts[oldest] ?? -Infinity) + windowMillis - nowMillis),
    take: (nowMillis) => {
      starts[oldest] = nowMillis
      oldest = (oldest + 1) % limit
    }
  }
}
