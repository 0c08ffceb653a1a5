import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConnectClient } from "@kelpie/rest"
import { Effect, FileSystem, Layer, Schedule } from "effect"
import { FetchHttpClient } from "effect/http"
import * as net from "node:net"
import * as WorkerProcess from "../src/WorkerProcess.ts"

const services = Layer.merge(NodeServices.layer, FetchHttpClient.layer)

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "kelpie-worker-" }))

/** What a worker said that did not start. */
const refused = (flags: ReadonlyArray<string>, env?: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(WorkerProcess.start(flags, env))
    if (error._tag !== "WorkerNotStarted") return yield* error
    const text = error.log.join("\n")
    assert.notMatch(text, /^\s+at /m, "a stack trace is nothing for whoever starts a worker")
    return { exitCode: error.exitCode, text }
  })

/** A port that somebody listens on. */
const takenPort = Effect.acquireRelease(
  Effect.callback<net.Server>((resume) => {
    const server = net.createServer()
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => void server.close())
).pipe(Effect.map((server) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}))

const sink = (file: string) => ({ "connector.class": "FileSink", topics: "lines", file })

it.layer(services, { excludeTestServices: true })("the stand-alone worker", (it) => {
  describe("runs", () => {
    it.effect("tells its URL when it answers, and ends with exit code 0 on SIGTERM", () =>
      Effect.gen(function*() {
        const worker = yield* WorkerProcess.start(["--port", "0", "--data-dir", yield* folder])
        const client = yield* ConnectClient.make({ baseUrl: worker.url })
        assert.strictEqual((yield* client.worker.info()).version, "4.4.0")
        assert.match(worker.url, /^http:\/\/127\.0\.0\.1:\d+$/)
        assert.strictEqual(yield* worker.stop, 0)
      }))

    it.effect("takes every option from the environment, and a flag before that", () =>
      Effect.gen(function*() {
        const env = {
          KELPIE_PORT: "1",
          KELPIE_DATA_DIR: yield* folder,
          KELPIE_ADVERTISED_HOST: "kelpie.example",
          KELPIE_ADVERTISED_PORT: "80"
        }
        const { url } = yield* WorkerProcess.start(["--port", "0"], env)
        const client = yield* ConnectClient.make({ baseUrl: url })
        const { headers } = yield* client.connectors.create({
          payload: { name: "out", config: sink(`${env.KELPIE_DATA_DIR}/out`) }
        })
        assert.strictEqual(headers.location, "http://kelpie.example:80/connectors/out")
        const { connector } = yield* client.connectors.status({ params: { connector: "out" } })
        assert.strictEqual(connector.worker_id, "kelpie.example:80")
      }))

    it.effect("still has its connectors after it was killed", () =>
      Effect.gen(function*() {
        const dataDir = yield* folder
        const flags = ["--port", "0", "--data-dir", dataDir]
        const first = yield* WorkerProcess.start(flags)
        const config = sink(`${dataDir}/out`)
        yield* (yield* ConnectClient.make({ baseUrl: first.url })).connectors.create({
          payload: { name: "out", config }
        })
        yield* first.kill
        const second = yield* WorkerProcess.start(flags)
        const client = yield* ConnectClient.make({ baseUrl: second.url })
        assert.deepStrictEqual(yield* client.connectors.config({ params: { connector: "out" } }), {
          ...config,
          name: "out"
        })
      }))
  })

  describe("with the testkit", () => {
    const scripted = ["ScriptedSink", "ScriptedSource"]

    it.effect("has the scripted connectors, and without it has not", () =>
      Effect.gen(function*() {
        for (const [more, expected] of [[["--with-testkit"], scripted], [[], []]] as const) {
          const worker = yield* WorkerProcess.start(["--port", "0", "--data-dir", yield* folder, ...more])
          const client = yield* ConnectClient.make({ baseUrl: worker.url })
          const names = (yield* client.plugins.list({ query: {} })).map((plugin) => plugin.class)
          assert.deepStrictEqual(names.filter((name) => name.startsWith("Scripted")).sort(), expected)
          assert.includeMembers(names, ["FileSource", "FileSink", "SqliteSource", "SqliteSink", "GeneratorSource"])
        }
      }))

    it.effect.each(["stopTask", "stop"])(
      "ends by its deadline with exit code 0 when %s never returns",
      (hook) =>
        Effect.gen(function*() {
          const flags = ["--port", "0", "--data-dir", yield* folder, "--with-testkit", "--stop-timeout-ms", "200"]
          const worker = yield* WorkerProcess.start(flags)
          const client = yield* ConnectClient.make({ baseUrl: worker.url })
          yield* client.connectors.create({
            payload: {
              name: "stubborn",
              config: { "connector.class": "ScriptedSource", [`scripted.${hook}`]: "hang:uninterruptible" }
            }
          })
          yield* client.connectors.status({ params: { connector: "stubborn" } }).pipe(
            Effect.repeat({
              until: ({ taskCounts }) => taskCounts.running === 1,
              schedule: Schedule.spaced("20 millis")
            })
          )
          assert.strictEqual(yield* worker.stop, 0)
        })
    )
  })

  describe("refuses to start", () => {
    it.effect("on a data directory that another worker holds, and names both", () =>
      Effect.gen(function*() {
        const flags = ["--port", "0", "--data-dir", yield* folder]
        const holder = yield* WorkerProcess.start(flags)
        const { exitCode, text } = yield* refused(flags)
        assert.strictEqual(exitCode, 1)
        assert.include(text, `the data directory ${flags[3]} is in use by process ${holder.pid}`)
      }))

    it.effect("on a port that is in use, and says what to do", () =>
      Effect.gen(function*() {
        const port = yield* takenPort
        const { exitCode, text } = yield* refused(["--port", `${port}`, "--data-dir", yield* folder])
        assert.strictEqual(exitCode, 1)
        assert.include(text, `cannot listen on port ${port} of 127.0.0.1: it is in use by another process`)
        assert.include(text, "choose another with --port")
      }))

    it.effect("on a data directory that is none", () =>
      Effect.gen(function*() {
        const file = `${yield* folder}/file`
        yield* (yield* FileSystem.FileSystem).writeFileString(file, "")
        const { exitCode, text } = yield* refused(["--port", "0", "--data-dir", file])
        assert.strictEqual(exitCode, 1)
        assert.include(text, file)
      }))

    it.effect("with an option that is wrong, and names it", () =>
      Effect.gen(function*() {
        const { exitCode, text } = yield* refused([], { KELPIE_PORT: "http" })
        assert.strictEqual(exitCode, 1)
        assert.include(text, "KELPIE_PORT")
      }))
  })
})
