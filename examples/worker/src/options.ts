/** What the stand-alone worker can be told. */
import * as Flag from "effect/cli/Flag"
import * as Schema from "effect/Schema"
import { option, optionOr } from "./option.ts"

const Port = Schema.Int.check(
  Schema.isBetween({ minimum: 0, maximum: 65_535 }, { expected: "a port: a whole number from 0 to 65535" })
)
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1, { expected: "a whole number from 1" }))
const Name = Schema.NonEmptyString
const levels = ["All", "Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"] as const

/** The flags, named as the worker takes them. */
export const options = {
  host: optionOr(Flag.String, {
    name: "host",
    schema: Name,
    description: "Address to listen on. There is no authentication: whoever reaches it may do everything.",
    otherwise: "127.0.0.1"
  }),
  port: optionOr(Flag.Int, {
    name: "port",
    schema: Port,
    description: "Port to listen on; 0 takes any that is free.",
    otherwise: 8083
  }),
  advertisedHost: option(Flag.String, {
    name: "advertised-host",
    schema: Name,
    description: "Host by which clients reach the worker, in worker ids and Location headers. Default: the host."
  }),
  advertisedPort: option(Flag.Int, {
    name: "advertised-port",
    schema: Port,
    description: "Port by which clients reach the worker. Default: the port."
  }),
  dataDir: optionOr(Flag.String, {
    name: "data-dir",
    schema: Name,
    description: "Directory that keeps everything, on a local disk; created if it is missing.",
    otherwise: "kelpie-data"
  }),
  shared: optionOr(Flag.Boolean, {
    name: "shared",
    schema: Schema.Boolean,
    description: "Shares the data directory with other workers of this machine, which are one cluster then.",
    otherwise: false
  }),
  leaseMs: optionOr(Flag.Int, {
    name: "lease-ms",
    schema: Count,
    description: "With --shared: how long a worker that stands still is waited for; it renews three times as often.",
    otherwise: 10_000
  }),
  synchronous: optionOr((name) => Flag.Literals(name, ["full", "normal"]), {
    name: "synchronous",
    schema: Schema.Literals(["full", "normal"]),
    description: "Whether a commit waits for the disk. With normal a power failure may take the last ones.",
    otherwise: "full"
  }),
  partitions: optionOr(Flag.Int, {
    name: "partitions",
    schema: Count,
    description: "Partitions of a topic that its first record creates.",
    otherwise: 1
  }),
  retentionHours: optionOr(Flag.Int, {
    name: "retention-hours",
    schema: Count,
    description: "How long records are kept.",
    otherwise: 7 * 24
  }),
  stopTimeoutMs: optionOr(Flag.Int, {
    name: "stop-timeout-ms",
    schema: Count,
    description: "How long a connector and its tasks may take to stop.",
    otherwise: 5000
  }),
  withTestkit: optionOr(Flag.Boolean, {
    name: "with-testkit",
    schema: Schema.Boolean,
    description: "Also registers ScriptedSource and ScriptedSink, which fail and hang as they are told.",
    otherwise: false
  }),
  logLevel: optionOr((name) => Flag.Literals(name, levels), {
    name: "log-level",
    schema: Schema.Literals(levels),
    description: "The least level that is logged, to standard error.",
    otherwise: "Info"
  })
}
