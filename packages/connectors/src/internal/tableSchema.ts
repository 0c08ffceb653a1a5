/** The tables of a SQLite database, their columns, and the schemas of their rows. */
import type { ConnectSchema, Field, Type } from "@kelpie/core/ConnectSchema"
import type { SqliteDatabase, SqliteError, Value } from "@kelpie/sqlite/SqliteDatabase"
import * as Effect from "effect/Effect"

/** A column as it is declared. */
export interface Column {
  readonly name: string
  readonly type: Type
  /** Its place in the primary key, from 1; 0 outside. */
  readonly primaryKey: number
}

/** A table. */
export interface TableInfo {
  readonly name: string
  readonly columns: ReadonlyArray<Column>
  readonly hasRowid: boolean
}

/** The ordinary tables (no views, no virtual tables, nothing of SQLite's own) in the order of their creation. */
export const listTables = (database: SqliteDatabase): Effect.Effect<ReadonlyArray<string>, SqliteError> =>
  Effect.map(
    database.table(
      `SELECT s.name FROM sqlite_schema AS s JOIN pragma_table_list AS l ON l.name = s.name
       WHERE l.schema = 'main' AND l.type = 'table' AND s.type = 'table' AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       ORDER BY s.rowid`
    ),
    ({ rows }) => rows.map(([name]) => String(name))
  )

/** A table's columns; `undefined` if there is no such table. */
export const describeTable = Effect.fnUntraced(function*(
  database: SqliteDatabase,
  table: string
): Effect.fn.Return<TableInfo | undefined, SqliteError> {
  const { rows } = yield* database.table(
    `SELECT c.name, c.type, c.pk, l.wr, l.name FROM pragma_table_list AS l JOIN pragma_table_xinfo(l.name) AS c
     WHERE l.schema = 'main' AND l.type = 'table' AND lower(l.name) = lower(?) AND c.hidden <> 1 ORDER BY c.cid`,
    [table]
  )
  const [first] = rows
  return first === undefined ? undefined : {
    name: String(first[4]),
    hasRowid: first[3] === 0,
    columns: rows.map(([name, type, primaryKey]) => ({
      name: String(name),
      type: declaredType(String(type)),
      primaryKey: Number(primaryKey)
    }))
  }
})

/**
 * What a declared type stands for. SQLite takes any words and goes by what they contain; dates and times it keeps as text,
 * by custom, in spite of the words. A column that is not declared holds text, for want of better.
 */
const declaredType = (declared: string): Type => {
  const words = declared.toUpperCase()
  if (words.includes("INT") || words.includes("BOOL")) return "int64"
  if (/CHAR|CLOB|TEXT|DATE|TIME/.test(words)) return "string"
  if (words.includes("BLOB")) return "bytes"
  return words === "" ? "string" : "double"
}

const typeOf = (value: Exclude<Value, null>): Type =>
  typeof value === "string"
    ? "string"
    : typeof value === "bigint"
    ? "int64"
    : typeof value === "number"
    ? Number.isSafeInteger(value) ? "int64" : "double"
    : "bytes"

// a whole number may be a double, and the other way round it is not
const fits = (type: Type, value: Exclude<Value, null>): boolean =>
  typeOf(value) === type || (type === "double" && typeof value === "number")

/** A row as a value with its schema. */
export interface SchemaAndRow {
  readonly value: Readonly<Record<string, Value>>
  readonly valueSchema: ConnectSchema
}

/** More than this many shapes of rows in one table are not remembered. */
const maxShapes = 256

/**
 * Gives a function from the values of a row, in the order of the columns, to a struct with optional fields.
 *
 * SQLite lets a value have another type than its column is declared with. Such a value is kept as it is, and its record gets
 * a schema in which that field has the type of the value: a schema always tells the truth about its value.
 */
export const rowReader = ({ columns, name }: TableInfo): (values: ReadonlyArray<Value>) => SchemaAndRow => {
  const schemaOf = (types: ReadonlyArray<Type>): ConnectSchema => ({
    type: "struct",
    name,
    fields: columns.map((column, i): Field => ({ field: column.name, type: types[i] ?? column.type, optional: true }))
  })
  const declared = schemaOf([])
  const shapes = new Map<string, ConnectSchema>()
  const actual = (values: ReadonlyArray<Value>): ConnectSchema => {
    const types = columns.map(({ type }, i) => {
      const value = values[i] ?? null
      return value === null || fits(type, value) ? type : typeOf(value)
    })
    const shape = types.join()
    const schema = shapes.get(shape) ?? schemaOf(types)
    if (shapes.size < maxShapes) shapes.set(shape, schema)
    return schema
  }
  return (values) => {
    const row: Record<string, Value> = {}
    let asDeclared = true
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]
      if (column === undefined) continue
      const value = values[i] ?? null
      row[column.name] = value
      if (value !== null && !fits(column.type, value)) asDeclared = false
    }
    return { value: row, valueSchema: asDeclared ? declared : actual(values) }
  }
}
