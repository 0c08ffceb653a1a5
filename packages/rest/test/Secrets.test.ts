import { assert, describe, it, vi } from "@effect/vitest"
import { EnvVariables, FileVariables } from "@kelpie/connectors"
import { ConfigKey, PermanentError, Plugins, SourceConnector, Transform, TransientError } from "@kelpie/core"
import { Herder } from "@kelpie/herder"
import { Sqlite } from "@kelpie/sqlite"
import { Context, Effect, Exit, Layer, Logger, Redacted, Schedule, Schema, Scope, Stream } from "effect"
import { readdir, readFile, writeFile } from "node:fs/promises"
import * as path from "node:path"
import { serve } from "../src/NodeServer.ts"
import { del, get, patch, post, put } from "./conformance/Theme.ts"
import { folder } from "./herders.ts"
import { type Request, send } from "./http.ts"

vi.setConfig({ testTimeout: 60_000 })

const fromFile = "f1le-s3cret-value"
const fromEnv = "env-s3cret-value"
const changed = "changed-s3cret-value"
const plain = "pl4in-t0ken"
const variable = "KELPIE_SECRETS_TEST"

/** Tells its secrets wherever it can. */
const leaky = (seen: Array<string>) => {
  const places = ["", "validate", "start", "die", "taskConfigs", "published", "task", "throw"] as const
  const config = {
    where: ConfigKey.Literals(places)("where", { default: "" }),
    user: ConfigKey.String("user"),
    token: ConfigKey.Redacted("token")
  }
  const tell = ({ token, user }: { readonly token: Redacted.Redacted; readonly user: string }) =>
    `cannot log in as ${user} with ${Redacted.value(token)}`
  const Source = SourceConnector.make("Leaky", {
    version: "1.0.0",
    config,
    taskConfig: Schema.Struct({ user: Schema.String }),
    validate: (config) =>
      Effect.succeed(config.where === "validate" ? [{ property: "user" as const, message: tell(config) }] : []),
    start: ({ config }) =>
      config.where === "start"
        ? Effect.fail(new PermanentError({ message: tell(config), cause: new Error(tell(config)) }))
        : config.where === "die"
        ? Effect.die(new Error(tell(config), { cause: tell(config) }))
        : Effect.succeed({
          taskConfigs: () =>
            config.where === "taskConfigs"
              ? Effect.fail(new TransientError({ message: tell(config) }))
              : Effect.succeed([{ user: config.where === "published" ? config.user : "" }])
        }),
    task: ({ config }) => {
      seen.push(config.user, Redacted.value(config.token))
      if (config.where === "throw") throw new Error(tell(config))
      return config.where === "task"
        ? Stream.fail(new PermanentError({ message: tell(config) }))
        : Stream.concat(Stream.make({ records: [{ topic: "t", value: 1 }], offset: undefined }), Stream.never)
    }
  })
  const Mask = Transform.make("LeakyTransform", {
    version: "1.0.0",
    config: { key: ConfigKey.Redacted("key"), word: ConfigKey.String("word") },
    apply: ({ key, word }) => () => {
      throw new Error(`${word} ${Redacted.value(key)}`)
    }
  })
  return [Source, Mask]
}

/** A worker on a folder, all that it logs, and what it tells as events. */
const worker = Effect.fnUntraced(function*(directory: string) {
  const told: Array<string> = []
  const seen: Array<string> = []
  const logger = Logger.make((entry) => {
    told.push(Logger.formatJson.log(entry))
  })
  const scope = yield* Effect.scope
  const herder = Herder.layerSolo.pipe(
    Layer.provide(Sqlite.layer({ directory })),
    Layer.provide([Plugins.layer([...leaky(seen), FileVariables, EnvVariables]), Logger.layer([logger])])
  )
  const context = yield* Layer.buildWithScope(herder, scope)
  yield* Effect.forkScoped(
    Stream.runForEach(
      Context.get(context, Herder).events,
      (event) => Effect.sync(() => told.push(JSON.stringify(event)))
    ),
    { startImmediately: true }
  )
  const { url } = yield* Effect.provideContext(serve({ port: 0 }), context)
  const ask = (request: Request) => Effect.tap(send(url, request), ({ text }) => Effect.sync(() => told.push(text)))
  const until = (path: string, text: string) =>
    Effect.repeat(ask(get(path)), {
      schedule: Schedule.spaced("20 millis"),
      until: (answer) => answer.text.includes(text)
    })
      .pipe(Effect.timeout("20 seconds"))
  return { ask, until, seen, told: () => told.join("\n") }
})

