/** A herder in memory, for tests of the API alone: what was asked for is so at once, and nothing runs. */
import { ConverterDefaults, type Plugin, Plugins, type Status, Validation } from "@kelpie/core"
import {
  ConnectorExists,
  ConnectorNotFound,
  Herder,
  HerderError,
  InvalidConfig,
  PluginNotFound,
  type Reason,
  StateConflict,
  TaskNotFound
} from "@kelpie/herder"
import { Effect, Layer, Option, Result, Stream } from "effect"
import { plugins } from "./plugins.ts"

interface Entry {
  readonly config: Plugin.ConnectorConfig
  readonly target: "STARTED" | "PAUSED" | "STOPPED"
  readonly revision: number
  readonly tasks: number
  readonly parked: boolean
}

const failure = (reason: Reason) => new HerderError({ reason })
const workerId = "127.0.0.1:8083"
const started = { RUNNING: "STARTED", PAUSED: "PAUSED", STOPPED: "STOPPED" } as const

const make = Effect.gen(function*() {
  const registry = yield* Plugins
  const defaults = yield* ConverterDefaults
  const connectors = new Map<string, Entry>()

  const entryOf = (name: string) =>
    Effect.suspend(() => {
      const entry = connectors.get(name)
      return entry === undefined ? Effect.fail(failure(new ConnectorNotFound({ name }))) : Effect.succeed(entry)
    })
  const definitionOf = (config: Plugin.ConnectorConfig) =>
    Option.getOrUndefined(registry.connector(config["connector.class"] ?? ""))

  const validate = Effect.fnUntraced(function*(config: Plugin.ConnectorConfig) {
    const validated = Validation.validate(registry, defaults, { raw: config, resolved: config })
    if (Result.isSuccess(validated)) return validated.success
    const name = config["connector.class"]
    return yield* failure(
      name === undefined
        ? new InvalidConfig({ message: validated.failure.message, problems: [] })
        : new PluginNotFound({ name, near: validated.failure.near })
    )
  })
  const checked = Effect.fnUntraced(function*(config: Plugin.ConnectorConfig) {
    const { problems, warnings } = yield* validate(config)
    if (problems.length === 0) return warnings
    return yield* failure(new InvalidConfig({ message: Validation.message(problems), problems }))
  })

  const generated = (entry: Entry): number => {
    if (entry.target !== "STARTED") return entry.target === "STOPPED" ? 0 : entry.tasks
    const { fail, tasks = "1" } = entry.config
    return fail === "start" || fail === "taskConfigs"
      ? 0
      : Math.min(Number(entry.config["tasks.max"] ?? "1"), Number(tasks))
  }
  const store = (name: string, entry: Entry) => {
    connectors.set(name, { ...entry, tasks: generated(entry) })
  }
  const infoOf = (name: string, entry: Entry): Herder.ConnectorInfo => ({
    name,
    config: entry.config,
    type: definitionOf(entry.config)?.kind ?? "unknown",
    tasks: Array.from({ length: entry.tasks }, (_, task) => task),
    target: entry.target,
    revision: entry.revision,
    appliedRevision: entry.target === "STARTED" && entry.config["fail"] !== "taskConfigs" ? entry.revision : undefined
  })
  const written = (name: string, entry: Entry, warnings: Herder.Written["warnings"], created: boolean) => {
    store(name, entry)
    return { info: infoOf(name, connectors.get(name) ?? entry), created, position: 1, warnings }
  }
  const setTarget = (target: Entry["target"]) =>
    Effect.fnUntraced(function*(name: string) {
      store(name, { ...(yield* entryOf(name)), target, parked: false })
    })
  const setParked = (parked: boolean) =>
    Effect.fnUntraced(function*(name: string) {
      const entry = yield* entryOf(name)
      yield* entry.target === "STARTED"
        ? Effect.sync(() => store(name, { ...entry, parked }))
        : failure(new StateConflict({ message: `${name} is not running` }))
    })

  return Herder.of({
    list: Effect.sync(() => [...connectors.keys()].sort()),
    info: (name) => Effect.map(entryOf(name), (entry) => infoOf(name, entry)),
    status: (name) =>
      Effect.map(entryOf(name), (entry) => statusOf(infoOf(name, entry), entry, definitionOf(entry.config)?.version)),
    tasks: (name) =>
      Effect.map(
        entryOf(name),
        (entry) => infoOf(name, entry).tasks.map((task) => ({ task, config: { ...entry.config, i: `${task}` } }))
      ),
    create: Effect.fnUntraced(function*(name, config, options) {
      const warnings = yield* checked(config)
      if (connectors.has(name)) return yield* failure(new ConnectorExists({ name }))
      const target = started[options?.initialState ?? "RUNNING"]
      return written(name, { config, target, revision: 1, tasks: 0, parked: false }, warnings, true)
    }),
    put: Effect.fnUntraced(function*(name, config) {
      const warnings = yield* checked(config)
      const before = connectors.get(name)
      return before === undefined
        ? written(name, { config, target: "STARTED", revision: 1, tasks: 0, parked: false }, warnings, true)
        : written(name, { ...before, config, revision: before.revision + 1 }, warnings, false)
    }),
    patch: Effect.fnUntraced(function*(name, changes) {
      const before = yield* entryOf(name)
      const merged = new Map(Object.entries(before.config))
      for (const [key, value] of Object.entries(changes)) {
        if (value === null) merged.delete(key)
        else merged.set(key, value)
      }
      const config = Object.fromEntries(merged)
      const warnings = yield* checked(config)
      return written(name, { ...before, config, revision: before.revision + 1 }, warnings, false)
    }),
    delete: (name) =>
      Effect.andThen(
        entryOf(name),
        Effect.sync(() => {
          connectors.delete(name)
        })
      ),
    pause: setTarget("PAUSED"),
    resume: setTarget("STARTED"),
    stop: setTarget("STOPPED"),
    restart: Effect.fnUntraced(function*(name, { includeTasks = false, onlyFailed = false } = {}) {
      const entry = yield* entryOf(name)
      const status = statusOf(infoOf(name, entry), entry, definitionOf(entry.config)?.version)
      const restarted = <A extends { readonly state: string }>(item: A, included: boolean): A =>
        included && (!onlyFailed || item.state === "FAILED") ? { ...item, state: "RESTARTING" } : item
      return { ...restarted(status, true), tasks: status.tasks.map((task) => restarted(task, includeTasks)) }
    }),
    restartTask: Effect.fnUntraced(function*(name, task) {
      const entry = yield* entryOf(name)
      yield* task >= 0 && task < entry.tasks ? Effect.void : failure(new TaskNotFound({ name, task }))
    }),
    retry: setParked(false),
    retryAll: () => Effect.succeed([]),
    park: setParked(true),
    unpark: setParked(false),
    validate,
    plugins: Effect.succeed(registry.all),
    clusterId: Effect.succeed("fake-cluster"),
    health: Effect.succeed({ status: "healthy", message: "The worker has started and is ready to handle requests." }),
    events: Stream.empty
  })
})

