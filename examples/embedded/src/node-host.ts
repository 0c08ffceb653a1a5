/** A plain Node application: no Effect, no layers. Values go in, promises and async iterables come out. */
import { ConfigKey, SinkConnector, SourceConnector } from "@kelpie/core"
import { Kelpie } from "@kelpie/herder"
import { nodeHandler } from "@kelpie/rest/node"
import { Schema } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"

/** Counts, slowly. An async generator: each `yield` is a batch, and the offset to go on from after a restart. */
export const CounterSource = SourceConnector.makeAsync("CounterSource", {
  version: "1.0.0",
  config: {
    topic: ConfigKey.String("topic"),
    step: ConfigKey.Int("step", { default: 1, min: 1, doc: "What is added each time" }),
    pause: ConfigKey.Int("pause.ms", { default: 1000, min: 0 })
  },
  offset: Schema.Struct({ count: Schema.Int }),
  async *task({ config, offsets, signal }) {
    let count = (await offsets.get())?.count ?? 0
    while (!signal.aborted) {
      count += config.step
      yield { records: [{ topic: config.topic, value: { count } }], offset: { count } }
      // rejects when the task is stopped
      await setTimeout(config.pause, undefined, { signal })
    }
  }
})

/** Hands batches to the application. A rejected promise is retried; nothing is lost while the application says no. */
export const callbackSink = (take: (values: ReadonlyArray<unknown>) => Promise<void>) =>
  SinkConnector.makeAsync("CallbackSink", {
    version: "1.0.0",
    config: {},
    put: (records) => take(records.map(({ value }) => value))
  })

/** Starts the application; its own page beside the connectors' API. Disposing it stops both. */
export const start = async (options: {
  readonly port: number
  readonly take: (values: ReadonlyArray<unknown>) => Promise<void>
  readonly log?: (line: string) => void
}) => {
  const kelpie = await Kelpie.start({
    plugins: [CounterSource, callbackSink(options.take)],
    onStatusChange: ({ connector, task, to }) =>
      options.log?.(`${connector}${task === undefined ? "" : `-${task}`} ${to}`)
  })
  const connect = nodeHandler(kelpie, { prefix: "/connect" })
  const server = createServer((request, response) =>
    request.url?.startsWith("/connect") === true ? connect(request, response) : response.end("the host's own page\n")
  )
  await once(server.listen(options.port, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  return {
    kelpie,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await kelpie.dispose()
    }
  }
}

if (import.meta.main) {
  const host = await start({ port: 8080, take: async (values) => console.log(...values), log: console.log })
  await host.kelpie.put("counter", CounterSource.config({ topic: "counts", step: 2 }))
  await host.kelpie.put("print", { "connector.class": "CallbackSink", topics: "counts" })
  console.log(`${host.url}/connect/connectors`)
  process.once("SIGINT", () => void host[Symbol.asyncDispose]())
}
