/** The settings of a runtime, with their defaults. The types keep the texts complete. */
import { ExecutorLimits, FlowPolicy, ReconfigurationPolicy, RestartPolicy, StopPolicy } from "@kelpie/core"
import { Duration } from "effect"
import { code, page, table } from "./markdown.ts"

const shown = (value: unknown): string => {
  if (value === undefined) return "none"
  if (value === Infinity) return "no bound"
  if (typeof value === "function") return "a function"
  if (Duration.isDuration(value)) return Duration.isFinite(value) ? Duration.format(value) : "no bound"
  return code(typeof value === "string" ? value : JSON.stringify(value) ?? "none")
}

const settings = <A extends object>(
  name: string,
  about: string,
  policy: { readonly defaults: A },
  meanings: { readonly [K in keyof A]: string }
): string => {
  const rows = (Object.keys(meanings) as Array<keyof A & string>).map((key) => [
    code(key),
    shown(policy.defaults[key]),
    meanings[key]
  ])
  return [`## ${name}`, about, table(["setting", "default", "meaning"], rows)].join("\n\n")
}

const reconfiguration = settings(
  "ReconfigurationPolicy",
  "How task configs are generated and published, and what happens after failures. A connector changes some of it by its " +
    "`reconfiguration.retry.*` keys. The default delay is 250 ms, doubling to 60 s, for ever.",
  ReconfigurationPolicy,
  {
    delay:
      "The pause after so many failures in a row, before cap and jitter: a pure function, or `Backoff.fromSchedule`.",
    cap: "No pause is longer, but for what a throttled failure asks for.",
    jitter: "`none`, or `equal`: from half of the pause to all of it.",
    seed: "Seed of the jitter; none: drawn when the runtime starts.",
    deadline: "How long generating task configs may take.",
    sendDeadline: "How long the leader may take.",
    maxAttempts: "Failures in a row after which the lane is exhausted.",
    maxElapsed: "Time since the first failure in a row after which the lane is exhausted.",
    maxDefects: "Defects in a row after which the lane is parked.",
    onExhausted: "`fail` marks the connector FAILED, `park` leaves its tasks as they are."
  }
)

const restart = settings(
  "RestartPolicy",
  "Whether failed connectors and tasks are started anew. A connector changes it by its `restart.*` keys.",
  RestartPolicy,
  {
    enabled: "On for every connector that does not say otherwise.",
    delay: "The pause before restart number n: 1 s, doubling.",
    cap: "No pause is longer.",
    budget: "Restarts within the window; then it stays FAILED.",
    window: "Restarts longer ago are forgotten."
  }
)

const stop = settings("StopPolicy", "Deadlines of the life cycle.", StopPolicy, {
  connector: "Stopping a connector instance; then it is interrupted.",
  task: "Stopping a task; then it is interrupted.",
  start: "Starting a connector or a task.",
  validate: "A connector's own validation."
})

const limits = settings(
  "ExecutorLimits",
  "How many jobs of a kind run at the same time in one runtime.",
  ExecutorLimits,
  {
    generate: "Generations of task configs.",
    generateSlow: "Of those, for connectors whose last generation timed out: hangs wait behind hangs only.",
    send: "Publications to the leader.",
    start: "Starts of connectors and tasks.",
    validate: "Validations.",
    orphans:
      "Generations that did not return by their deadline; while so many are left, none that timed out before is tried."
  }
)

const flow = settings("FlowPolicy", "The flow of records.", FlowPolicy, {
  offsetFlushInterval: "How often a sink's positions are stored while records flow.",
  maxPollRecords: "The most records that a sink reads at once.",
  batchesInFlight: "Batches of a source that wait for the log."
})

/** The page. */
export const policies = (): string =>
  page(
    "# Policies",
    "Settings of a runtime. Each is a reference with defaults; `ReconfigurationPolicy.layer({ cap: \"30 seconds\" })` changes " +
      "some of them. A number or duration that is not above zero is refused when the layer is made.",
    reconfiguration,
    restart,
    stop,
    limits,
    flow
  )
