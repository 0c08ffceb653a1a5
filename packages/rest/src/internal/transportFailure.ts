/** What a request without an answer means: whether the other side may have received it. */
import type { HttpClientError } from "effect/http/HttpClientError"

/** How a request failed, and the code that says why. */
export interface TransportFailure {
  /** Nothing can have arrived. */
  readonly nothingSent: boolean
  /** `ECONNREFUSED` and the like. */
  readonly code: string
}

/** Failures before a connection stands, by their codes: names, ports, certificates. */
const beforeConnection =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_.*|UND_ERR_CONNECT_TIMEOUT|ERR_INVALID_URL|ERR_TLS_.*|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*)$/

const textOf = (value: object, name: string): string | undefined => {
  const member: unknown = Reflect.get(value, name)
  return typeof member === "string" ? member : undefined
}

/** The first error with a code: clients wrap what the system says, and gather one for each address that was tried. */
const coded = (error: unknown, depth: number): object | undefined => {
  if (typeof error !== "object" || error === null || depth === 0) return undefined
  if (textOf(error, "code") !== undefined) return error
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : Reflect.get(error, "cause")
  return coded(inner, depth - 1)
}

/** Reads the failure of a client. Its texts are not passed on: they may quote what was sent. */
export const read = ({ reason }: HttpClientError): TransportFailure => {
  if (reason._tag === "InvalidUrlError" || reason._tag === "EncodeError") {
    return { nothingSent: true, code: reason._tag }
  }
  const found = coded(reason.cause, 4)
  const code = found === undefined ? undefined : textOf(found, "code")
  const call = found === undefined ? undefined : textOf(found, "syscall")
  return {
    nothingSent: reason._tag === "TransportError" &&
      (call === "connect" || call === "getaddrinfo" || (code !== undefined && beforeConnection.test(code))),
    code: code ?? reason._tag
  }
}
