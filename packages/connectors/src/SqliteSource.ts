/** Reads the rows of a SQLite database's tables as records, and follows the tables that come and go. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import * as SourceConnector from "@kelpie/core/SourceConnector"
import type { SqliteDatabase, SqliteError } from "@kelpie/sqlite/SqliteDatabase"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as path from "node:path"
import { assignTables } from "./internal/assignTables.ts"
import { databaseFile, readError } from "./internal/databaseFile.ts"
import { folderWatch } from "./internal/folderWatch.ts"
import { TablePoller } from "./internal/tablePoller.ts"
import { TableReader } from "./internal/tableReader.ts"
import { listTables } from "./internal/tableSchema.ts"
import { version } from "./internal/version.ts"

const config = {
  database: ConfigKey.String("database", {
    doc: "Path of the database file. It is only read.",
    importance: "high",
    check: (file: string) => file === "" ? "the path is empty" : undefined
  }),
  tables: ConfigKey.List("tables", {
    default: ["*"],
    doc: "The tables to read: names, or patterns in which * stands for any text. Upper and lower case are the same.",
    importance: "high"
  }),
  mode: ConfigKey.Literals(["incrementing", "bulk"])("mode", {
    default: "incrementing",
    doc:
      "incrementing reads the rows that are new, by a column that only grows: rows that are changed are not read again. bulk reads each table as a whole, at the start and again after each change."
  }),
  incrementingColumn: ConfigKey.String("incrementing.column.name", {
    default: "rowid",
    doc:
      "The column that only grows, without repeating a value; rows in which it is null are not read. rowid is SQLite's own number of a row."
  }),
  topicPrefix: ConfigKey.String("topic.prefix", {
    default: "",
    doc: "Stands before the table's name in the name of the topic."
  }),
  pollInterval: ConfigKey.Millis("poll.interval.ms", {
    default: Duration.seconds(1),
    min: 1,
    doc:
      "How long a task waits at most before it looks for new rows. A commit is noticed at once where the file system tells of changes. In bulk mode it is also the least time between two readings.",
    importance: "low"
  }),
  tablePollInterval: ConfigKey.Millis("table.poll.interval.ms", {
    default: Duration.seconds(10),
    min: 1,
    doc:
      "How long it takes at most until a new or dropped table is noticed, where the file system does not tell of changes.",
    importance: "low"
  }),
  maxRows: ConfigKey.Int("batch.max.rows", {
    default: 1000,
    min: 1,
    max: 100_000,
    doc: "The most rows that are read from one table in one batch.",
    importance: "low"
  }),
  busyTimeout: ConfigKey.Millis("busy.timeout.ms", {
    default: Duration.seconds(1),
    min: 0,
    doc: "How long a lock of another connection is waited for before the attempt counts as failed.",
    importance: "low"
  })
}
type Config = ConfigKey.Values<typeof config>

/** New and dropped tables are looked for at most this often, however often the database changes. */
const tableCheckSpacing = Duration.millis(200)

const fileOf = ({ busyTimeout, database }: Config) => ({ file: database, busyTimeout })

/** A commit shows in the file itself, its journal or its write-ahead log. */
const watchOf = ({ database }: Config, safetyInterval: Duration.Duration) => {
  const name = path.basename(database)
  return folderWatch({
    folder: path.dirname(database),
    names: [name, `${name}-wal`, `${name}-journal`],
    safetyInterval
  })
}

/** The wanted tables of a database. */
const wanted = (
  { tables }: Config
): (database: SqliteDatabase) => Effect.Effect<ReadonlyArray<string>, SqliteError> => {
  const patterns = tables.map((pattern) =>
    new RegExp(`^${pattern.split("*").map((text) => text.replace(/[\\^$.|?+()[\]{}]/g, "\\$&")).join(".*")}$`, "is")
  )
  return (database) =>
    Effect.map(listTables(database), (names) => names.filter((name) => patterns.some((pattern) => pattern.test(name))))
}

/**
 * The rows of SQLite tables. A record's topic is prefix and table, its key `null`, its value the row as a struct: INTEGER is
 * `int64` (a `bigint` outside the safe range), REAL and NUMERIC `double`, TEXT, dates and times `string`, BLOB `bytes`, all
 * optional. A value of another type than its column's is kept, and its record has a schema that says so.
 *
 * The source partition is `{ table }`; the offset is `{ column, value }`, or `{ rows }` in bulk mode, which begins anew after a
 * restart. While the database is missing, locked or no database, `taskConfigs` fails as transient. A running task waits for a
 * lock to end, and fails as transient otherwise.
 */
export const SqliteSource = SourceConnector.make("SqliteSource", {
  version,
  doc: "Reads the rows of the tables of a SQLite database, and notices new tables.",
  config,
  taskConfig: Schema.Struct({ tables: Schema.Array(Schema.String) }),
  partition: Schema.Struct({ table: Schema.String }),
  offset: Schema.Union([
    Schema.Struct({ column: Schema.String, value: Schema.Union([Schema.Finite, Schema.String]) }),
    Schema.Struct({ rows: Schema.Int })
  ]),
  start: Effect.fnUntraced(function*({ config, requestReconfiguration }) {
    const database = yield* databaseFile(fileOf(config))
    const watch = yield* watchOf(config, config.tablePollInterval)
    const tablesNow = Effect.flatMap(database, wanted(config))
    // what the task configs in use were made from; nothing is watched while there are none
    let used: ReadonlyArray<string> | undefined
    let split: ReadonlyArray<ReadonlyArray<string>> = []
    let splitMax = 0
    const check = Effect.gen(function*() {
      if (used === undefined) return
      const now = yield* Effect.result(tablesNow)
      // a lock says nothing about the tables; a file that is gone does
      if (Result.isFailure(now) && now.failure.code === "busy") return
      if (Result.isSuccess(now) && now.success.join("\0") === used.join("\0")) return
      used = undefined
      yield* requestReconfiguration
    })
    yield* watch.changed.pipe(
      Effect.andThen(check),
      Effect.andThen(Effect.sleep(tableCheckSpacing)),
      Effect.forever,
      Effect.forkScoped
    )
    const taskConfigs = Effect.fnUntraced(function*(maxTasks: number) {
      const tables = yield* Effect.mapError(tablesNow, readError(fileOf(config)))
      split = assignTables(maxTasks === splitMax ? split : [], tables, maxTasks)
      splitMax = maxTasks
      used = tables
      return split.map((tables) => ({ tables }))
    })
    return { taskConfigs }
  }),
  task: ({ config, offsets, taskConfig }) =>
    Stream.unwrap(Effect.gen(function*() {
      const readers = yield* Effect.forEach(taskConfig.tables, (table) =>
        Effect.map(offsets.get({ table }), (stored) =>
          new TableReader(table, config, Option.getOrUndefined(stored))))
      // the watch comes first, so that no change is missed between looking and waiting
      const watch = yield* watchOf(config, config.pollInterval)
      const poller = new TablePoller({
        readers,
        watch,
        database: yield* databaseFile(fileOf(config)),
        ...fileOf(config),
        passInterval: config.mode === "bulk" ? config.pollInterval : undefined
      })
      return Stream.fromEffectRepeat(
        Effect.map(poller.next, ({ offset, records, table }) => ({ records, offset, partition: { table } }))
      )
    }))
})