/** Every byte that is stored. */
const bytes = (directory: string) =>
  Effect.promise(async () => {
    const names = (await readdir(directory)).filter((name) => name.includes(".db"))
    assert.includeMembers(names, ["control.db", "data.db"])
    return Buffer.concat(await Promise.all(names.map((name) => readFile(path.join(directory, name))))).toString(
      "latin1"
    )
  })

const config = (file: string, more: Readonly<Record<string, string>> = {}) => ({
  "connector.class": "Leaky",
  user: `\${file:${file}:user}`,
  token: `\${env:${variable}}`,
  ...more
})

describe("what variables stand for", () => {
  it.live("is given to the connector, and never shown, told, logged or stored", () =>
    Effect.gen(function*() {
      process.env[variable] = fromEnv
      const directory = yield* folder
      const file = path.join(yield* folder, "secrets.properties")
      yield* Effect.promise(() => writeFile(file, `user=${fromFile}\nword=${fromFile}\n`))
      const scope = yield* Scope.make()
      const { ask, seen, told, until } = yield* Scope.provide(worker(directory), scope)
      const create = (name: string, more?: Readonly<Record<string, string>>) =>
        ask(post("/connectors", { name, config: config(file, more) }))

      for (const where of ["", "start", "die", "taskConfigs", "published", "task", "throw"]) {
        assert.strictEqual((yield* create(`c${where}`, { where })).status, 201)
      }
      const transformed = {
        transforms: "x",
        "transforms.x.type": "LeakyTransform",
        "transforms.x.key": `\${env:${variable}}`,
        "transforms.x.word": `\${file:${file}:word}`,
        "errors.log.enable": "true",
        "errors.log.include.messages": "true"
      }
      assert.strictEqual((yield* create("transform", transformed)).status, 201)
      yield* until("/connectors/c/status", `"health":"healthy"`)
      yield* until("/connectors/cstart/status", `"health":"failed"`)
      yield* until("/connectors/cdie/status", `"health":"failed"`)
      yield* until("/connectors/ctaskConfigs/status", `"state":"Waiting"`)
      yield* until("/connectors/cpublished/status", `"state":"Parked"`)
      yield* until("/connectors/ctask/status", `"health":"failed"`)
      yield* until("/connectors/cthrow/status", `"health":"failed"`)
      yield* until("/connectors/transform/status", `"health":"failed"`)

      // it is refused for what it says itself, and for what is wrong with a resolved value
      const refused = yield* create("refused", { where: "validate" })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, "cannot log in as [hidden] with [hidden]")
      assert.strictEqual((yield* create("number", { "tasks.max": `\${env:${variable}}` })).status, 400)
      const validated = yield* ask(put("/connector-plugins/Leaky/config/validate", config(file, { where: "validate" })))
      assert.strictEqual(validated.status, 200)

      // shown as they were written
      const shown = yield* ask(get("/connectors/c/config"))
      assert.deepStrictEqual(shown.json, { ...config(file, { where: "" }), name: "c" })
      yield* ask(get("/connectors/c/tasks"))
      yield* ask(get("/connectors?expand=info&expand=status"))
      yield* ask(get("/connectors/cstart/tasks/0/status"))
      yield* ask(get("/connectors/ctaskConfigs/reconfiguration"))
      yield* ask(patch("/connectors/c/config", { topic: "other" }))
      yield* until("/connectors/c/status", `"stored":2,"applied":2`)
      yield* ask(post("/connectors/c/restart?includeTasks=true"))
      yield* until("/connectors/c/status", `"health":"healthy"`)
      yield* ask(get("/metrics", undefined, {}))
      yield* ask(del("/connectors/cdie"))
      yield* Scope.close(scope, Exit.void)

      // the connector has seen them
      assert.includeMembers(seen, [fromFile, fromEnv])
      assert.include(told(), "cannot log in as [hidden] with [hidden]")
      assert.include(told(), "a task config holds the value of a secret")
      assert.include(told(), `\${env:${variable}}`)
      const stored = yield* bytes(directory)
      assert.include(stored, `\${env:${variable}}`)
      for (const secret of [fromFile, fromEnv]) {
        assert.notInclude(told(), secret)
        assert.notInclude(stored, secret)
      }
    }))

  it.live("may change: a restart sees the new value, and what cannot be resolved is told by its name", () =>
    Effect.gen(function*() {
      process.env[variable] = fromEnv
      const directory = yield* folder
      const file = path.join(yield* folder, "secrets.properties")
      yield* Effect.promise(() => writeFile(file, `user=${fromFile}\n`))
      const { ask, seen, told, until } = yield* worker(directory)
      yield* ask(post("/connectors", { name: "c", config: config(file) }))
      yield* until("/connectors/c/status", `"health":"healthy"`)
      yield* Effect.promise(() => writeFile(file, `user=${changed}\n`))
      yield* ask(post("/connectors/c/restart?includeTasks=true"))
      const read = Effect.sync(() => seen.includes(changed))
      yield* Effect.repeat(read, { schedule: Schedule.spaced("20 millis"), until: (so) => so }).pipe(
        Effect.timeout("20 seconds")
      )
      yield* Effect.promise(() => writeFile(file, "other=1\n"))
      yield* ask(post("/connectors/c/restart?includeTasks=true"))
      yield* until("/connectors/c/status", `has no key \\"user\\"`)
      const answer = yield* ask(post("/connectors", { name: "d", config: config(file) }))
      assert.strictEqual(answer.status, 400)
      assert.include(answer.text, `has no key \\"user\\"`)
      const unset = yield* ask(
        post("/connectors", { name: "d", config: { ...config(file), user: "me", token: "${env:KELPIE_NOT_SET}" } })
      )
      assert.strictEqual(unset.status, 400)
      assert.include(unset.text, "KELPIE_NOT_SET")
      const unknown = yield* ask(post("/connectors", { name: "d", config: { ...config(file), user: "${fil:x:y}" } }))
      assert.strictEqual(unknown.status, 400)
      assert.include(unknown.text, "No variable provider is called fil; near matches are: file")
      for (const secret of [fromFile, changed, fromEnv]) assert.notInclude(told(), secret)
    }))
})

