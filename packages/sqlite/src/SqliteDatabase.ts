/**
 * A handle on one SQLite database file. SQLite itself runs on a worker thread of the handle, so that neither a long
 * statement nor a lock of another process ever stops the main thread.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { Worker } from "node:worker_threads"
import type { Failure, Opening, Refusal, Reply, Request, Statement, Table, Value } from "./internal/databaseWorker.ts"

export type {
  /** A parameter set that a constraint refused. */
  Refusal,
  /** One statement of a transaction: `params` runs it once, `paramsList` once for each. */
  Statement,
  /** Rows as arrays, in the order of the columns. */
  Table,
  /** What SQLite gives and takes; an integer outside the safe range is a `bigint`. */
  Value
} from "./internal/databaseWorker.ts"

/** A row: column -> value. */
export type Row = Readonly<Record<string, Value>>

/**
 * Why a call failed. The message is SQLite's, it never holds a parameter.
 *
 * - `busy`: another connection holds the lock for longer than `busyTimeoutMillis`
 * - `missing`: the file (opened for reading only) or its folder does not exist
 * - `not-a-database`: the file has another format
 * - `constraint`: a unique, foreign key, check or not-null constraint refused the data
 */
export class SqliteError extends Schema.TaggedError<SqliteError>("@kelpie/sqlite/SqliteError")("SqliteError", {
  code: Schema.Literals(["busy", "missing", "not-a-database", "read-only", "full", "constraint", "other"]),
  operation: Schema.Literals(["open", "read", "write", "attempt"]),
  message: Schema.String
}) {}

/** How a database is opened. */
export interface Options {
  readonly file: string
  /** Opens for reading only, and never creates the file. Default false. */
  readonly readOnly?: boolean | undefined
  /** How long a lock of another connection is waited for. Default 5000. */
  readonly busyTimeoutMillis?: number | undefined
}

/**
 * An open database. Calls run one at a time, in order. An interrupted call that waits for its turn never runs; one that
 * runs already goes on to its end on the worker, and its result is dropped.
 */
export interface SqliteDatabase {
  readonly file: string
  /** Runs a query; rows as arrays, for those who build their own objects. */
  readonly table: (sql: string, params?: ReadonlyArray<Value>) => Effect.Effect<Table, SqliteError>
  /** Runs a query; rows as objects. Of columns with the same name the last one wins. */
  readonly all: (sql: string, params?: ReadonlyArray<Value>) => Effect.Effect<ReadonlyArray<Row>, SqliteError>
  /** Runs statements in one immediate transaction: all of them, or none. Gives the changed rows by statement. */
  readonly run: (
    statements: ReadonlyArray<Statement>
  ) => Effect.Effect<ReadonlyArray<{ readonly changes: number }>, SqliteError>
  /**
   * Tries every parameter set for itself in a transaction that is rolled back: which of them would a constraint refuse
   * if the others were written?
   */
  readonly attempt: (statements: ReadonlyArray<Statement>) => Effect.Effect<ReadonlyArray<Refusal>, SqliteError>
}

type Operation = SqliteError["operation"]
type Asked = Request extends infer R ? R extends Request ? Omit<R, "id"> : never : never

/** Quotes a name so that it may stand in SQL, whatever it is. */
export const quote = (identifier: string): string => `"${identifier.replaceAll("\"", "\"\"")}"`

/** Opens a database; closing the scope closes it and ends its thread. */
export const open = Effect.fn("SqliteDatabase.open")(
  function*(options: Options): Effect.fn.Return<SqliteDatabase, SqliteError, Scope.Scope> {
    const thread = yield* Effect.acquireRelease(
      Effect.sync(() =>
        new Thread({
          file: options.file,
          readOnly: options.readOnly ?? false,
          busyTimeoutMillis: options.busyTimeoutMillis ?? 5000
        })
      ),
      (thread) => thread.close
    )
    const turn = yield* Semaphore.make(1)
    const ask = <A>(operation: Operation, request: Asked): Effect.Effect<A, SqliteError> =>
      turn.withPermits(1)(thread.ask<A>(operation, request))
    yield* ask("open", { kind: "open" })
    const table: SqliteDatabase["table"] = (sql, params = []) => ask("read", { kind: "read", sql, params })
    return {
      file: options.file,
      table,
      all: (sql, params) => Effect.map(table(sql, params), toRows),
      run: (statements) => ask("write", { kind: "write", statements }),
      attempt: (statements) => ask("attempt", { kind: "attempt", statements })
    }
  }
)

const toRows = ({ columns, rows }: Table): ReadonlyArray<Row> =>
  columns.includes("__proto__")
    ? rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null])))
    : rows.map((values) => {
      const row: Record<string, Value> = {}
      for (let i = 0; i < columns.length; i++) row[columns[i] ?? ""] = values[i] ?? null
      return row
    })

// the worker is TypeScript where this file is (Node strips the types), and JavaScript where this file was compiled
const workerUrl = new URL(
  `./internal/databaseWorker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`,
  import.meta.url
)

/** The worker, and the calls that wait for its replies. */
class Thread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, (result: { readonly value: unknown } | { readonly failure: Failure }) => void>()
  readonly #exited: Promise<void>
  #lastId = 0
  #ended: Failure | undefined

  constructor(opening: Opening) {
    // flags of the host are not for the worker: some refuse a file
    this.#worker = new Worker(workerUrl, { workerData: opening, name: "kelpie-sqlite", execArgv: [] })
    this.#worker.on("message", ({ id, ...result }: Reply) => {
      const settle = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (this.#waiting.size === 0) this.#worker.unref()
      // last, because the next call begins in here
      settle?.(result)
    })
    this.#worker.on("error", (error: unknown) => this.#end(error instanceof Error ? error.message : String(error)))
    this.#exited = new Promise((resolve) =>
      this.#worker.on("exit", () => {
        this.#end("the handle is closed")
        resolve()
      })
    )
    // only a call keeps the process alive, not an open database; listening, above, would
    this.#worker.unref()
  }

  ask<A>(operation: Operation, request: Asked): Effect.Effect<A, SqliteError> {
    return Effect.callback((resume) => {
      const fail = (failure: Failure) => resume(Effect.fail(new SqliteError({ operation, ...failure })))
      if (this.#ended !== undefined) return fail(this.#ended)
      const id = ++this.#lastId
      this.#waiting.set(id, (result) =>
        // what comes back is the worker's answer to this request
        "failure" in result ? fail(result.failure) : resume(Exit.succeed(result.value as A)))
      this.#worker.ref()
      this.#worker.postMessage({ id, ...request })
      // the worker cannot be stopped inside a statement: the reply is dropped
      return Effect.sync(() => {
        if (this.#waiting.has(id)) this.#waiting.set(id, () => {})
      })
    })
  }

  /** Lets the worker close the file, unless it still runs a call that nobody waits for. */
  get close(): Effect.Effect<void> {
    return Effect.promise(async () => {
      if (this.#ended !== undefined || this.#waiting.size > 0) {
        await this.#worker.terminate()
      } else {
        this.#worker.ref()
        this.#worker.postMessage({ id: 0, kind: "close" } satisfies Request)
        await this.#exited
      }
    })
  }

  #end(message: string): void {
    this.#ended ??= { code: "other", message }
    for (const settle of this.#waiting.values()) settle({ failure: this.#ended })
    this.#waiting.clear()
  }
}
