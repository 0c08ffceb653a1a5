import { del, exactly, get, patch, post, put, scripted, type Theme } from "./Theme.ts"

const source = {
  "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
  "tasks.max": "1",
  file: "/in.txt",
  topic: "of-lines"
}
const sink = {
  "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
  "tasks.max": "1",
  file: "/out.txt",
  topics: "of-lines"
}

const path = (name: string) => `/connectors/${name}/offsets`
const create = (name: string, config: object, more: object = {}) => ({
  name: `create ${name}`,
  request: post("/connectors", { name, config, ...more }),
  status: 201
})
const is = (name: string, state: string) => ({
  name: `${name} is ${state}`,
  request: get(`/connectors/${name}/status`),
  status: 200,
  eventually: true as const,
  body: { connector: { state }, ...(state === "RUNNING" ? { tasks: [{ state }] } : {}) }
})
const stop = (name: string) => [
  { name: `stop ${name}`, request: put(`/connectors/${name}/stop`), status: 204 },
  is(name, "STOPPED")
]

/** What is stored. */
const stored = (name: string, title: string, ...offsets: ReadonlyArray<unknown>) => ({
  name: `${name}: ${title}`,
  request: get(path(name)),
  status: 200,
  body: exactly({ offsets })
})
const eventually = (name: string, title: string, ...offsets: ReadonlyArray<unknown>) => ({
  ...stored(name, title, ...offsets),
  eventually: true as const
})

const altered = "The offsets for this connector have been altered successfully"
const reset = "The offsets for this connector have been reset successfully"
const external = (done: string) =>
  `The Connect framework-managed offsets for this connector have been ${done} successfully. However, if this connector ` +
  `manages offsets externally, they will need to be manually ${done} in the system that the connector uses.`
const alter = (name: string, title: string, message: string, ...offsets: ReadonlyArray<unknown>) => ({
  name: `${name}: ${title}`,
  request: patch(path(name), { offsets }),
  status: 200,
  body: exactly({ message })
})
const remove = (name: string, title: string, message: string) => ({
  name: `${name}: ${title}`,
  request: del(path(name)),
  status: 200,
  body: exactly({ message })
})
const refused = (name: string, title: string, body: unknown, message: string | RegExp, differs?: string) => ({
  name: `${name}: ${title}`,
  request: patch(path(name), body),
  status: 400,
  message,
  differs
})
const fault = "Connect answers 500"

const notStopped = (name: string) =>
  `Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified ` +
  `connector by issuing a 'PUT' request to the '/connectors/${name}/stop' endpoint`
const whileNotStopped = (name: string, entry: unknown) => [
  refused(name, "PATCH while it is not stopped", { offsets: [entry] }, notStopped(name)),
  {
    name: `${name}: DELETE while it is not stopped`,
    request: del(path(name)),
    status: 400,
    message: notStopped(name)
  }
]

/** An offset of the source. */
const at = (position: unknown, filename: unknown = "/in.txt") => ({ partition: { filename }, offset: { position } })
/** An offset of the sink. */
const of = (offset: unknown, partition: unknown = 0, topic: unknown = "of-lines") => ({
  partition: { kafka_topic: topic, kafka_partition: partition },
  offset: offset === null ? null : { kafka_offset: offset }
})

const nobody = { status: 404, message: "Connector of-nobody not found" }

