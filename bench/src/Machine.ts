/** Says where a measurement was made: without that a number means nothing. */
import { readFileSync } from "node:fs"
import * as os from "node:os"

/** The machine, the versions and the moment. */
export interface Machine {
  readonly date: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly platform: string
  readonly node: string
  readonly v8: string
  readonly sqlite: string
  readonly effect: string
  /** The load average of the last minute when the run began: what else the machine had to do. */
  readonly load: number
}

const effectVersion = (): string => {
  const file = new URL("../package.json", import.meta.resolve("effect"))
  const { version }: { readonly version?: unknown } = JSON.parse(readFileSync(file, "utf8"))
  return String(version)
}

const rounded = (value: number): number => Math.round(value * 100) / 100

/** Looks now. */
export const describe = (): Machine => ({
  date: new Date().toISOString(),
  cpu: os.cpus()[0]?.model.trim() ?? "unknown",
  cores: os.availableParallelism(),
  memoryGiB: Math.round(os.totalmem() / 2 ** 30),
  platform: `${os.platform()} ${os.release()} ${os.arch()}`,
  node: process.version,
  v8: process.versions.v8,
  sqlite: process.versions.sqlite ?? "unknown",
  effect: effectVersion(),
  load: rounded(os.loadavg()[0] ?? 0)
})

/** One line of it. */
export const format = (machine: Machine): string =>
  `${machine.date}, ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.platform}; ` +
  `Node ${machine.node}, V8 ${machine.v8}, SQLite ${machine.sqlite}, Effect ${machine.effect}; ` +
  `load average ${machine.load} at the start, ${rounded(os.loadavg()[0] ?? 0)} at the end`
