import { get, post, put, scripted, type Theme } from "./Theme.ts"

const lane = (verb = "", name = "rc-a") => `/connectors/${name}/reconfiguration${verb}`

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
        reconfiguration: { state: "Waiting" },
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
        message: /^Connector rc-a is (PAUSED|STOPPED)/
      }))
    ])
  ]
}
