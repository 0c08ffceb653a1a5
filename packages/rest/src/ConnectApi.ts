/**
 * Connect's REST API as a contract: every path, request and answer. The server, the typed client and the OpenAPI document are
 * made from it.
 *
 * Paths, statuses and member names are those of Kafka Connect 4.4; members that Kelpie adds stand where they disturb no
 * client that exists (strings and null only inside `connector` of a status, nothing in `config`, no entry at the top of a
 * map keyed by connector).
 */
import * as ConfigInfos from "@kelpie/core/ConfigInfos"
import * as Status from "@kelpie/core/Status"
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as RestError from "./RestError.ts"

/** The version of Kafka Connect that is spoken; clients read features from it. */
export const connectVersion = "4.4.0"

/** The content type that an endpoint answers with, for requests that say what they accept. An annotation of endpoints. */
export const Produces = Context.Reference<string>("@kelpie/rest/ConnectApi/Produces", {
  defaultValue: () => "application/json"
})

/** Whether a request may leave its body out. An annotation of endpoints. */
export const BodyOptional = Context.Reference<boolean>("@kelpie/rest/ConnectApi/BodyOptional", {
  defaultValue: () => false
})

// --- requests

/** A flag of a query: `true` or `false` in any case. Empty is read as the default. */
const flag = (whenEmpty: boolean) =>
  Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^(?:true|false|)$/i, { expected: "true or false" })
    ).pipe(Schema.decodeTo(
      Schema.Boolean,
      SchemaTransformation.transform({
        decode: (text) => text === "" ? whenEmpty : text.toLowerCase() === "true",
        encode: (value) => `${value}`
      })
    ))
  )

/** The number of a task in a path: 32 bits, as Connect reads it. */
const TaskNumber = Schema.String.check(Schema.isPattern(/^[+-]?\d{1,10}$/)).pipe(Schema.decodeTo(
  Schema.Int.check(Schema.isBetween({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 })),
  SchemaTransformation.transform({ decode: Number, encode: String })
))

/** A value of a configuration in a request; numbers and booleans become strings. */
const ConfigValue = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])

/** A configuration in a request. */
export const ConfigInput = Schema.Record(Schema.String, ConfigValue)

/** Changes of a configuration; null removes a key. */
export const ConfigPatch = Schema.Record(Schema.String, Schema.NullOr(ConfigValue))

const InitialState = Schema.Literals(["RUNNING", "PAUSED", "STOPPED"])

/** The body of `POST /connectors`. */
export const CreateConnector = Schema.Struct({
  name: Schema.String,
  config: ConfigInput,
  initial_state: Schema.optionalKey(InitialState)
})

/** Which reconfigurations are tried at once; without a member every one that waits or is parked. */
export const RetryFilter = Schema.Struct({
  /** Of the connector; `*` stands for any characters. */
  name: Schema.optionalKey(Schema.String),
  /** Of the last failure. */
  class: Schema.optionalKey(Status.FailureClass)
})

const Offset = Schema.Struct({ partition: Schema.Json, offset: Schema.optionalKey(Schema.Json) })

/**
 * Offsets to change. Those of sinks are `{ kafka_topic, kafka_partition }` and `{ kafka_offset }`; an offset that is null or
 * left out is removed.
 */
export const OffsetsPatch = Schema.Struct({ offsets: Schema.Array(Offset) })

/** A level of log lines, in any case. */
export const SetLogger = Schema.Struct({ level: Schema.String })

// --- answers

const Kind = Schema.Literals(["source", "sink", "unknown"])
const Config = Schema.Record(Schema.String, Schema.String)
const TaskId = Schema.Struct({ connector: Schema.String, task: Schema.Int })
/** Which revision of the config is stored, and which one the present task set was made from. */
const Revision = Schema.Struct({ stored: Schema.Int, applied: Schema.NullOr(Schema.Int) })

/** A key that nobody reads. */
export const Warning = Schema.Struct({ key: Schema.String, message: Schema.String })

/** A connector. `config` is what was put, plus `name`. */
export const ConnectorInfo = Schema.Struct({
  name: Schema.String,
  config: Config,
  tasks: Schema.Array(TaskId),
  type: Kind,
  revision: Revision,
  warnings: Schema.optionalKey(Schema.Array(Warning))
})
export interface ConnectorInfo extends Schema.Schema.Type<typeof ConnectorInfo> {}

