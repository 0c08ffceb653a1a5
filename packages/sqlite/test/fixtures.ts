/** What the tests share: fresh directories, and child processes that are told what to do and say what they did. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { createInterface, type Interface } from "node:readline"
import { fileURLToPath } from "node:url"

/** How long a test with real files and processes may take on a busy machine, in milliseconds. */
export const patience = 60_000

/** A fresh directory, readable for every user, that goes with the scope. */
export const temporary: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    const directory = await mkdtemp(path.join(tmpdir(), "kelpie-sqlite-"))
    await chmod(directory, 0o755)
    return directory
  }),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

/** A turn of the event loop: does not happen while the main thread is blocked. */
export const turn: Effect.Effect<void> = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Turns the event loop until something is so. */
export const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (so) => so ? Effect.void : Effect.andThen(turn, until(condition)))

/** A child process that talks in lines. */
export interface Child {
  readonly process: ChildProcess
  /** The next line that it writes; fails the test when it ends instead. */
  readonly line: Effect.Effect<string>
  /** What it wrote since, to its end. */
  readonly rest: Effect.Effect<ReadonlyArray<string>>
  readonly tell: (line: string) => Effect.Effect<void>
  readonly kill: Effect.Effect<void>
}

const talk = (child: ChildProcess, lines: Interface): Child => {
  const iterator = lines[Symbol.asyncIterator]()
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  return {
    process: child,
    line: Effect.promise(async () => {
      const next = await iterator.next()
      if (next.done === true) throw new Error("the child process ended")
      return next.value
    }),
    rest: Effect.promise(async () => {
      const rest: Array<string> = []
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) rest.push(next.value)
      return rest
    }),
    tell: (line) => Effect.sync(() => void child.stdin?.write(`${line}\n`)),
    kill: Effect.promise(async () => {
      child.kill("SIGKILL")
      await exited
    })
  }
}

/** Starts a file of `children/`; it is killed at the scope's end. */
export const start = (
  name: string,
  args: ReadonlyArray<string>,
  options: SpawnOptions = {}
): Effect.Effect<Child, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const file = fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url))
      const child = spawn(process.execPath, [file, ...args], { ...options, stdio: ["pipe", "pipe", "inherit"] })
      if (child.stdout === null) throw new Error("the child process has no output")
      return talk(child, createInterface({ input: child.stdout }))
    }),
    (child) =>
      Effect.promise(async () => {
        if (child.process.exitCode !== null || child.process.signalCode !== null) return
        const exited = new Promise((resolve) => child.process.once("exit", resolve))
        child.process.kill("SIGKILL")
        await exited
      })
  )
