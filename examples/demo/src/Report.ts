/** The count at the end. */
import * as Effect from "effect/Effect"
import * as DatabaseCopy from "./DatabaseCopy.ts"
import type { Dataset } from "./Dataset.ts"
import type { Run } from "./Run.ts"

/** One table at the source and in its copies. */
export interface TableCount {
  readonly table: string
  readonly source: number
  readonly file: number
  /** Lines more than rows. */
  readonly duplicates: number
  readonly database: number
  /** Rows that one of the copies has not, or has otherwise. */
  readonly missing: number
}

/** Counts a table. */
export const count = Effect.fn("Report.count")(function*({ database, file, site }: Run, table: Dataset) {
  yield* file.refresh
  const { duplicates, ids } = file.arrived(table.name)
  const source = yield* Effect.scoped(
    Effect.flatMap(DatabaseCopy.counter(site.database), (rows) => rows.count(table.name))
  )
  const missing = (yield* DatabaseCopy.missing(site.database, site.target, table)) +
    table.rows.filter(([id]) => typeof id !== "number" || !ids.has(id)).length
  return {
    table: table.name,
    source,
    file: ids.size,
    duplicates,
    database: yield* database.count(table.name),
    missing
  } satisfies TableCount
})

/** What is wrong with a table; nothing, if every count is right. Duplicates are allowed: delivery is at least once. */
export const problems = (
  expected: number,
  { database, file, missing, source, table }: TableCount
): ReadonlyArray<string> => [
  ...(source === expected ? [] : [`${table} has ${source} rows at the source, not ${expected}`]),
  ...(file === source ? [] : [`${table} has ${file} rows in the file, not ${source}`]),
  ...(database === source ? [] : [`${table} has ${database} rows in the database, not ${source}`]),
  ...(missing === 0 ? [] : [`${missing} rows of ${table} are missing`])
]

/** The counts as a table of text. */
export const format = (counts: ReadonlyArray<TableCount>): string => {
  const columns = ["table", "source", "file", "duplicates", "database", "missing"] as const
  const cells = [columns, ...counts.map((count) => columns.map((column) => count[column].toLocaleString("en")))]
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => (row[index] ?? "").length)))
  return cells.map((row) =>
    row.map((cell, index) => index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)).join("  ")
  ).join("\n")
}