/** The state of a task. */
export const TaskStatus = Schema.Struct({
  id: Schema.Int,
  state: Status.State,
  worker_id: Schema.String,
  trace: Schema.optionalKey(Schema.String),
  version: Schema.NullOr(Schema.String),
  revision: Schema.optionalKey(Schema.Int)
})
export interface TaskStatus extends Schema.Schema.Type<typeof TaskStatus> {}

const Failure = Status.Failure.pipe(Schema.encodeKeys({ firstAt: "first_at", lastAt: "last_at" }))

/**
 * The lane of a connector. Its members are named as in the rest of the API on the wire (`delay_ms`, `next_attempt_at`), and
 * as in code here. Times are epoch milliseconds, like the only time that Connect's API has (`last_modified` of a logger).
 */
export const Reconfiguration = Schema.Struct({ ...Status.Reconfiguration.fields, failure: Schema.optionalKey(Failure) })
  .pipe(Schema.encodeKeys({ delayMillis: "delay_ms", nextAttemptAt: "next_attempt_at" }))

/** Why the health is what it is; `next_attempt_at` on the wire. */
export const Condition = Status.Condition.pipe(Schema.encodeKeys({ nextAttemptAt: "next_attempt_at" }))

/** The state of a connector and its tasks. `connector` holds strings and null only, for clients read it as a map of them. */
export const ConnectorStatus = Schema.Struct({
  name: Schema.String,
  connector: Schema.Struct({
    state: Status.State,
    worker_id: Schema.String,
    trace: Schema.optionalKey(Schema.String),
    version: Schema.NullOr(Schema.String)
  }),
  tasks: Schema.Array(TaskStatus),
  type: Kind,
  health: Status.Health,
  conditions: Schema.Array(Condition),
  reconfiguration: Reconfiguration,
  revision: Revision,
  taskCounts: Schema.Struct({ requested: Schema.Int, generated: Schema.NullOr(Schema.Int), running: Schema.Int }),
  warnings: Schema.optionalKey(Schema.Array(Warning))
}).pipe(Schema.encodeKeys({ taskCounts: "task_counts" }))
export interface ConnectorStatus extends Schema.Schema.Type<typeof ConnectorStatus> {}

/** A task with its config. */
export const TaskInfo = Schema.Struct({ id: TaskId, config: Config })

/** The stored offsets of a connector. */
export const Offsets = Schema.Struct({
  offsets: Schema.Array(Schema.Struct({ partition: Schema.Json, offset: Schema.Json }))
})

/** What was done, for people. */
const Message = Schema.Struct({ message: Schema.String })

/** The topics that a connector has used, below its name. */
export const ActiveTopics = Schema.Record(Schema.String, Schema.Struct({ topics: Schema.Array(Schema.String) }))

/** A connector in a listing with `expand`. */
export const Expanded = Schema.Struct({
  status: Schema.optionalKey(ConnectorStatus),
  info: Schema.optionalKey(ConnectorInfo)
})
export interface Expanded extends Schema.Schema.Type<typeof Expanded> {}

/** What the worker is. `version` is the Connect version spoken, `kelpie_version` its own. */
export const ServerInfo = Schema.Struct({
  version: Schema.String,
  commit: Schema.String,
  kafka_cluster_id: Schema.String,
  kelpie_version: Schema.String
})

/** How the worker does; with status 503 while it starts, and 500 when it does not move. */
export const Healthy = Schema.Struct({ status: Schema.Literal("healthy"), message: Schema.String })
const Starting = Schema.Struct({
  status: Schema.Literal("starting"),
  message: Schema.String,
  error_code: Schema.Literal(503)
}).pipe(HttpApiSchema.status(503))
const Unhealthy = Schema.Struct({
  status: Schema.Literal("unhealthy"),
  message: Schema.String,
  error_code: Schema.Literal(500)
}).pipe(HttpApiSchema.status(500))

/** The answer of a validation: Connect's, and the keys that nobody reads, if there are any. */
export const Validated = Schema.Struct({
  ...ConfigInfos.ConfigInfos.fields,
  warnings: Schema.optionalKey(Schema.Array(Warning))
})

/** A logger: which lines it writes, and when that was set, in epoch milliseconds. */
export const Logger = Schema.Struct({
  level: Schema.Literals(["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL"]),
  last_modified: Schema.NullOr(Schema.Finite)
})
export interface Logger extends Schema.Schema.Type<typeof Logger> {}

