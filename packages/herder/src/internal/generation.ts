/**
 * One attempt of a lane: generate the task configs, compare them with the published ones, publish what differs.
 *
 * Each stage has its deadline and its named outcome; no path forgets to report (law 15).
 */
import * as ClusterState from "@kelpie/core/ClusterState"
import type { TaskEntry } from "@kelpie/core/ConfigRecord"
import { type ConnectorError, PermanentError } from "@kelpie/core/ConnectorError"
import * as Item from "@kelpie/core/Item"
import type { LeaderCommand, LeaderError } from "@kelpie/core/LeaderCommand"
import type * as Status from "@kelpie/core/Status"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Semaphore from "effect/Semaphore"
import type * as Tracer from "effect/Tracer"
import type * as Lane from "../Lane.ts"
import type * as Plan from "../Plan.ts"
import { contain } from "./contained.ts"
import { digest } from "./digest.ts"
import * as Jobs from "./jobs.ts"
import * as Loggers from "./loggers.ts"
import type { ResolvedConfig } from "./resolved.ts"
import type { Runtime } from "./runtime.ts"
import { jsonCodecs } from "./sourceTask.ts"
import { describe } from "./trace.ts"

/** A started connector instance. */
export interface Instance {
  readonly config: ResolvedConfig
  readonly taskConfigs: (maxTasks: number) => Effect.Effect<ReadonlyArray<unknown>, ConnectorError>
}

type Command = Extract<Plan.Command, { _tag: "Generate" }>
type PublishTaskSet = Extract<LeaderCommand, { _tag: "PublishTaskSet" }>

/** What a generation came to. */
interface Generated {
  readonly count: number
  /** `undefined`: nothing differs. */
  readonly publish: PublishTaskSet | undefined
}

/** An attempt that can be run, once, and interrupted. */
export interface Attempt {
  /** Submits it; its outcome is posted. */
  readonly submit: Effect.Effect<void>
  readonly interrupt: Effect.Effect<void>
}

/** Makes an attempt; `done` is called when its outcome is posted. */
export const make = (
  runtime: Runtime,
  sending: Semaphore.Semaphore,
  instance: Instance,
  command: Command,
  done: () => void
): Attempt => {
  const { attempt, connector } = command
  const { redact } = instance.config
  let stage: Status.Stage = "generating"
  let interrupt: Effect.Effect<void> = Effect.void
  let span: Tracer.Span | undefined
  const spanned = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    span === undefined ? effect : Effect.withParentSpan(effect, span, { captureStackTrace: false })
  const settled = (
    outcome: Extract<Plan.Message, { _tag: "Settled" }>["outcome"],
    ended: boolean,
    generated?: number
  ) =>
    Effect.flatMap(Clock.currentTimeNanos, (now) =>
      Effect.sync(() => {
        done()
        span?.end(now, outcome._tag === "Failed" ? Exit.fail(outcome.failure.message) : Exit.void)
        runtime.post({ _tag: "Settled", connector, attempt, outcome, ended, generated })
      }))
  const failed = (failure: Lane.Failure) => ({ _tag: "Failed", failure } as const)
  const ended = Effect.sync(() => runtime.post({ _tag: "AttemptEnded", connector, attempt }))
  const seconds = (duration: Duration.Input) => `${Duration.toMillis(Duration.fromInputUnsafe(duration)) / 1000} s`

  const publish = Effect.fnUntraced(function*({ count, publish }: Generated) {
    if (publish === undefined) return yield* settled({ _tag: "Succeeded" }, true, count)
    stage = (yield* runtime.leads) ? "writing" : "sending"
    runtime.post({ _tag: "Advanced", connector, attempt, stage })
    interrupt = yield* Jobs.submit(runtime.executor, {
      label: `publish the tasks of ${connector}`,
      deadline: runtime.reconfiguration.sendDeadline,
      run: sending.withPermits(1)(spanned(runtime.send(connector, publish))),
      settled: (outcome, isEnded) => {
        switch (outcome._tag) {
          case "Success":
            return settled({ _tag: "Succeeded" }, isEnded, count)
          case "Failure":
            return settled(failed(fromLeader(outcome.cause, stage, redact)), isEnded)
          case "Interrupted":
            return settled(outcome, isEnded)
          case "TimedOut": {
            const message = `the leader did not answer within ${seconds(runtime.reconfiguration.sendDeadline)}`
            return settled(failed({ class: "transient", stage, message }), isEnded)
          }
        }
      },
      ended
    })
  })

  const generating = Jobs.submit(runtime.executor, {
    label: `generate the task configs of ${connector}`,
    deadline: runtime.reconfiguration.deadline,
    run: Effect.suspend(() =>
      spanned(generate(runtime, instance, command, (next) => {
        stage = next
      }))
    ),
    settled: (outcome, isEnded) => {
      switch (outcome._tag) {
        case "Success":
          return publish(outcome.value)
        case "Failure": {
          const { class: kind, message, retryAfterMillis } = describe(outcome.cause, redact)
          return settled(failed({ class: kind, stage, message, retryAfterMillis }), isEnded)
        }
        case "Interrupted":
          return settled(outcome, isEnded)
        case "TimedOut": {
          const what = stage === "generating"
            ? "taskConfigs did not return"
            : "the variables of the config were not resolved"
          const message = `${what} within ${seconds(runtime.reconfiguration.deadline)}`
          return settled(failed({ class: "timed-out", stage, message }), isEnded)
        }
      }
    },
    ended
  })
  const attributes = { connector, attempt: command.number, revision: command.revision }
  return {
    submit: Effect.gen(function*() {
      span = yield* Effect.makeSpan("Kelpie.reconfigure", { root: true, attributes })
      const handle = yield* generating
      if (interrupt === Effect.void) interrupt = handle
    }),
    interrupt: Effect.suspend(() => interrupt)
  }
}

