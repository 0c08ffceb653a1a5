/** Looks whether a port can be listened on, before anything is started that would have to be stopped again. */
import * as Effect from "effect/Effect"
import * as net from "node:net"
import { StartError } from "./StartError.ts"

const reasonOf = (code: string | undefined): string => {
  if (code === "EADDRINUSE") return "it is in use by another process. Stop that one, or choose another with --port"
  if (code === "EACCES") return "this process may not use it. Choose one from 1024 up with --port"
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return "this machine has no such address. Check --host"
  return code ?? "unknown reason"
}

/** The port, or a free one for 0. */
export const freePort = (host: string, port: number): Effect.Effect<number, StartError> =>
  Effect.callback((resume) => {
    const server = net.createServer()
    server.once("error", (cause: NodeJS.ErrnoException) =>
      resume(Effect.fail(
        new StartError({ message: `cannot listen on port ${port} of ${host}: ${reasonOf(cause.code)}`, cause })
      )))
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address()
      const bound = typeof address === "object" && address !== null ? address.port : port
      server.close(() => resume(Effect.succeed(bound)))
    })
  })
