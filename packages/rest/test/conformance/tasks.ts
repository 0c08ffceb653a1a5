import { absent, aList, aString, exactly, get, post, put, scripted, type Theme } from "./Theme.ts"

const task = (connector: string, number: number) => ({ connector, task: number })

export const tasks: Theme = {
  title: "tasks",
  connectors: ["ta-a", "ta-snk", "ta-none"],
  steps: [
    {
      name: "create",
      request: post("/connectors", { name: "ta-a", config: scripted({ "tasks.max": "2", tasks: "2" }) }),
      status: 201
    },
    {
      name: "runs",
      request: get("/connectors/ta-a/status"),
      status: 200,
      eventually: true,
      body: {
        tasks: [{ state: "RUNNING" }, { state: "RUNNING" }],
        task_counts: { requested: 2, generated: 2, running: 2 }
      }
    },
    {
      name: "tasks",
      request: get("/connectors/ta-a/tasks"),
      status: 200,
      body: [0, 1].map((number) => ({ id: exactly(task("ta-a", number)), config: { i: `${number}` } }))
    },
    {
      name: "tasks, with a slash",
      request: get("/connectors/ta-a/tasks/"),
      status: 200,
      body: [{ id: { task: 0 } }, {}]
    },
    {
      name: "of the info",
      request: get("/connectors/ta-a"),
      status: 200,
      body: { tasks: [task("ta-a", 0), task("ta-a", 1)] }
    },
    {
      name: "tasks-config is gone",
      request: get("/connectors/ta-a/tasks-config"),
      status: 404,
      message: "HTTP 404 Not Found"
    },
    ...["0", "+00", "%30"].map((number) => ({
      name: `status of task ${number}`,
      request: get(`/connectors/ta-a/tasks/${number}/status`),
      status: 200,
      body: { id: 0, state: "RUNNING", worker_id: aString, version: "1.0.0", trace: absent }
    })),
    {
      name: "status of task 1",
      request: get("/connectors/ta-a/tasks/1/status"),
      status: 200,
      body: { id: 1, state: "RUNNING" }
    },
    ...["2", "-1"].map((number) => ({
      name: `no task ${number}`,
      request: get(`/connectors/ta-a/tasks/${number}/status`),
      status: 404,
      message: `No status found for task ta-a-${number}`
    })),
    ...["abc", "99999999999", "0.0", "1e0", "0x0", "%200"].map((number) => ({
      name: `${number} is no task number`,
      request: get(`/connectors/ta-a/tasks/${number}/status`),
      status: 404,
      message: "HTTP 404 Not Found"
    })),
    {
      name: "a task of nobody",
      request: get("/connectors/ta-nobody/tasks/0/status"),
      status: 404,
      message: "No status found for task ta-nobody-0"
    },
    { name: "a task alone", request: get("/connectors/ta-a/tasks/0"), status: 404, message: "HTTP 404 Not Found" },
    {
      name: "the config of a task",
      request: get("/connectors/ta-a/tasks/0/config"),
      status: 404,
      message: "HTTP 404 Not Found"
    },
    {
      name: "tasks of nobody",
      request: get("/connectors/ta-nobody/tasks"),
      status: 404,
      message: "Connector ta-nobody not found"
    },
    {
      name: "a status takes no PUT",
      request: put("/connectors/ta-a/tasks/0/status", {}),
      status: 405,
      headers: { allow: "GET, HEAD, OPTIONS" }
    },
    {
      name: "create a sink",
      request: put("/connectors/ta-snk/config", {
        "connector.class": "FileSink",
        topics: "lines",
        file: "/nowhere/out.txt"
      }),
      status: 201,
      body: { type: "sink", tasks: aList }
    },
    {
      name: "the status of a sink",
      request: get("/connectors/ta-snk/status"),
      status: 200,
      body: { type: "sink", tasks: aList }
    },
    {
      name: "create one without tasks",
      request: put("/connectors/ta-none/config", scripted({ tasks: "0" })),
      status: 201
    },
    {
      name: "tasks is a list, empty included",
      request: get("/connectors/ta-none/status"),
      status: 200,
      eventually: true,
      body: { connector: { state: "RUNNING" }, tasks: [] }
    }
  ]
}
