/**
 * Takes commands that other workers send to the leader.
 *
 * A signature says that a worker of this cluster sent it, just now, and nobody before. It is the only authentication here:
 * whatever protects the API from its users does not concern workers.
 */
import { LeaderError } from "@kelpie/core/LeaderCommand"
import { SessionKeyPolicy } from "@kelpie/core/Policies"
import { SessionKeys } from "@kelpie/core/SessionKeys"
import { LeaderReceiver } from "@kelpie/herder/LeaderReceiver"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Fault from "./fault.ts"
import * as Issues from "./issues.ts"
import * as jsonBody from "./jsonBody.ts"
import * as LeaderWire from "./leaderWire.ts"
import type { Refusal } from "./refusal.ts"
import * as SeenRequests from "./seenRequests.ts"
import * as Signature from "./signature.ts"

/** Answers a command; fails never. */
export type LeaderRoute = (
  request: HttpServerRequest.HttpServerRequest
) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** Requests that are remembered, at most: those of a minute at a thousand a second. */
const maxSeen = 65_536

/** Whether a request is for this route. */
export const isFor = (request: HttpServerRequest.HttpServerRequest, segments: ReadonlyArray<string>): boolean =>
  request.method === LeaderWire.target.method && `/${segments.join("/")}` === LeaderWire.target.path

/** The route, where there are a leader to ask and keys to know workers by; `undefined` elsewhere. */
export const make: Effect.Effect<LeaderRoute | undefined> = Effect.gen(function*() {
  const receiver = Option.getOrUndefined(yield* Effect.serviceOption(LeaderReceiver))
  const keys = Option.getOrUndefined(yield* Effect.serviceOption(SessionKeys))
  if (receiver === undefined || keys === undefined) return undefined
  const skewMillis = Duration.toMillis(Duration.fromInputUnsafe((yield* SessionKeyPolicy).skew))
  const verify = verifier(keys, skewMillis)
  const handle = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    const since = yield* stopwatch
    const { digest } = yield* verify(request)
    const envelope = yield* readEnvelope(request, digest)
    const command = { ...envelope, ...(yield* budgetLeft(envelope.budgetMillis, since)) }
    return HttpServerResponse.jsonUnsafe(yield* receiver.execute(command))
  })
  return (request) =>
    handle(request).pipe(
      Effect.catchTags({
        LeaderError: (error) => Effect.succeed(toResponse(LeaderWire.statusOf[error.kind], error)),
        Refused: (refused) => Effect.succeed(toResponse(refused.status, refused))
      }),
      // the command may have taken effect before
      Effect.catchDefect((defect) =>
        Effect.as(Fault.log(defect), toResponse(500, { kind: "Unknown", message: Fault.message }))
      )
    )
})

/** A request that is refused before the leader sees it. */
class Refused extends Data.TaggedError("Refused")<{
  readonly status: number
  readonly message: string
  readonly kind?: LeaderError["kind"]
}> {}

/** What is wrong is not told: who signs rightly need not know. */
const forged = new Refused({ status: 403, message: "signature" })

/** Somebody sent it twice; what became of the first one, its sender was told. */
const replayed = new Refused({ status: 403, message: "replayed", kind: "Unknown" })

const unreadable = ({ message, status }: Refusal) => new Refused({ status, message, kind: "Invalid" })

/** Lets through what a worker signed just now, and what was not seen before. */
const verifier = (keys: SessionKeys["Service"], skewMillis: number) => {
  const seen = SeenRequests.make({ skewMillis, capacity: maxSeen })
  return Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    const signed = Signature.read(request.headers)
    if (signed === undefined) return yield* forged
    const key = Option.getOrUndefined(yield* Effect.mapError(keys.find(signed.keyId), keysUnknown))
    if (key === undefined) return yield* expired
    if (!Signature.isGenuine(key.secret, LeaderWire.target, signed)) return yield* forged
    const now = yield* Clock.currentTimeMillis
    const behindMillis = now - signed.timestampMillis
    if (Math.abs(behindMillis) > skewMillis) return yield* skewed(behindMillis, skewMillis)
    if (!seen.isNew(signed.nonce, signed.timestampMillis, now)) return yield* replayed
    return signed
  })
}

const keysUnknown = () => new LeaderError({ kind: "Store", message: "the keys of this cluster cannot be read" })

const expired = new LeaderError({ kind: "ExpiredKey", message: "the key is not known here, or was replaced" })

const skewed = (behindMillis: number, skewMillis: number) =>
  new LeaderError({
    kind: "ClockSkew",
    message: `the sender's clock is ${Math.abs(behindMillis)} ms ${behindMillis > 0 ? "behind" : "ahead of"} ` +
      `the leader's; ${skewMillis} ms are accepted`
  })

/** The body, if it is the one that was signed. */
const readEnvelope = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, digest: string) {
  const bytes = yield* Effect.mapError(jsonBody.bytes(request, LeaderWire.maxBodyBytes), unreadable)
  if (Signature.digestOf(bytes) !== digest) return yield* forged
  const json = yield* Effect.mapError(jsonBody.parse(request.headers, bytes), unreadable)
  return yield* Effect.mapError(
    LeaderWire.decodeEnvelope(json),
    (error) => new LeaderError({ kind: "Invalid", message: Issues.describe("Command", error, json) })
  )
})

const monotonicMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** Tells the milliseconds since it was made. */
const stopwatch = Effect.map(monotonicMillis, (start) => Effect.map(monotonicMillis, (now) => now - start))

/** A body may have come slowly (I15). */
const budgetLeft = Effect.fnUntraced(function*(budgetMillis: number | undefined, since: Effect.Effect<number>) {
  if (budgetMillis === undefined) return {}
  const left = budgetMillis - (yield* since)
  if (left > 0) return { budgetMillis: left }
  return yield* new LeaderError({ kind: "TimedOut", message: "the time for the command was over when it arrived" })
})

const toResponse = (
  status: number,
  { kind, leader, message, retryAfterMillis = kind === "Throttled" ? 1000 : undefined }:
    & Pick<LeaderError, "message">
    & Partial<Pick<LeaderError, "kind" | "leader" | "retryAfterMillis">>
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ error_code: status, message, kind, retryAfterMillis, leader }, {
    status,
    headers: retryAfterMillis === undefined
      ? {}
      : { "retry-after": `${Math.max(1, Math.ceil(retryAfterMillis / 1000))}` }
  })
