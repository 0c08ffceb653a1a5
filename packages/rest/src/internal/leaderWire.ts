/** Commands for the leader and its answers, as they travel between workers. */
import { type Envelope, Leader, LeaderCommand, LeaderError } from "@kelpie/core/LeaderCommand"
import * as Schema from "effect/Schema"
import type { Target } from "./signature.ts"

/** Where a leader takes commands, below the prefix. In no contract: only workers ask. */
export const target: Target = { method: "POST", path: "/internal/leader" }

/** The longest command: many times the largest record that stores take. */
export const maxBodyBytes = 4 * 1024 * 1024

const EnvelopeJson = Schema.Struct({
  id: Schema.String,
  command: LeaderCommand,
  budgetMillis: Schema.optionalKey(Schema.Finite)
})

/** Reads a command. */
export const decodeEnvelope = Schema.decodeUnknownEffect(EnvelopeJson, { errors: "all" })

/** Commands are plain JSON data by their schemas, so their text is their encoding. */
export const encodeEnvelope = (envelope: Envelope): Uint8Array => new TextEncoder().encode(JSON.stringify(envelope))

/** The answer to a command that took effect. */
export const Outcome = Schema.Struct({ position: Schema.Finite, created: Schema.optionalKey(Schema.Boolean) })

/** The answer to one that did not, or may not have: the one shape of the API's errors, and what a worker needs besides. */
export const Failure = Schema.Struct({
  error_code: Schema.Int,
  message: Schema.String,
  kind: LeaderError.fields.kind,
  retryAfterMillis: Schema.optionalKey(Schema.Finite),
  leader: Schema.optionalKey(Leader)
})

/** A status for people and proxies; workers go by the kind. No 408: it asks HTTP clients to send again by themselves. */
export const statusOf: Readonly<Record<LeaderError["kind"], number>> = {
  Invalid: 400,
  ExpiredKey: 403,
  ClockSkew: 403,
  NotFound: 404,
  Exists: 409,
  Stale: 409,
  Stopped: 409,
  NotLeader: 409,
  Rebalancing: 409,
  Throttled: 429,
  NoLeader: 503,
  Expired: 503,
  Store: 503,
  Unreachable: 503,
  TimedOut: 504,
  Unknown: 504
}
