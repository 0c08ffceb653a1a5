/** Reads one table in batches, in the order of a cursor that only grows. */
import { PermanentError } from "@kelpie/core/ConnectorError"
import type { SourceRecord } from "@kelpie/core/ConnectRecord"
import { quote, type SqliteDatabase, type SqliteError, type Value } from "@kelpie/sqlite/SqliteDatabase"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { rowReader, type TableInfo } from "./tableSchema.ts"

/** How tables are read. */
export interface Options {
  readonly mode: "incrementing" | "bulk"
  readonly incrementingColumn: string
  readonly topicPrefix: string
  readonly maxRows: number
}

/** The offset of a table: where incrementing reading goes on, or how far the present pass of a bulk reading is. */
export type Offset =
  | { readonly column: string; readonly value: number | string }
  | { readonly rows: number }

/** Some rows of a table. */
export interface Rows {
  readonly records: ReadonlyArray<SourceRecord>
  readonly offset: Offset
  /** There may be more. */
  readonly full: boolean
}

/** One table that is read. */
export class TableReader {
  readonly table: string
  readonly #options: Options
  readonly #stored: Offset | undefined
  #query: Query | undefined
  #cursor: ReadonlyArray<Value> | undefined
  #rows = 0

  constructor(table: string, options: Options, stored: Offset | undefined) {
    this.table = table
    this.#options = options
    this.#stored = stored
  }

  /** Takes the columns that the table has now; says why it cannot be read. */
  prepare(info: TableInfo): Result.Result<void, PermanentError> {
    const chosen = cursorOf(info, this.#options)
    if (Result.isFailure(chosen)) return Result.fail(new PermanentError({ message: chosen.failure }))
    const before = this.#query?.cursor.map((_) => _.name).join()
    this.#query = new Query(info, chosen.success)
    // nothing was read yet, or the order is another one now
    if (before !== chosen.success.map((_) => _.name).join()) this.#cursor = this.#resumed(chosen.success)
    return Result.succeed(undefined)
  }

  /** A table that was dropped is not read any more, until it is back. */
  forget(): void {
    this.#query = undefined
  }

  /** Begins a bulk reading anew. */
  rewind(): void {
    if (this.#options.mode === "incrementing") return
    this.#cursor = undefined
    this.#rows = 0
  }

  /** The rows behind the cursor; moves it. `undefined` if there are none. */
  readonly next = Effect.fnUntraced(
    { self: this },
    function*(database: SqliteDatabase): Effect.fn.Return<Rows | undefined, SqliteError> {
      const query = this.#query
      if (query === undefined) return undefined
      const { maxRows, mode, topicPrefix } = this.#options
      const { rows } = yield* this.#cursor === undefined
        ? database.table(query.first, [maxRows])
        : database.table(query.following, [...this.#cursor, maxRows])
      const last = rows.at(-1)
      if (last === undefined) return undefined
      this.#cursor = last.slice(query.width)
      this.#rows += rows.length
      const topic = topicPrefix + this.table
      const [column] = query.cursor
      const value = this.#cursor[0]
      return {
        records: rows.map((values) => ({ topic, key: null, ...query.read(values) })),
        full: rows.length === maxRows,
        offset: mode === "bulk" || column === undefined
          ? { rows: this.#rows }
          // an integer that JSON numbers cannot hold, or text
          : { column: column.name, value: typeof value === "number" ? value : String(value) }
      }
    }
  )

  #resumed(cursor: ReadonlyArray<Cursor>): ReadonlyArray<Value> | undefined {
    const stored = this.#stored
    const [column] = cursor
    if (this.#options.mode === "bulk" || stored === undefined || !("column" in stored)) return undefined
    if (stored.column !== column?.name) return undefined
    const isBig = column.isInteger && typeof stored.value === "string" && /^-?\d+$/.test(stored.value)
    return [isBig ? BigInt(stored.value) : stored.value]
  }
}

/** A column that orders the rows: what it is called in offsets, and in SQL. */
interface Cursor {
  readonly name: string
  readonly sql: string
  readonly isInteger: boolean
}

class Query {
  readonly cursor: ReadonlyArray<Cursor>
  /** The number of columns that belong to the value; the cursor's stand behind them. */
  readonly width: number
  readonly read: ReturnType<typeof rowReader>
  readonly first: string
  readonly following: string

  constructor(info: TableInfo, cursor: ReadonlyArray<Cursor>) {
    this.cursor = cursor
    this.width = info.columns.length
    this.read = rowReader(info)
    const order = cursor.map((_) => _.sql).join(", ")
    const from = `SELECT ${[...info.columns.map((_) => quote(_.name)), order].join(", ")} FROM ${quote(info.name)}`
    this.first = `${from} WHERE ${cursor.map((_) => `${_.sql} IS NOT NULL`).join(" AND ")} ORDER BY ${order} LIMIT ?`
    this.following = `${from} WHERE (${order}) > (${cursor.map(() => "?").join(", ")}) ORDER BY ${order} LIMIT ?`
  }
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const cursorOf = (
  info: TableInfo,
  { incrementingColumn, mode }: Options
): Result.Result<ReadonlyArray<Cursor>, string> => {
  const named = info.columns.find((column) => same(column.name, incrementingColumn))
  const key = info.columns.filter((column) => column.primaryKey > 0).sort((a, b) => a.primaryKey - b.primaryKey)
  const cursors = (columns: TableInfo["columns"]) =>
    Result.succeed(columns.map((_): Cursor => ({ name: _.name, sql: quote(_.name), isInteger: _.type === "int64" })))
  if (mode === "incrementing" && named !== undefined) return cursors([named])
  if (mode === "incrementing" && !same(incrementingColumn, "rowid")) {
    return Result.fail(
      `table ${info.name} has no column ${incrementingColumn}: correct incrementing.column.name, or leave the table out of tables`
    )
  }
  // a column may have the name of the rowid; it answers to three
  const rowid = ["rowid", "_rowid_", "oid"].find((name) => !info.columns.some((column) => same(column.name, name)))
  if (info.hasRowid && rowid !== undefined) return Result.succeed([{ name: "rowid", sql: rowid, isInteger: true }])
  if (mode === "bulk" || (key.length === 1 && key[0]?.type === "int64")) return cursors(key)
  return Result.fail(
    `table ${info.name} has no rowid: name an incrementing.column.name that it has, or leave the table out of tables`
  )
}
