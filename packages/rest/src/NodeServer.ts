/** Serves the API on a port of its own, with Node's HTTP server. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Http from "node:http"
import type * as Stream from "node:stream"
import * as Rest from "./Rest.ts"

/** Where to listen, besides the options of the API. */
export interface Options extends Rest.Options {
  /** Loopback by default: whoever listens on other addresses says so, for there is no authentication of its own. */
  readonly host?: string | undefined
  /** 0 takes any free port. */
  readonly port: number
}

/** Where the server listens. */
export interface Address {
  readonly host: string
  readonly port: number
  /** The base of all paths, with the prefix. */
  readonly url: string
}

/** Listens until the scope closes. Requests that are being answered then are waited for. */
export const serve = Effect.fn("NodeServer.serve")(function*({ host = "127.0.0.1", port, ...options }: Options) {
  const context = yield* Layer.build(
    HttpRouter.serve(Rest.layer(options), { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layerServer(makeServer, { host, port }))
    )
  )
  const { address } = Context.get(context, HttpServer.HttpServer)
  const bound = "port" in address ? address.port : port
  const shown = host.includes(":") ? `[${host}]` : host
  return { host, port: bound, url: `http://${shown}:${bound}${options.prefix ?? ""}` } satisfies Address
})

/** What is no HTTP is answered in the API's words too. */
const makeServer = (): Http.Server => {
  const server = Http.createServer()
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Stream.Duplex) => {
    if (socket.writable) socket.end(unreadable(error.code))
    else socket.destroy()
  })
  return server
}

const unreadable = (code: string | undefined): string => {
  const status = code === "HPE_HEADER_OVERFLOW" ? 431 : code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400
  const text = `${status} ${Http.STATUS_CODES[status]}`
  const body = JSON.stringify({ error_code: status, message: `HTTP ${text}` })
  return [
    `HTTP/1.1 ${text}`,
    "Connection: close",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "",
    body
  ].join("\r\n")
}
