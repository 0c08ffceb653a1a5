/** Child processes as promises. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"

/** How a process ended, and what it said. */
export interface Ended {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

/** Starts a program. */
export const start = (
  command: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv }
): ChildProcessWithoutNullStreams =>
  spawn(command, args, { cwd: options.cwd, env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", ...options.env } })

/** Waits for its end. */
export const ended = (child: ChildProcessWithoutNullStreams): Promise<Ended> => {
  let output = ""
  let errors = ""
  child.stdout.on("data", (chunk) => {
    output += String(chunk)
  })
  child.stderr.on("data", (chunk) => {
    errors += String(chunk)
  })
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, output, errors }))
  })
}

/** Waits for a text in what it prints; rejects when it ends before. */
export const said = (child: ChildProcessWithoutNullStreams, text: RegExp): Promise<void> =>
  new Promise((resolve, reject) => {
    let output = ""
    child.stdout.on("data", (chunk) => {
      output += String(chunk)
      if (text.test(output)) resolve()
    })
    child.once("close", () => reject(new Error(`it ended and had not said ${text}: ${output}`)))
  })

/** Ends it as an operator does, and waits. */
export const stop = async (child: ChildProcessWithoutNullStreams): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, "close")
  child.kill("SIGINT")
  await closed
}

/** A port that nobody listens on. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (address === null || typeof address === "string") throw new Error("a port has a number")
  return address.port
}
