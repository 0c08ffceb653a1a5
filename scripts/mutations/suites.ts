/** Runs one suite in a copy of the workspace and tells what it noticed. */
import { spawn } from "node:child_process"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import type { Suite } from "./Mutation.ts"

/** What a suite says of the code that it was run on. */
export type Verdict =
  /** Every test passed, every law held. */
  | { readonly _tag: "Passed" }
  /** A test failed, or a law broke: which one, and how. */
  | { readonly _tag: "Noticed"; readonly by: string; readonly message: string }
  /** It did not come to a test: nothing can be said. */
  | { readonly _tag: "Unclear"; readonly message: string }

interface Ended {
  /** `null`: it was ended, because it took too long. */
  readonly code: number | null
  readonly output: string
}

/** How long a suite may take before it is ended, in milliseconds. */
const limitMillis = 300_000
/** How long the simulation looks for a law that breaks. */
const simulationSeconds = 20

/** Runs a command with this Node; it and what it started are ended at the limit. */
const run = (directory: string, args: ReadonlyArray<string>): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: directory,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1" }
    })
    let output = ""
    const collect = (chunk: Buffer) => {
      output += chunk.toString()
    }
    child.stdout.on("data", collect)
    child.stderr.on("data", collect)
    const end = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL")
    }
    // in a group of its own it does not hear what ends this process
    process.once("exit", end)
    const timer = setTimeout(end, limitMillis)
    child.on("error", reject)
    child.on("close", (code) => {
      clearTimeout(timer)
      process.off("exit", end)
      resolve({ code, output })
    })
  })

const tail = (text: string): string => text.trim().split("\n").slice(-15).join("\n")
const firstLine = (text: string): string => text.trim().split("\n", 1)[0] ?? ""

const simulate = async (root: string): Promise<Verdict> => {
  const { code, output } = await run(root, ["scripts/simulate.ts", "--seconds", `${simulationSeconds}`])
  if (code === 0) return { _tag: "Passed" }
  const broken = /^seed (\d+) with \d+ workers? breaks ([^:]+): (.*)$/m.exec(output)
  if (broken === null) return { _tag: "Unclear", message: tail(output) }
  const [, seed, law, detail] = broken
  return { _tag: "Noticed", by: `simulation, seed ${seed}: ${law}`, message: detail ?? "" }
}

/** The part of the report of vitest that is read. */
interface Report {
  readonly testResults: ReadonlyArray<{
    readonly message: string
    readonly assertionResults: ReadonlyArray<{
      readonly status: string
      readonly fullName: string
      readonly failureMessages: ReadonlyArray<string>
    }>
  }>
}

const test = async (root: string, file: string): Promise<Verdict> => {
  const report = path.join(root, "node_modules", ".mutations.json")
  await fs.rm(report, { force: true })
  const { code, output } = await run(root, [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--project=unit",
    "--reporter=json",
    `--outputFile=${report}`,
    file
  ])
  if (code === 0) return { _tag: "Passed" }
  const text = await fs.readFile(report, "utf8").catch(() => undefined)
  if (code === null || text === undefined) return { _tag: "Unclear", message: tail(output) }
  const { testResults }: Report = JSON.parse(text)
  for (const { assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === "failed")
    if (failed === undefined) continue
    return { _tag: "Noticed", by: failed.fullName, message: firstLine(failed.failureMessages[0] ?? "") }
  }
  // a file that cannot be loaded proves nothing
  return { _tag: "Unclear", message: testResults.map(({ message }) => message).join("\n") || tail(output) }
}

/** Runs a suite on what stands in a copy. */
export const ask = (root: string, suite: Suite): Promise<Verdict> =>
  suite === "simulate" ? simulate(root) : test(root, suite)
