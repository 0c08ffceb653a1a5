/**
 * An author's code, contained: what it fails with is one of the three classes or a defect, and holds no secret. It comes
 * before middleware, so that spans, logs and metrics of operations never see one.
 */
import { isConnectorError, PermanentError, ThrottledError, TransientError } from "@kelpie/core/ConnectorError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Redact } from "./redaction.ts"
import { stackOf } from "./trace.ts"

/** A copy without secrets; its cause is a text. */
const clean = (error: unknown, redact: Redact): unknown => {
  if (!isConnectorError(error)) return error
  const message = redact(error.message)
  const cause = error.cause === undefined ? {} : { cause: redact(stackOf(error.cause)) }
  switch (error._tag) {
    case "TransientError":
      return new TransientError({ message, ...cause })
    case "PermanentError":
      return new PermanentError({ message, ...cause })
    case "ThrottledError":
      return new ThrottledError({ message, retryAfter: error.retryAfter, ...cause })
  }
}

const cleanDefect = (defect: unknown, redact: Redact): Error => {
  const copy = new Error(redact(defect instanceof Error ? defect.message : String(defect)))
  copy.name = defect instanceof Error ? defect.name : "Defect"
  copy.stack = redact(stackOf(defect))
  return copy
}

/** Cleans what an effect fails with; costs nothing while it succeeds. */
export const contain = <A, E, R>(redact: Redact, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchCause(effect, (cause) =>
    Effect.failCause(Cause.fromReasons(cause.reasons.map((reason) => {
      switch (reason._tag) {
        case "Fail":
          // the same class of error, so the same type
          return Cause.makeFailReason(clean(reason.error, redact) as E)
        case "Die":
          return Cause.makeDieReason(cleanDefect(reason.defect, redact))
        default:
          return reason
      }
    }))))
