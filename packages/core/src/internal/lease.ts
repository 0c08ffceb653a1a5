/**
 * Leases as one worker sees them, on its own monotonic clock. Pure.
 *
 * The own one counts from the sending of the last good renewal, those of others from the sighting of their counter: so
 * nobody takes a session for ended while it takes itself for alive. An observer that was away for a while cannot say how
 * long a counter stood still, and starts to count anew (I13).
 */

/** Settings, in milliseconds. */
export interface Terms {
  readonly lease: number
  readonly renewal: number
  readonly margin: number
}

/** When a counter was first seen. */
interface Sighting {
  readonly counter: number
  readonly since: number
}

/** What was seen of the others. */
export interface Sightings {
  /** When the rows were last read. */
  readonly at: number
  readonly bySession: ReadonlyMap<string, Sighting>
}

/** Nothing was seen. */
export const unseen: Sightings = { at: -Infinity, bySession: new Map() }

/** A session and how often it was renewed. */
export interface Counted {
  readonly session: string
  readonly counter: number
}

/** Takes in what was read just now. */
export const see = (before: Sightings, rows: ReadonlyArray<Counted>, now: number, terms: Terms): Sightings => {
  const wasAway = now - before.at > terms.renewal + terms.margin
  const bySession = new Map(rows.map(({ counter, session }): [string, Sighting] => {
    const known = before.bySession.get(session)
    return [session, known === undefined || wasAway || known.counter !== counter ? { counter, since: now } : known]
  }))
  return { at: now, bySession }
}

/** Those whose lease ran out. */
export const ranOut = ({ bySession }: Sightings, now: number, { lease }: Terms): ReadonlyArray<Counted> =>
  [...bySession].flatMap(([session, { counter, since }]) => now - since >= lease ? [{ session, counter }] : [])

/** When the own session has to stop acting. */
export const actsUntil = (sent: number, { lease, margin }: Terms): number => sent + lease - margin