describe("a password that was written as it is", () => {
  it.live("is in the stored config alone: not in a status, an error, an event or a log", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const { ask, told, until } = yield* worker(directory)
      const create = (where: string) =>
        ask(post("/connectors", { name: `c${where}`, config: { ...config("", { where, user: "me" }), token: plain } }))
      const answers: Array<string> = []
      for (const where of ["start", "die", "taskConfigs", "task", "throw"]) {
        const { text } = yield* create(where)
        answers.push(text)
      }
      yield* until("/connectors/cstart/status", `"health":"failed"`)
      yield* until("/connectors/cdie/status", `"health":"failed"`)
      yield* until("/connectors/ctaskConfigs/status", `"state":"Waiting"`)
      yield* until("/connectors/ctask/status", `"health":"failed"`)
      yield* until("/connectors/cthrow/status", `"health":"failed"`)
      assert.include((yield* create("validate")).text, "cannot log in as me with [hidden]")
      yield* ask(put("/connector-plugins/Leaky/config/validate", { ...config("", { user: "me" }), token: plain }))
      // an answer to a write shows the config, as Connect does; nothing else may
      const others = answers.reduce((all, text) => all.replaceAll(text, ""), told())
      assert.notInclude(others, plain)
      assert.include((yield* ask(get("/connectors/ctask/config"))).text, plain)
    }))
})
