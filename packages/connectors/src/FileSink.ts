/** Appends records to a text file, one line each. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { type ConnectorError, PermanentError } from "@kelpie/core/ConnectorError"
import type { SinkRecord } from "@kelpie/core/ConnectRecord"
import * as SinkConnector from "@kelpie/core/SinkConnector"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { fileError, isMissing } from "./internal/fileError.ts"
import { jsonText } from "./internal/jsonText.ts"
import { version } from "./internal/version.ts"

const config = {
  file: ConfigKey.String("file", {
    doc: "Path of the file that lines are appended to. It is created if it is missing; its folder has to exist.",
    importance: "high",
    check: (file: string) => file === "" ? "the path is empty" : undefined
  }),
  flushMode: ConfigKey.Literals(["fsync", "none"])("flush.mode", {
    default: "fsync",
    doc:
      "What happens before positions are committed: fsync waits until the lines are on the disk, so that a power cut loses none; none leaves them to the operating system.",
    importance: "low"
  })
}

/**
 * The file sink of Connect. A value that is a string is written as it stands, any other as JSON (a tombstone is `null`);
 * each batch is one write. The file is opened for appending, so several tasks may write to one file: their lines do not mix.
 *
 * A batch that could be written in part only is written again as a whole, from the start of a line.
 */
export const FileSink = SinkConnector.make("FileSink", {
  version,
  aliases: ["FileStreamSink", "FileStreamSinkConnector", "org.apache.kafka.connect.file.FileStreamSinkConnector"],
  doc: "Appends values to a text file, one line each.",
  config,
  task: Effect.fnUntraced(function*({ config: { file, flushMode }, report }) {
    const handle = yield* opened(file)
    // a file that was created just now is lost in a power cut, unless its folder is on the disk too
    if (flushMode === "fsync") yield* Effect.ignore(syncFolder(path.dirname(file)))
    // a write that a crash has cut leaves half a line: what follows begins on a new one
    let torn = yield* endsInLine(file, handle)
    const append = Effect.fnUntraced(function*(text: string) {
      const bytes = Buffer.from(torn ? `\n${text}` : text)
      for (let written = 0; written < bytes.length;) {
        const { bytesWritten } = yield* Effect.tryPromise({
          try: () => handle.write(bytes, written),
          catch: fileError("write to", file)
        })
        written += bytesWritten
        // the disk is full, or the batch is huge; if the rest fails, its retry begins on a new line
        torn = written < bytes.length
      }
    })
    const put = Effect.fnUntraced(function*(records: ReadonlyArray<SinkRecord>) {
      const text = Result.try(() => records.map((record) => `${toLine(record.value)}\n`).join(""))
      yield* append(Result.isSuccess(text) ? text.success : yield* oneByOne(records, report))
    })
    return flushMode === "none" ? { put } : {
      put,
      flush: Effect.tryPromise({ try: () => handle.sync(), catch: fileError("flush", file) })
    }
  })
})

const toLine = (value: unknown): string => typeof value === "string" ? value : jsonText(value)

const close = (handle: fs.FileHandle): Effect.Effect<void> => Effect.ignore(Effect.tryPromise(() => handle.close()))

const opened = (file: string): Effect.Effect<fs.FileHandle, ConnectorError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => fs.open(file, "a"),
      catch: (cause) =>
        isMissing(cause)
          ? new PermanentError({
            message: `the folder ${path.dirname(file)} of file ${file} does not exist: create it`,
            cause
          })
          : fileError("write to", file)(cause)
    }),
    close
  )

/** Whether the file ends in a line without its end. */
const endsInLine = (file: string, handle: fs.FileHandle): Effect.Effect<boolean, ConnectorError> =>
  Effect.tryPromise({
    try: async () => {
      const stat = await handle.stat()
      if (!stat.isFile() || stat.size === 0) return false
      await using reader = await fs.open(file, "r")
      const { buffer } = await reader.read(Buffer.alloc(1), 0, 1, stat.size - 1)
      return buffer[0] !== newline
    },
    catch: fileError("read the end of", file)
  })

const newline = 0x0a

/** Not every system lets a folder be opened. */
const syncFolder = (folder: string): Effect.Effect<void, Cause.UnknownError> =>
  Effect.acquireUseRelease(
    Effect.tryPromise(() => fs.open(folder, "r")),
    (handle) => Effect.tryPromise(() => handle.sync()),
    close
  )

/** The slow way, for a batch with a value that has no text: that record is reported, the others are written. */
const oneByOne = Effect.fnUntraced(function*(
  records: ReadonlyArray<SinkRecord>,
  report: SinkConnector.ReportContext<unknown>["report"]
) {
  let text = ""
  for (const record of records) {
    const line = Result.try(() => toLine(record.value))
    if (Result.isSuccess(line)) text += `${line.success}\n`
    else {yield* report(
        record,
        new PermanentError({ message: "the value cannot be written as JSON", cause: line.failure })
      )}
  }
  return text
})