const generate = Effect.fnUntraced(function*(
  runtime: Runtime,
  { config, taskConfigs }: Instance,
  { connector, number, revision, run }: Command,
  enter: (stage: Status.Stage) => void
): Effect.fn.Return<Generated, ConnectorError> {
  const { tasksMax, tasksMaxEnforce } = config.settings
  const generating = Loggers.about({ connector })(Effect.suspend(() => taskConfigs(tasksMax)))
  let given: ReadonlyArray<unknown> = []
  yield* runtime.middleware(
    { _tag: "GenerateTaskConfigs", connector, revision, attempt: number, maxTasks: tasksMax },
    Effect.map(
      contain(config.redact, runtime.plugins.provide(generating)),
      (configs) => {
        given = configs
        return configs.length
      }
    )
  )
  if (given.length > tasksMax && tasksMaxEnforce) {
    return yield* new PermanentError({
      message: `the connector ${connector} generated ${given.length} tasks, but tasks.max is ${tasksMax}`
    })
  }
  const encoded = yield* Effect.forEach(given, (one) => encodeTask(config, one))
  enter("comparing")
  const state = yield* runtime.configStore.state
  const asked = ClusterState.connector(state, connector)
  if (asked === undefined || asked.revision !== revision) return { count: given.length, publish: undefined }
  // resolved anew: a secret may have changed since the instance started
  const { config: resolved } = yield* runtime.variables(asked.config)
  const key = `${state.cluster?.id ?? ""}/${asked.incarnation}`
  const shared = taskView(resolved, config.definition.kind === "sink" ? encoded.length : undefined)
  const tasks = encoded.map((task): TaskEntry => ({ config: task, digest: digest(key, [task, shared]) }))
  const whole = digest(key, resolved)
  const published = ClusterState.taskSet(state, connector)
  const unchanged = published !== undefined && published.revision === revision && published.digest === whole &&
    published.tasks.length === tasks.length &&
    published.tasks.every((task, index) => task.digest === tasks[index]?.digest)
  if (unchanged) return { count: given.length, publish: undefined }
  return {
    count: given.length,
    publish: {
      _tag: "PublishTaskSet",
      name: connector,
      incarnation: asked.incarnation,
      revision,
      token: ClusterState.token(state, Item.connector(connector)) ?? run.token,
      digest: whole,
      config: asked.config,
      tasks
    }
  }
})

/** Keys that a task does not see: changing them restarts no task. */
const controlKeys =
  /^(tasks\.max|tasks\.max\.enforce|reconfiguration\..*|restart\..*|placement\.labels|config\.action\.reload)$/

/** What every task of a set sees besides its own config; a sink's task also the number of tasks. */
const taskView = (config: Readonly<Record<string, string>>, members: number | undefined) => ({
  config: Object.fromEntries(Object.entries(config).filter(([key]) => !controlKeys.test(key))),
  members
})

/** A task config as it is stored: JSON, without secrets. */
const encodeTask = Effect.fnUntraced(function*(
  config: ResolvedConfig,
  given: unknown
): Effect.fn.Return<Schema.JsonObject, ConnectorError> {
  if (config.definition.kind === "sink") return {}
  const codec = jsonCodecs(config.definition["~source"]).taskConfig
  const json = yield* Effect.mapError(
    Schema.encodeUnknownEffect(codec)(given),
    (error) => new PermanentError({ message: `a task config does not fit its schema: ${error.message}` })
  )
  const text = JSON.stringify(json) ?? "{}"
  if (config.redact(text) !== text) {
    return yield* new PermanentError({
      message: "a task config holds the value of a secret; tasks see the connector's config and can read it there"
    })
  }
  return typeof json === "object" && json !== null ? json as Schema.JsonObject : {}
})

const classes: Partial<Record<LeaderError["kind"], Status.FailureClass>> = {
  NoLeader: "no-leader",
  NotLeader: "not-leader",
  ExpiredKey: "expired-key",
  ClockSkew: "clock-skew",
  Throttled: "throttled",
  Invalid: "permanent"
}

/** A failure to publish, as the lane sees it. A stale command is dropped by its lane, or tried on the newer state. */
const fromLeader = (
  cause: Cause.Cause<LeaderError>,
  stage: Status.Stage,
  redact: (text: string) => string
): Lane.Failure => {
  const error = Cause.squash(cause)
  if (typeof error === "object" && error !== null && "_tag" in error && error._tag === "LeaderError") {
    const { kind, message, retryAfterMillis } = error as LeaderError
    return { class: classes[kind] ?? "transient", stage, message: redact(message), retryAfterMillis }
  }
  const { class: kind, message } = describe(cause, redact)
  return { class: kind === "defect" ? "defect" : "transient", stage, message }
}
