import { absent, aString, del, exactly, get, matching, post, put, scripted, type Theme } from "./Theme.ts"

const status = "/connectors/li-a/status"
const is = (name: string, body: unknown, path = status) => ({
  name,
  request: get(path),
  status: 200,
  eventually: true as const,
  body
})
const running = (...ids: ReadonlyArray<number>) => ({
  connector: { state: "RUNNING", trace: absent },
  tasks: ids.map((id) => ({ id, state: "RUNNING" })),
  health: "healthy"
})

export const lifecycle: Theme = {
  title: "pause, resume, stop, delete",
  connectors: ["li-a", "li-f"],
  steps: [
    { name: "create", request: post("/connectors", { name: "li-a", config: scripted() }), status: 201 },
    is("runs", running(0)),
    { name: "pause", request: put("/connectors/li-a/pause"), status: 202, headers: { "content-type": "" } },
    is("is paused", { connector: { state: "PAUSED" }, tasks: [{ id: 0, state: "PAUSED" }], health: "paused" }),
    { name: "pause again", request: put("/connectors/li-a/pause"), status: 202 },
    { name: "pause with a body of null", request: put("/connectors/li-a/pause", "null"), status: 202 },
    { name: "pause with another body", request: put("/connectors/li-a/pause", { a: 1 }), status: 202 },
    { name: "pause with a slash", request: put("/connectors/li-a/pause/"), status: 202 },
    { name: "resume with a body of null", request: put("/connectors/li-a/resume", "null"), status: 202 },
    is("runs again", running(0)),
    { name: "resume again", request: put("/connectors/li-a/resume"), status: 202 },
    { name: "stop", request: put("/connectors/li-a/stop"), status: 204 },
    is("is stopped", { connector: { state: "STOPPED" }, tasks: [], health: "stopped" }),
    {
      name: "info when stopped",
      request: get("/connectors/li-a"),
      status: 200,
      body: { config: exactly(scripted({ name: "li-a" })), tasks: [], type: "source" }
    },
    { name: "tasks when stopped", request: get("/connectors/li-a/tasks"), status: 200, body: exactly([]) },
    {
      name: "task status when stopped",
      request: get("/connectors/li-a/tasks/0/status"),
      status: 404,
      message: "No status found for task li-a-0"
    },
    { name: "stop again", request: put("/connectors/li-a/stop"), status: 204 },
    { name: "pause when stopped", request: put("/connectors/li-a/pause"), status: 202 },
    is("is paused, without tasks", { connector: { state: "PAUSED" }, tasks: [] }),
    { name: "stop when paused", request: put("/connectors/li-a/stop"), status: 204 },
    {
      name: "PUT config when stopped",
      request: put("/connectors/li-a/config", scripted({ "tasks.max": "2", tasks: "2" })),
      status: 200,
      body: { tasks: [] }
    },
    is("is still stopped", { connector: { state: "STOPPED" }, tasks: [] }),
    { name: "resume when stopped", request: put("/connectors/li-a/resume"), status: 202 },
    is("runs with the new config", running(0, 1)),
    ...["pause", "resume", "stop"].flatMap((verb) => [
      {
        name: `${verb} of nobody`,
        request: put(`/connectors/li-nobody/${verb}`),
        status: 404,
        message: "Unknown connector li-nobody"
      },
      {
        name: `${verb} takes no POST`,
        request: post(`/connectors/li-a/${verb}`),
        status: 405,
        headers: { allow: "PUT, OPTIONS" }
      },
      { name: `${verb} takes no GET`, request: get(`/connectors/li-a/${verb}`), status: 405 }
    ]),
    {
      name: "create one whose start fails",
      request: post("/connectors", { name: "li-f", config: scripted({ fail: "start" }) }),
      status: 201
    },
    is("has failed", {
      connector: { state: "FAILED", worker_id: aString, trace: matching(/scripted start failure/) },
      tasks: [],
      health: "failed"
    }, "/connectors/li-f/status"),
    { name: "stop of a failed one", request: put("/connectors/li-f/stop"), status: 204 },
    is(
      "is stopped, its trace gone",
      { connector: { state: "STOPPED", trace: absent }, tasks: [] },
      "/connectors/li-f/status"
    ),
    { name: "delete with a body", request: del("/connectors/li-f", { a: 1 }), status: 204 },
    { name: "delete", request: del("/connectors/li-a"), status: 204 },
    { name: "pause after it", request: put("/connectors/li-a/pause"), status: 404, message: "Unknown connector li-a" }
  ]
}
