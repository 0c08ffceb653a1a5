import { NodeHttpClient } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { ConnectClient, RestError } from "../src/index.ts"
import { serve } from "../src/NodeServer.ts"
import * as Herders from "./herders.ts"

const Client = Layer.unwrap(
  Effect.map(serve({ port: 0, prefix: "/connect" }), ({ url }) => ConnectClient.layer({ baseUrl: url }))
).pipe(Layer.provide(Herders.memory), Layer.provide(NodeHttpClient.layerUndici))

const config = { "connector.class": "Scripted", "tasks.max": "1" }

/** Asks again until it is so; ends with the test's time-out. */
const until = <A, E, R>(ask: Effect.Effect<A, E, R>, holds: (answer: A) => boolean): Effect.Effect<A, E, R> =>
  Effect.repeat(ask, { schedule: Schedule.spaced("20 millis"), until: holds })

it.layer(Client, { excludeTestServices: true })("the client", (it) => {
  it.effect("makes, reads, changes and deletes a connector", () =>
    Effect.gen(function*() {
      const { connectors } = yield* ConnectClient
      const params = { connector: "life/1" }
      const created = yield* connectors.create({
        payload: { name: params.connector, config, initial_state: "STOPPED" }
      })
      assert.match(created.headers.location, /\/connect\/connectors\/life%2F1$/)
      assert.deepInclude(created.body, {
        name: "life/1",
        config: { ...config, name: "life/1" },
        type: "source",
        tasks: []
      })
      assert.deepStrictEqual(yield* connectors.get({ params }), created.body)
      assert.strictEqual((yield* connectors.status({ params })).connector.state, "STOPPED")
      yield* connectors.patchConfig({ params, payload: { "tasks.max": 2, topic: "t" } })
      yield* connectors.patchConfig({ params, payload: { topic: null } })
      assert.deepStrictEqual(yield* connectors.config({ params }), { ...config, "tasks.max": "2", name: "life/1" })
      const replaced = yield* connectors.putConfig({ params, payload: { ...config, extra: true } })
      assert.isTrue(
        "config" in replaced && replaced.config["extra"] === "true" && replaced.warnings?.[0]?.key === "extra"
      )
      yield* connectors.delete({ params })
      assert.instanceOf(yield* Effect.flip(connectors.get({ params })), RestError.NotFound)
    }))

  it.effect("tells a connector that PUT made from one that it changed", () =>
    Effect.gen(function*() {
      const { connectors } = yield* ConnectClient
      const put = connectors.putConfig({ params: { connector: "put" }, payload: config })
      const first = yield* put
      assert.isTrue("headers" in first && first.body.name === "put")
      const second = yield* put
      assert.isTrue("name" in second && second.name === "put")
    }))

  it.effect("lists names, and with `expand` what there is to know", () =>
    Effect.gen(function*() {
      const { connectors } = yield* ConnectClient
      yield* connectors.create({ payload: { name: "__proto__", config } })
      const names = yield* connectors.list({ query: {} })
      assert.isTrue(Array.isArray(names) && names.includes("__proto__"))
      yield* until(connectors.status({ params: { connector: "__proto__" } }), ({ health }) => health === "healthy")
      const all = Object.entries(yield* connectors.list({ query: { expand: ["status", "info"] } }))
      const [, entry] = all.find(([name]) => name === "__proto__") ?? []
      assert.strictEqual(entry?.info?.name, "__proto__")
      assert.strictEqual(entry?.status?.health, "healthy")
    }))

  it.effect("operates a connector", () =>
    Effect.gen(function*() {
      const { connectors, operations } = yield* ConnectClient
      const params = { connector: "operated" }
      yield* connectors.create({ payload: { name: "operated", config } })
      const status = connectors.status({ params })
      const stateOf = (state: string) => until(status, ({ tasks }) => tasks[0]?.state === state)
      const laneOf = (state: string) => until(status, ({ reconfiguration }) => reconfiguration.state === state)
      yield* stateOf("RUNNING")
      yield* operations.pause({ params })
      yield* stateOf("PAUSED")
      assert.strictEqual((yield* connectors.taskStatus({ params: { ...params, task: 0 } })).state, "PAUSED")
      assert.strictEqual((yield* Effect.flip(operations.park({ params })))._tag, "Conflict")
      yield* operations.resume({ params })
      yield* stateOf("RUNNING")
      yield* operations.park({ params })
      yield* laneOf("Parked")
      assert.strictEqual((yield* operations.reconfiguration({ params })).parked, "operator")
      const retried = yield* operations.retryAll({ payload: { name: "oper*" } })
      assert.deepStrictEqual(retried, { retried: ["operated"] })
      yield* laneOf("Idle")
      yield* operations.park({ params })
      yield* laneOf("Parked")
      yield* operations.unpark({ params })
      yield* laneOf("Idle")
      assert.isUndefined(yield* operations.restart({ params, query: {} }))
      const restarted = yield* operations.restart({ params, query: { includeTasks: true, onlyFailed: false } })
      assert.deepStrictEqual(restarted?.tasks.map((task) => task.state), ["RESTARTING"])
      yield* stateOf("RUNNING")
      yield* operations.restartTask({ params: { ...params, task: 0 } })
      assert.deepStrictEqual((yield* connectors.tasks({ params })).map((task) => task.id), [{
        connector: "operated",
        task: 0
      }])
      yield* operations.stop({ params })
      assert.deepStrictEqual((yield* until(status, ({ health }) => health === "stopped")).tasks, [])
    }))

  it.effect("reads and changes offsets and topics", () =>
    Effect.gen(function*() {
      const { connectors, operations } = yield* ConnectClient
      const params = { connector: "offsets/1" }
      const source = { "connector.class": "FileSource", "tasks.max": "1", file: "/in", topic: "client-lines" }
      yield* connectors.create({ payload: { name: params.connector, config: source } })
      const entry = (position: number) => ({ partition: { filename: "/in" }, offset: { position } })
      const { offsets } = yield* until(connectors.offsets({ params }), ({ offsets }) => offsets.length > 0)
      assert.deepStrictEqual(offsets, [entry(14)])
      assert.deepStrictEqual(Object.entries(yield* connectors.topics({ params })), [
        [params.connector, { topics: ["client-lines"] }]
      ])
      yield* operations.resetTopics({ params })
      assert.deepStrictEqual(Object.entries(yield* connectors.topics({ params })), [[params.connector, { topics: [] }]])
      const alter = operations.alterOffsets({ params, payload: { offsets: [entry(4)] } })
      assert.strictEqual((yield* Effect.flip(alter))._tag, "BadRequest")
      yield* operations.stop({ params })
      assert.match((yield* alter).message, /altered successfully/)
      assert.deepStrictEqual((yield* connectors.offsets({ params })).offsets, [entry(4)])
      yield* operations.resetOffsets({ params })
      assert.deepStrictEqual((yield* connectors.offsets({ params })).offsets, [])
      yield* connectors.delete({ params })
    }))

  it.effect("fails with typed errors that hold the worker's text", () =>
    Effect.gen(function*() {
      const { connectors, operations } = yield* ConnectClient
      const params = { connector: "nobody" }
      const notFound = yield* Effect.flip(operations.pause({ params }))
      assert.deepStrictEqual(notFound, new RestError.NotFound({ message: "Unknown connector nobody" }))
      const refused = yield* Effect.flip(connectors.create({ payload: { name: "bad", config: {} } }))
      assert.deepStrictEqual(
        refused,
        new RestError.BadRequest({ message: "Connector config contains no connector type" })
      )
      yield* connectors.create({ payload: { name: "twice", config } })
      const conflict = yield* connectors.create({ payload: { name: "twice", config } }).pipe(
        Effect.as(""),
        Effect.catchTag("Conflict", (error) => Effect.succeed(`${error.error_code} ${error.message}`))
      )
      assert.strictEqual(conflict, "409 Connector twice already exists")
      const large = yield* Effect.flip(
        connectors.create({ payload: { name: "large", config: { ...config, x: "x".repeat(1024 * 1024) } } })
      )
      assert.strictEqual(large._tag, "ContentTooLarge")
    }))

  it.effect("reads the worker, its plugins and a validation", () =>
    Effect.gen(function*() {
      const { plugins, worker } = yield* ConnectClient
      assert.strictEqual((yield* worker.info()).version, "4.4.0")
      assert.strictEqual((yield* worker.health()).status, "healthy")
      assert.isString(yield* worker.metrics())
      const listed = yield* plugins.list({ query: { connectorsOnly: false } })
      assert.isTrue(listed.some((plugin) => plugin.type === "converter"))
      const keys = yield* plugins.config({ params: { plugin: "FileSource" }, query: {} })
      assert.isTrue(keys.some((key) => key.name === "file" && key.required))
      const payload = { ...config, "tasks.max": 0, topik: "t" }
      const infos = yield* plugins.validate({ params: { plugin: "Scripted" }, payload })
      assert.isAbove(infos.error_count, 0)
      assert.deepStrictEqual(infos.warnings, [{
        key: "topik",
        message: "topik is not read by anybody; did you mean topic?"
      }])
    }))
})