const ofSource = [
  stored("of-src", "stay when it is stopped", at(14)),
  alter("of-src", "PATCH", altered, at(4)),
  stored("of-src", "after PATCH", at(4)),
  refused(
    "of-src",
    "a partition of another shape",
    { offsets: [at(4), { partition: { file: "x" }, offset: { position: 4 } }] },
    /^offsets\[1\]\.partition does not fit the connector: .*filename/,
    fault
  ),
  refused(
    "of-src",
    "an offset of another shape",
    { offsets: [{ partition: { filename: "/in.txt" }, offset: { pos: 4 } }] },
    /^offsets\[0\]\.offset does not fit the connector: .*position/,
    fault
  ),
  refused(
    "of-src",
    "a position that is no number",
    { offsets: [at("four")] },
    /^offsets\[0\]\.offset does not fit the connector: /,
    fault
  ),
  refused(
    "of-src",
    "a member too many",
    { offsets: [{ ...at(4), offset: { position: 4, x: 1 } }] },
    /^offsets\[0\]\.offset does not fit the connector: .*x/,
    "Connect leaves it to the connector"
  ),
  alter("of-src", "another partition", altered, at(0, "/other.txt")),
  stored("of-src", "two partitions", at(4), at(0, "/other.txt")),
  alter("of-src", "null removes one", altered, { partition: { filename: "/other.txt" }, offset: null }),
  stored("of-src", "one partition", at(4)),
  ...[{ offsets: [] }, { offsets: null }, {}].map((body) =>
    refused(
      "of-src",
      `PATCH of ${JSON.stringify(body)}`,
      body,
      "Partitions / offsets need to be provided for an alter offsets request"
    )
  ),
  refused("of-src", "PATCH of null", "null", "Body: expected object, got null", fault),
  {
    name: "PATCH without a body",
    request: patch(path("of-src")),
    status: 400,
    message: "The body is empty: expected a JSON object",
    differs: fault
  },
  refused("of-src", "PATCH of a list", [], "Body: expected object, got an array", fault),
  refused("of-src", "malformed", "{\"offsets\":[", /^The body is not valid JSON/, fault),
  refused("of-src", "an unknown member", { offsets: [at(4)], x: 1 }, "Body \"x\" is not known here", fault),
  refused(
    "of-src",
    "an unknown member of an entry",
    { offsets: [{ ...at(4), x: 1 }] },
    "Body \"offsets.x\" is not known here",
    fault
  ),
  ...[{ partition: null, offset: { position: 4 } }, { offset: { position: 4 } }].map((entry) =>
    refused(
      "of-src",
      `an entry ${JSON.stringify(entry)}`,
      { offsets: [entry] },
      "offsets[0].partition does not fit the connector: Partition objects cannot be null",
      fault
    )
  ),
  refused(
    "of-src",
    "an empty partition",
    { offsets: [{ partition: {}, offset: { position: 4 } }] },
    /^offsets\[0\]\.partition does not fit the connector: /,
    fault
  ),
  refused(
    "of-src",
    "an empty offset",
    { offsets: [{ partition: { filename: "/in.txt" }, offset: {} }] },
    /^offsets\[0\]\.offset does not fit the connector: /,
    fault
  ),
  refused("of-src", "an entry of null", { offsets: [null] }, "Body \"offsets\": expected object, got null", fault),
  stored("of-src", "what was refused has changed nothing", at(4)),
  alter("of-src", "an offset that is left out is removed", altered, { partition: { filename: "/in.txt" } }),
  stored("of-src", "nothing"),
  alter("of-src", "a partition twice: the last one counts", altered, at(1), at(2)),
  stored("of-src", "the last one", at(2)),
  remove("of-src", "DELETE", reset),
  stored("of-src", "nothing after DELETE"),
  remove("of-src", "DELETE when there is nothing", reset)
]

const ofNone = [
  refused(
    "of-none",
    "an offset of a source that stores none",
    { offsets: [{ partition: { i: "0" }, offset: { n: 1 } }] },
    /^offsets\[0\]\.partition does not fit the connector: /,
    "Connect stores anything that is made of primitive types"
  ),
  alter("of-none", "a removal of what is not there", external("altered"), { partition: {}, offset: null }),
  stored("of-none", "still nothing"),
  remove("of-none", "DELETE", external("reset"))
]

