/** Sends requests exactly as they are written: no path is normalised, no header added but `Host`. */
import { Effect, Option } from "effect"
import * as Http from "node:http"
import * as Net from "node:net"

export interface Request {
  readonly method: string
  /** Below the base URL, encoded. */
  readonly path: string
  /** A text or bytes go as they are; anything else as JSON. */
  readonly body?: unknown
  /** Left out: `Accept: application/json`, and with a body `Content-Type: application/json`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sends the body in chunks of this many bytes, without a length. */
  readonly chunkBytes?: number | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Http.IncomingHttpHeaders
  readonly text: string
  /** The body, when it is JSON. */
  readonly json: unknown
}

const bytesOf = (body: unknown): Buffer | undefined =>
  body === undefined
    ? undefined
    : body instanceof Uint8Array
    ? Buffer.from(body)
    : Buffer.from(typeof body === "string" ? body : JSON.stringify(body))

const defaultHeaders = (body: Buffer | undefined): Record<string, string> => ({
  accept: "application/json",
  ...(body === undefined ? {} : { "content-type": "application/json" })
})

const parsed = (text: string): unknown =>
  Option.getOrUndefined(Option.liftThrowable((t: string): unknown => JSON.parse(t))(text))

/** The answer to a request; dies when there is none. */
export const send = (baseUrl: string, request: Request): Effect.Effect<Answer> =>
  Effect.callback<Answer>((resume) => {
    const base = new URL(baseUrl)
    const body = bytesOf(request.body)
    const headers: Record<string, string> = { ...(request.headers ?? defaultHeaders(body)) }
    if (body !== undefined && request.chunkBytes === undefined) headers["content-length"] = `${body.length}`
    const path = `${base.pathname.replace(/\/$/, "")}${request.path}`
    const outgoing = Http.request({
      host: base.hostname,
      port: base.port,
      method: request.method,
      path: path === "" ? "/" : path,
      headers,
      agent: false
    })
    outgoing.on("error", (error) => resume(Effect.die(error)))
    outgoing.on("response", (incoming) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        resume(Effect.succeed({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text,
          json: parsed(text)
        }))
      })
    })
    if (body !== undefined && request.chunkBytes !== undefined) {
      for (let at = 0; at < body.length; at += request.chunkBytes) {
        outgoing.write(body.subarray(at, at + request.chunkBytes))
      }
      outgoing.end()
    } else outgoing.end(body)
    return Effect.sync(() => outgoing.destroy())
  })

/** What a server answers to these bytes until it closes the connection; one that does not is left after five seconds. */
export const sendBytes = (baseUrl: string, bytes: Uint8Array | string): Effect.Effect<string> =>
  Effect.callback<string>((resume) => {
    const { hostname, port } = new URL(baseUrl)
    const chunks: Array<Buffer> = []
    const done = () => {
      socket.destroy()
      resume(Effect.succeed(Buffer.concat(chunks).toString("latin1")))
    }
    const socket = Net.connect(Number(port), hostname, () => socket.write(bytes))
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    socket.on("error", done)
    socket.on("close", done)
    socket.setTimeout(5000, done)
    return Effect.sync(() => socket.destroy())
  })
