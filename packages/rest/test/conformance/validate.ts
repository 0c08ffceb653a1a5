import { exactly, get, post, put, scripted, type Theme } from "./Theme.ts"

const path = (name: string) => `/connector-plugins/${name}/config/validate`
const fileSource = { "connector.class": "FileSource", name: "va", file: "/nowhere/in.txt", topic: "lines" }
const full = "org.apache.kafka.connect.file.FileStreamSourceConnector"

interface Info {
  readonly definition: Readonly<Record<string, unknown>>
  readonly value: Readonly<Record<string, unknown>>
}
const members = (value: object) => Object.keys(value).sort().join()

/** Every entry has all members, and tells one name twice. */
const wellFormed = (configs: unknown): boolean =>
  Array.isArray(configs) && configs.every((info: Info) =>
    info.definition["name"] === info.value["name"] &&
    members(info.definition) ===
      "default_value,dependents,display_name,documentation,group,importance,name,order_in_group,required,type,width" &&
    members(info.value) === "errors,name,recommended_values,value,visible" &&
    /^(BOOLEAN|CLASS|DOUBLE|INT|LIST|LONG|PASSWORD|SHORT|STRING)$/.test(String(info.definition["type"])) &&
    /^(LOW|MEDIUM|HIGH)$/.test(String(info.definition["importance"])) &&
    /^(SHORT|MEDIUM|LONG|NONE)$/.test(String(info.definition["width"]))
  )
const value = (name: string, holds: (value: Info["value"]) => boolean) => (configs: unknown): boolean =>
  Array.isArray(configs) && configs.some((info: Info) => info.definition["name"] === name && holds(info.value))
const hasErrors = (shown: Info["value"]) => Array.isArray(shown["errors"]) && shown["errors"].length > 0

export const validate: Theme = {
  title: "validation",
  connectors: [],
  steps: [
    {
      name: "a right config",
      request: put(path("FileSource"), fileSource),
      status: 200,
      body: {
        name: "FileSource",
        error_count: 0,
        groups: (value: unknown) => Array.isArray(value),
        configs: wellFormed
      }
    },
    ...["FileStreamSource", "FileStreamSourceConnector", full].map((name) => ({
      name: `${name} in the path`,
      request: put(path(name), fileSource),
      status: 200,
      body: { name: "FileSource", error_count: 0 }
    })),
    {
      name: "an alias in the body, the name in the path",
      request: put(path("FileSource"), { ...fileSource, "connector.class": full }),
      status: 200,
      body: { name: full, error_count: 0 },
      differs: "Connect refuses an alias where the path has the full name"
    },
    {
      name: "what is missing is told, with 200",
      request: put(path("FileSource"), { "connector.class": "FileSource" }),
      status: 200,
      body: { error_count: 3, configs: value("file", hasErrors) }
    },
    {
      name: "invalid values",
      request: put(path("Scripted"), scripted({ name: "va", "tasks.max": "0", tasks: "x" })),
      status: 200,
      body: { error_count: (count: unknown) => Number(count) >= 2, configs: value("tasks.max", hasErrors) }
    },
    {
      name: "an unknown key is no error; its near match is told",
      request: put(path("Scripted"), scripted({ name: "va", topik: "1" })),
      status: 200,
      body: {
        error_count: 0,
        warnings: exactly([{ key: "topik", message: "topik is not read by anybody; did you mean topic?" }])
      }
    },
    {
      name: "a secret is hidden",
      request: put(path("Scripted"), scripted({ name: "va", token: "s3cret" })),
      status: 200,
      body: (answer: unknown) => !JSON.stringify(answer).includes("s3cret"),
      differs: "Connect shows it"
    },
    {
      name: "numbers and booleans",
      request: put(path("Scripted"), scripted({ name: "va", "tasks.max": 1, b: true })),
      status: 200,
      body: { error_count: 0, configs: value("tasks.max", (shown) => shown["value"] === "1") }
    },
    ...[["missing", { topic: "t" }], ["nothing at all", {}]].map(([what, body]) => ({
      name: `the class: ${String(what)}`,
      request: put(path("Scripted"), body),
      status: 400,
      message: "Connector config contains no connector type",
      differs: "Connect answers 500"
    })),
    {
      name: "another class in the path",
      request: put(path("Scripted"), fileSource),
      status: 400,
      message: "Included connector type FileSource does not match request type Scripted"
    },
    {
      name: "an empty class",
      request: put(path("Scripted"), { "connector.class": "" }),
      status: 400,
      message: "Included connector type  does not match request type Scripted"
    },
    {
      name: "an unknown class in the path",
      request: put(path("no.such.Connector"), fileSource),
      status: 400,
      message: "Included connector type FileSource does not match request type no.such.Connector"
    },
    ...["no.such.Connector", "JsonConverter"].map((name) => ({
      name: `${name} is no connector`,
      request: put(path(name), { "connector.class": name }),
      status: 400,
      message: new RegExp(`Failed to find any class that implements Connector and which name matches ${name}`),
      differs: "Connect answers 500"
    })),
    ...[["null", "null"], ["empty", ""], ["half a JSON", "{"], ["a list", "[]"]].map(([what, body]) => ({
      name: `body: ${what}`,
      request: put(path("Scripted"), body),
      status: 400,
      differs: "Connect answers 500"
    })),
    {
      name: "another Content-Type",
      request: put(path("Scripted"), scripted(), { "content-type": "text/plain" }),
      status: 415
    },
    { name: "takes no GET", request: get(path("Scripted")), status: 405, headers: { allow: "PUT, OPTIONS" } },
    { name: "takes no POST", request: post(path("Scripted"), {}), status: 405 },
    {
      name: "nothing was created",
      request: get("/connectors/va"),
      status: 404,
      body: exactly({ error_code: 404, message: "Connector va not found" })
    }
  ]
}