/** A plugin in the listing. */
export const PluginInfo = Schema.Struct({
  class: Schema.String,
  type: Schema.Literals(["source", "sink", "transformation", "predicate", "converter", "header_converter"]),
  version: Schema.String
})

// --- endpoints

const error = RestError.schemas
const connector = { connector: Schema.String }
const task = { ...connector, task: TaskNumber }
const logger = { logger: Schema.String }
const Created = HttpApiSchema.WithHeaders(ConnectorInfo.pipe(HttpApiSchema.status(201)), { location: Schema.String })
const RestartStarted = ConnectorStatus.pipe(HttpApiSchema.status(202))
/** The connectors whose reconfiguration is tried at once, sorted. */
const Retried = Schema.Struct({ retried: Schema.Array(Schema.String) }).pipe(HttpApiSchema.status(202))
const ReconfigurationAccepted = Reconfiguration.pipe(HttpApiSchema.status(202))

/** The workers of the cluster, as the one that answers knows them, oldest first. */
export const WorkerList = Schema.Struct({
  workers: Schema.Array(Schema.Struct({
    worker_id: Schema.String,
    /** This life of it. */
    session: Schema.String,
    leader: Schema.Boolean,
    draining: Schema.Boolean,
    /** It is the one that answers. */
    self: Schema.Boolean
  }))
})

/** What a change did whose outcome was not known. */
export const OperationOutcome = Schema.Struct({
  id: Schema.String,
  /** After which its effect is in every read. */
  position: Schema.Finite,
  /** Whether it created a connector. */
  created: Schema.optionalKey(Schema.Boolean)
})

/** The worker itself. */
export class Worker extends HttpApiGroup.make("worker").add(
  HttpApiEndpoint.get("info", "/", { success: ServerInfo, error }),
  HttpApiEndpoint.get("health", "/health", { success: [Healthy, Starting, Unhealthy] }),
  HttpApiEndpoint.get("metrics", "/metrics", {
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" })),
    error
  }).annotate(Produces, "text/plain"),
  HttpApiEndpoint.get("openapi", "/openapi.json", { success: Schema.Record(Schema.String, Schema.Unknown) }),
  HttpApiEndpoint.get("workers", "/admin/workers", { success: WorkerList, error }),
  HttpApiEndpoint.post("drain", "/admin/drain", { success: HttpApiSchema.Accepted, error }),
  HttpApiEndpoint.get("operation", "/operations/:operation", {
    params: { operation: Schema.String },
    success: OperationOutcome,
    error
  })
) {}

/** Connectors: what is asked for, and how they do. */
export class Connectors extends HttpApiGroup.make("connectors").add(
  HttpApiEndpoint.get("list", "/connectors", {
    query: { expand: Schema.optionalKey(Schema.Array(Schema.Literals(["status", "info"]))) },
    success: [Schema.Array(Schema.String), Schema.Record(Schema.String, Expanded)],
    error
  }),
  HttpApiEndpoint.post("create", "/connectors", { payload: CreateConnector, success: Created, error }),
  HttpApiEndpoint.get("get", "/connectors/:connector", { params: connector, success: ConnectorInfo, error }),
  HttpApiEndpoint.delete("delete", "/connectors/:connector", { params: connector, error }),
  HttpApiEndpoint.get("config", "/connectors/:connector/config", { params: connector, success: Config, error }),
  HttpApiEndpoint.put("putConfig", "/connectors/:connector/config", {
    params: connector,
    payload: ConfigInput,
    success: [ConnectorInfo, Created],
    error
  }),
  HttpApiEndpoint.patch("patchConfig", "/connectors/:connector/config", {
    params: connector,
    payload: ConfigPatch,
    success: ConnectorInfo,
    error
  }),
  HttpApiEndpoint.get("status", "/connectors/:connector/status", {
    params: connector,
    success: ConnectorStatus,
    error
  }),
  HttpApiEndpoint.get("tasks", "/connectors/:connector/tasks", {
    params: connector,
    success: Schema.Array(TaskInfo),
    error
  }),
  HttpApiEndpoint.get("taskStatus", "/connectors/:connector/tasks/:task/status", {
    params: task,
    success: TaskStatus,
    error
  }),
  HttpApiEndpoint.get("offsets", "/connectors/:connector/offsets", { params: connector, success: Offsets, error }),
  HttpApiEndpoint.get("topics", "/connectors/:connector/topics", { params: connector, success: ActiveTopics, error })
) {}

