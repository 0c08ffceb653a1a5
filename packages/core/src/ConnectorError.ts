/**
 * The errors by which an author, a port or a middleware tells Kelpie what to do next: wait, give up, or wait as long as
 * asked.
 */
import * as Schema from "effect/Schema"

/** It may work later: retried on the schedule. */
export class TransientError
  extends Schema.TaggedError<TransientError>("@kelpie/core/TransientError")("TransientError", {
    message: Schema.String,
    cause: Schema.optionalKey(Schema.Defect())
  })
{}

/** It cannot work until somebody changes something: never retried. */
export class PermanentError
  extends Schema.TaggedError<PermanentError>("@kelpie/core/PermanentError")("PermanentError", {
    message: Schema.String,
    cause: Schema.optionalKey(Schema.Defect())
  })
{}

/** The other side asked to wait: retried, not before `retryAfter`. */
export class ThrottledError
  extends Schema.TaggedError<ThrottledError>("@kelpie/core/ThrottledError")("ThrottledError", {
    message: Schema.String,
    retryAfter: Schema.Duration,
    cause: Schema.optionalKey(Schema.Defect())
  })
{}

/** What a connector may fail with; anything else does not compile, or is a defect. */
export type ConnectorError = TransientError | PermanentError | ThrottledError

/** Whether a value is one of the three classes. */
export const isConnectorError = (u: unknown): u is ConnectorError =>
  u instanceof TransientError || u instanceof PermanentError || u instanceof ThrottledError

/** The error an author's promise was rejected with: one of the classes stays as it is, anything else is transient. */
export const fromRejection = (cause: unknown): ConnectorError =>
  isConnectorError(cause)
    ? cause
    : new TransientError({ message: cause instanceof Error ? cause.message : String(cause), cause })
