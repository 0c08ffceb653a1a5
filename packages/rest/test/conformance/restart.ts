import { absent, get, matching, post, put, scripted, type Theme } from "./Theme.ts"

const create = (name: string, config: Readonly<Record<string, unknown>>, more: object = {}) => ({
  name: `create ${name}`,
  request: post("/connectors", { name, config, ...more }),
  status: 201
})
const two = { "tasks.max": "2", tasks: "2" }
const tasks = (state: string) => [{ id: 0, state }, { id: 1, state }]
const settles = (name: string, body: unknown) => ({
  name: `${name} settles`,
  request: get(`/connectors/${name}/status`),
  status: 200,
  eventually: true as const,
  body
})
const ok = { connector: { state: "RUNNING" }, tasks: tasks("RUNNING") }
const failedTasks = {
  connector: { state: "RUNNING" },
  tasks: tasks("FAILED").map((task) => ({ ...task, trace: matching(/scripted task failure/) })),
  // without a task that works nothing works, whatever the connector's own word
  health: "failed"
}

export const restart: Theme = {
  title: "restarts",
  connectors: ["re-ok", "re-task", "re-conn", "re-stop"],
  steps: [
    create("re-ok", scripted(two)),
    create("re-task", scripted({ ...two, fail: "task" })),
    create("re-conn", scripted({ ...two, fail: "start" })),
    create("re-stop", scripted(two), { initial_state: "STOPPED" }),
    settles("re-ok", ok),
    settles("re-task", failedTasks),
    settles("re-conn", { connector: { state: "FAILED" }, tasks: [] }),
    ...["", "?includeTasks=false&onlyFailed=false", "?includeTasks=False", "?includeTasks=", "/"].flatMap((query) => [
      {
        name: `plain: ${query}`,
        request: post(`/connectors/re-ok/restart${query}`),
        status: 204,
        headers: { "content-type": "" }
      },
      settles("re-ok", ok)
    ]),
    { name: "with an empty text for a body", request: post("/connectors/re-ok/restart", "\"\""), status: 204 },
    settles("re-ok", ok),
    ...["includeTasks=true", "includeTasks=True", "includeTasks=TRUE&onlyFailed=False"].flatMap((query) => [
      {
        name: `with its tasks: ${query}`,
        request: post(`/connectors/re-ok/restart?${query}`),
        status: 202,
        body: { name: "re-ok", connector: { state: "RESTARTING" }, tasks: tasks("RESTARTING"), type: "source" }
      },
      settles("re-ok", ok)
    ]),
    ...["onlyFailed=true", "includeTasks=true&onlyFailed=true"].map((query) => ({
      name: `nothing has failed: ${query}`,
      request: post(`/connectors/re-ok/restart?${query}`),
      status: 202,
      body: { connector: { state: "RUNNING" }, tasks: tasks("RUNNING") }
    })),
    {
      name: "only failed, without tasks: the connector has not failed",
      request: post("/connectors/re-task/restart?onlyFailed=true"),
      status: 202,
      body: { connector: { state: "RUNNING" }, tasks: tasks("FAILED") }
    },
    {
      name: "only failed tasks",
      request: post("/connectors/re-task/restart?includeTasks=true&onlyFailed=true"),
      status: 202,
      body: { connector: { state: "RUNNING" }, tasks: tasks("RESTARTING") }
    },
    settles("re-task", failedTasks),
    ...["includeTasks=true", "includeTasks=true&onlyFailed=false"].flatMap((query) => [
      {
        name: `all of one whose tasks have failed: ${query}`,
        request: post(`/connectors/re-task/restart?${query}`),
        status: 202,
        body: {
          connector: { state: "RESTARTING" },
          tasks: tasks("RESTARTING").map((task) => ({ ...task, trace: absent }))
        },
        differs: "Connect shows the traces of the runs before"
      },
      settles("re-task", failedTasks)
    ]),
    ...["", "?includeTasks=false&onlyFailed=false"].flatMap((query) => [
      {
        name: `the instance of one whose tasks have failed: ${query}`,
        request: post(`/connectors/re-task/restart${query}`),
        status: 204
      },
      settles("re-task", failedTasks)
    ]),
    { name: "one task that runs", request: post("/connectors/re-ok/tasks/0/restart"), status: 204 },
    settles("re-ok", ok),
    { name: "one task", request: post("/connectors/re-task/tasks/1/restart"), status: 204 },
    settles("re-task", failedTasks),
    {
      name: "only a failed connector",
      request: post("/connectors/re-conn/restart?onlyFailed=true"),
      status: 202,
      body: { connector: { state: "RESTARTING" } }
    },
    settles("re-conn", { connector: { state: "FAILED", trace: matching(/scripted start failure/) } }),
    ...["", "?includeTasks=false&onlyFailed=false"].flatMap((query) => [
      {
        name: `its start fails again: ${query}`,
        request: post(`/connectors/re-conn/restart${query}`),
        status: 500,
        message: "Failed to start connector: re-conn"
      },
      settles("re-conn", { connector: { state: "FAILED" }, tasks: [] })
    ]),
    ...["includeTasks=true", "includeTasks=true&onlyFailed=false", "includeTasks=true&onlyFailed=true"].flatMap(
      (query) => [
        {
          name: `its start fails again, with its tasks: ${query}`,
          request: post(`/connectors/re-conn/restart?${query}`),
          status: 202,
          body: { connector: { state: "RESTARTING", trace: absent }, tasks: [] },
          differs: "Connect shows the trace of the run before"
        },
        settles("re-conn", { connector: { state: "FAILED" }, tasks: [] })
      ]
    ),
    ...["", "?includeTasks=false&onlyFailed=false"].flatMap((query) => [
      {
        name: `a stopped one: ${query}`,
        request: post(`/connectors/re-stop/restart${query}`),
        status: 204
      },
      settles("re-stop", { connector: { state: "STOPPED" }, tasks: [] })
    ]),
    ...["includeTasks=true", "includeTasks=true&onlyFailed=false"].flatMap((query) => [
      {
        name: `a stopped one with the tasks that it has not: ${query}`,
        request: post(`/connectors/re-stop/restart?${query}`),
        status: 202,
        body: { connector: { state: "RESTARTING" }, tasks: [] }
      },
      settles("re-stop", { connector: { state: "STOPPED" }, tasks: [] })
    ]),
    ...["onlyFailed=true", "includeTasks=false&onlyFailed=true", "includeTasks=true&onlyFailed=true"].map((query) => ({
      name: `a stopped one has not failed: ${query}`,
      request: post(`/connectors/re-stop/restart?${query}`),
      status: 202,
      body: { connector: { state: "STOPPED" }, tasks: [] }
    })),
    {
      name: "a flag that is no boolean",
      request: post("/connectors/re-ok/restart?includeTasks=bogus"),
      status: 400,
      message: `Query parameter "includeTasks": expected true or false, got "bogus"`,
      differs: "Connect reads it as false"
    },
    {
      name: "nobody",
      request: post("/connectors/re-nobody/restart"),
      status: 404,
      message: "Unknown connector: re-nobody"
    },
    {
      name: "nobody, with tasks",
      request: post("/connectors/re-nobody/restart?includeTasks=true"),
      status: 404,
      message: "Unknown connector: re-nobody"
    },
    {
      name: "an unknown task",
      request: post("/connectors/re-ok/tasks/7/restart"),
      status: 404,
      message: "Unknown task: re-ok-7"
    },
    {
      name: "a negative task",
      request: post("/connectors/re-ok/tasks/-1/restart"),
      status: 404,
      message: "Unknown task: re-ok--1"
    },
    {
      name: "no number",
      request: post("/connectors/re-ok/tasks/abc/restart"),
      status: 404,
      message: "HTTP 404 Not Found"
    },
    {
      name: "a task of a stopped one",
      request: post("/connectors/re-stop/tasks/0/restart"),
      status: 404,
      message: "Unknown task: re-stop-0"
    },
    {
      name: "a task of nobody",
      request: post("/connectors/re-nobody/tasks/0/restart"),
      status: 404,
      message: "Unknown connector: re-nobody"
    },
    {
      name: "takes no GET",
      request: get("/connectors/re-ok/restart"),
      status: 405,
      headers: { allow: "POST, OPTIONS" }
    },
    {
      name: "takes no PUT",
      request: put("/connectors/re-ok/restart"),
      status: 405,
      headers: { allow: "POST, OPTIONS" }
    }
  ]
}
