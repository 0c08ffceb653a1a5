/** Remembers the nonces of requests for as long as their signatures are accepted, and never more than so many. */

/** The memory of one server. */
export interface SeenRequests {
  /** Whether a genuine request is seen for the first time for certain; it is remembered. */
  readonly isNew: (nonce: string, timestampMillis: number, nowMillis: number) => boolean
}

const bucketMillis = 1000

/**
 * Nonces are kept by the second in which they were signed. When there are too many, the oldest seconds are forgotten early and
 * requests from them count as seen: a busy server accepts late requests for a shorter time, and remembers no less.
 */
export const make = (options: { readonly skewMillis: number; readonly capacity: number }): SeenRequests => {
  const buckets = new Map<number, Set<string>>()
  let size = 0
  /** Nothing is known any more of requests that were signed before. */
  let floorMillis = 0

  const remove = (bucket: number) => {
    size -= buckets.get(bucket)?.size ?? 0
    buckets.delete(bucket)
  }
  const forget = (bucket: number) => {
    remove(bucket)
    floorMillis = Math.max(floorMillis, (bucket + 1) * bucketMillis)
  }

  return {
    isNew: (nonce, timestampMillis, nowMillis) => {
      const latestMillis = nowMillis + options.skewMillis
      // the clock was far ahead and was set right: what is left from then would keep out everybody
      if (floorMillis > latestMillis) floorMillis = 0
      for (const bucket of buckets.keys()) {
        if (bucket * bucketMillis > latestMillis) remove(bucket)
        if ((bucket + 1) * bucketMillis <= nowMillis - options.skewMillis) forget(bucket)
      }
      if (timestampMillis < floorMillis) return false
      const bucket = Math.floor(timestampMillis / bucketMillis)
      const nonces = buckets.get(bucket) ?? new Set()
      if (nonces.has(nonce)) return false
      buckets.set(bucket, nonces.add(nonce))
      size++
      while (size > options.capacity) forget(Math.min(...buckets.keys()))
      return true
    }
  }
}
