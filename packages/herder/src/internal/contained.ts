/**
 * An author's code, contained: what it fails with is one of the three classes or a defect, and holds no secret. It comes
 * before middleware, so that spans, logs and metrics of operations never see one.
 */
import { isConnectorError, PermanentError, ThrottledError, TransientError } from "@kelpie/core/ConnectorError"
import { StoreError } from "@kelpie/core/StoreError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Redact } from "./redaction.ts"
import { stackOf } from "./trace.ts"

/**
 * What an error that is none of the three classes says, for authors whom no compiler told of them. Texts are cleaned one by
 * one: as JSON a secret could look differently.
 */
const textOf = (error: unknown, redact: Redact): string => {
  if (error instanceof Error) return redact(error.message)
  const json = Option.liftThrowable(() =>
    JSON.stringify(error, (_, value: unknown) => typeof value === "string" ? redact(value) : value)
  )
  return redact(Option.getOrElse(json(), () => undefined) ?? String(error))
}

/** A copy without secrets; its cause is a text. An error of another class may pass, as an author's rejection may. */
const clean = (error: unknown, redact: Redact): unknown => {
  // the runtime's own errors and the end of a stream hold no secret
  if (error instanceof StoreError || Cause.isDone(error)) return error
  if (!isConnectorError(error)) {
    return new TransientError({ message: textOf(error, redact), cause: redact(stackOf(error)) })
  }
  const message = redact(error.message)
  if (message === error.message && error.cause === undefined) return error
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

/**
 * Cleans what an effect fails with. Its handler cannot be interrupted: what finalizers throw while an author's code is
 * interrupted comes through here as well.
 */
export const contain = <A, E, R>(redact: Redact, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.catchCause(restore(effect), (cause) =>
      Effect.failCause(Cause.fromReasons(cause.reasons.map((reason) => {
        switch (reason._tag) {
          case "Fail":
            // the same class of error, so the same type; a foreign one becomes one of those that the type should name
            return Cause.makeFailReason(clean(reason.error, redact) as E)
          case "Die":
            return Cause.makeDieReason(cleanDefect(reason.defect, redact))
          default:
            return reason
        }
      }))))
  )
