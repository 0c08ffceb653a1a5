/**
 * Sends commands to the leader over HTTP, signed with the cluster's keys.
 *
 * One command is one request, and nothing is sent again: whoever sends a command decides that, under the same id (I10). Only a
 * key that was replaced meanwhile is replaced here too, once, for then the leader has not looked at the command.
 */
import * as Identity from "@kelpie/core/Identity"
import { LeaderClient } from "@kelpie/core/LeaderClient"
import { type Envelope, LeaderError, type Outcome } from "@kelpie/core/LeaderCommand"
import type { Membership } from "@kelpie/core/Membership"
import { ReconfigurationPolicy } from "@kelpie/core/Policies"
import { SessionKeys } from "@kelpie/core/SessionKeys"
import type { StoreError } from "@kelpie/core/StoreError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as LeaderAnswer from "./internal/leaderAnswer.ts"
import * as LeaderWire from "./internal/leaderWire.ts"
import * as Signature from "./internal/signature.ts"
import * as TransportFailure from "./internal/transportFailure.ts"

/** How commands are sent. */
export interface Options {
  /** How long a command without a budget of its own may take. Left out: `sendDeadline` of the `ReconfigurationPolicy`. */
  readonly deadline?: Duration.Input | undefined
  /** Commands to one leader that are under way at the same time, 16 by default; others wait for their turn. */
  readonly concurrency?: number | undefined
  /** What is done with every request: what a proxy asks for. It must not send one twice. */
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
}

/** A client that reaches leaders by the address that they tell as members. */
export const make = Effect.fnUntraced(function*(
  options: Options = {}
): Effect.fn.Return<LeaderClient["Service"], never, SessionKeys | HttpClient.HttpClient | Scope.Scope> {
  const { transformClient = (client) => client } = options
  const deadline = options.deadline ?? (yield* ReconfigurationPolicy).sendDeadline
  const deadlineMillis = Duration.toMillis(Duration.fromInputUnsafe(deadline))
  const concurrency = options.concurrency ?? 16
  const post = poster(yield* SessionKeys, transformClient(yield* HttpClient.HttpClient))
  const lines = yield* RcMap.make<string, Semaphore.Semaphore, never, never>({
    lookup: () => Semaphore.make(concurrency)
  })
  /** A turn at the leader. */
  const inLine = (leader: Membership.Member, effect: Effect.Effect<Outcome, LeaderError>) =>
    Effect.scoped(
      Effect.flatMap(RcMap.get(lines, leader.session), (line) => line.withPermits(1)(effect))
    )

  return {
    send: (leader, envelope) => {
      if (leader.address === undefined) {
        return unreachable(`the leader ${leader.workerId} tells no address where it takes commands`)
      }
      const base = baseOf(leader.address)
      if (base === undefined) return unreachable(`the leader ${leader.workerId} tells an address that is no HTTP URL`)
      const where = `the leader ${leader.workerId} at ${base}`
      const url = `${base}${LeaderWire.target.path}`
      return Effect.flatMap(monotonicMillis, (startMillis) => {
        const limitMillis = envelope.budgetMillis ?? deadlineMillis
        const sending: Sending = { where, url, envelope, startMillis, isUnderWay: false }
        return Effect.timeoutOrElse(inLine(leader, post(sending)), {
          duration: Math.max(0, limitMillis),
          orElse: () => tooLate(sending, limitMillis)
        })
      })
    }
  }
})

/** The same as a layer. The platform's `HttpClient` keeps the connections. */
export const layer = (
  options: Options = {}
): Layer.Layer<LeaderClient, never, SessionKeys | HttpClient.HttpClient> => Layer.effect(LeaderClient, make(options))

/** One command on its way. */
interface Sending {
  /** The leader, in words. */
  readonly where: string
  readonly url: string
  readonly envelope: Envelope
  readonly startMillis: number
  /** Something may have arrived. */
  isUnderWay: boolean
}

const monotonicMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

const unreachable = (message: string) => Effect.fail(new LeaderError({ kind: "Unreachable", message }))

/** The URL that paths follow, without what an address may hold besides, such as a password. */
const baseOf = (address: string): string | undefined => {
  if (!URL.canParse(address)) return undefined
  const { origin, pathname, protocol } = new URL(address)
  return /^https?:$/.test(protocol) ? `${origin}${pathname.replace(/\/+$/, "")}` : undefined
}

const tooLate = ({ isUnderWay, where }: Sending, limitMillis: number) =>
  isUnderWay
    ? Effect.fail(
      new LeaderError({ kind: "TimedOut", message: `${where} did not answer within ${Math.round(limitMillis)} ms` })
    )
    : unreachable(`nothing could be sent to ${where} within ${Math.round(limitMillis)} ms`)

const fromKeys = ({ kind, operation }: StoreError) =>
  new LeaderError({ kind: "Store", message: `the keys of this cluster cannot be had: ${operation}: ${kind}` })

const fromTransport = (where: string) => (error: LeaderError | HttpClientError): LeaderError => {
  if (error._tag === "LeaderError") return error
  const { code, nothingSent } = TransportFailure.read(error)
  return nothingSent
    ? new LeaderError({ kind: "Unreachable", message: `cannot reach ${where}: ${code}` })
    : new LeaderError({ kind: "Unknown", message: `${where} may have received the command, but not answered: ${code}` })
}

/** The command with what is left of its time. */
const bodyOf = Effect.fnUntraced(function*({ envelope, startMillis }: Sending) {
  const passedMillis = (yield* monotonicMillis) - startMillis
  const body = LeaderWire.encodeEnvelope(
    envelope.budgetMillis === undefined
      ? envelope
      : { ...envelope, budgetMillis: Math.max(0, envelope.budgetMillis - passedMillis) }
  )
  if (body.length <= LeaderWire.maxBodyBytes) return body
  return yield* new LeaderError({
    kind: "Invalid",
    message: `the command has ${body.length} bytes, and leaders take ${LeaderWire.maxBodyBytes}`
  })
})

/** Posts a command; again, if the key had been replaced. */
const poster = (keys: SessionKeys["Service"], client: HttpClient.HttpClient) => {
  const attempt = Effect.fnUntraced(function*(sending: Sending) {
    const key = yield* Effect.mapError(keys.current, fromKeys)
    const body = yield* bodyOf(sending)
    const nonce = yield* Identity.draw
    const timestampMillis = yield* Clock.currentTimeMillis
    const request = HttpClientRequest.post(sending.url).pipe(
      HttpClientRequest.setHeaders(Signature.sign(key, LeaderWire.target, { body, nonce, timestampMillis })),
      HttpClientRequest.bodyUint8Array(body, "application/json"),
      HttpClientRequest.acceptJson
    )
    sending.isUnderWay = true
    return yield* client.execute(request).pipe(
      Effect.flatMap((response) => LeaderAnswer.read(response, sending.where)),
      Effect.mapError(fromTransport(sending.where)),
      withoutSignature
    )
  })
  return (sending: Sending): Effect.Effect<Outcome, LeaderError> =>
    Effect.catchIf(attempt(sending), ({ kind }) => kind === "ExpiredKey", () => {
      sending.isUnderWay = false
      return Effect.andThen(Effect.mapError(keys.refresh, fromKeys), attempt(sending))
    })
}

/** Spans tell the headers of requests: a signature is nobody's business while it is accepted. */
const withoutSignature = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    Headers.CurrentRedactedNames,
    (names) => Effect.provideService(effect, Headers.CurrentRedactedNames, [...names, Signature.headers.signature])
  )
