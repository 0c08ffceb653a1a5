/** Troubles of a simulation that end at a time. */

/** What goes on. */
export interface Troubles {
  readonly add: (until: number, end: () => void) => void
  /** Ends what is over at a time. */
  readonly endAt: (now: number) => void
}

/** No trouble. */
export const make = (): Troubles => {
  let all: Array<{ readonly until: number; readonly end: () => void }> = []
  return {
    add: (until, end) => void all.push({ until, end }),
    endAt: (now) => {
      const over = all.filter(({ until }) => until <= now)
      all = all.filter(({ until }) => until > now)
      for (const { end } of over) end()
    }
  }
}
