/**
 * Carries out the commands of a plan: starts and stops runs, generates, tells the leader. Nothing here decides; every
 * outcome returns through the inbox.
 */
import * as ClusterState from "@kelpie/core/ClusterState"
import type * as ConfigRecord from "@kelpie/core/ConfigRecord"
import type { ConnectorError } from "@kelpie/core/ConnectorError"
import * as Item from "@kelpie/core/Item"
import type * as SourceConnector from "@kelpie/core/SourceConnector"
import { StoreError } from "@kelpie/core/StoreError"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type * as Plan from "../Plan.ts"
import type * as RunMachine from "../RunMachine.ts"
import { contain } from "./contained.ts"
import * as Generation from "./generation.ts"
import * as Jobs from "./jobs.ts"
import * as Loggers from "./loggers.ts"
import * as Redaction from "./redaction.ts"
import { resolve, type ResolvedConfig } from "./resolved.ts"
import type { Runtime } from "./runtime.ts"
import * as SinkTask from "./sinkTask.ts"
import * as SourceTask from "./sourceTask.ts"
import type { Task, TaskEnv } from "./taskEnv.ts"
import { describe } from "./trace.ts"

/** A run of an item, from its start to the end of its stop. */
interface Handle {
  readonly item: Item.Item
  readonly run: Item.Run
  readonly scope: Scope.Closeable
  interruptStart: Effect.Effect<void>
  /** Lets what is under way come to its end. */
  drain: Effect.Effect<void>
  stopping: boolean
  redact: Redaction.Redact
  instance: Generation.Instance | undefined
}

/** The worker of a herder. */
export interface Worker {
  readonly interpret: (command: Plan.Command, state: ClusterState.ClusterState) => Effect.Effect<void>
  /** Stops every run, all at the same time, within one deadline. */
  readonly shutdown: Effect.Effect<void>
}