const ofSink = [
  stored("of-snk", "stay when it is stopped", of(3)),
  alter("of-snk", "PATCH", altered, of(1)),
  stored("of-snk", "after PATCH", of(1)),
  alter("of-snk", "numbers as texts", altered, of("2", "0")),
  stored("of-snk", "are numbers", of(2)),
  alter("of-snk", "beyond the end", altered, of(1_000_000)),
  refused(
    "of-snk",
    "a negative offset",
    { offsets: [of(-1)] },
    "The offset -1 for partition 0 of topic of-lines is negative",
    fault
  ),
  refused(
    "of-snk",
    "an offset that is no number",
    { offsets: [of("x")] },
    "Failed to parse the following Kafka offset value in the provided offsets: 'x'. " +
      "Offset values for sink connectors need to be integers."
  ),
  refused(
    "of-snk",
    "an offset with another key",
    { offsets: [{ ...of(1), offset: { offset: 1 } }] },
    "The offset for a sink connector should either be null or contain the key 'kafka_offset'"
  ),
  alter("of-snk", "a key too many", altered, { ...of(1), offset: { kafka_offset: 1, x: 1 } }),
  alter("of-snk", "a key of a partition too many", altered, {
    ...of(1),
    partition: { kafka_topic: "of-lines", kafka_partition: 0, x: 1 }
  }),
  ...[{ kafka_topic: "of-lines" }, { kafka_partition: 0 }].map((partition) =>
    refused(
      "of-snk",
      `a partition ${JSON.stringify(partition)}`,
      { offsets: [{ partition, offset: { kafka_offset: 1 } }] },
      "The partition for a sink connector offset must contain the keys 'kafka_topic' and 'kafka_partition'"
    )
  ),
  refused(
    "of-snk",
    "a partition that is no number",
    { offsets: [of(1, "x")] },
    "Failed to parse the following Kafka partition value in the provided offsets: 'x'. " +
      "Partition values for sink connectors need to be integers."
  ),
  refused(
    "of-snk",
    "a partition of null",
    { offsets: [{ partition: null, offset: { kafka_offset: 1 } }] },
    "The partition for a sink connector offset cannot be null or missing"
  ),
  refused(
    "of-snk",
    "a topic that does not exist",
    { offsets: [of(0), of(1, 0, "of-no-such-topic")] },
    "There is no partition 0 of topic of-no-such-topic: the topic does not exist",
    fault
  ),
  refused(
    "of-snk",
    "a partition that the topic does not have",
    { offsets: [of(1, 99)] },
    "There is no partition 99 of topic of-lines: its partitions are 0 to 0",
    fault
  ),
  stored("of-snk", "what was refused has changed nothing", of(1)),
  alter("of-snk", "null removes one", altered, of(null)),
  stored("of-snk", "nothing"),
  alter("of-snk", "once more", altered, of(1)),
  remove("of-snk", "DELETE", reset),
  stored("of-snk", "nothing after DELETE"),
  remove("of-snk", "DELETE when there is nothing", reset)
]

export const offsets: Theme = {
  title: "offsets",
  connectors: ["of-src", "of-snk", "of-none"],
  steps: [
    { name: "nobody: GET", request: get(path("of-nobody")), ...nobody },
    { name: "nobody: PATCH", request: patch(path("of-nobody"), { offsets: [at(1)] }), ...nobody },
    { name: "nobody: DELETE", request: del(path("of-nobody")), ...nobody },
    create("of-src", source),
    create("of-snk", sink),
    create("of-none", scripted()),
    is("of-src", "RUNNING"),
    is("of-snk", "RUNNING"),
    stored("of-none", "nothing so far"),
    eventually("of-src", "what was read", at(14)),
    eventually("of-snk", "what was put", of(3)),
    ...whileNotStopped("of-src", at(4)),
    ...whileNotStopped("of-snk", of(1)),
    { name: "pause", request: put("/connectors/of-src/pause"), status: 202 },
    is("of-src", "PAUSED"),
    ...whileNotStopped("of-src", at(4)),
    ...["of-src", "of-snk", "of-none"].flatMap(stop),
    ...ofSource,
    ...ofNone,
    ...ofSink,
    ...[put, post].map((method) => ({
      name: "a method that is not there",
      request: method(path("of-src"), {}),
      status: 405,
      message: "HTTP 405 Method Not Allowed",
      headers: { allow: "GET, HEAD, PATCH, DELETE, OPTIONS" },
      differs: "Connect does not say what is allowed"
    })),
    { name: "resume", request: put("/connectors/of-src/resume"), status: 202 },
    eventually("of-src", "it begins at the beginning", at(14)),
    { name: "resume the sink", request: put("/connectors/of-snk/resume"), status: 202 },
    eventually("of-snk", "it reads all of it again", of(6)),
    { name: "delete", request: del("/connectors/of-src"), status: 204 },
    { name: "after a delete", request: get(path("of-src")), status: 404, message: "Connector of-src not found" },
    create("of-src", source, { initial_state: "STOPPED" }),
    stored("of-src", "survive a delete", at(14)),
    remove("of-src", "DELETE at last", reset)
  ]
}
