/** What a worker knows of the session keys, and what follows from it. */
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { SessionKeys } from "../SessionKeys.ts"

/** A key, and when this worker first saw it, by its monotonic clock. */
interface Entry {
  readonly key: SessionKeys.Key
  readonly seenAtMillis: number
}

/** In the order in which they were added. */
export type KeyRing = ReadonlyArray<Entry>

/** Both clocks of this worker. */
export interface Now {
  readonly epochMillis: number
  readonly monotonicMillis: number
}

/**
 * By the maker's clock, or by the time for which this worker knows the key, whichever is longer: a key from the future is
 * replaced in time, and an old one is old for a worker that has just started.
 */
const ageMillis = ({ key, seenAtMillis }: Entry, now: Now): number =>
  Math.max(now.epochMillis - key.createdAtMillis, now.monotonicMillis - seenAtMillis)

/** What was read, with what is remembered of it. */
export const merge = (ring: KeyRing, loaded: ReadonlyArray<SessionKeys.EncodedKey>, now: Now): KeyRing =>
  loaded.map(({ createdAt, id, secret }) =>
    ring.find((entry) => entry.key.id === id) ?? {
      key: { id, secret: Redacted.make(secret, { label: "session key" }), createdAtMillis: createdAt },
      seenAtMillis: now.monotonicMillis
    }
  )

/** The key that replaced all others. */
export const newest = (ring: KeyRing): SessionKeys.Key | undefined => ring.at(-1)?.key

/** The newest key, unless it is to be replaced. */
export const usable = (ring: KeyRing, now: Now, rotationMillis: number): SessionKeys.Key | undefined => {
  const last = ring.at(-1)
  return last !== undefined && ageMillis(last, now) < rotationMillis ? last.key : undefined
}

/** A key is accepted until the one that replaced it is as old as the grace. */
const isAccepted = (ring: KeyRing, index: number, now: Now, graceMillis: number): boolean => {
  const successor = ring[index + 1]
  return successor === undefined || ageMillis(successor, now) < graceMillis
}

/** Without the keys that are not accepted any more. */
export const accepted = (ring: KeyRing, now: Now, graceMillis: number): KeyRing =>
  ring.filter((_, index) => isAccepted(ring, index, now, graceMillis))

/** Whether a key of that id is known, and the key if it is accepted. */
export const find = (
  ring: KeyRing,
  id: string,
  now: Now,
  graceMillis: number
): { readonly known: boolean; readonly key: Option.Option<SessionKeys.Key> } => {
  const index = ring.findIndex((entry) => entry.key.id === id)
  const entry = ring[index]
  const isOne = entry !== undefined && isAccepted(ring, index, now, graceMillis)
  return { known: entry !== undefined, key: isOne ? Option.some(entry.key) : Option.none() }
}

/** Everything that was created before this may go: no accepted key was. `undefined` when nothing would. */
export const dropBefore = (ring: KeyRing, now: Now, graceMillis: number): number | undefined => {
  const kept = accepted(ring, now, graceMillis)
  const before = Math.min(...kept.map(({ key }) => key.createdAtMillis))
  return ring.some(({ key }) => key.createdAtMillis < before) ? before : undefined
}
