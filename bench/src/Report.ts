/** What a benchmark found: printed as a table, and written to `results/` with `--write`. */
import { mkdirSync, writeFileSync } from "node:fs"
import * as Machine from "./Machine.ts"
import type { Compared } from "./Rounds.ts"

/** One measure. */
export interface Row {
  readonly measure: string
  readonly value: number
  readonly unit: string
  /** The number that it is built for. */
  readonly budget?: { readonly atLeast: number } | { readonly atMost: number } | undefined
  /** What else there is to say. */
  readonly note?: string | undefined
}

const number = (value: number): string =>
  Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString("en-US")
    : Math.abs(value) >= 100
    ? value.toFixed(0)
    : value.toFixed(value !== 0 && Math.abs(value) < 1 ? 3 : 2)

const met = ({ budget, value }: Row): boolean | undefined =>
  budget === undefined ? undefined : "atLeast" in budget ? value >= budget.atLeast : value <= budget.atMost

const cells = (row: Row): ReadonlyArray<string> => {
  const { budget, measure, note = "", unit, value } = row
  const wanted = budget === undefined
    ? ""
    : "atLeast" in budget
    ? `>= ${number(budget.atLeast)}`
    : `<= ${number(budget.atMost)}`
  const answer = met(row)
  return [measure, `${number(value)} ${unit}`, wanted, answer === undefined ? "" : answer ? "yes" : "no", note]
}

const table = (rows: ReadonlyArray<Row>): string => {
  const all = [["measure", "value", "budget", "met", "note"], ...rows.map(cells)]
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  const [head = [], ...body] = all.map(line)
  return [head, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body].join("\n")
}

/** The rows of a comparison: both throughputs, their ratio, and the control. */
export const compared = (
  name: string,
  unit: string,
  { control, floor, kelpie, ratio }: Compared,
  budget: { readonly perSecond?: number | undefined; readonly ratio?: number | undefined }
): ReadonlyArray<Row> => {
  const best = (samples: Compared["kelpie"]) =>
    `best ${number(samples.best)}, ${number(samples.cpuSeconds)} s of processor time, ${samples.all.length} rounds`
  const atLeast = (value: number | undefined) => value === undefined ? undefined : { atLeast: value }
  return [
    { measure: `${name}: Kelpie`, value: kelpie.median, unit, budget: atLeast(budget.perSecond), note: best(kelpie) },
    { measure: `${name}: floor`, value: floor.median, unit, note: best(floor) },
    { measure: `${name}: Kelpie / floor`, value: ratio, unit: "", budget: atLeast(budget.ratio) },
    { measure: `${name}: floor / floor (control)`, value: control, unit: "", note: "1 without noise" }
  ]
}

/** A benchmark that is running. */
export class Report {
  readonly #name: string
  readonly #about: string
  readonly #machine = Machine.describe()
  readonly #rows: Array<Row> = []

  /** `name` names the files in `results/`; `about` says what is measured, and against what. */
  constructor(name: string, about: string) {
    this.#name = name
    this.#about = about
    process.stdout.write(`${name}: ${about}\n`)
  }

  add(...rows: ReadonlyArray<Row>): void {
    for (const row of rows) {
      this.#rows.push(row)
      process.stdout.write(`  ${cells(row).filter((cell) => cell !== "").join(" | ")}\n`)
    }
  }

  /** Prints everything, and writes it when asked to. */
  finish(): void {
    const where = Machine.format(this.#machine)
    const text = `${this.#about}\n\n${table(this.#rows)}\n\n${where}\n`
    process.stdout.write(`\n${table(this.#rows)}\n\n${where}\n\n`)
    if (!process.argv.includes("--write")) return
    const folder = new URL("../results/", import.meta.url)
    mkdirSync(folder, { recursive: true })
    writeFileSync(new URL(`${this.#name}.md`, folder), `# ${this.#name}\n\n${text}`)
    const rows = this.#rows.map((row) => ({ ...row, met: met(row) }))
    writeFileSync(
      new URL(`${this.#name}.json`, folder),
      `${JSON.stringify({ machine: this.#machine, rows }, null, 2)}\n`
    )
  }
}
