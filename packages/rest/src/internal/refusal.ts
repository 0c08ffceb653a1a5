/** The end of a request before its handler: a status, a text and perhaps headers. */
import * as Data from "effect/Data"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** Why a request is not handled. */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly status: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>> | undefined
}> {}

/** The one shape of every error. */
export const toResponse = ({ headers, message, status }: Refusal): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ error_code: status, message }, { status, headers })

/** No such path. */
export const notFound = new Refusal({ status: 404, message: "HTTP 404 Not Found" })

/** A path whose encoding is broken. */
export const malformedPath = new Refusal({
  status: 400,
  message: "The path is not well formed: its segments have to be percent-encoded UTF-8"
})
