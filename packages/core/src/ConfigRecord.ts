/**
 * The records of the config log: each key holds one whole value, the last record of a key counts (design, I2).
 *
 * | key                       | value            |
 * | ------------------------- | ---------------- |
 * | `cluster`                 | `ClusterEntry`   |
 * | `leader`                  | `LeaderEntry`    |
 * | `connector/<name>`        | `ConnectorEntry` |
 * | `tasks/<name>`            | `TaskSetEntry`   |
 * | `placement/<item>/<name>` | `PlacementEntry`; the item is `connector` or a task's number |
 * | `outcome/<command id>`    | `OutcomeEntry` |
 * | `log-level/<logger>`      | `LogLevelEntry` |
 */
import * as Schema from "effect/Schema"
import * as Item from "./Item.ts"

/** What somebody asked the connector to be. */
export const TargetState = Schema.Literals(["STARTED", "PAUSED", "STOPPED"])
export type TargetState = typeof TargetState.Type

/** A flat configuration as it is stored: variables are not resolved. */
export const Config = Schema.Record(Schema.String, Schema.String)

/** The identity of the cluster, written once; a store of another cluster is refused. */
export const ClusterEntry = Schema.Struct({ id: Schema.String })
export type ClusterEntry = typeof ClusterEntry.Type

/** Who leads. */
export const LeaderEntry = Schema.Struct({ session: Schema.String })
export type LeaderEntry = typeof LeaderEntry.Type

/** A connector: what was asked for. */
export const ConnectorEntry = Schema.Struct({
  /** Drawn when the name is created; only compared for equality. */
  incarnation: Schema.String,
  /** 1, 2, 3 ... within the incarnation; counts changes of `config` only. */
  revision: Schema.Int,
  config: Config,
  target: TargetState,
  /** Counts an operator's "retry now"; the owner acts once on each (law 12). */
  retries: Schema.Int,
  /** An operator parked the lane. */
  held: Schema.Boolean
})
export type ConnectorEntry = typeof ConnectorEntry.Type

/** The config of one task, without secrets, and the digest of all that the task sees, resolved. */
export const TaskEntry = Schema.Struct({ config: Schema.Record(Schema.String, Schema.Json), digest: Schema.String })
export type TaskEntry = typeof TaskEntry.Type

/** A whole task set; it names what it was made from and counts only with that incarnation (I4). */
export const TaskSetEntry = Schema.Struct({
  incarnation: Schema.String,
  revision: Schema.Int,
  /** Keyed hash of the connector's resolved config that the owner saw; moves when a secret rotates. */
  digest: Schema.String,
  /** The connector's stored config that it was made from. */
  config: Config,
  tasks: Schema.Array(TaskEntry)
})
export type TaskSetEntry = typeof TaskSetEntry.Type

/** Why an owner is asked to let go. */
export const ReleaseReason = Schema.Literals(["changed", "removed", "restart", "moved"])
export type ReleaseReason = typeof ReleaseReason.Type

/** Who owns an item. An item is placed only from `Released` or no record (I5). */
export const PlacementEntry = Schema.Union([
  Schema.TaggedStruct("Owned", {
    session: Schema.String,
    /** Placed again because somebody asked for a restart. */
    restarting: Schema.optionalKey(Schema.Boolean)
  }),
  Schema.TaggedStruct("Releasing", { session: Schema.String, reason: ReleaseReason }),
  Schema.TaggedStruct("Released", { reason: ReleaseReason })
])
export type PlacementEntry = typeof PlacementEntry.Type

/** What a command did: stands in the same commit, so that a later leader can tell it again (I10). */
export const OutcomeEntry = Schema.Struct({
  /** Epoch milliseconds of the leader that carried it out. */
  at: Schema.Finite,
  /** Whether it created a connector. */
  created: Schema.optionalKey(Schema.Boolean)
})
export type OutcomeEntry = typeof OutcomeEntry.Type

/** The levels of log lines. */
export const LogLevel = Schema.Literals(["All", "Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"])

/** Which lines of a logger every worker writes, until somebody says otherwise. */
export const LogLevelEntry = Schema.Struct({ level: LogLevel })
export type LogLevelEntry = typeof LogLevelEntry.Type

/** A write of one key; `undefined` removes it. */
export type Write =
  | { readonly key: "cluster"; readonly entry: ClusterEntry }
  | { readonly key: "leader"; readonly entry: LeaderEntry }
  | { readonly key: `connector/${string}`; readonly entry: ConnectorEntry | undefined }
  | { readonly key: `tasks/${string}`; readonly entry: TaskSetEntry | undefined }
  | { readonly key: `placement/${string}`; readonly entry: PlacementEntry | undefined }
  | { readonly key: `outcome/${string}`; readonly entry: OutcomeEntry | undefined }
  | { readonly key: `log-level/${string}`; readonly entry: LogLevelEntry | undefined }

