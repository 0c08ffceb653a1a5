/** Turns rows into the statements of one transaction. */
import { quote, type Statement, type Value } from "@kelpie/sqlite/SqliteDatabase"
import { columnType, type Row } from "./sinkRow.ts"

/** How rows are written. */
export interface Options {
  readonly insertMode: "insert" | "upsert"
  readonly primaryKey: ReadonlyArray<string>
  readonly autoCreate: boolean
  readonly autoEvolve: boolean
}

/** The tables that are known: their columns in lower case, or `undefined` for a table that is not there. */
export type Known = ReadonlyMap<string, ReadonlySet<string> | undefined>

/** What to do. */
export interface Plan {
  readonly statements: ReadonlyArray<Statement>
  /** The row of each parameter set, by statement; none for a statement that changes tables. */
  readonly rows: ReadonlyArray<ReadonlyArray<Row>>
  readonly refused: ReadonlyArray<readonly [row: Row, reason: string]>
  /** The tables as they are once the plan is carried out. */
  readonly known: Known
}

interface Group {
  readonly columns: ReadonlyArray<string>
  readonly rows: Array<Row>
}

/** Neighbouring rows of a table with the same columns share a statement; the order within a table is kept. */
export const planRows = (rows: ReadonlyArray<Row>, before: Known, options: Options): Plan => {
  const known = new Map(before)
  const changes: Array<Statement> = []
  const refused: Array<readonly [Row, string]> = []
  const groups = new Map<string, Array<Group>>()
  for (const row of rows) {
    const change = fit(row, known, options)
    if ("reason" in change) {
      refused.push([row, change.reason])
      continue
    }
    changes.push(...change.statements)
    const ofTable = groups.get(row.table) ?? []
    const last = ofTable.at(-1)
    if (last !== undefined && equal(last.columns, row.columns)) last.rows.push(row)
    else ofTable.push({ columns: row.columns, rows: [row] })
    groups.set(row.table, ofTable)
  }
  const inserts = [...groups].flatMap(([table, ofTable]) =>
    ofTable.map((group) => ({
      rows: group.rows,
      statement: {
        sql: insertSql(table, group.columns, options),
        paramsList: group.rows.map((row): ReadonlyArray<Value> => row.values)
      }
    }))
  )
  return {
    statements: [...changes, ...inserts.map((_) => _.statement)],
    rows: [...changes.map(() => []), ...inserts.map((_) => _.rows)],
    refused,
    known
  }
}

const equal = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean =>
  a.length === b.length && a.every((column, i) => column === b[i])

type Fit = { readonly statements: ReadonlyArray<Statement> } | { readonly reason: string }
const nothing: Fit = { statements: [] }

/** Makes the table fit the row, as far as that is allowed. */
const fit = (row: Row, known: Map<string, ReadonlySet<string> | undefined>, options: Options): Fit => {
  const columns = known.get(row.table)
  if (columns === undefined) {
    if (!options.autoCreate) return { reason: `there is no table ${row.table}: create it, or set auto.create=true` }
    known.set(row.table, new Set(row.columns.map(lower)))
    return { statements: [{ sql: createSql(row, options.primaryKey) }] }
  }
  const missing = row.columns.filter((column) => !columns.has(lower(column)))
  if (missing.length === 0) return nothing
  if (!options.autoEvolve) {
    return { reason: `table ${row.table} has no column ${missing.join(", ")}: add it, or set auto.evolve=true` }
  }
  known.set(row.table, new Set([...columns, ...missing.map(lower)]))
  return {
    statements: missing.map((column) => ({
      sql: `ALTER TABLE ${quote(row.table)} ADD COLUMN ${quote(column)} ${columnType(row, column)}`
    }))
  }
}

// names are the same in upper and lower case for SQLite
const lower = (name: string): string => name.toLowerCase()

const createSql = (row: Row, primaryKey: ReadonlyArray<string>): string => {
  const definitions = row.columns.map((column) => `${quote(column)} ${columnType(row, column)}`)
  if (primaryKey.length > 0) definitions.push(`PRIMARY KEY (${primaryKey.map(quote).join(", ")})`)
  // another task may create it at the same time
  return `CREATE TABLE IF NOT EXISTS ${quote(row.table)} (${definitions.join(", ")})`
}

const insertSql = (table: string, columns: ReadonlyArray<string>, { insertMode, primaryKey }: Options): string => {
  const insert = `INSERT INTO ${quote(table)} (${columns.map(quote).join(", ")}) VALUES (${
    columns.map(() => "?").join(", ")
  })`
  if (insertMode === "insert") return insert
  const changed = columns.filter((column) => !primaryKey.includes(column))
  const update = changed.map((column) => `${quote(column)} = excluded.${quote(column)}`).join(", ")
  return `${insert} ON CONFLICT (${primaryKey.map(quote).join(", ")}) DO ${
    changed.length === 0 ? "NOTHING" : `UPDATE SET ${update}`
  }`
}