/** Makes the worker. */
export const make = Effect.fnUntraced(function*(runtime: Runtime, sendLimit: number): Effect.fn.Return<Worker> {
  const handles = new Map<string, Handle>()
  const attempts = new Map<number, Generation.Attempt>()
  const sending = yield* Semaphore.make(sendLimit)
  const fork = Effect.runForkWith(yield* Effect.context())
  const { post } = runtime

  const open = (item: Item.Item, run: Item.Run): Handle => {
    const handle: Handle = {
      item,
      run,
      scope: Scope.makeUnsafe(),
      interruptStart: Effect.void,
      drain: Effect.void,
      stopping: false,
      redact: Redaction.none,
      instance: undefined
    }
    handles.set(Item.key(item), handle)
    return handle
  }

  const grace = (item: Item.Item) => item.task === undefined ? runtime.stop.connector : runtime.stop.task

  /** Closes what a failed run holds, then tells that it failed. */
  const fail = (handle: Handle, failure: RunMachine.Failure) =>
    Effect.asVoid(Jobs.submit(runtime.executor, {
      label: `close ${Item.format(handle.item)}`,
      deadline: grace(handle.item),
      run: Scope.close(handle.scope, Exit.void),
      settled: () =>
        Effect.sync(() => {
          if (handles.get(Item.key(handle.item)) === handle && !handle.stopping) handles.delete(Item.key(handle.item))
          post({ _tag: "RunFailed", item: handle.item, run: handle.run, failure })
        })
    }))

  const failureOf = (handle: Handle, cause: Cause.Cause<unknown>): RunMachine.Failure => {
    const error = Cause.squash(cause)
    if (error instanceof StoreError && error.kind === "Fenced") {
      return { class: "fenced", trace: "a newer run of this item has opened its writers" }
    }
    const { class: kind, trace } = describe(cause, handle.redact)
    return { class: kind === "throttled" ? "transient" : kind, trace }
  }

  /** Runs a start within its deadline. */
  const start = Effect.fnUntraced(function*(
    handle: Handle,
    run: Effect.Effect<string, ConnectorError | StoreError>
  ) {
    const label = `start ${Item.format(handle.item)}`
    let isOver = false
    const interrupt = yield* Jobs.submit(runtime.executor, {
      label,
      deadline: runtime.stop.start,
      run,
      settled: (outcome) => {
        if (handle.stopping) return Effect.void
        // it is over, and nobody holds any more what it was made of
        isOver = true
        handle.interruptStart = Effect.void
        switch (outcome._tag) {
          case "Success":
            return Effect.sync(() =>
              post({ _tag: "RunStarted", item: handle.item, run: handle.run, version: outcome.value })
            )
          case "Failure":
            return fail(handle, failureOf(handle, outcome.cause))
          case "Interrupted":
            return fail(handle, { class: "defect", trace: `${label}: it was interrupted` })
          case "TimedOut": {
            const seconds = Duration.toMillis(Duration.fromInputUnsafe(runtime.stop.start)) / 1000
            return fail(handle, { class: "timed-out", trace: `${label}: it did not return within ${seconds} s` })
          }
        }
      }
    })
    if (!isOver) handle.interruptStart = interrupt
  })

  const startConnector = (
    { connector, revision, run }: Extract<Plan.Command, { _tag: "StartConnector" }>,
    state: ClusterState.ClusterState
  ) => {
    const raw = ClusterState.connector(state, connector)?.config ?? {}
    const handle = open(Item.connector(connector), run)
    const begin = Effect.gen(function*() {
      const config = yield* resolve(runtime.plugins, runtime.variables, runtime.defaults, raw)
      handle.redact = config.redact
      const { definition } = config
      const request = Effect.sync(() => post({ _tag: "Asked", connector, run }))
      const inScope = <A, E>(effect: Effect.Effect<A, E, any>) => Scope.provide(effect, handle.scope)
      let taskConfigs: Generation.Instance["taskConfigs"] = definition.kind === "sink"
        ? (maxTasks) => Effect.succeed(Array.from({ length: maxTasks }, () => ({})))
        : () => Effect.succeed([{}])
      const begun = definition.kind === "source" ? definition["~source"].start : undefined
      if (begun !== undefined) {
        const context: SourceConnector.StartContext<any> = {
          name: connector,
          config: config.values,
          requestReconfiguration: request
        }
        yield* runtime.middleware(
          { _tag: "StartConnector", connector, revision },
          // suspended: what it throws before it gives an effect is contained too
          Effect.map(
            contain(
              config.redact,
              runtime.plugins.provide(Loggers.about(handle.item)(inScope(Effect.suspend(() => begun(context)))))
            ),
            (started) => {
              taskConfigs = started.taskConfigs
            }
          )
        )
      }
      handle.instance = { config, taskConfigs }
      return definition.version
    })
    return start(handle, begin)
  }

  const startTask = (
    { connector, run, task }: Extract<Plan.Command, { _tag: "StartTask" }>,
    state: ClusterState.ClusterState
  ) => {
    const item = { connector, task }
    const set = ClusterState.taskSet(state, connector)
    const handle = open(item, run)
    const begin = Effect.gen(function*() {
      const config = yield* resolve(runtime.plugins, runtime.variables, runtime.defaults, set?.config ?? {})
      handle.redact = config.redact
      const { definition } = config
      const env = taskEnv(runtime, item, run, set, config)
      const making: Effect.Effect<Task, ConnectorError | StoreError, Scope.Scope> = definition.kind === "source"
        ? SourceTask.make(env, definition)
        : SinkTask.make(env, definition)
      let made: Task | undefined
      yield* runtime.middleware(
        { _tag: "StartTask", connector, task },
        // its transforms and converters are authors' code too
        Effect.map(contain(config.redact, Scope.provide(making, handle.scope)), (task) => {
          made = task
        })
      )
      yield* stillOwned(item, run)
      if (made !== undefined) yield* watch(handle, made)
      return definition.version
    })
    // once for all fibers of the task
    return start(handle, runtime.plugins.provide(Loggers.about(item)(begin)))
  }

  /** I7: the writers are open; what the log says now decides whether this run may use them. */
  const stillOwned = Effect.fnUntraced(function*(item: Item.Item, run: Item.Run) {
    const state = yield* runtime.configStore.refresh
    if (ClusterState.token(state, item) !== run.token) {
      return yield* new StoreError({ kind: "Fenced", operation: "start", detail: "somebody else owns the item now" })
    }
  })

  const watch = (handle: Handle, task: Task) => {
    handle.drain = Effect.suspend(() => task.drain)
    let isBroken = false
    const broken = (cause: Cause.Cause<unknown>) => {
      if (isBroken || handle.stopping) return
      isBroken = true
      fork(fail(handle, failureOf(handle, cause)))
    }
    return Scope.provide(task.start(broken), handle.scope)
  }

  /** Ends a run: what is under way comes to its end within the deadline, else it is interrupted. */
  const end = (handle: Handle, lost: boolean): Effect.Effect<void> =>
    handle.interruptStart.pipe(
      Effect.andThen(lost ? Effect.void : handle.drain),
      Effect.ensuring(Scope.close(handle.scope, Exit.void))
    )

  const stopRun = Effect.fnUntraced(function*({ item, lost, run }: Extract<Plan.Command, { _tag: "StopRun" }>) {
    const handle = handles.get(Item.key(item))
    const stopped = Effect.sync(() => {
      if (handles.get(Item.key(item)) === handle) handles.delete(Item.key(item))
      post({ _tag: "RunStopped", item, run })
    })
    if (handle === undefined) return yield* stopped
    handle.stopping = true
    const operation = item.task === undefined
      ? { _tag: "StopConnector", connector: item.connector } as const
      : { _tag: "StopTask", connector: item.connector, task: item.task } as const
    const label = `stop ${Item.format(item)}`
    yield* Effect.asVoid(Jobs.submit(runtime.executor, {
      label,
      deadline: grace(item),
      // what finalizers throw is an author's too
      run: runtime.middleware(operation, contain(handle.redact, end(handle, lost))),
      settled: (outcome, ended) => {
        const seconds = Duration.toMillis(Duration.fromInputUnsafe(grace(item))) / 1000
        const note = outcome._tag === "Success"
          ? Effect.void
          : outcome._tag === "Failure"
          ? Effect.logWarning(`${label}: not clean: ${describe(outcome.cause, handle.redact).message}`)
          : Effect.logWarning(
            `${label}: not clean: ${ended ? "interrupted" : "its code has not returned"} after ${seconds} s`
          )
        return Effect.andThen(Loggers.about(item)(note), stopped)
      },
      ended: Loggers.about(item)(Effect.logInfo(`${label}: its code has returned after all`))
    }))
  })

  const generate = Effect.fnUntraced(function*(command: Extract<Plan.Command, { _tag: "Generate" }>) {
    const instance = handles.get(Item.key(Item.connector(command.connector)))?.instance
    if (instance === undefined) {
      return post({
        _tag: "Settled",
        connector: command.connector,
        attempt: command.attempt,
        ended: true,
        outcome: { _tag: "Interrupted" }
      })
    }
    const attempt = Generation.make(runtime, sending, instance, command, () => attempts.delete(command.attempt))
    attempts.set(command.attempt, attempt)
    yield* attempt.submit
  })

  const confirm = Effect.fnUntraced(function*({ items }: Extract<Plan.Command, { _tag: "ConfirmRelease" }>) {
    const told = runtime.send(items[0]?.connector ?? "", { _tag: "ConfirmRelease", items: items.map(plainItem) })
    yield* Effect.asVoid(Jobs.submit(runtime.executor, {
      label: `confirm the release of ${items.length} items`,
      deadline: runtime.reconfiguration.sendDeadline,
      run: told,
      settled: (outcome) => Effect.sync(() => post({ _tag: "Confirmed", items, ok: outcome._tag === "Success" }))
    }))
  })

  return {
    interpret: (command, state) => {
      switch (command._tag) {
        case "StartConnector":
          return startConnector(command, state)
        case "StartTask":
          return startTask(command, state)
        case "StopRun":
          return stopRun(command)
        case "Generate":
          return generate(command)
        case "Interrupt":
          return Effect.suspend(() => attempts.get(command.attempt)?.interrupt ?? Effect.void)
        case "ConfirmRelease":
          return confirm(command)
        case "Log": {
          const log = command.level === "Warn" ? Effect.logWarning(command.message) : Effect.logInfo(command.message)
          return Loggers.about(command)(log)
        }
      }
    },
    shutdown: Effect.suspend(() => {
      const all = [...handles.values()]
      const longest = Math.max(...[runtime.stop.connector, runtime.stop.task].map(toMillis))
      return Effect.forEach(all, (handle) => {
        handle.stopping = true
        // waited for, not joined: code that does not return must not hold up the others
        return Effect.flatMap(
          Effect.forkDetach(end(handle, false)),
          (fiber) =>
            Effect.flatMap(Effect.timeoutOption(Fiber.await(fiber), longest), (ended) => {
              if (ended._tag === "Some") return Effect.void
              // what is under way does not come to its end: it is interrupted, and closed
              fiber.interruptUnsafe()
              return Effect.asVoid(Effect.timeoutOption(Fiber.await(fiber), closing))
            })
        )
      }, { concurrency: "unbounded", discard: true })
    })
  }
})

/** Apart from the start, so that what a task keeps does not keep all that its start used. */
const taskEnv = (
  runtime: Runtime,
  item: TaskEnv["item"],
  run: Item.Run,
  set: ConfigRecord.TaskSetEntry | undefined,
  config: ResolvedConfig
): TaskEnv => ({
  item,
  run,
  usage: set?.incarnation,
  members: set?.tasks.length ?? 1,
  config,
  taskConfig: set?.tasks[item.task]?.config ?? {},
  offsets: runtime.offsetStore,
  log: runtime.topicLog,
  plugins: runtime.plugins,
  middleware: runtime.middleware,
  flow: runtime.flow,
  retrying: (retrying) => Effect.sync(() => runtime.post({ _tag: "RunRetrying", item, run, retrying }))
})

/** How long what was interrupted may take to close at a shutdown. */
const closing = Duration.seconds(1)

const toMillis = (duration: Duration.Input): number => Duration.toMillis(Duration.fromInputUnsafe(duration))

const plainItem = ({ connector, position, task }: Item.Item & { readonly position: number }) => ({
  connector,
  position,
  ...(task === undefined ? {} : { task })
})
