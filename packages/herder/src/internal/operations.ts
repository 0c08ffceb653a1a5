/** The operations of the herder service: reads from the newest snapshot, writes through the leader. */
import * as ClusterState from "@kelpie/core/ClusterState"
import type { KeyProblem } from "@kelpie/core/ConfigKey"
import type { TargetState } from "@kelpie/core/ConfigRecord"
import type { HerderEvent } from "@kelpie/core/HerderEvent"
import type { LeaderCommand, LeaderError, Outcome } from "@kelpie/core/LeaderCommand"
import type * as Plugin from "@kelpie/core/Plugin"
import * as Validation from "@kelpie/core/Validation"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Semaphore from "effect/Semaphore"
import type * as Stream from "effect/Stream"
import type { Herder } from "../Herder.ts"
import {
  ConnectorExists,
  ConnectorNotFound,
  HerderError,
  InvalidConfig,
  StateConflict,
  TaskNotFound,
  Unavailable
} from "../HerderError.ts"
import type * as Tick from "../Tick.ts"
import * as View from "../View.ts"
import type { Logging } from "./logging.ts"
import type { Offsets } from "./offsets.ts"
import type { Runtime } from "./runtime.ts"
import type { TopicUse } from "./topicUse.ts"
import { validate, type Validated } from "./validate.ts"
import * as Warnings from "./warnings.ts"

/** What the operations work on. */
export interface Context {
  readonly runtime: Runtime
  readonly tick: Tick.Tick
  readonly validating: Semaphore.Semaphore
  readonly events: Stream.Stream<HerderEvent>
  readonly outcome: (id: string) => Effect.Effect<Outcome | undefined>
  /** None when it was not reached in time. */
  readonly reached: (position: number) => Effect.Effect<Option.Option<void>>
  /** Why a name is refused. */
  readonly checkName: (name: string) => string | undefined
  readonly offsets: Offsets
  readonly topicUse: TopicUse
  readonly logging: Logging
}

const fail = (reason: HerderError["reason"]) => Effect.fail(new HerderError({ reason }))
const notFound = (name: string) => fail(new ConnectorNotFound({ name }))
const invalid = (problems: ReadonlyArray<KeyProblem>) =>
  fail(new InvalidConfig({ message: Validation.message(problems), problems }))

/** What a refusal of the leader means to whoever asked. */
const fromLeader = (name: string) => (error: LeaderError): HerderError => {
  const reason = (): HerderError["reason"] => {
    switch (error.kind) {
      case "NotFound":
        return new ConnectorNotFound({ name })
      case "Exists":
        return new ConnectorExists({ name })
      case "Stale":
      case "Stopped":
        return new StateConflict({ message: error.message })
      case "Invalid":
        return new InvalidConfig({ message: error.message, problems: [] })
      default:
        return new Unavailable({
          message: error.message,
          outcome: error.kind === "Unknown" || error.kind === "TimedOut" ? "unknown" : "none",
          ...(error.retryAfterMillis === undefined ? {} : { retryAfterMillis: error.retryAfterMillis }),
          ...(error.commandId === undefined ? {} : { operationId: error.commandId })
        })
    }
  }
  return new HerderError({ reason: reason() })
}

const targets = { RUNNING: "STARTED", PAUSED: "PAUSED", STOPPED: "STOPPED" } as const

