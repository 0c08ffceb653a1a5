/** Counts what the database sink has written, and compares it with the source. */
import * as SqliteDatabase from "@kelpie/sqlite/SqliteDatabase"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { Dataset } from "./Dataset.ts"

/** Counts rows. */
export interface RowCounter {
  /** Rows of a table; none while the table or the database is missing. */
  readonly count: (table: string) => Effect.Effect<number>
}

/** Counts the rows of a database that may come later. */
export const counter = Effect.fnUntraced(function*(file: string): Effect.fn.Return<RowCounter, never, Scope.Scope> {
  const scope = yield* Effect.scope
  let opened: SqliteDatabase.SqliteDatabase | undefined
  const open = SqliteDatabase.open({ file, readOnly: true }).pipe(
    Effect.tap((database) => Effect.sync(() => opened = database)),
    Scope.provide(scope)
  )
  return {
    count: (table) =>
      Effect.suspend(() => opened === undefined ? open : Effect.succeed(opened)).pipe(
        Effect.flatMap((database) => database.table(`SELECT count(*) FROM ${SqliteDatabase.quote(table)}`)),
        Effect.map(({ rows }) => Number(rows[0]?.[0] ?? 0)),
        Effect.orElseSucceed(() => 0)
      )
  }
})

/** Rows of a table at the source that the copy has not, or has otherwise. */
export const missing = Effect.fn("DatabaseCopy.missing")(
  function*(source: string, copy: string, { columns, name }: Dataset) {
    const database = yield* SqliteDatabase.open({ file: copy })
    yield* database.all("ATTACH DATABASE ? AS source", [source])
    const list = columns.map((column) => SqliteDatabase.quote(column.name)).join(", ")
    const table = SqliteDatabase.quote(name)
    const { rows } = yield* database.table(
      `SELECT count(*) FROM (SELECT ${list} FROM source.${table} EXCEPT SELECT ${list} FROM main.${table})`
    )
    return Number(rows[0]?.[0])
  },
  Effect.scoped
)
