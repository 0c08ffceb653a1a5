/** Tells failed records to the log and to the dead letter topic, as Connect does (specification, section 8.2). */
import type { ConnectorError } from "@kelpie/core/ConnectorError"
import type { StoreError } from "@kelpie/core/StoreError"
import type { TopicLog } from "@kelpie/core/TopicLog"
import * as Effect from "effect/Effect"
import { persist, type TaskEnv } from "./taskEnv.ts"
import type { FailedRecord, Report } from "./tolerance.ts"
import { stackOf } from "./trace.ts"

/** A record of the log with its place. */
export interface Placed {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly record: TopicLog.LogRecord
}

const text = (error: unknown): string => error instanceof Error ? error.message : String(error)
/** A tagged error by its tag: its name holds the path of its module. */
const nameOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error
  return "_tag" in error && typeof error._tag === "string" ? error._tag : error.name
}

/** Writes one line per failed record when `errors.log.enable` is set. */
export const logReport = <A>(env: TaskEnv, describe: (record: A) => Record<string, unknown>): Report<A> => (failed) => {
  const { logErrors, logMessages } = env.config.settings
  if (!logErrors) return Effect.void
  const line = `Error encountered in task ${env.item.connector}-${env.item.task}. ` +
    `Executing stage '${failed.stage}' with class '${failed.plugin}': ${env.config.redact(text(failed.error))}`
  return logMessages
    ? Effect.annotateLogs(Effect.logError(line), describe(failed.record))
    : Effect.logError(line)
}

/** Appends failed records to the dead letter topic, if there is one. Awaited before positions are stored. */
export const deadLetterReport = (env: TaskEnv, writer: TopicLog.Writer): Report<Placed> => {
  const deadLetter = env.config.settings.deadLetter
  if (deadLetter === undefined) return () => Effect.void
  return (failed): Effect.Effect<void, ConnectorError | StoreError> => {
    const { key, timestampMillis, value } = failed.record.record
    const headers = deadLetter.contextHeaders
      ? [...failed.record.record.headers, ...contextHeaders(env, failed)]
      : failed.record.record.headers
    const record: TopicLog.LogRecord = { key, value, headers, timestampMillis }
    return persist(env, writer.append([{ topic: deadLetter.topic, records: [record] }]))
  }
}

const encoder = new TextEncoder()

const contextHeaders = (
  env: TaskEnv,
  { error, plugin, record, stage }: FailedRecord<Placed>
): ReadonlyArray<readonly [string, Uint8Array]> => {
  const { redact } = env.config
  const values: ReadonlyArray<readonly [string, string]> = [
    ["topic", record.topic],
    ["partition", `${record.partition}`],
    ["offset", `${record.offset}`],
    ["connector.name", env.item.connector],
    ["task.id", `${env.item.task}`],
    ["stage", stage],
    ["class.name", plugin],
    ["exception.class.name", nameOf(error)],
    ["exception.message", redact(text(error))],
    ["exception.stacktrace", redact(stackOf(error))]
  ]
  return values.map(([name, value]) => [`__connect.errors.${name}`, encoder.encode(value)])
}
