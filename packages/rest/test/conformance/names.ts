import { absent, del, exactly, get, including, patch, post, put, scripted, type Step, type Theme } from "./Theme.ts"

/** What Connect creates and then cannot reach, or only by luck. */
const names = [
  "na b",
  "na/b",
  "na%b",
  "na+b",
  "né☃",
  "na?b",
  "na#b",
  "na;b=c",
  "na\\b",
  "{na}",
  "na\"b",
  "na'b",
  "na:b",
  "na&b=c",
  "na😀",
  "na%2F",
  "__proto__",
  "constructor",
  "n".repeat(255)
]

const stepsOf = (name: string): ReadonlyArray<Step> => {
  const path = `/connectors/${encodeURIComponent(name)}`
  const config = exactly(scripted({ name }))
  const differs = "Connect answers 400 or 500 for some of these"
  return [
    {
      name: `creates ${name}`,
      request: post("/connectors", { name, config: scripted() }),
      status: 201,
      headers: { location: new RegExp(`^http://.*${path.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`) },
      body: { name, config }
    },
    { name: `lists ${name}`, request: get("/connectors"), status: 200, body: including(name) },
    {
      name: `expands ${name}`,
      request: get("/connectors?expand=info&expand=status"),
      status: 200,
      body: Object.fromEntries([[name, { info: { name }, status: { name } }]])
    },
    { name: `gets ${name}`, request: get(path), status: 200, body: { name, config }, differs },
    { name: `status of ${name}`, request: get(`${path}/status`), status: 200, body: { name }, differs },
    { name: `tasks of ${name}`, request: get(`${path}/tasks/`), status: 200, differs },
    { name: `PUT ${name}`, request: put(`${path}/config`, scripted()), status: 200, body: { name, config }, differs },
    { name: `PATCH ${name}`, request: patch(`${path}/config`, { name }), status: 200, body: { config }, differs },
    { name: `pauses ${name}`, request: put(`${path}/pause`), status: 202, differs },
    { name: `deletes ${name}`, request: { method: "DELETE", path }, status: 204, differs },
    { name: `is gone: ${name}`, request: get(path), status: 404, message: `Connector ${name} not found`, differs }
  ]
}

/** Refused where it is made, by any way, and nowhere a fault. */
const unreachable = (name: string): ReadonlyArray<Step> => {
  const path = `/connectors/${encodeURIComponent(name)}`
  const shown = JSON.stringify(name).slice(0, 20)
  const refused = /\nInvalid value [^]* for configuration name: String may not/
  return [
    {
      name: `POST ${shown}`,
      request: post("/connectors", { name, config: scripted() }),
      status: 400,
      message: refused
    },
    { name: `PUT ${shown}`, request: put(`${path}/config`, scripted()), status: 400, message: refused },
    ...[
      get(path),
      get(`${path}/status`),
      get(`${path}/config`),
      get(`${path}/tasks`),
      get(`${path}/reconfiguration`),
      patch(`${path}/config`, { topic: "t" }),
      put(`${path}/pause`),
      put(`${path}/resume`),
      put(`${path}/stop`),
      post(`${path}/restart`),
      post(`${path}/reconfiguration/retry`),
      del(path)
    ].map((request): Step => ({ name: `${request.method} of ${shown}`, request, status: 404 }))
  ]
}

const refusedName = (name: string): Step => ({
  name: `refuses ${JSON.stringify(name).slice(0, 30)}`,
  request: post("/connectors", { name, config: scripted() }),
  status: 400,
  message: /for configuration name: String may not/,
  differs: "Connect accepts it"
})

export const odd: Theme = {
  title: "names with any character",
  connectors: names,
  steps: [
    ...names.flatMap(stepsOf),
    refusedName("."),
    refusedName(".."),
    refusedName("\u0085"),
    refusedName("n".repeat(256)),
    refusedName("\uD800"),
    ...["na\nb", "na\tb", "na\u0000b", "\u{1f600}".repeat(64), "n".repeat(300), "\u0085na"].flatMap(unreachable),
    {
      name: "refuses white space around",
      request: put("/connectors/%20na/config", scripted()),
      status: 400,
      message: /for configuration name: String may not begin or end with white space/,
      differs: "Connect accepts it"
    },
    {
      name: "an unencoded semicolon belongs to the name",
      request: get("/connectors/na;b=c"),
      status: 404,
      message: "Connector na;b=c not found"
    },
    {
      name: "keys with any name",
      request: post(
        "/connectors",
        `{"name":"na b","config":{"connector.class":"Scripted","__proto__":"x","constructor":"y"}}`
      ),
      status: 201,
      body: (answer: unknown) => JSON.stringify(answer).includes(`"__proto__":"x"`)
    },
    {
      name: "and read back",
      request: get("/connectors/na%20b/config"),
      status: 200,
      body: { constructor: "y", toString: absent }
    }
  ]
}
