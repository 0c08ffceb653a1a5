/** Writes tables into a SQLite database, as an application beside the worker would. */
import * as SqliteDatabase from "@kelpie/sqlite/SqliteDatabase"
import * as Effect from "effect/Effect"
import type { Dataset } from "./Dataset.ts"

/** Adds the tables, all in one transaction: whoever reads the database sees none of them or all. */
export const addTables = Effect.fn("sourceDatabase.addTables")(
  function*(file: string, tables: ReadonlyArray<Dataset>) {
    const database = yield* SqliteDatabase.open({ file })
    return yield* database.run(tables.flatMap(({ columns, name, rows }) => [
      { sql: `CREATE TABLE ${SqliteDatabase.quote(name)} (${columns.map(definition).join(", ")})` },
      {
        sql: `INSERT INTO ${SqliteDatabase.quote(name)} VALUES (${columns.map(() => "?").join(", ")})`,
        paramsList: rows
      }
    ]))
  },
  Effect.scoped
)

const definition = ({ name, type }: Dataset["columns"][number]): string =>
  `${SqliteDatabase.quote(name)} ${type}${name === "id" ? " PRIMARY KEY" : ""}`
