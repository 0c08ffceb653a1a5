/**
 * The errors of the REST API, as the client fails with them and the server answers them.
 *
 * On the wire every error is `{"error_code", "message"}` with the status as its code; `_tag` is not sent.
 */
import * as ErrorReporter from "effect/ErrorReporter"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"

const wire = <Status extends number>(status: Status) => ({ error_code: Schema.tag(status), message: Schema.String })

/** The request is malformed, or its configuration is refused. */
export class BadRequest extends Schema.Error<BadRequest>("@kelpie/rest/BadRequest")(
  { _tag: Schema.tagDefaultOmit("BadRequest"), ...wire(400) },
  { httpApiStatus: 400 }
) {
  /** The caller's affair: not reported as a fault. */
  override readonly [ErrorReporter.ignore] = true
}

/** No such connector, task or plugin. */
export class NotFound extends Schema.Error<NotFound>("@kelpie/rest/NotFound")(
  { _tag: Schema.tagDefaultOmit("NotFound"), ...wire(404) },
  { httpApiStatus: 404 }
) {
  /** The caller's affair: not reported as a fault. */
  override readonly [ErrorReporter.ignore] = true
}

/** What was asked contradicts the state. */
export class Conflict extends Schema.Error<Conflict>("@kelpie/rest/Conflict")(
  { _tag: Schema.tagDefaultOmit("Conflict"), ...wire(409) },
  { httpApiStatus: 409 }
) {
  /** The caller's affair: not reported as a fault. */
  override readonly [ErrorReporter.ignore] = true
}

/** The body is longer than the worker takes. */
export class ContentTooLarge extends Schema.Error<ContentTooLarge>("@kelpie/rest/ContentTooLarge")(
  { _tag: Schema.tagDefaultOmit("ContentTooLarge"), ...wire(413) },
  { httpApiStatus: 413 }
) {
  /** The caller's affair: not reported as a fault. */
  override readonly [ErrorReporter.ignore] = true
}

/** A fault of the worker; its log tells more. */
export class InternalError extends Schema.Error<InternalError>("@kelpie/rest/InternalError")(
  { _tag: Schema.tagDefaultOmit("InternalError"), ...wire(500) },
  { httpApiStatus: 500 }
) {}

/** Not possible at present, and without an effect: ask again after `retryAfterSeconds`. */
export class Unavailable extends Schema.Error<Unavailable>("@kelpie/rest/Unavailable")({
  _tag: Schema.tagDefaultOmit("Unavailable"),
  ...wire(503),
  retryAfterSeconds: Schema.Int
}, { httpApiStatus: 503 }) {}

/** It is not known whether the request had, or will have, an effect. */
export class TimedOut extends Schema.Error<TimedOut>("@kelpie/rest/TimedOut")(
  {
    _tag: Schema.tagDefaultOmit("TimedOut"),
    ...wire(504),
    /** `GET /operations/{id}` tells what became of it. */
    operation_id: Schema.optionalKey(Schema.String)
  },
  { httpApiStatus: 504 }
) {}

/** Any of them. */
export type RestError = BadRequest | NotFound | Conflict | ContentTooLarge | InternalError | Unavailable | TimedOut

/** `Unavailable` with its time in the header `Retry-After`. */
const UnavailableWithHeader = Unavailable.pipe(HttpApiSchema.encodeToWithHeaders({
  body: Schema.Struct(wire(503)).annotate({ httpApiStatus: 503 }),
  headers: { "retry-after": Schema.optionalKey(Schema.String) }
}, {
  decode: ({ body, headers }) => {
    const seconds = Number.parseInt(headers["retry-after"] ?? "")
    return new Unavailable({ message: body.message, retryAfterSeconds: Number.isNaN(seconds) ? 1 : seconds })
  },
  encode: ({ error_code, message, retryAfterSeconds }) => ({
    body: { error_code, message },
    headers: { "retry-after": `${retryAfterSeconds}` }
  })
}))

/** The schemas, for endpoints of the contract. */
export const schemas = [
  BadRequest,
  NotFound,
  Conflict,
  ContentTooLarge,
  InternalError,
  UnavailableWithHeader,
  TimedOut
] as const