/** Makes the service. */
export const operations = (context: Context): Herder["Service"] => {
  const { runtime, tick, topicUse } = context
  const { plugins } = runtime

  const typeOf = (name: string): Herder.ConnectorStatus["type"] =>
    Option.match(plugins.connector(name), { onNone: () => "unknown" as const, onSome: (found) => found.kind })
  /** The newest config state with the newest statuses: a write that was answered is in it (I14). */
  const snapshot = Effect.map(runtime.configStore.state, (state): View.Snapshot => ({ ...tick.world(), state }))
  const read = <A>(name: string, view: (snapshot: View.Snapshot) => A | undefined): Effect.Effect<A, HerderError> =>
    Effect.flatMap(snapshot, (now) => {
      const found = view(now)
      return found === undefined ? notFound(name) : Effect.succeed(found)
    })
  const info = (name: string) => read(name, (now) => View.info(now, name, typeOf))
  const warnings = Warnings.make(plugins, runtime.defaults)
  const status = (name: string) =>
    read(name, (now): Herder.ConnectorStatus | undefined => {
      const shown = View.status(now, name, typeOf)
      const config = ClusterState.connector(now.state, name)?.config
      return shown === undefined ? undefined : { ...shown, warnings: config === undefined ? [] : warnings(config) }
    })
  const send = (name: string, command: LeaderCommand): Effect.Effect<Outcome, HerderError> =>
    Effect.mapError(runtime.change(name, command), fromLeader(name))

  const check = Effect.fnUntraced(
    function*(config: Plugin.ConnectorConfig): Effect.fn.Return<Validated, HerderError> {
      const result = yield* Effect.result(validate(runtime, context.validating, config))
      if (result._tag === "Success") return result.success
      const { message } = result.failure
      return yield* fail(new InvalidConfig({ message, problems: [{ key: "connector.class", errors: [message] }] }))
    }
  )

  /** A config with its name, checked. */
  const prepare = Effect.fnUntraced(function*(name: string, given: Plugin.ConnectorConfig) {
    const reason = context.checkName(name)
    if (reason !== undefined) {
      return yield* invalid([{ key: "name", errors: [`Invalid value ${name} for configuration name: ${reason}`] }])
    }
    if (given["name"] !== undefined && given["name"] !== name) {
      const message = `Connector name configuration (${
        given["name"]
      }) doesn't match connector name in the URL (${name})`
      return yield* fail(new InvalidConfig({ message, problems: [{ key: "name", errors: [message] }] }))
    }
    const config = { ...given, name }
    const { problems, warnings } = yield* check(config)
    if (problems.length > 0) return yield* invalid(problems)
    return { config, warnings }
  })

  const write = Effect.fnUntraced(function*(
    name: string,
    given: Plugin.ConnectorConfig,
    options: Pick<Extract<LeaderCommand, { _tag: "PutConnector" }>, "expect" | "target">
  ): Effect.fn.Return<Herder.Written, HerderError> {
    const { config, warnings } = yield* prepare(name, given)
    const { created, position } = yield* send(name, { _tag: "PutConnector", name, config, ...options })
    return { info: yield* info(name), created: created ?? false, position, warnings }
  })

  const patch = Effect.fnUntraced(function*(name: string, changes: Readonly<Record<string, string | null>>) {
    const state = yield* runtime.configStore.state
    const existing = ClusterState.connector(state, name)
    if (existing === undefined) {
      const reason = ClusterState.unreadable(state, name)
      return yield* reason === undefined
        ? notFound(name)
        : fail(new StateConflict({ message: `${reason}; put its config again, or delete it` }))
    }
    // without a prototype, so that any key is a key
    const merged: Record<string, string> = Object.assign(Object.create(null), existing.config)
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) delete merged[key]
      else merged[key] = value
    }
    const { incarnation, revision } = existing
    return yield* write(name, merged, { expect: { incarnation, revision } })
  })

  const setTarget = (name: string, target: TargetState) =>
    Effect.asVoid(send(name, { _tag: "SetTarget", name, target }))

  const restart: Herder["Service"]["restart"] = Effect.fnUntraced(function*(name, options = {}) {
    const before = yield* status(name)
    const chosen = (state: string) => options.onlyFailed !== true || state === "FAILED"
    const tasks = options.includeTasks === true ? before.tasks.filter((task) => chosen(task.state)) : []
    const connector = chosen(before.state)
    if (connector || tasks.length > 0) {
      yield* send(name, { _tag: "Restart", name, connector, tasks: tasks.map((one) => one.task) })
    }
    return yield* status(name)
  })

  const restartTask = Effect.fnUntraced(function*(name: string, task: number) {
    const { tasks } = yield* info(name)
    if (!tasks.includes(task)) return yield* fail(new TaskNotFound({ name, task }))
    yield* send(name, { _tag: "Restart", name, connector: false, tasks: [task] })
  })

  const retryAll: Herder["Service"]["retryAll"] = Effect.fnUntraced(function*(filter) {
    const now = yield* snapshot
    const matches = glob(filter.name ?? "*")
    const names = ClusterState.names(now.state).filter((name) => {
      const lane = View.status(now, name, typeOf)?.reconfiguration
      const waits = lane !== undefined && (lane.state === "Waiting" || lane.state === "Parked")
      return waits && matches(name) && (filter.class === undefined || lane.failure?.class === filter.class)
    })
    // one that is deleted, paused or stopped meanwhile is left out
    const retried = yield* Effect.forEach(names, (name) =>
      retry(name).pipe(
        Effect.as([name]),
        Effect.catchReasons("HerderError", {
          ConnectorNotFound: () => Effect.succeed([]),
          StateConflict: () => Effect.succeed([])
        })
      ), { concurrency: "unbounded" })
    return retried.flat()
  })
  const retry = (name: string) => Effect.asVoid(send(name, { _tag: "RetryReconfiguration", name }))

  const tasks = (name: string) =>
    read(name, ({ state }): ReadonlyArray<Herder.TaskInfo> | undefined => {
      if (ClusterState.connector(state, name) === undefined) {
        return ClusterState.unreadable(state, name) === undefined ? undefined : []
      }
      const set = ClusterState.taskSet(state, name)
      return (set?.tasks ?? []).map((entry, task) => ({ task, config: { ...set?.config, ...flat(entry.config) } }))
    })

  return {
    list: Effect.map(runtime.configStore.state, ClusterState.names),
    info,
    status,
    tasks,
    create: (name, config, options) =>
      write(name, config, { expect: "absent", target: targets[options?.initialState ?? "RUNNING"] }),
    put: (name, config) => write(name, config, { expect: "any" }),
    patch,
    delete: (name) => topicUse.forgetAfter(name, send(name, { _tag: "DeleteConnector", name })),
    pause: (name) => setTarget(name, "PAUSED"),
    resume: (name) => setTarget(name, "STARTED"),
    stop: (name) => setTarget(name, "STOPPED"),
    restart,
    restartTask,
    retry,
    retryAll,
    park: (name) => Effect.asVoid(send(name, { _tag: "HoldReconfiguration", name, held: true })),
    unpark: (name) => Effect.asVoid(send(name, { _tag: "HoldReconfiguration", name, held: false })),
    validate: check,
    clusterId: Effect.map(runtime.configStore.state, (state) => state.cluster?.id ?? ""),
    plugins: Effect.succeed(plugins.all),
    health: Effect.sync(() =>
      tick.failing()
        ? { status: "unhealthy", message: "The tick of this worker failed; its log says why." }
        : { status: "healthy", message: "Worker has completed startup and is ready to handle requests." }
    ),
    events: context.events,
    position: Effect.map(runtime.configStore.state, (state) => state.position),
    reached: (position) =>
      Effect.flatMap(context.reached(position), (done) => {
        const message = `this worker has not read up to position ${position} so far`
        return Option.isSome(done) ? Effect.void : fail(new Unavailable({ message, outcome: "none" }))
      }),
    operation: (id) => Effect.map(context.outcome(id), Option.fromUndefinedOr),
    group: runtime.membership.group,
    drain: Effect.mapError(
      runtime.membership.drain,
      ({ message }) => new HerderError({ reason: new Unavailable({ message, outcome: "none" }) })
    ),
    ...context.offsets,
    topics: topicUse.topics,
    resetTopics: topicUse.resetTopics,
    loggers: context.logging.loggers,
    logger: context.logging.logger,
    setLogLevel: (logger, level, options) =>
      context.logging.setLogLevel(send("", { _tag: "SetLogLevel", logger, level }), logger, level, options)
  }
}

/** A pattern in which `*` stands for any characters. */
const glob = (pattern: string): (name: string) => boolean => {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  const whole = new RegExp(`^${parts.join(".*")}$`, "s")
  return (name) => whole.test(name)
}

/** A task config as Connect shows one: texts; what is no text is its JSON. */
const flat = (config: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)])
  )
