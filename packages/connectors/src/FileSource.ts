/** Reads the lines of a text file as records, and follows the file while it grows. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import type { SourceRecord } from "@kelpie/core/ConnectRecord"
import type { ConnectSchema } from "@kelpie/core/ConnectSchema"
import * as SourceConnector from "@kelpie/core/SourceConnector"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { fileTail } from "./internal/fileTail.ts"
import { version } from "./internal/version.ts"

const config = {
  file: ConfigKey.String("file", {
    doc: "Path of the text file. It may be missing: the task waits for it.",
    importance: "high",
    check: (file: string) => file === "" ? "the path is empty" : undefined
  }),
  topic: ConfigKey.String("topic", {
    doc: "Topic that the lines are written to.",
    importance: "high",
    check: (topic: string) =>
      topic === "" ? "the topic is empty" : topic.includes(",") ? "one topic is needed, not a list" : undefined
  }),
  batchSize: ConfigKey.Int("batch.size", {
    default: 2000,
    min: 1,
    doc: "The most lines that are read into one batch.",
    importance: "low"
  }),
  maxLineBytes: ConfigKey.Int("max.line.bytes", {
    default: 1024 * 1024,
    min: 1,
    max: 256 * 1024 * 1024,
    doc: "The longest line that is accepted, in bytes without its end. A longer line fails the task.",
    importance: "low"
  }),
  pollInterval: ConfigKey.Millis("poll.interval.ms", {
    default: Duration.seconds(1),
    min: 1,
    doc:
      "How long the task waits at most before it looks at the file again. Growth is noticed at once where the file system tells of changes; this is for those that do not.",
    importance: "low"
  })
}

const lineSchema: ConnectSchema = { type: "string" }

/**
 * The file source of Connect, one task. A value is a line, of schema `string`, without its end (LF or CR LF).
 *
 * - A last line without an end is held back until its end comes.
 * - A file that is truncated or rewritten is read again from its start. When another file gets its name, the renamed file
 *   is read to its end (and its last line given even without an end), then the new one. After a restart the renamed file is
 *   found by its inode, if it is in the same folder and its name begins like the old one; of several rotations during one
 *   stop only the file that was being read and the present one are read.
 * - The source partition is `{ filename }`, the offset `{ position, inode, check }`: the byte behind the last line read, the
 *   file's inode, and a checksum of the bytes before. A bare `{ position }`, as Connect's own file source stores it, will do.
 */
export const FileSource = SourceConnector.make("FileSource", {
  version,
  aliases: [
    "FileStreamSource",
    "FileStreamSourceConnector",
    "org.apache.kafka.connect.file.FileStreamSourceConnector"
  ],
  doc: "Reads the lines of a text file, and follows it while it grows, is rotated or truncated.",
  config,
  partition: Schema.Struct({ filename: Schema.String }),
  offset: Schema.Struct({
    position: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
    inode: Schema.optional(Schema.String),
    check: Schema.optional(Schema.Int)
  }),
  task: ({ config, offsets }) => {
    const partition = { filename: config.file }
    const toRecord = (line: string): SourceRecord => ({
      topic: config.topic,
      key: null,
      value: line,
      valueSchema: lineSchema
    })
    return Stream.unwrap(Effect.gen(function*() {
      const from = yield* offsets.get(partition)
      const next = yield* fileTail({
        file: config.file,
        maxLines: config.batchSize,
        maxLineBytes: config.maxLineBytes,
        safetyInterval: config.pollInterval,
        from: Option.getOrUndefined(from)
      })
      return Stream.fromEffectRepeat(
        Effect.map(next, ({ lines, place }) => ({ records: lines.map(toRecord), partition, offset: place }))
      )
    }))
  }
})
