import { assert, describe, it } from "@effect/vitest"
import type { StoreError } from "@kelpie/core"
import { Sqlite } from "@kelpie/sqlite"
import { ScriptedSource } from "@kelpie/testkit"
import { Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile, stat } from "node:fs/promises"
import * as path from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { folder } from "./fixtures/folder.ts"
import * as Numbers from "./fixtures/Numbers.ts"
import * as Running from "./fixtures/Running.ts"

/** A herder in a process of its own: its first line, and its end by SIGKILL. */
const child = (
  directory: string
): Effect.Effect<{ readonly says: string; readonly kill: Effect.Effect<void> }, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const file = fileURLToPath(new URL("./children/solo.ts", import.meta.url))
      const process_ = spawn(process.execPath, [file, directory], { stdio: ["ignore", "pipe", "inherit"] })
      const exited = once(process_, "exit")
      const [says] = await once(createInterface({ input: process_.stdout }), "line")
      const kill = Effect.promise(async () => {
        process_.kill("SIGKILL")
        await exited
      })
      return { says: String(says), kill }
    }),
    ({ kill }) => kill
  )

const numbers = (lines: string) => lines.split("\n").filter((line) => line !== "").map(Number)

describe("a restart", () => {
  it.live("keeps what each connector was asked to be, and its operator's park", () =>
    Effect.gen(function*() {
      const stores = Sqlite.layer({ directory: yield* folder, synchronous: "normal" })
      const source = yield* ScriptedSource.make()
      const states = { running: "RUNNING", paused: "PAUSED", stopped: "STOPPED", parked: "RUNNING" } as const
      const plugins = [source]
      const check = Effect.fnUntraced(function*({ herder, runs, until }: Running.Running) {
        assert.deepStrictEqual(yield* herder.list, Object.keys(states).sort())
        yield* runs("running")
        for (const [name, state] of Object.entries(states)) yield* until(name, (status) => status.state === state)
        const paused = yield* until("paused", ({ tasks }) => tasks[0]?.state === "PAUSED")
        assert.deepStrictEqual([paused.health, paused.tasks.length], ["paused", 2])
        const stopped = yield* herder.status("stopped")
        assert.deepStrictEqual([stopped.health, stopped.tasks.length], ["stopped", 0])
        const { health, reconfiguration } = yield* until(
          "parked",
          (status) => status.reconfiguration.state === "Parked"
        )
        assert.deepStrictEqual([health, reconfiguration.parked], ["degraded", "operator"])
      })
      yield* Effect.scoped(Effect.gen(function*() {
        const running = yield* Running.live({ plugins, stores })
        const { herder, runs } = running
        for (const name of Object.keys(states)) yield* herder.create(name, source.config({ tasks: 2 }))
        for (const name of Object.keys(states)) yield* runs(name)
        yield* herder.pause("paused")
        yield* herder.stop("stopped")
        yield* herder.park("parked")
        yield* check(running)
      }))
      for (let again = 0; again < 2; again++) {
        yield* Effect.scoped(Effect.flatMap(Running.live({ plugins, stores }), check))
      }
      const { herder, runs } = yield* Running.live({ plugins, stores })
      yield* herder.resume("paused")
      yield* herder.resume("stopped")
      yield* herder.unpark("parked")
      for (const name of Object.keys(states)) yield* runs(name)
    }))

  it.live("after SIGKILL goes on at once, and no record is lost", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const stores = Sqlite.layer({ directory, synchronous: "normal" })
      const plugins = [Numbers.Source, Numbers.Sink]
      const file = path.join(directory, "lines.txt")
      const size = Effect.promise(() => stat(file).then(({ size }) => size, () => 0))
      yield* Effect.scoped(Effect.gen(function*() {
        const { herder, runs } = yield* Running.live({ plugins, stores })
        yield* herder.create("sink", Numbers.Sink.config({ file }, { topics: ["numbers"] }))
        yield* herder.create("source", Numbers.Source.config({}))
        yield* runs("source")
        yield* Running.eventually(size, (bytes) => bytes > 0)
      }))
      const { kill, says } = yield* child(directory)
      assert.strictEqual(says, "running")
      const begun = yield* size
      yield* Running.eventually(size, (bytes) => bytes > begun + 1000)
      yield* kill
      const { herder, runs, until } = yield* Running.live({ plugins, stores })
      yield* runs("source")
      yield* runs("sink")
      const before = yield* size
      yield* Running.eventually(size, (bytes) => bytes > before)
      yield* herder.stop("source")
      yield* until("source", ({ state }) => state === "STOPPED")
      yield* herder.stop("sink")
      yield* until("sink", ({ tasks }) => tasks.length === 0)
      const got = numbers(yield* Effect.promise(() => readFile(file, "utf8")))
      const last = Math.max(...got)
      const seen = new Set(got)
      for (let n = 1; n <= last; n++) assert.isTrue(seen.has(n), `${n} of ${last} is lost`)
    }))
})

describe("a second runtime on the same folder", () => {
  it.live("is refused, in another process and in the same one, and says who holds it", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const open = Running.live({ plugins: [Numbers.Source], stores: Sqlite.layer({ directory }) })
      const { close, herder, runs } = yield* open
      yield* herder.create("source", Numbers.Source.config({}))
      const refusal = `exclusive: Unavailable: the data directory ${directory} is in use by process ${process.pid}`
      assert.strictEqual((yield* child(directory)).says, refusal)
      const error = yield* Effect.flip(Effect.scoped(open))
      assert.strictEqual((error as StoreError).message, refusal)
      // the holder has not noticed, and when it ends the folder is free
      yield* runs("source")
      yield* close
      yield* Effect.scoped(Effect.flatMap(open, (next) => next.runs("source")))
    }))
})
