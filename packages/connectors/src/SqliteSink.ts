/** Writes records as rows of a SQLite database's tables. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { type ConnectorError, PermanentError } from "@kelpie/core/ConnectorError"
import type { SinkRecord } from "@kelpie/core/ConnectRecord"
import * as SinkConnector from "@kelpie/core/SinkConnector"
import * as SqliteDatabase from "@kelpie/sqlite/SqliteDatabase"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { writeError } from "./internal/databaseFile.ts"
import { type Known, type Plan, planRows } from "./internal/sinkPlan.ts"
import { type Row, rowOf } from "./internal/sinkRow.ts"
import { version } from "./internal/version.ts"

const config = {
  database: ConfigKey.String("database", {
    doc: "Path of the database file. It is created if it is missing; its folder has to exist.",
    importance: "high",
    check: (file: string) => file === "" ? "the path is empty" : undefined
  }),
  tableNameFormat: ConfigKey.String("table.name.format", {
    default: "${topic}",
    doc: "The name of a record's table; ${topic} stands for its topic.",
    check: (format: string) => format === "" ? "the name is empty" : undefined
  }),
  insertMode: ConfigKey.Literals(["insert", "upsert"])("insert.mode", {
    default: "insert",
    doc:
      "insert adds a row for each record. upsert changes the row with the same pk.fields, if there is one; so a record that comes twice does no harm."
  }),
  primaryKey: ConfigKey.List("pk.fields", {
    default: [],
    doc:
      "The members that name a row: of the value, or else of the key. A key that is not a struct is the one member itself. They become the primary key of a table that is created."
  }),
  autoCreate: ConfigKey.Boolean("auto.create", {
    default: true,
    doc: "Creates a missing table, from the schema of the first record or, without one, from its members."
  }),
  autoEvolve: ConfigKey.Boolean("auto.evolve", {
    default: false,
    doc: "Adds a column for a member that the table has none for. Otherwise such a record is refused."
  }),
  busyTimeout: ConfigKey.Millis("busy.timeout.ms", {
    default: Duration.seconds(5),
    min: 0,
    doc: "How long a lock of another connection is waited for before a batch is retried.",
    importance: "low"
  })
}

/**
 * Each batch is one transaction. A value is a struct or an object, and its members are columns; a list, a map or an object
 * inside it is kept as JSON text, a date as ISO text.
 *
 * A record that cannot be a row, and one that a constraint refuses, is given up alone; the others are written after that, so a
 * task that does not tolerate errors has written nothing of the batch. A locked database is transient.
 */
export const SqliteSink = SinkConnector.make("SqliteSink", {
  version,
  doc: "Writes records as rows of a SQLite database, and creates the tables.",
  config,
  validate: (config) =>
    Effect.succeed(
      config.insertMode === "upsert" && config.primaryKey.length === 0
        ? [{ property: "primaryKey", message: "insert.mode=upsert needs pk.fields: the members that name a row" }]
        : []
    ),
  task: Effect.fnUntraced(function*({ config, report }) {
    const toError = writeError({ file: config.database, busyTimeout: config.busyTimeout })
    const database = yield* Effect.mapError(
      SqliteDatabase.open({ file: config.database, busyTimeoutMillis: Duration.toMillis(config.busyTimeout) }),
      toError
    )
    const tables = new Tables(database)
    /** Writes the rows, or gives up those that cannot be written; gives what is still to be written. */
    const write = Effect.fnUntraced(function*(
      rows: ReadonlyArray<Row>
    ): Effect.fn.Return<ReadonlyArray<Row>, ConnectorError> {
      const plan = planRows(rows, yield* Effect.mapError(tables.of(rows), toError), config)
      if (plan.refused.length > 0) return yield* giveUp(rows, plan.refused, report)
      const written = yield* Effect.result(database.run(plan.statements))
      if (Result.isSuccess(written)) {
        tables.set(plan.known)
        return []
      }
      // what was known may be out of date: somebody dropped a table, or another task added a column
      if (written.failure.code === "other" && tables.forget()) return rows
      if (written.failure.code !== "constraint") return yield* toError(written.failure)
      const refused = yield* Effect.mapError(refusedBy(database, plan), toError)
      // a constraint that is checked when the transaction ends has no record to blame
      return refused.length === 0 ? yield* toError(written.failure) : yield* giveUp(rows, refused, report)
    })
    const put = Effect.fnUntraced(function*(records: ReadonlyArray<SinkRecord>) {
      let rows = yield* toRows(records, config, report)
      while (rows.length > 0) rows = yield* write(rows)
    })
    return { put }
  })
})

type Report = SinkConnector.ReportContext<unknown>["report"]
type Refused = ReadonlyArray<readonly [row: Row, reason: string]>

const refusal = (reason: string): PermanentError => new PermanentError({ message: `SqliteSink: ${reason}` })

const toRows = Effect.fnUntraced(function*(
  records: ReadonlyArray<SinkRecord>,
  options: Parameters<typeof rowOf>[1],
  report: Report
): Effect.fn.Return<ReadonlyArray<Row>, ConnectorError> {
  const rows: Array<Row> = []
  for (const record of records) {
    const row = rowOf(record, options)
    if (Result.isSuccess(row)) rows.push(row.success)
    else yield* report(record, refusal(row.failure))
  }
  return rows
})

/** Reports the refused rows; gives the others. */
const giveUp = Effect.fnUntraced(function*(rows: ReadonlyArray<Row>, refused: Refused, report: Report) {
  const gone = new Set<Row>()
  for (const [row, reason] of refused) {
    yield* report(row.record, refusal(reason))
    gone.add(row)
  }
  return rows.filter((row) => !gone.has(row))
})

const refusedBy = (
  database: SqliteDatabase.SqliteDatabase,
  plan: Plan
): Effect.Effect<Refused, SqliteDatabase.SqliteError> =>
  Effect.map(database.attempt(plan.statements), (refusals) =>
    refusals.flatMap(({ index, message, statement }) => {
      const row = plan.rows[statement]?.[index]
      return row === undefined ? [] : [[row, message] as const]
    }))

/** The columns of the tables that were written to, as far as they are known. */
class Tables {
  readonly #database: SqliteDatabase.SqliteDatabase
  #known = new Map<string, ReadonlySet<string> | undefined>()
  #fresh = false

  constructor(database: SqliteDatabase.SqliteDatabase) {
    this.#database = database
  }

  /** Reads the columns of the tables that are not known. */
  readonly of = Effect.fnUntraced(
    { self: this },
    function*(rows: ReadonlyArray<Row>): Effect.fn.Return<Known, SqliteDatabase.SqliteError> {
      this.#fresh = this.#known.size === 0
      for (const table of new Set(rows.map((row) => row.table))) {
        if (this.#known.get(table) !== undefined) continue
        const { rows: columns } = yield* this.#database.table("SELECT lower(name) FROM pragma_table_info(?)", [table])
        this.#known.set(table, columns.length === 0 ? undefined : new Set(columns.map(([name]) => String(name))))
      }
      return this.#known
    }
  )

  set(known: Known): void {
    this.#known = new Map(known)
  }

  /** False if all of it had just been read: then there is nothing to learn by reading it again. */
  forget(): boolean {
    this.#known.clear()
    return !this.#fresh
  }
}