const statusOf = (info: Herder.ConnectorInfo, entry: Entry, version = "0"): Herder.ConnectorStatus => {
  const { config, name, target, type } = info
  const failing = target === "STARTED" ? config["fail"] : undefined
  const word: Status.State = target === "STARTED" ? "RUNNING" : target
  const tasks = info.tasks.map((task) => ({
    task,
    state: failing === "task" ? "FAILED" as const : word,
    workerId,
    version,
    trace: failing === "task" ? "PermanentError: scripted task failure" : undefined,
    revision: info.appliedRevision
  }))
  return {
    name,
    type,
    state: failing === "start" ? "FAILED" : word,
    workerId,
    version,
    trace: failing === "start" ? "PermanentError: scripted start failure" : undefined,
    tasks,
    health: target === "PAUSED"
      ? "paused"
      : target === "STOPPED"
      ? "stopped"
      : failing === "start"
      ? "failed"
      : failing === "taskConfigs"
      ? "recovering"
      : failing === "task"
      ? "degraded"
      : "healthy",
    conditions: failing === "taskConfigs"
      ? [{ reason: "ReconfigurationFailed", message: "scripted generation failure", since: 1, nextAttemptAt: 251 }]
      : [],
    reconfiguration: entry.parked
      ? { state: "Parked", attempt: 1, parked: "operator" }
      : failing === "taskConfigs"
      ? { state: "Waiting", attempt: 2, delayMillis: 250, nextAttemptAt: 251 }
      : { state: "Idle", attempt: 0 },
    revision: { stored: info.revision, applied: info.appliedRevision },
    taskCounts: {
      requested: Number(config["tasks.max"] ?? "1"),
      generated: info.tasks.length,
      running: tasks.filter((task) => task.state === "RUNNING").length
    }
  }
}

/** A fresh one each time it is built. */
export const layer: Layer.Layer<Herder> = Layer.fresh(
  Layer.effect(Herder, make).pipe(Layer.provide(Plugins.layer(plugins)))
)
