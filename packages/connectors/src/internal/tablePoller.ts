/** Reads the tables of one task again and again: when the database changes, and not when it does not. */
import type { ConnectorError } from "@kelpie/core/ConnectorError"
import type { SqliteDatabase, SqliteError } from "@kelpie/sqlite/SqliteDatabase"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readError } from "./databaseFile.ts"
import type { FolderWatch } from "./folderWatch.ts"
import type { Rows, TableReader } from "./tableReader.ts"
import { describeTable } from "./tableSchema.ts"

/** What is read, and with what. */
export interface Options {
  readonly readers: ReadonlyArray<TableReader>
  readonly database: Effect.Effect<SqliteDatabase, SqliteError>
  readonly watch: FolderWatch
  readonly file: string
  readonly busyTimeout: Duration.Duration
  /** The least time between two passes; left out: none. */
  readonly passInterval: Duration.Duration | undefined
}

/** Rows of one table. */
export interface TableRows extends Rows {
  readonly table: string
}

/** Counts of the database that tell whether a commit of another connection changed data, or tables. */
interface Versions {
  readonly database: SqliteDatabase
  readonly data: unknown
  readonly schema: unknown
}

const versionsSql =
  "SELECT (SELECT data_version FROM pragma_data_version), (SELECT schema_version FROM pragma_schema_version)"

/** Gives rows as soon as there are any. A table with many rows does not hold the others up. */
export class TablePoller {
  readonly #options: Options
  #versions: Versions | undefined
  /** The tables that may have rows which this pass did not read. */
  #queue: Array<TableReader> = []
  #wait: Effect.Effect<void> = Effect.void

  constructor(options: Options) {
    this.#options = options
  }

  readonly next: Effect.Effect<TableRows, ConnectorError> = Effect.gen({ self: this }, function*() {
    for (;;) {
      const [reader] = this.#queue
      const step = yield* Effect.result(reader === undefined ? this.#pass : this.#read(reader))
      if (Result.isSuccess(step)) {
        if (step.success !== undefined) return step.success
      } else if (step.failure._tag !== "SqliteError") {
        return yield* step.failure
      } else if (step.failure.code === "busy") {
        // a lock is an ordinary thing and ends: no reason to fail
        yield* this.#options.watch.changed
      } else if (!(yield* this.#schemaMoved())) {
        return yield* readError(this.#options)(step.failure)
      }
    }
  })

  /** Waits for a change, and queues the tables to read. */
  readonly #pass = Effect.gen({ self: this }, function*() {
    const wait = this.#wait
    yield* wait
    this.#wait = Effect.void
    const { passInterval, readers, watch } = this.#options
    const before = this.#versions
    const now = yield* this.#look
    if (before === undefined || now.database !== before.database || now.schema !== before.schema) {
      yield* this.#prepare(now.database)
    }
    this.#versions = now
    this.#wait = passInterval === undefined ? watch.changed : Effect.andThen(Effect.sleep(passInterval), watch.changed)
    if (now.database === before?.database && now.data === before.data && now.schema === before.schema) return undefined
    for (const reader of readers) reader.rewind()
    this.#queue = [...readers]
    return undefined
  })

  /** The handle that this pass looked at; whether the file is still the same is the next pass's question. */
  get #open(): Effect.Effect<SqliteDatabase, SqliteError> {
    return this.#versions === undefined ? this.#options.database : Effect.succeed(this.#versions.database)
  }

  readonly #look = Effect.gen({ self: this }, function*() {
    const database = yield* this.#options.database
    const { rows: [row] } = yield* database.table(versionsSql)
    return { database, data: row?.[0], schema: row?.[1] }
  })

  readonly #prepare = Effect.fnUntraced({ self: this }, function*(database: SqliteDatabase) {
    for (const reader of this.#options.readers) {
      const info = yield* describeTable(database, reader.table)
      if (info === undefined) reader.forget()
      else yield* Effect.fromResult(reader.prepare(info))
    }
  })

  readonly #read = Effect.fnUntraced({ self: this }, function*(reader: TableReader) {
    const rows = yield* Effect.flatMap(this.#open, reader.next)
    this.#queue.shift()
    if (rows === undefined) return undefined
    if (rows.full) this.#queue.push(reader)
    return { table: reader.table, ...rows }
  })

  /** Whether a query failed because a table or a column is gone; then everything is looked at again. */
  readonly #schemaMoved = Effect.fnUntraced({ self: this }, function*() {
    const before = this.#versions
    if (before === undefined) return false
    const now = yield* Effect.mapError(this.#look, readError(this.#options))
    if (now.database === before.database && now.schema === before.schema) return false
    this.#versions = undefined
    this.#queue = []
    this.#wait = Effect.void
    return true
  })
}
