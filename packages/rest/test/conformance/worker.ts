import { absent, aString, exactly, get, including, matching, post, type Theme } from "./Theme.ts"

const fileSource = "org.apache.kafka.connect.file.FileStreamSourceConnector"
const keys = (...names: ReadonlyArray<string>) => (value: unknown) =>
  Array.isArray(value) && including(...names)(value.map((definition: { readonly name?: unknown }) => definition.name))
const classes = (type: string, name: string) => (value: unknown) =>
  Array.isArray(value) &&
  value.some((plugin: Readonly<Record<string, unknown>>) => plugin["type"] === type && plugin["class"] === name)
const onlyConnectors = (value: unknown) =>
  Array.isArray(value) && value.length > 0 &&
  value.every((plugin: Readonly<Record<string, unknown>>) => plugin["type"] === "source" || plugin["type"] === "sink")

export const worker: Theme = {
  title: "the worker and its plugins",
  connectors: [],
  steps: [
    {
      name: "info",
      request: get("/"),
      status: 200,
      body: { version: "4.4.0", commit: aString, kafka_cluster_id: aString, kelpie_version: matching(/^\d+\.\d+\.\d+/) }
    },
    { name: "info without a slash", request: get(""), status: 200, body: { version: "4.4.0" } },
    {
      name: "health",
      request: get("/health"),
      status: 200,
      body: { status: "healthy", message: aString, error_code: absent }
    },
    { name: "health with a slash", request: get("/health/"), status: 200, body: { status: "healthy" } },
    {
      name: "metrics",
      request: get("/metrics", undefined, {}),
      status: 200,
      headers: { "content-type": /^text\/plain/ }
    },
    {
      name: "plugins: connectors only by default",
      request: get("/connector-plugins"),
      status: 200,
      body: onlyConnectors
    },
    { name: "plugins, with a slash", request: get("/connector-plugins/"), status: 200, body: onlyConnectors },
    {
      name: "connectorsOnly=true",
      request: get("/connector-plugins?connectorsOnly=true"),
      status: 200,
      body: onlyConnectors
    },
    {
      name: "connectorsOnly empty",
      request: get("/connector-plugins?connectorsOnly="),
      status: 200,
      body: onlyConnectors
    },
    {
      name: "connectorsOnly=False",
      request: get("/connector-plugins?connectorsOnly=False"),
      status: 200,
      body: classes("converter", "JsonConverter")
    },
    {
      name: "plugins: sources and sinks by their kind",
      request: get("/connector-plugins"),
      status: 200,
      body: (value: unknown) => classes("source", "FileSource")(value) && classes("sink", "FileSink")(value)
    },
    {
      name: "connectorsOnly is no boolean",
      request: get("/connector-plugins?connectorsOnly=bogus"),
      status: 400,
      message: `Query parameter "connectorsOnly": expected true or false, got "bogus"`,
      differs: "Connect reads it as false"
    },
    ...["FileSource", "FileStreamSource", "FileStreamSourceConnector", fileSource].map((name) => ({
      name: `keys of a connector: ${name}`,
      request: get(`/connector-plugins/${name}/config`),
      status: 200,
      body: keys("file", "topic", "batch.size", "name", "connector.class", "tasks.max", "key.converter", "transforms")
    })),
    {
      name: "a key has all members of a definition",
      request: get("/connector-plugins/FileSource/config"),
      status: 200,
      body: (value: unknown) =>
        Array.isArray(value) &&
        value.every((definition: object) =>
          Object.keys(definition).sort().join() ===
            "default_value,dependents,display_name,documentation,group,importance,name,order_in_group,required,type,width"
        )
    },
    {
      name: "keys of a converter",
      request: get("/connector-plugins/JsonConverter/config"),
      status: 200,
      body: keys("schemas.enable")
    },
    {
      name: "keys of a version that is there",
      request: get("/connector-plugins/Scripted/config?version=1.0.0"),
      status: 200,
      body: keys("topic", "fail")
    },
    {
      name: "keys of a version that is not there",
      request: get("/connector-plugins/Scripted/config?version=9.9"),
      status: 400,
      message: "Plugin Scripted not found that matches the version range [9.9,9.9], available versions: [1.0.0]"
    },
    ...["%5B1.0%2C2.0%29", "latest"].map((version) => ({
      name: `keys of a version that is there: ${version}`,
      request: get(`/connector-plugins/Scripted/config?version=${version}`),
      status: 200,
      body: keys("topic", "fail")
    })),
    {
      name: "keys of an empty version",
      request: get("/connector-plugins/Scripted/config?version="),
      status: 400,
      message: /^Plugin Scripted not found that matches the version range \[,\]/
    },
    {
      name: "keys of what is no version",
      request: get("/connector-plugins/Scripted/config?version=%5B%5Boops"),
      status: 400,
      message: /^Invalid version specification: \[\[oops/
    },
    {
      name: "keys of a version of an unknown plugin",
      request: get("/connector-plugins/no.such.Plugin/config?version=1.0"),
      status: 404,
      message: "Unknown plugin no.such.Plugin."
    },
    ...["org.apache.kafka.connect.json.JsonConverter", "Json"].map((name) => ({
      name: `keys of a converter: ${name}`,
      request: get(`/connector-plugins/${name}/config`),
      status: 200,
      body: keys("schemas.enable")
    })),
    {
      name: "keys of a header converter that has none",
      request: get("/connector-plugins/SimpleHeaderConverter/config"),
      status: 200,
      body: exactly([])
    },
    {
      name: "keys of an unknown plugin",
      request: get("/connector-plugins/no.such.Plugin/config"),
      status: 404,
      message: "Unknown plugin no.such.Plugin."
    },
    {
      name: "keys of a class of Java that is no plugin",
      request: get("/connector-plugins/java.lang.String/config"),
      status: 404,
      message: "Unknown plugin java.lang.String.",
      differs: "Connect answers 500"
    },
    {
      name: "keys of a blank name",
      request: get("/connector-plugins/%20/config"),
      status: 404,
      message: "Unknown plugin  ."
    },
    {
      name: "keys of an empty name",
      request: get("/connector-plugins//config"),
      status: 404,
      message: "HTTP 404 Not Found",
      differs: "Connect answers 400 in another shape"
    },
    {
      name: "a plugin alone",
      request: get("/connector-plugins/FileSource"),
      status: 404,
      message: "HTTP 404 Not Found"
    },
    {
      name: "plugins take no POST",
      request: post("/connector-plugins", {}),
      status: 405,
      message: "HTTP 405 Method Not Allowed",
      headers: { allow: "GET, HEAD, OPTIONS" },
      differs: "Connect does not say what is allowed"
    },
    {
      name: "plugins, HEAD",
      request: { method: "HEAD", path: "/connector-plugins" },
      status: 200,
      headers: { "content-type": "application/json" }
    },
    {
      name: "a plugin is a class, a type and a version, all texts",
      request: get("/connector-plugins"),
      status: 200,
      body: (value: unknown) =>
        Array.isArray(value) &&
        value.every((plugin: object) =>
          Object.keys(plugin).sort().join() === "class,type,version" && Object.values(plugin).every(aString)
        )
    }
  ]
}
