import { del, exactly, get, including, patch, post, put, type Theme } from "./Theme.ts"

const path = (logger: string, query = "") => `/admin/loggers/${logger}${query}`
const isTime = (value: unknown) => typeof value === "number" && value > 1_600_000_000_000
const hasOnly = (level: string, modified: boolean) => (value: unknown) =>
  typeof value === "object" && value !== null && Object.keys(value).sort().join() === "last_modified,level" &&
  Reflect.get(value, "level") === level &&
  (modified ? isTime(Reflect.get(value, "last_modified")) : Reflect.get(value, "last_modified") === null)

const is = (logger: string, level: string, modified = true) => ({
  name: `${logger} is ${level}`,
  request: get(path(logger)),
  status: 200,
  body: hasOnly(level, modified)
})
const set = (logger: string, level: unknown, body: unknown, query = "") => ({
  name: `set ${logger}${query} to ${JSON.stringify(level)}`,
  request: put(path(logger, query), { level }),
  status: 200,
  body
})
const everywhere = (logger: string, level: string, query: string) => ({
  name: `set ${logger}${query}`,
  request: put(path(logger, query), { level }),
  status: 204,
  headers: { "content-type": "" }
})
const unspecified = { status: 400, message: "Desired 'level' parameter was not specified in request." }
const notAllowed = (allow: string) => ({ status: 405, message: "HTTP 405 Method Not Allowed", headers: { allow } })
const fault = "Connect answers 500"
const asAsked = "Connect tells only those whose level was another before"

const listing = (value: unknown) =>
  typeof value === "object" && value !== null &&
  including("root", "kelpie", "kelpie.herder", "kelpie.herder.tick", "connector")(Object.keys(value)) &&
  Object.values(value).every((one: object) => Object.keys(one).sort().join() === "last_modified,level")

export const loggers: Theme = {
  title: "log levels",
  connectors: ["lo-a"],
  steps: [
    { name: "all", request: get("/admin/loggers"), status: 200, body: listing },
    { name: "all, with a slash", request: get("/admin/loggers/"), status: 200, body: listing },
    is("root", "INFO", false),
    is("kelpie.herder.tick", "INFO", false),
    { name: "unknown", request: get(path("no.such.logger")), status: 404, message: "Logger no.such.logger not found." },
    {
      ...is("kelpie.herder", "INFO", false),
      name: "a parent without a level of its own",
      differs: "Connect answers 404, unless it has a logger of that name"
    },
    set("kelpie.herder", "DEBUG", including("kelpie.herder", "kelpie.herder.tick", "kelpie.herder.leader")),
    is("kelpie.herder", "DEBUG"),
    is("kelpie.herder.tick", "DEBUG"),
    is("kelpie", "INFO", false),
    set("kelpie.herder", "INFO", including("kelpie.herder", "kelpie.herder.tick"), "?scope=worker"),
    everywhere("kelpie.herder", "WARN", "?scope=cluster"),
    is("kelpie.herder", "WARN"),
    is("kelpie.herder.tick", "WARN"),
    everywhere("kelpie.herder", "INFO", "?scope=CLUSTER"),
    is("kelpie.herder", "INFO"),
    ...["?scope=galaxy", "?scope="].map((query) => ({
      ...set("kelpie.herder", "INFO", including("kelpie.herder"), query),
      differs: asAsked
    })),
    set("lo.some.logger", "debug", exactly(["lo.some.logger"])),
    is("lo.some.logger", "DEBUG"),
    { ...is("lo.some", "INFO", false), name: "a parent of one that was set" },
    ...["LOUD", 1].flatMap((level) =>
      ["", "?scope=cluster"].map((query) => ({
        name: `a level ${level}${query}`,
        request: put(path("lo.some.logger", query), { level }),
        status: 404,
        message: `invalid log level '${level}'.`
      }))
    ),
    { name: "no level", request: put(path("lo.some.logger"), {}), ...unspecified },
    { name: "a level of null", request: put(path("lo.some.logger"), { level: null }), ...unspecified },
    { name: "an empty level", request: put(path("lo.some.logger"), { level: "" }), ...unspecified, differs: fault },
    ...["OFF", "FATAL", "ERROR", "WARN", "TRACE", "ALL"].flatMap((level) => [
      set("lo.some.logger", level, exactly(["lo.some.logger"])),
      is("lo.some.logger", level)
    ]),
    {
      name: "an unknown member is ignored",
      request: put(path("lo.some.logger"), { level: "INFO", x: "y" }),
      status: 200,
      body: exactly(["lo.some.logger"])
    },
    {
      name: "a body of null",
      request: put(path("lo.some.logger"), "null"),
      status: 400,
      message: "Body: expected an object, got null",
      differs: fault
    },
    {
      name: "no body",
      request: put(path("lo.some.logger")),
      status: 400,
      message: "The body is empty: expected a JSON object",
      differs: fault
    },
    {
      name: "a malformed body",
      request: put(path("lo.some.logger"), "{"),
      status: 400,
      message: /^The body is not valid JSON/,
      differs: fault
    },
    {
      name: "a text for a body",
      request: put(path("lo.some.logger"), "\"DEBUG\""),
      status: 400,
      message: "Body: expected an object, got a string",
      differs: fault
    },
    {
      name: "a body of another type",
      request: put(path("lo.some.logger"), "{\"level\":\"INFO\"}", {
        accept: "application/json",
        "content-type": "text/plain"
      }),
      status: 415,
      message: /^HTTP 415 Unsupported Media Type/
    },
    { name: "no DELETE", request: del(path("lo.some.logger")), ...notAllowed("GET, HEAD, PUT, OPTIONS") },
    { name: "no PATCH", request: patch(path("lo.some.logger"), {}), ...notAllowed("GET, HEAD, PUT, OPTIONS") },
    { name: "no POST", request: post("/admin/loggers", {}), ...notAllowed("GET, HEAD, OPTIONS") },
    {
      ...set("lo%2Fslash", "WARN", exactly(["lo/slash"])),
      differs: "Connect answers 400 without a body"
    },
    is("lo%2Fslash", "WARN"),
    { ...set("%20", "WARN", exactly([" "])), differs: asAsked },
    { name: "a connector that is not there", request: get(path("connector.lo-a")), status: 404 },
    {
      name: "create",
      request: post("/connectors", { name: "lo-a", config: { "connector.class": "Scripted" } }),
      status: 201
    },
    is("connector.lo-a", "INFO", false),
    set("connector.lo-a", "DEBUG", exactly(["connector.lo-a"])),
    is("connector.lo-a", "DEBUG"),
    set("root", "INFO", including("root", "kelpie.herder.tick", "lo.some.logger", "connector.lo-a")),
    is("connector.lo-a", "INFO"),
    { name: "/admin alone", request: get("/admin"), status: 404, message: "HTTP 404 Not Found" }
  ]
}
