/** The definitions that the tests of the API run: the file connectors by name and keys, and a source that fails as asked. */
import { ConfigKey, PermanentError, type Plugin, SinkConnector, SourceConnector, TransientError } from "@kelpie/core"
import { Effect, Option, Schema, Stream } from "effect"

/** What every file holds: 14 bytes. */
const lines = [{ value: "one", end: 4 }, { value: "two", end: 8 }, { value: "three", end: 14 }]

const FileSource = SourceConnector.make("FileSource", {
  version: "0.1.0",
  aliases: ["FileStreamSource", "FileStreamSourceConnector", "org.apache.kafka.connect.file.FileStreamSourceConnector"],
  config: {
    file: ConfigKey.String("file", { importance: "high", doc: "Path of the file." }),
    topic: ConfigKey.String("topic", { importance: "high", doc: "Topic to write to." }),
    batchSize: ConfigKey.Int("batch.size", { default: 2000, min: 1, doc: "Lines of a batch." })
  },
  partition: Schema.Struct({ filename: Schema.String }),
  offset: Schema.Struct({ position: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)) }),
  task: ({ config, offsets }) => {
    const partition = { filename: config.file }
    return Stream.unwrap(Effect.map(offsets.get(partition), (stored) => {
      const from = Option.match(stored, { onNone: () => 0, onSome: ({ position }) => position })
      const records = lines.filter(({ end }) => end > from).map(({ value }) => ({ topic: config.topic, value }))
      return records.length === 0
        ? Stream.never
        : Stream.concat(Stream.make({ records, partition, offset: { position: 14 } }), Stream.never)
    }))
  }
})

const FileSink = SinkConnector.make("FileSink", {
  version: "0.1.0",
  aliases: ["FileStreamSink", "FileStreamSinkConnector", "org.apache.kafka.connect.file.FileStreamSinkConnector"],
  config: { file: ConfigKey.String("file", { importance: "high", doc: "Path of the file." }) },
  task: () => Effect.succeed({ put: () => Effect.void })
})

/** `fail` says where it fails: `start`, `taskConfigs` or `task`. `tasks` is how many tasks it asks for, `tasks.max` at most. */
const Scripted = SourceConnector.make("Scripted", {
  version: "1.0.0",
  aliases: ["scripted.Scripted"],
  config: {
    topic: ConfigKey.String("topic", { default: "t", importance: "high", doc: "Topic to write to." }),
    fail: ConfigKey.Literals(["", "start", "taskConfigs", "task"])("fail", { default: "", doc: "Where it fails." }),
    tasks: ConfigKey.Int("tasks", { default: 1, min: 0, doc: "How many tasks it wants." }),
    token: ConfigKey.Redacted("token", { optional: true, doc: "A secret." })
  },
  taskConfig: Schema.Struct({ i: Schema.Int }),
  start: Effect.fnUntraced(function*({ config }) {
    if (config.fail === "start") return yield* new PermanentError({ message: "scripted start failure" })
    return {
      taskConfigs: (maxTasks) =>
        config.fail === "taskConfigs"
          ? Effect.fail(new TransientError({ message: "scripted generation failure" }))
          : Effect.succeed(Array.from({ length: Math.min(maxTasks, config.tasks) }, (_, i) => ({ i })))
    }
  }),
  task: ({ config }) =>
    config.fail === "task" ? Stream.fail(new PermanentError({ message: "scripted task failure" })) : Stream.never
})

export const plugins: ReadonlyArray<Plugin.Plugin<never>> = [FileSource, FileSink, Scripted]
