/** Leaders that answer as a test says, behind a real server, and clients of other workers that share their keys. */
import { type LeaderCommand, SessionKeys } from "@kelpie/core"
import { Herder, LeaderReceiver } from "@kelpie/herder"
import { Context, Effect, Layer } from "effect"
import * as Net from "node:net"
import * as Signature from "../src/internal/signature.ts"
import { type Options, serve } from "../src/NodeServer.ts"
import { type Answer, send } from "./http.ts"

type Execute = LeaderReceiver["Service"]["execute"]

/** An engine for the keys of several workers. */
export const makeEngine = () => {
  const state = { keys: [] as ReadonlyArray<SessionKeys.EncodedKey>, loads: 0 }
  const engine: SessionKeys.Encoded = {
    load: Effect.sync(() => {
      state.loads++
      return state.keys
    }),
    add: (key, after) =>
      Effect.sync(() => {
        if (state.keys.at(-1)?.id !== after) return false
        state.keys = [...state.keys, key]
        return true
      }),
    drop: (before) =>
      Effect.sync(() => {
        state.keys = state.keys.filter(({ createdAt }, n) => createdAt >= before || n === state.keys.length - 1)
      })
  }
  return { state, engine }
}

/** A leader that records what it received. */
export const leader = Effect.fnUntraced(function*(
  keys: Layer.Layer<SessionKeys>,
  execute: Execute = () => Effect.succeed({ position: 1 }),
  options: Partial<Options> = {}
) {
  const received: Array<LeaderCommand.Envelope> = []
  const receiver = Layer.succeed(LeaderReceiver, {
    execute: (envelope) =>
      Effect.suspend(() => {
        received.push(envelope)
        return execute(envelope)
      })
  })
  const { url } = yield* Effect.provide(
    serve({ port: 0, ...options }),
    Layer.mergeAll(Layer.mock(Herder, {}), receiver, keys)
  )
  return { url, received, member: { workerId: "leader:8083", session: "s1", address: url } }
})

/** Keys that several layers share. */
export const sharedKeys = Effect.map(
  Layer.build(Layer.fresh(SessionKeys.layerMemory)),
  (context) => ({ keys: Context.get(context, SessionKeys), layer: Layer.succeedContext(context) })
)

/** Some command. */
export const envelope: LeaderCommand.Envelope = {
  id: "0123456789abcdef",
  command: { _tag: "RetryReconfiguration", name: "a" }
}

/** A request that a test signs itself, and changes then. */
export const signed = (
  key: SessionKeys.Key,
  { body = JSON.stringify(envelope), method = "POST", nonce = "0".repeat(32), path = "/internal/leader", time = 0 }: {
    readonly body?: string
    readonly method?: string
    readonly nonce?: string
    readonly path?: string
    readonly time?: number
  } = {}
) => ({
  method: "POST",
  path: "/internal/leader",
  body,
  headers: {
    "content-type": "application/json",
    ...Signature.sign(key, { method, path }, { body: Buffer.from(body), nonce, timestampMillis: time })
  } as Record<string, string>
})

/** The answer to such a request, as far as tests compare it. */
export const ask = (url: string, request: ReturnType<typeof signed>): Effect.Effect<Pick<Answer, "status" | "json">> =>
  Effect.map(send(url, request), ({ json, status }) => ({ status, json }))

/** Where a server listens, until the scope closes; connections end with it. */
export const listening = (server: Net.Server) =>
  Effect.acquireRelease(
    Effect.callback<string>((resume) => {
      const sockets = new Set<Net.Socket>()
      server.on("connection", (socket) => {
        sockets.add(socket)
        socket.on("error", () => undefined)
        socket.on("close", () => sockets.delete(socket))
      })
      server.on("close-all", () => {
        for (const socket of sockets) socket.destroy()
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed(`http://127.0.0.1:${port}`))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.emit("close-all")
        server.close(() => resume(Effect.void))
      })
  )

/** An address where nobody listens: somebody did. */
export const closed = Effect.suspend(() => Effect.scoped(listening(Net.createServer())))
