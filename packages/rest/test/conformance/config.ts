import { aList, aString, del, exactly, get, patch, post, put, scripted, type Theme } from "./Theme.ts"

const path = "/connectors/cf-a/config"
const named = (more: Readonly<Record<string, string>> = {}) => exactly(scripted({ name: "cf-a", ...more }))

export const config: Theme = {
  title: "GET, PUT and PATCH of a config",
  connectors: ["cf-a"],
  steps: [
    {
      name: "PUT creates",
      request: put(path, scripted()),
      status: 201,
      headers: { location: /^http:\/\/.*\/connectors\/cf-a$/ },
      body: { name: "cf-a", config: named(), tasks: aList, type: "source", revision: { stored: 1 } }
    },
    {
      name: "the same again",
      request: put(path, scripted()),
      status: 200,
      headers: { location: "" },
      body: { config: named() }
    },
    {
      name: "PUT replaces, and says what is stored",
      request: put(path, scripted({ "tasks.max": "2", tasks: "2" })),
      status: 200,
      body: {
        config: named({ "tasks.max": "2", tasks: "2" }),
        revision: { stored: (value: unknown) => Number(value) > 1 }
      }
    },
    { name: "reads back at once", request: get(path), status: 200, body: named({ "tasks.max": "2", tasks: "2" }) },
    {
      name: "the tasks follow",
      request: get("/connectors/cf-a/status"),
      status: 200,
      eventually: true,
      body: { connector: { state: "RUNNING" }, tasks: [{ id: 0, state: "RUNNING" }, { id: 1, state: "RUNNING" }] }
    },
    { name: "fewer tasks", request: put(path, scripted({ name: "cf-a" })), status: 200 },
    {
      name: "the tasks follow again",
      request: get("/connectors/cf-a/status"),
      status: 200,
      eventually: true,
      body: { tasks: [{ id: 0, state: "RUNNING" }] }
    },
    {
      name: "another name in the body",
      request: put(path, scripted({ name: "cf-z" })),
      status: 400,
      message: "Connector name configuration (cf-z) doesn't match connector name in the URL (cf-a)"
    },
    {
      name: "an empty name in the body",
      request: put(path, scripted({ name: "" })),
      status: 400,
      message: "Connector name configuration () doesn't match connector name in the URL (cf-a)"
    },
    {
      name: "a null name in the body",
      request: put(path, scripted({ name: null })),
      status: 200,
      body: { config: named() }
    },
    {
      name: "an invalid value",
      request: put(path, scripted({ "tasks.max": "0" })),
      status: 400,
      message: /\nInvalid value 0 for configuration tasks\.max: Value must be at least 1\n/
    },
    {
      name: "no class",
      request: put(path, { topic: "t" }),
      status: 400,
      message: "Connector config contains no connector type"
    },
    { name: "nothing", request: put(path, {}), status: 400, message: "Connector config contains no connector type" },
    {
      name: "an unknown class",
      request: put(path, scripted({ "connector.class": "no.such.Connector" })),
      status: 400,
      message: /^Failed to find any class that implements Connector and which name matches no\.such\.Connector/
    },
    {
      name: "a body like that of a create",
      request: put(path, { name: "cf-a", config: scripted() }),
      status: 400,
      message: /Invalid value for configuration config: expected a text, .* but got an object/,
      differs: "Connect answers 500"
    },
    ...[put, patch].flatMap((method) => [
      {
        name: "an empty body",
        request: method(path, ""),
        status: 400,
        message: "The body is empty: expected a JSON object",
        differs: "Connect answers 500"
      },
      { name: "null", request: method(path, "null"), status: 400, message: /got null/, differs: "Connect answers 500" },
      {
        name: "a list",
        request: method(path, "[]"),
        status: 400,
        message: /got a list/,
        differs: "Connect answers 500"
      },
      {
        name: "half a JSON",
        request: method(path, "{\"a\""),
        status: 400,
        message: /^The body is not valid JSON/,
        differs: "Connect answers 500"
      },
      {
        name: "an object for a value",
        request: method(path, { a: {} }),
        status: 400,
        message: /Invalid value for configuration a: .* got an object/,
        differs: "Connect answers 500"
      }
    ]),
    {
      name: "a null value",
      request: put(path, scripted({ fail: null })),
      status: 400,
      message: /leave fail out/,
      differs: "Connect stores it, and the connector fails later"
    },
    {
      name: "numbers and booleans",
      request: put(path, scripted({ "tasks.max": 1, b: true })),
      status: 200,
      body: { config: named({ b: "true" }), warnings: [{ key: "b", message: aString }] }
    },
    {
      name: "warnings stay out of the config",
      request: get(path),
      status: 200,
      body: named({ b: "true" })
    },
    { name: "another Content-Type", request: put(path, scripted(), { "content-type": "text/plain" }), status: 415 },
    { name: "a secret", request: put(path, scripted({ token: "s3cret" })), status: 200 },
    { name: "is read back as it was put", request: get(path), status: 200, body: named({ token: "s3cret" }) },
    {
      name: "PATCH sets",
      request: patch(path, { tasks: "1", extra: "x" }),
      status: 200,
      body: { config: named({ token: "s3cret", tasks: "1", extra: "x" }) }
    },
    {
      name: "PATCH changes and removes",
      request: patch(path, { extra: null, token: "other", nothere: null }),
      status: 200,
      body: { config: named({ token: "other", tasks: "1" }) }
    },
    {
      name: "PATCH of nothing",
      request: patch(path, {}),
      status: 200,
      body: { config: named({ token: "other", tasks: "1" }) }
    },
    {
      name: "PATCH with numbers and booleans",
      request: patch(path, { n: 1, b: false }),
      status: 200,
      body: { config: named({ token: "other", tasks: "1", n: "1", b: "false" }) }
    },
    {
      name: "PATCH removes what is required",
      request: patch(path, { "connector.class": null }),
      status: 400,
      message: "Connector config contains no connector type"
    },
    {
      name: "PATCH with an invalid value",
      request: patch(path, { "tasks.max": "0" }),
      status: 400,
      message: /Invalid value 0 for configuration tasks\.max/
    },
    {
      name: "PATCH with another name",
      request: patch(path, { name: "cf-z" }),
      status: 400,
      message: "Connector name configuration (cf-z) doesn't match connector name in the URL (cf-a)",
      differs: "Connect stores it, and the config says another name than the connector has"
    },
    {
      name: "PATCH removes the name",
      request: patch(path, { name: null }),
      status: 400,
      message: /Missing required configuration "name" which has no default value/
    },
    {
      name: "PATCH of nobody",
      request: patch("/connectors/cf-nobody/config", { a: "b" }),
      status: 404,
      message: "Connector cf-nobody not found"
    },
    {
      name: "PATCH as merge-patch",
      request: patch(path, {}, { "content-type": "application/merge-patch+json" }),
      status: 415
    },
    {
      name: "nothing refused was stored",
      request: get(path),
      status: 200,
      body: named({ token: "other", tasks: "1", n: "1", b: "false" })
    },
    {
      name: "config of nobody",
      request: get("/connectors/cf-nobody/config"),
      status: 404,
      message: "Connector cf-nobody not found"
    },
    {
      name: "a config takes no POST",
      request: post(path, {}),
      status: 405,
      headers: { allow: "GET, HEAD, PUT, PATCH, OPTIONS" }
    },
    { name: "deletes", request: del("/connectors/cf-a"), status: 204 },
    {
      name: "PUT creates again right after",
      request: put(path, scripted()),
      status: 201,
      body: { revision: { stored: 1 } }
    }
  ]
}