/** What operators do with connectors. */
export class Operations extends HttpApiGroup.make("operations").add(
  HttpApiEndpoint.put("pause", "/connectors/:connector/pause", {
    params: connector,
    success: HttpApiSchema.Accepted,
    error
  }),
  HttpApiEndpoint.put("resume", "/connectors/:connector/resume", {
    params: connector,
    success: HttpApiSchema.Accepted,
    error
  }),
  HttpApiEndpoint.put("stop", "/connectors/:connector/stop", { params: connector, error }),
  HttpApiEndpoint.post("restart", "/connectors/:connector/restart", {
    params: connector,
    query: { includeTasks: flag(false), onlyFailed: flag(false) },
    // in this order: what is nothing would take any value
    success: [RestartStarted, HttpApiSchema.NoContent],
    error
  }),
  HttpApiEndpoint.post("restartTask", "/connectors/:connector/tasks/:task/restart", { params: task, error }),
  HttpApiEndpoint.patch("alterOffsets", "/connectors/:connector/offsets", {
    params: connector,
    payload: OffsetsPatch,
    success: Message,
    error
  }),
  HttpApiEndpoint.delete("resetOffsets", "/connectors/:connector/offsets", {
    params: connector,
    success: Message,
    error
  }),
  HttpApiEndpoint.put("resetTopics", "/connectors/:connector/topics/reset", {
    params: connector,
    success: HttpApiSchema.Accepted,
    error
  }),
  HttpApiEndpoint.get("reconfiguration", "/connectors/:connector/reconfiguration", {
    params: connector,
    success: Reconfiguration,
    error
  }),
  HttpApiEndpoint.post("retry", "/connectors/:connector/reconfiguration/retry", {
    params: connector,
    success: ReconfigurationAccepted,
    error
  }),
  HttpApiEndpoint.post("park", "/connectors/:connector/reconfiguration/park", {
    params: connector,
    success: ReconfigurationAccepted,
    error
  }),
  HttpApiEndpoint.post("unpark", "/connectors/:connector/reconfiguration/resume", {
    params: connector,
    success: ReconfigurationAccepted,
    error
  }),
  HttpApiEndpoint.post("retryAll", "/admin/reconfigurations/retry", {
    payload: RetryFilter,
    success: Retried,
    error
  }).annotate(BodyOptional, true)
) {}

/** What can be configured. */
export class Plugins extends HttpApiGroup.make("plugins").add(
  HttpApiEndpoint.get("list", "/connector-plugins", {
    query: { connectorsOnly: flag(true) },
    success: Schema.Array(PluginInfo),
    error
  }),
  HttpApiEndpoint.get("config", "/connector-plugins/:plugin/config", {
    params: { plugin: Schema.String },
    query: { version: Schema.optionalKey(Schema.String) },
    success: Schema.Array(ConfigInfos.Definition),
    error
  }),
  HttpApiEndpoint.put("validate", "/connector-plugins/:plugin/config/validate", {
    params: { plugin: Schema.String },
    payload: ConfigInput,
    success: Validated,
    error
  })
) {}

/** The levels of log lines. */
export class Loggers extends HttpApiGroup.make("loggers").add(
  HttpApiEndpoint.get("list", "/admin/loggers", { success: Schema.Record(Schema.String, Logger), error }),
  HttpApiEndpoint.get("get", "/admin/loggers/:logger", { params: logger, success: Logger, error }),
  HttpApiEndpoint.put("set", "/admin/loggers/:logger", {
    params: logger,
    // `worker` by default, `cluster` for every worker
    query: { scope: Schema.optionalKey(Schema.String) },
    payload: SetLogger,
    // in this order: what is nothing would take any value
    success: [Schema.Array(Schema.String), HttpApiSchema.NoContent],
    error
  })
) {}

/** The whole. */
export class ConnectApi
  extends HttpApi.make("connect").add(Worker).add(Connectors).add(Operations).add(Plugins).add(Loggers).annotateMerge(
    OpenApi.annotations({
      title: "Kelpie",
      version: connectVersion,
      description: "Kafka Connect's REST API, and what Kelpie adds to it."
    })
  )
{}
