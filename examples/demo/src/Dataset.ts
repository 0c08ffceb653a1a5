/** The tables of the demo: real data, as the npm package `vega-datasets` ships it. */
import * as Effect from "effect/Effect"
import * as Csv from "effect/encoding/Csv"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"
import * as Stream from "effect/Stream"
import * as path from "node:path"
import { fileURLToPath } from "node:url"

/** A table in memory. The first column is `id`, the number of the row from 1. */
export interface Dataset {
  readonly name: string
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: "INTEGER" | "REAL" | "TEXT" }>
  readonly rows: ReadonlyArray<ReadonlyArray<string | number | null>>
}

const folder = fileURLToPath(new URL("../data", import.meta.resolve("vega-datasets")))

/** Reads `<name>.csv`. */
export const read = Effect.fn("Dataset.read")(function*(
  name: string
): Effect.fn.Return<Dataset, PlatformError.PlatformError | Csv.CsvError, FileSystem.FileSystem> {
  const text = yield* (yield* FileSystem.FileSystem).readFileString(path.join(folder, `${name}.csv`))
  const [header = [], ...lines] = yield* Stream.make(text).pipe(
    Stream.pipeThroughChannel(Csv.decodeString({ ignoreEmptyLines: true })),
    Stream.runCollect
  )
  const numeric = header.map((_, column) => lines.every((cells) => isNumber(cells[column] ?? "")))
  const columns = header.map((name, column) => ({ name, type: numeric[column] ? "REAL" as const : "TEXT" as const }))
  const rows = lines.map((cells, line) => [
    line + 1,
    ...cells.map((cell, column) => cell === "" ? null : numeric[column] ? Number(cell) : cell)
  ])
  return { name, columns: [{ name: "id", type: "INTEGER" }, ...columns], rows }
})

/** A code such as 00501 is none: its zeros would be lost. */
const isNumber = (cell: string): boolean => /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?)?$/.test(cell)
