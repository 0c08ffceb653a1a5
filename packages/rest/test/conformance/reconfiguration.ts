import { absent, exactly, get, including, post, put, scripted, type Step, type Theme } from "./Theme.ts"

const lane = (verb = "", name = "rc-a") => `/connectors/${name}/reconfiguration${verb}`

const aTime = (value: unknown): boolean => typeof value === "number" && value > 1_600_000_000_000
const aCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0
/** Everything that there is to know of a failing one; times are epoch milliseconds. */
const waiting = {
  state: "Waiting",
  attempt: (value: unknown) => Number(value) > 1,
  delay_ms: aCount,
  next_attempt_at: aTime,
  failure: {
    class: "transient",
    stage: "generating",
    message: "scripted generation failure",
    first_at: aTime,
    last_at: aTime,
    occurrences: aCount
  },
  parked: absent,
  delayMillis: absent,
  nextAttemptAt: absent
}

const retryAll = (body: unknown, headers?: Readonly<Record<string, string>>) =>
  post("/admin/reconfigurations/retry", body, headers)
const retries = (name: string, body: unknown, ...retried: ReadonlyArray<string>): Step => ({
  name: `retry of many: ${name}`,
  request: retryAll(body),
  status: 202,
  // a lane that just now tries by itself is left out
  eventually: true,
  body: exactly({ retried })
})
const refuses = (body: unknown, message: string | RegExp, headers?: Readonly<Record<string, string>>): Step => ({
  name: `retry of many: ${JSON.stringify(body)}`,
  request: retryAll(body, headers),
  status: headers === undefined ? 400 : 415,
  message
})
const words = ["transient", "throttled", "not-leader", "no-leader", "expired-key", "clock-skew", "permanent", "defect"]

const many: ReadonlyArray<Step> = [
  { name: "it waits", request: get(lane("", "rc-f")), status: 200, eventually: true, body: waiting },
  retries("by name and class", { name: "rc-*", class: "transient" }, "rc-f"),
  { name: "it waits again", request: get(lane("", "rc-f")), status: 200, eventually: true, body: waiting },
  retries("of another class", { name: "rc-*", class: "throttled" }),
  retries("of nobody", { name: "rc-nobody*" }),
  retries("of one that is idle", { name: "rc-a" }),
  { name: "park", request: post(lane("/park", "rc-f")), status: 202 },
  {
    name: "is parked",
    request: get(lane("", "rc-f")),
    status: 200,
    eventually: true,
    body: { state: "Parked", parked: "operator", next_attempt_at: absent }
  },
  retries("a parked one", { name: "rc-f" }, "rc-f"),
  { name: "it waits once more", request: get(lane("", "rc-f")), status: 200, eventually: true, body: waiting },
  {
    name: "retry of all",
    request: { method: "POST", path: "/admin/reconfigurations/retry" },
    status: 202,
    eventually: true,
    body: { retried: including("rc-f") }
  },
  { name: "it waits at last", request: get(lane("", "rc-f")), status: 200, eventually: true, body: waiting },
  {
    name: "retry of all, with a type but without a body",
    request: retryAll(undefined, { "content-type": "application/json" }),
    status: 202
  },
  refuses({ class: "slow" }, new RegExp(`^Body "class": expected .*${words.join(".*")}.*timed-out.*, got "slow"$`)),
  refuses({ class: null }, /^Body "class": expected .*, got null$/),
  refuses({ name: 1 }, "Body \"name\": expected string, got 1"),
  refuses({ nmae: "x" }, "Body \"nmae\" is not known here"),
  refuses([], /^Body: expected object, got \[\]$/),
  refuses("null", /^Body: expected object, got null$/),
  refuses("{\"name\"", /^The body is not valid JSON/),
  refuses("name=x", /^HTTP 415/, { "content-type": "application/x-www-form-urlencoded" }),
  {
    name: "retry of many takes no GET",
    request: get("/admin/reconfigurations/retry"),
    status: 405,
    headers: { allow: "POST, OPTIONS" }
  }
]

/** Endpoints that Connect does not have. */
export const reconfiguration: Theme = {
  title: "reconfiguration",
  connectors: ["rc-a", "rc-f"],
  steps: [
    { name: "create", request: put("/connectors/rc-a/config", scripted()), status: 201 },
    { name: "is idle", request: get(lane()), status: 200, eventually: true, body: { state: "Idle", attempt: 0 } },
    {
      name: "create one that cannot say its tasks",
      request: put("/connectors/rc-f/config", scripted({ fail: "taskConfigs" })),
      status: 201
    },
    {
      name: "keeps Connect's word, and recovers",
      request: get("/connectors/rc-f/status"),
      status: 200,
      eventually: true,
      body: {
        connector: { state: "RUNNING" },
        tasks: [],
        health: "recovering",
        conditions: (value: unknown) => Array.isArray(value) && value.length > 0,
        reconfiguration: waiting,
        task_counts: { requested: 1, generated: null, running: 0 },
        revision: { stored: 1, applied: null }
      },
      differs: "Connect shows a running connector without tasks"
    },
    {
      name: "retry now",
      request: post(lane("/retry", "rc-f")),
      status: 202,
      body: { attempt: (value: unknown) => typeof value === "number" }
    },
    { name: "park", request: post(lane("/park", "rc-f")), status: 202 },
    {
      name: "is parked",
      request: get(lane("", "rc-f")),
      status: 200,
      eventually: true,
      body: { state: "Parked", parked: "operator" }
    },
    { name: "resume", request: post(lane("/resume", "rc-f"), "null"), status: 202 },
    { name: "tries again", request: get(lane("", "rc-f")), status: 200, eventually: true, body: { state: "Waiting" } },
    ...many,
    {
      name: "a task tells which revision it runs",
      request: get("/connectors/rc-a/status"),
      status: 200,
      eventually: true,
      body: {
        tasks: [{ id: 0, state: "RUNNING", revision: 1 }],
        task_counts: { requested: 1, generated: 1, running: 1 },
        revision: { stored: 1, applied: 1 },
        reconfiguration: exactly({ state: "Idle", attempt: 0 }),
        taskCounts: absent
      }
    },
    ...["", "/retry", "/park", "/resume"].map((verb) => ({
      name: `nobody${verb}`,
      request: { method: verb === "" ? "GET" : "POST", path: lane(verb, "rc-nobody") },
      status: 404,
      message: "Connector rc-nobody not found"
    })),
    { name: "takes no GET", request: get(lane("/park")), status: 405, headers: { allow: "POST, OPTIONS" } },
    ...["pause", "stop"].flatMap((verb) => [
      { name: verb, request: put(`/connectors/rc-a/${verb}`), status: verb === "stop" ? 204 : 202 },
      ...["/retry", "/park", "/resume"].map((change) => ({
        name: `${change} after ${verb}`,
        request: post(lane(change)),
        status: 409,
        message: new RegExp(`^Connector rc-a is ${verb === "stop" ? "STOPPED" : "PAUSED"}`)
      }))
    ])
  ]
}
