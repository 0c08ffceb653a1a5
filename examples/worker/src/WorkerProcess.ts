/** Runs the stand-alone worker as a process of its own: for programs and tests that start, kill and restart it. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"

/** A worker that is up. It is killed when the scope closes, if it still runs then. */
export interface WorkerProcess {
  /** The base of its REST API. */
  readonly url: string
  readonly pid: number
  /** SIGKILL: no code of the worker runs after it. */
  readonly kill: Effect.Effect<void, PlatformError.PlatformError>
  /** SIGTERM; gives the exit code. */
  readonly stop: Effect.Effect<number, PlatformError.PlatformError>
  /** The last lines that it logged. */
  readonly log: Effect.Effect<ReadonlyArray<string>>
}

/** The worker ended before it was ready. */
export class WorkerNotStarted extends Schema.TaggedError<WorkerNotStarted>("@kelpie-examples/worker/WorkerNotStarted")(
  "WorkerNotStarted",
  { exitCode: Schema.Int, log: Schema.Array(Schema.String) }
) {
  override get message() {
    return `the worker ended with exit code ${this.exitCode} before it was ready:\n${this.log.join("\n")}`
  }
}

const main = fileURLToPath(new URL("main.ts", import.meta.url))
const logLines = 40

/** Starts a worker with the given flags, and waits until it is ready. */
export const start = Effect.fn("WorkerProcess.start")(function*(
  flags: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): Effect.fn.Return<
  WorkerProcess,
  WorkerNotStarted | PlatformError.PlatformError,
  ChildProcessSpawner | Scope.Scope
> {
  const handle = yield* ChildProcess.make(process.execPath, [main, ...flags], {
    env: { ...env },
    extendEnv: true,
    stdin: "ignore",
    killSignal: "SIGKILL"
  })
  const ready = yield* Deferred.make<string>()
  const log: Array<string> = []
  const lines = (bytes: Stream.Stream<Uint8Array, PlatformError.PlatformError>) =>
    bytes.pipe(Stream.decodeText(), Stream.splitLines)
  yield* lines(handle.stdout).pipe(
    Stream.runForEach((line) => {
      const url = /listens on (\S+)$/.exec(line)?.[1]
      return url === undefined ? Effect.void : Deferred.succeed(ready, url)
    }),
    Effect.forkScoped
  )
  const logged = yield* lines(handle.stderr).pipe(
    Stream.runForEach((line) => Effect.sync(() => void (log.push(line) > logLines && log.shift()))),
    Effect.forkScoped
  )
  const ended = Effect.gen(function*() {
    const exitCode = yield* handle.exitCode
    yield* Fiber.await(logged)
    return yield* new WorkerNotStarted({ exitCode, log })
  })
  const url = yield* Effect.raceFirst(Deferred.await(ready), ended)
  return {
    url,
    pid: handle.pid,
    kill: handle.kill({ killSignal: "SIGKILL" }),
    stop: Effect.andThen(handle.kill({ killSignal: "SIGTERM" }), handle.exitCode),
    log: Effect.sync(() => [...log])
  }
})
