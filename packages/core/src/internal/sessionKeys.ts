/** Session keys over an engine: one reads or adds at a time, everybody else waits for what comes of it. */
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as Identity from "../Identity.ts"
import { SessionKeyPolicy } from "../Policies.ts"
import type { SessionKeys } from "../SessionKeys.ts"
import { StoreError } from "../StoreError.ts"
import * as base64 from "./base64.ts"
import * as KeyRing from "./keyRing.ts"

/** How long the engine may take to answer. */
const engineDeadline = "10 seconds"
/** Between two readings for ids that are not known: anybody can send such an id. */
const lookMillis = 1000
/** After a rotation that failed; meanwhile the old key serves on. */
const rotateAgainMillis = 10_000
/** How often somebody else may have been faster before it is an error. */
const maxRotations = 3
const secretBytes = 32

const now: Effect.Effect<KeyRing.Now> = Effect.map(
  Effect.all([Clock.currentTimeMillis, Clock.monotonicTimeNanos]),
  ([epochMillis, nanos]) => ({ epochMillis, monotonicMillis: Number(nanos) / 1e6 })
)

const answered = <A>(operation: string, effect: Effect.Effect<A, StoreError>): Effect.Effect<A, StoreError> =>
  Effect.timeoutOrElse(effect, {
    duration: engineDeadline,
    orElse: () =>
      Effect.fail(new StoreError({ kind: "Unavailable", operation, detail: `no answer within ${engineDeadline}` }))
  })

/** An engine may quote what it was given or what it read: only the detail is passed on, which is written for people. */
const shown = (secret: string | undefined) => ({ detail, kind, operation }: StoreError) =>
  new StoreError({
    kind,
    operation,
    ...(detail === undefined ? {} : { detail: secret === undefined ? detail : detail.replaceAll(secret, "<redacted>") })
  })

/** A short one would let anybody in. */
const checked = (keys: ReadonlyArray<SessionKeys.EncodedKey>): Effect.Effect<void, StoreError> => {
  const short = keys.find(({ secret }) => secret.length < secretBytes)
  return short === undefined ? Effect.void : Effect.fail(
    new StoreError({ kind: "Corrupt", operation: "load session keys", detail: `the key ${short.id} is too short` })
  )
}

/** Makes the service; nothing is read yet. */
export const make = Effect.fnUntraced(function*(
  engine: SessionKeys.Encoded
): Effect.fn.Return<SessionKeys["Service"]> {
  const policy = yield* SessionKeyPolicy
  const rotationMillis = Duration.toMillis(Duration.fromInputUnsafe(policy.rotation))
  const graceMillis = Duration.toMillis(Duration.fromInputUnsafe(policy.grace))
  const random = yield* Effect.provide(SecureRandom.SecureRandom, SecureRandom.layerWebCrypto)
  const oneAtATime = (yield* Semaphore.make(1)).withPermits(1)
  let ring: KeyRing.KeyRing = []
  let rotateNotBefore = 0
  let begun = 0
  let begunAt = -lookMillis
  /** The newest reading that ended: who waited for it gets its failure too. */
  let last: { readonly number: number; readonly outcome: Effect.Effect<void, StoreError> } = {
    number: 0,
    outcome: Effect.void
  }

  const load = Effect.gen(function*() {
    const keys = yield* Effect.mapError(answered("load session keys", engine.load), shown(undefined))
    yield* checked(keys)
    const at = yield* now
    const merged = KeyRing.merge(ring, keys, at)
    ring = KeyRing.accepted(merged, at, graceMillis)
    const before = KeyRing.dropBefore(merged, at, graceMillis)
    // whoever reads next tries again
    if (before !== undefined) yield* Effect.ignore(answered("drop session keys", engine.drop(before)))
  })

  const read = Effect.gen(function*() {
    const number = ++begun
    begunAt = (yield* now).monotonicMillis
    const exit = yield* Effect.exit(load)
    last = { number, outcome: exit }
    return yield* exit
  })

  /** Reads, unless somebody began to after this was asked for. */
  const readAnew = (waitUntil: (at: KeyRing.Now) => number) =>
    Effect.suspend(() => {
      const asked = begun
      return oneAtATime(Effect.gen(function*() {
        if (last.number > asked) return yield* last.outcome
        const at = yield* now
        yield* Effect.sleep(Math.max(0, waitUntil(at) - at.monotonicMillis))
        return yield* read
      }))
    })

  const add = Effect.gen(function*() {
    const secret = base64.encode(yield* random.randomBytes(secretBytes))
    const key = { id: yield* Identity.draw, secret, createdAt: (yield* now).epochMillis }
    yield* answered("add a session key", engine.add(key, KeyRing.newest(ring)?.id)).pipe(
      Effect.mapError(shown(secret))
    )
  })

  const usable = Effect.map(now, (at) => KeyRing.usable(ring, at, rotationMillis))

  const rotate = Effect.gen(function*() {
    yield* read
    for (let rotations = 0; rotations < maxRotations; rotations++) {
      // another worker may have rotated
      const key = yield* usable
      if (key !== undefined) return key
      yield* add
      yield* read
    }
    return (yield* usable) ?? (yield* new StoreError({
      kind: "Conflict",
      operation: "add a session key",
      detail: `others added keys that are too old already, ${maxRotations} times`
    }))
  })

  /** A key that is too old is better than none: nobody refuses it while it is the newest. */
  const orOld = Effect.fnUntraced(function*(error: StoreError) {
    const old = KeyRing.newest(ring)
    if (old === undefined) return yield* error
    rotateNotBefore = (yield* now).monotonicMillis + rotateAgainMillis
    yield* Effect.logWarning(`The key for requests between workers could not be replaced: ${error.message}`)
    return old
  })

  const serving = Effect.flatMap(
    now,
    ({ monotonicMillis }) => monotonicMillis < rotateNotBefore ? Effect.sync(() => KeyRing.newest(ring)) : usable
  )

  const current = Effect.gen(function*() {
    // who waited for its turn may find the new key
    const rotated = Effect.gen(function*() {
      return (yield* serving) ?? (yield* Effect.catch(rotate, orOld))
    })
    return (yield* serving) ?? (yield* oneAtATime(rotated))
  })

  const find: SessionKeys["Service"]["find"] = Effect.fnUntraced(function*(id) {
    const { key, known } = KeyRing.find(ring, id, yield* now, graceMillis)
    if (known) return key
    yield* readAnew(() => begunAt + lookMillis)
    return KeyRing.find(ring, id, yield* now, graceMillis).key
  })

  return { current, find, refresh: readAnew(() => 0) }
})