/** The write of a connector. */
export const connector = (name: string, entry: ConnectorEntry | undefined): Write => ({
  key: `connector/${name}`,
  entry
})

/** The write of a task set. */
export const taskSet = (name: string, entry: TaskSetEntry | undefined): Write => ({ key: `tasks/${name}`, entry })

/** The write of an item's placement. */
export const placement = (item: Item.Item, entry: PlacementEntry | undefined): Write => ({
  key: `placement/${Item.key(item)}`,
  entry
})

/** The write of a command's outcome. */
export const outcome = (id: string, entry: OutcomeEntry | undefined): Write => ({ key: `outcome/${id}`, entry })

/** The write of a logger's level. */
export const logLevel = (logger: string, entry: LogLevelEntry | undefined): Write => ({
  key: `log-level/${logger}`,
  entry
})

/** What a key is about. */
export type Subject =
  | { readonly _tag: "cluster" }
  | { readonly _tag: "leader" }
  | { readonly _tag: "connector"; readonly name: string }
  | { readonly _tag: "tasks"; readonly name: string }
  | { readonly _tag: "placement"; readonly item: Item.Item }
  | { readonly _tag: "outcome"; readonly id: string }
  | { readonly _tag: "log-level"; readonly logger: string }
  | { readonly _tag: "unknown" }

/** Reads a key. */
export const subject = (key: string): Subject => {
  if (key === "cluster" || key === "leader") return { _tag: key }
  const slash = key.indexOf("/")
  const rest = key.slice(slash + 1)
  switch (key.slice(0, slash)) {
    case "connector":
      return { _tag: "connector", name: rest }
    case "tasks":
      return { _tag: "tasks", name: rest }
    case "placement":
      return { _tag: "placement", item: Item.fromKey(rest) }
    case "outcome":
      return { _tag: "outcome", id: rest }
    case "log-level":
      return { _tag: "log-level", logger: rest }
    default:
      return { _tag: "unknown" }
  }
}

/** A record as an engine keeps it. */
export interface Encoded {
  readonly key: string
  /** JSON text; `null` is a tombstone. */
  readonly value: string | null
  readonly position: number
}

/** A write as an engine is given it. */
export interface EncodedWrite {
  readonly key: string
  readonly value: string | null
}

const schemas = {
  cluster: Schema.fromJsonString(ClusterEntry),
  leader: Schema.fromJsonString(LeaderEntry),
  connector: Schema.fromJsonString(ConnectorEntry),
  tasks: Schema.fromJsonString(TaskSetEntry),
  placement: Schema.fromJsonString(PlacementEntry),
  outcome: Schema.fromJsonString(OutcomeEntry),
  "log-level": Schema.fromJsonString(LogLevelEntry)
}

const decoders = {
  cluster: Schema.decodeUnknownExit(schemas.cluster),
  leader: Schema.decodeUnknownExit(schemas.leader),
  connector: Schema.decodeUnknownExit(schemas.connector),
  tasks: Schema.decodeUnknownExit(schemas.tasks),
  placement: Schema.decodeUnknownExit(schemas.placement),
  outcome: Schema.decodeUnknownExit(schemas.outcome),
  "log-level": Schema.decodeUnknownExit(schemas["log-level"])
}

/** A record with its value read: a write, a value that cannot be read, or a key of a newer version (ignored). */
export type Decoded =
  | { readonly _tag: "Write"; readonly write: Write }
  | { readonly _tag: "Unreadable"; readonly reason: string }
  | { readonly _tag: "Unknown" }

/** Reads a record. */
export const decode = (record: EncodedWrite): Decoded => {
  const about = subject(record.key)
  if (about._tag === "unknown") return { _tag: "Unknown" }
  if (record.value === null) return { _tag: "Write", write: { key: record.key, entry: undefined } as Write }
  const exit = decoders[about._tag](record.value)
  return exit._tag === "Success"
    ? { _tag: "Write", write: { key: record.key, entry: exit.value } as Write }
    : { _tag: "Unreadable", reason: `the stored record "${record.key}" cannot be read` }
}

/** Writes a record. Entries are plain JSON data by their schemas, so their text is their encoding. */
export const encode = (write: Write): EncodedWrite => ({
  key: write.key,
  value: write.entry === undefined ? null : JSON.stringify(write.entry)
})
