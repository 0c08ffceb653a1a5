import { absent, aList, aString, del, exactly, get, including, post, put, scripted, type Theme } from "./Theme.ts"

const invalid = (error: string): RegExp =>
  new RegExp(`^Connector configuration is invalid and contains the following 1 error\\(s\\):\\n${error}`)
const create = (name: unknown, more: Readonly<Record<string, unknown>> = {}, config: unknown = scripted()) =>
  post("/connectors", { name, config, ...more })
const config = scripted({ name: "cr-a" })
const misspelt = exactly([
  { key: "topik", message: "topik is not read by anybody; did you mean topic?" },
  { key: "task.max", message: "task.max is not read by anybody; did you mean tasks.max?" }
])

/** Texts and null only, for clients read it as a map of them. */
const textsWith = (expected: Readonly<Record<string, string>>) => (value: unknown): boolean =>
  typeof value === "object" && value !== null &&
  Object.values(value).every((member) => member === null || typeof member === "string") &&
  Object.entries({ worker_id: undefined, ...expected }).every(([key, text]) =>
    text === undefined ? typeof Reflect.get(value, key) === "string" : Reflect.get(value, key) === text
  )

export const creation: Theme = {
  title: "POST /connectors",
  connectors: [
    "cr-a",
    "cr-run",
    "cr-pau",
    "cr-sto",
    "cr-low",
    "cr-isn",
    "cr-trim",
    "cr-nn",
    "42",
    "cr-dup",
    "cr-alias",
    "cr-num",
    "cr-warn"
  ],
  steps: [
    {
      name: "creates",
      request: create("cr-a"),
      status: 201,
      headers: { location: /^http:\/\/[^/]+.*\/connectors\/cr-a$/ },
      body: {
        name: "cr-a",
        config: exactly(config),
        tasks: aList,
        type: "source",
        revision: { stored: 1 },
        warnings: absent
      }
    },
    { name: "is listed at once", request: get("/connectors"), status: 200, body: including("cr-a") },
    { name: "can be read at once", request: get("/connectors/cr-a"), status: 200, body: { config: exactly(config) } },
    {
      name: "has a status at once",
      request: get("/connectors/cr-a/status"),
      status: 200,
      body: { name: "cr-a", type: "source", tasks: aList },
      differs: "Connect answers 404 for a moment"
    },
    {
      name: "runs",
      request: get("/connectors/cr-a/status"),
      status: 200,
      eventually: true,
      body: {
        name: "cr-a",
        connector: textsWith({ state: "RUNNING", version: "1.0.0" }),
        tasks: [{ id: 0, state: "RUNNING", worker_id: aString, version: "1.0.0" }],
        health: "healthy",
        revision: { stored: 1, applied: 1 }
      }
    },
    {
      name: "expand=status",
      request: get("/connectors?expand=status"),
      status: 200,
      body: { "cr-a": { status: { name: "cr-a", connector: { state: "RUNNING" } }, info: absent } }
    },
    {
      name: "expand=info",
      request: get("/connectors?expand=info"),
      status: 200,
      body: {
        "cr-a": { info: { config: exactly(config), tasks: [exactly({ connector: "cr-a", task: 0 })] }, status: absent }
      }
    },
    {
      name: "expand twice, and what nobody knows",
      request: get("/connectors?expand=info&expand=status&search=x"),
      status: 200,
      body: { "cr-a": { info: { name: "cr-a" }, status: { name: "cr-a" } } }
    },
    {
      name: "expand, unknown",
      request: get("/connectors?expand=bogus&expand=status"),
      status: 400,
      message: `Query parameter "expand": expected "status" | "info", got "bogus"`,
      differs: "Connect ignores it"
    },
    {
      name: "expand, empty",
      request: get("/connectors?expand="),
      status: 400,
      differs: "Connect answers empty entries"
    },
    {
      name: "expand, a list with a comma",
      request: get("/connectors?expand=info,status"),
      status: 400,
      differs: "as above"
    },
    { name: "the same name again", request: create("cr-a"), status: 409, message: "Connector cr-a already exists" },
    {
      name: "the same name with a bad config: validation comes first",
      request: create("cr-a", {}, scripted({ "tasks.max": "0" })),
      status: 400,
      message: invalid("Invalid value 0 for configuration tasks.max: Value must be at least 1")
    },
    { name: "initial_state RUNNING", request: create("cr-run", { initial_state: "RUNNING" }), status: 201 },
    {
      name: "initial_state PAUSED",
      request: create("cr-pau", { initial_state: "PAUSED" }),
      status: 201,
      body: { tasks: [] }
    },
    {
      name: "initial_state STOPPED",
      request: create("cr-sto", { initial_state: "STOPPED" }),
      status: 201,
      body: { tasks: [] }
    },
    { name: "initial_state in lower case", request: create("cr-low", { initial_state: "paused" }), status: 201 },
    { name: "initial_state null", request: create("cr-isn", { initial_state: null }), status: 201 },
    ...[["cr-pau", "PAUSED", "paused"], ["cr-sto", "STOPPED", "stopped"], ["cr-low", "PAUSED", "paused"]].map(
      ([name, state, health]) => ({
        name: `${name} is ${state}`,
        request: get(`/connectors/${name}/status`),
        status: 200,
        eventually: true as const,
        body: { connector: { state }, tasks: [], health }
      })
    ),
    { name: "its tasks", request: get("/connectors/cr-sto/tasks"), status: 200, body: exactly([]) },
    ...["SLEEPING", "UNASSIGNED", ""].map((state) => ({
      name: `initial_state ${state || "empty"}`,
      request: create("cr-b", { initial_state: state }),
      status: 400,
      message: `Body "initial_state": expected RUNNING, PAUSED, STOPPED, got a string`,
      differs: "Connect answers 500"
    })),
    {
      name: "initial_state, a number",
      request: create("cr-b", { initial_state: 1 }),
      status: 400,
      message: `Body "initial_state": expected string | null, got a number`,
      differs: "Connect answers 500"
    },
    ...[undefined, null, "", "   "].map((name) => ({
      name: `name ${name === undefined ? "missing" : JSON.stringify(name)}`,
      request: create(name),
      status: 400,
      message: invalid("Invalid value  for configuration name: String may not be empty")
    })),
    {
      name: "the name only in the config",
      request: create(undefined, {}, scripted({ name: "cr-b" })),
      status: 400,
      message: "Connector name configuration (cr-b) doesn't match connector name in the URL ()"
    },
    {
      name: "another name in the config",
      request: create("cr-b", {}, scripted({ name: "cr-other" })),
      status: 400,
      message: "Connector name configuration (cr-other) doesn't match connector name in the URL (cr-b)"
    },
    {
      name: "an empty name in the config",
      request: create("cr-b", {}, scripted({ name: "" })),
      status: 400,
      message: "Connector name configuration () doesn't match connector name in the URL (cr-b)"
    },
    {
      name: "a null name in the config is filled in",
      request: create("cr-nn", {}, scripted({ name: null })),
      status: 201,
      body: { config: exactly(scripted({ name: "cr-nn" })) }
    },
    {
      name: "a name between blanks is trimmed",
      request: create("  cr-trim  "),
      status: 201,
      headers: { location: /\/connectors\/cr-trim$/ },
      body: { name: "cr-trim", config: { name: "cr-trim" } }
    },
    { name: "a number for a name", request: create(42), status: 201, body: { name: "42", config: { name: "42" } } },
    {
      name: "a list for a name",
      request: create(["cr-b"]),
      status: 400,
      message: /^Body "name": expected .*, got an array$/,
      differs: "Connect answers 500"
    },
    {
      name: "control characters in the name",
      request: create("cr-\n\tb"),
      status: 400,
      message: /String may not contain control sequences but had the following ASCII chars: 10, 9/
    },
    ...[
      ["an empty body", "", "The body is empty: expected a JSON object"],
      ["null", "null", "Body: expected object, got null"],
      ["a list", "[]", "Body: expected object, got an array"],
      ["a text", "\"cr-b\"", "Body: expected object, got a string"],
      ["half a JSON", "{\"name\":\"cr-b\",", /^The body is not valid JSON/],
      ["no JSON", "name=cr-b", /^The body is not valid JSON/],
      ["junk behind the JSON", "{\"name\":\"cr-b\",\"config\":{}} junk", /^The body is not valid JSON/],
      ["a comment in the JSON", "{\"name\":\"cr-b\", /* c */ \"config\":{}}", /^The body is not valid JSON/]
    ].map(([name, body, message]) => ({
      name: `body: ${String(name)}`,
      request: post("/connectors", body),
      status: 400,
      message,
      differs: "Connect answers 500"
    })),
    {
      name: "no members at all",
      request: post("/connectors", {}),
      status: 400,
      message: `Body "config" is missing`,
      differs: "Connect answers 500"
    },
    {
      name: "an unknown member",
      request: create("cr-b", { surprise: 1 }),
      status: 400,
      message: `Body "surprise" is not known here`,
      differs: "Connect answers 500"
    },
    ...[["null", null], ["an array", []], ["a string", "x"]].map(([what, value]) => ({
      name: `config: ${String(what)}`,
      request: post("/connectors", { name: "cr-b", config: value }),
      status: 400,
      message: `Body "config": expected object, got ${String(what)}`,
      differs: "Connect answers 500"
    })),
    ...[["empty", {}], ["without a class", { topic: "t" }]].map(([what, value]) => ({
      name: `config ${String(what)}`,
      request: post("/connectors", { name: "cr-b", config: value }),
      status: 400,
      message: "Connector config contains no connector type"
    })),
    {
      name: "a null class",
      request: create("cr-b", {}, { "connector.class": null }),
      status: 400,
      message: invalid("Null value can not be supplied as the configuration value")
    },
    ...["", "no.such.Connector", "JsonConverter", "java.lang.String", "scripted"].map((name) => ({
      name: `class "${name}"`,
      request: create("cr-b", {}, scripted({ "connector.class": name })),
      status: 400,
      message: new RegExp(`Failed to find any class that implements Connector and which name matches ${name}`),
      differs: "Connect lists folders of the machine"
    })),
    {
      name: "a misspelt class: its near matches",
      request: create("cr-b", {}, scripted({ "connector.class": "Scriptd" })),
      status: 400,
      message: /near matches are: Scripted/
    },
    {
      name: "a class by an alias, kept as it was put",
      request: create("cr-alias", {}, scripted({ "connector.class": "scripted.Scripted" })),
      status: 201,
      body: { config: { "connector.class": "scripted.Scripted" }, type: "source" }
    },
    {
      name: "a value that cannot be read",
      request: create("cr-b", {}, scripted({ "tasks.max": "many" })),
      status: 400,
      message: /Invalid value many for configuration tasks\.max: Not a number of type INT/
    },
    {
      name: "several invalid values, all told",
      request: create("cr-b", {}, scripted({ "tasks.max": "0", tasks: "x", "errors.tolerance": "some" })),
      status: 400,
      message:
        /contains the following \d error\(s\):\n(?=[^]*tasks\.max)(?=[^]*errors\.tolerance)[^]*configuration tasks:/
    },
    {
      name: "a required key is missing",
      request: create("cr-b", {}, { "connector.class": "FileSource", topic: "t" }),
      status: 400,
      message: invalid("Missing required configuration \"file\" which has no default value\\.")
    },
    ...["fail", "extra"].map((key) => ({
      name: `null for the key ${key}`,
      request: create("cr-b", {}, scripted({ [key]: null })),
      status: 400,
      message: new RegExp(`Null value can not be supplied as the configuration value: leave ${key} out`),
      differs: "Connect takes null for keys that it knows, and names no key"
    })),
    ...[["a list", []], ["an object", { a: "s3cret" }]].map(([what, value]) => ({
      name: `${String(what)} for a value`,
      request: create("cr-b", {}, scripted({ token: value })),
      status: 400,
      message: new RegExp(`Invalid value for configuration token: expected a text, .* but got ${String(what)}`),
      differs: "Connect answers 500"
    })),
    {
      name: "numbers and booleans become texts; an unknown key is kept, and warned about",
      request: create("cr-num", {}, { "connector.class": "Scripted", "tasks.max": 1, extra: true }),
      status: 201,
      body: {
        config: exactly({ "connector.class": "Scripted", "tasks.max": "1", extra: "true", name: "cr-num" }),
        warnings: [{ key: "extra", message: aString }]
      }
    },
    {
      name: "an unknown key that looks like a known one",
      request: create("cr-warn", {}, scripted({ topik: "t", "task.max": "2" })),
      status: 201,
      body: { warnings: misspelt }
    },
    {
      name: "its status says so too",
      request: get("/connectors/cr-warn/status"),
      status: 200,
      body: { warnings: misspelt }
    },
    {
      name: "and is as healthy as any other",
      request: get("/connectors/cr-warn/status"),
      status: 200,
      eventually: true,
      body: { health: "healthy", conditions: exactly([]) }
    },
    {
      name: "a better config",
      request: put("/connectors/cr-warn/config", scripted()),
      status: 200,
      body: { warnings: absent }
    },
    {
      name: "is not warned about any more",
      request: get("/connectors/cr-warn/status"),
      status: 200,
      body: { warnings: absent }
    },
    {
      name: "of a key that stands twice the last counts",
      request: post("/connectors", `{"name":"cr-dup","config":{"connector.class":"Scripted","topic":"a","topic":"b"}}`),
      status: 201,
      body: { config: { topic: "b" } }
    },
    {
      name: "no Content-Type",
      request: post("/connectors", { name: "cr-b" }, { accept: "application/json" }),
      status: 415,
      message: /^HTTP 415 Unsupported Media Type.*application\/json/,
      headers: { accept: "application/json" }
    },
    {
      name: "another Content-Type",
      request: post("/connectors", { name: "cr-b" }, { "content-type": "text/plain" }),
      status: 415,
      message: /^HTTP 415 Unsupported Media Type.*application\/json.*text\/plain/
    },
    {
      name: "what is not acceptable has no effect",
      request: post("/connectors", { name: "cr-b", config: scripted() }, {
        accept: "text/html",
        "content-type": "application/json"
      }),
      status: 406,
      message: /^HTTP 406 Not Acceptable/
    },
    {
      name: "a body beyond the limit",
      request: create("cr-b", {}, scripted({ filler: "x".repeat(1024 * 1024) })),
      status: 413,
      message: /^HTTP 413 Content Too Large.*1048576 bytes/,
      differs: "Connect answers 500 and calls it transient"
    },
    {
      name: "nothing of that was created",
      request: get("/connectors/cr-b"),
      status: 404,
      message: "Connector cr-b not found"
    },
    { name: "deletes", request: del("/connectors/cr-a"), status: 204 },
    { name: "is gone at once", request: get("/connectors/cr-a"), status: 404, message: "Connector cr-a not found" },
    {
      name: "its status too",
      request: get("/connectors/cr-a/status"),
      status: 404,
      message: "No status found for connector cr-a",
      differs: "Connect shows it for up to a second"
    },
    { name: "deletes once", request: del("/connectors/cr-a"), status: 404, message: "Connector cr-a not found" }
  ]
}
