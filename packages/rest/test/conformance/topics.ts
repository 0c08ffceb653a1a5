import { del, exactly, get, post, put, scripted, type Theme } from "./Theme.ts"

const source = { "connector.class": "FileSource", "tasks.max": "1", file: "/in.txt", topic: "to-lines" }
const sink = { "connector.class": "FileSink", "tasks.max": "1", file: "/out.txt", topics: "to-lines" }

const create = (name: string, config: object, more: object = {}) => ({
  name: `create ${name}`,
  request: post("/connectors", { name, config, ...more }),
  status: 201
})
const is = (name: string, body: unknown) => ({
  name: `the state of ${name}`,
  request: get(`/connectors/${name}/status`),
  status: 200,
  eventually: true as const,
  body
})
const used = (name: string, title: string, ...topics: ReadonlyArray<string>) => ({
  name: `${name}: ${title}`,
  request: get(`/connectors/${name}/topics`),
  status: 200,
  body: exactly({ [name]: { topics } })
})
const eventually = (name: string, title: string, ...topics: ReadonlyArray<string>) => ({
  ...used(name, title, ...topics),
  eventually: true as const
})
const reset = (name: string, body?: unknown) => ({
  name: `${name}: reset`,
  request: put(`/connectors/${name}/topics/reset`, body),
  status: 202,
  headers: { "content-type": "" }
})
const notAllowed = (allow: string) => ({ status: 405, message: "HTTP 405 Method Not Allowed", headers: { allow } })

export const topics: Theme = {
  title: "topics that connectors use",
  connectors: ["to-src", "to-snk", "to-none"],
  steps: [
    used("to-nobody", "of nobody"),
    reset("to-nobody"),
    create("to-src", source),
    eventually("to-src", "what it wrote to", "to-lines"),
    create("to-snk", sink),
    eventually("to-snk", "what it read", "to-lines"),
    create("to-none", scripted()),
    is("to-none", { connector: { state: "RUNNING" }, tasks: [{ state: "RUNNING" }] }),
    used("to-none", "nothing so far"),
    reset("to-src"),
    used("to-src", "nothing after a reset"),
    reset("to-src", "null"),
    {
      name: "a reset takes no POST",
      request: post("/connectors/to-src/topics/reset"),
      ...notAllowed("PUT, OPTIONS")
    },
    { name: "a reset takes no GET", request: get("/connectors/to-src/topics/reset"), ...notAllowed("PUT, OPTIONS") },
    { name: "no PUT", request: put("/connectors/to-src/topics", {}), ...notAllowed("GET, HEAD, OPTIONS") },
    {
      name: "with a slash",
      request: get("/connectors/to-src/topics/"),
      status: 200,
      body: exactly({ "to-src": { topics: [] } })
    },
    { name: "stop the sink", request: put("/connectors/to-snk/stop"), status: 204 },
    is("to-snk", { connector: { state: "STOPPED" }, tasks: [] }),
    used("to-snk", "stay when it is stopped", "to-lines"),
    { name: "delete the sink", request: del("/connectors/to-snk"), status: 204 },
    used("to-snk", "nothing after a delete"),
    create("to-snk", sink, { initial_state: "STOPPED" }),
    used("to-snk", "nothing of the one before")
  ]
}
