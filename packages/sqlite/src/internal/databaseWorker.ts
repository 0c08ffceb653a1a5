/**
 * The thread that owns one SQLite connection: `node:sqlite` is synchronous, so it never runs on the main thread.
 *
 * Requests are served in the order in which they come; each but the last gets one reply with its id.
 */
import { existsSync } from "node:fs"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { parentPort, workerData } from "node:worker_threads"

/** What SQLite gives and takes; an integer outside the safe range is a `bigint`. */
export type Value = null | number | bigint | string | Uint8Array

/** What the thread is started with. */
export interface Opening {
  readonly file: string
  readonly readOnly: boolean
  readonly busyTimeoutMillis: number
}

/** One statement of a transaction: `params` runs it once, `paramsList` once for each. */
export interface Statement {
  readonly sql: string
  readonly params?: ReadonlyArray<Value> | undefined
  readonly paramsList?: ReadonlyArray<ReadonlyArray<Value>> | undefined
}

/** What went wrong, without the parameters. */
export interface Failure {
  readonly code: "busy" | "missing" | "not-a-database" | "read-only" | "full" | "constraint" | "other"
  readonly message: string
}

/** What the thread is asked; "close" has no reply, it ends the thread. */
export type Request =
  & { readonly id: number }
  & (
    | { readonly kind: "open" | "close" }
    | { readonly kind: "read"; readonly sql: string; readonly params: ReadonlyArray<Value> }
    | { readonly kind: "write" | "attempt"; readonly statements: ReadonlyArray<Statement> }
  )

/** Rows as arrays, in the order of the columns. */
export interface Table {
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<Value>>
}

/** A parameter set that a constraint refused: its statement, its place in `paramsList`, and why. */
export interface Refusal {
  readonly statement: number
  readonly index: number
  readonly message: string
}

/** What the thread answers. */
export type Reply =
  & { readonly id: number }
  & ({ readonly value: unknown } | { readonly failure: Failure })

/** Statements that are kept prepared; the least recently used goes first. */
const maxStatements = 128

// the low byte of SQLite's extended result codes
const codes: Readonly<Record<number, Failure["code"]>> = {
  5: "busy",
  6: "busy",
  8: "read-only",
  13: "full",
  14: "missing",
  19: "constraint",
  26: "not-a-database"
}

const failureOf = (error: unknown, file: string): Failure => {
  const message = error instanceof Error ? error.message : String(error)
  const errcode = error instanceof Error && "errcode" in error ? Number(error.errcode) : 0
  const code = codes[errcode & 0xff] ?? "other"
  // a file that cannot be opened is missing only if it is not there
  return { code: code === "missing" && existsSync(file) ? "other" : code, message }
}

class Connection {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor({ busyTimeoutMillis, file, readOnly }: Opening) {
    this.#database = new DatabaseSync(file, { readOnly, timeout: busyTimeoutMillis })
    // the file is looked at by the first statement only: a lock or another format shows here
    this.#database.exec("PRAGMA schema_version")
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }

  read(sql: string, params: ReadonlyArray<Value>): Table {
    const statement = this.#prepare(sql)
    const rows = this.#rows(statement, bind(params))
    // asked after the rows: the statement is prepared anew when the schema has changed
    return { columns: statement.columns().map((column) => column.name), rows }
  }

  write(statements: ReadonlyArray<Statement>): ReadonlyArray<{ readonly changes: number }> {
    return this.#transaction("COMMIT", () =>
      statements.map((statement) => {
        const prepared = this.#prepare(statement.sql)
        let changes = 0
        for (const params of setsOf(statement)) changes += Number(prepared.run(...bind(params)).changes)
        return { changes }
      }))
  }

  /** Runs every parameter set for itself and takes all of it back. */
  attempt(statements: ReadonlyArray<Statement>): ReadonlyArray<Refusal> {
    const refusals: Array<Refusal> = []
    return this.#transaction("ROLLBACK", () => {
      for (const [number, statement] of statements.entries()) {
        const prepared = this.#prepare(statement.sql)
        for (const [index, params] of setsOf(statement).entries()) {
          this.#database.exec("SAVEPOINT attempt")
          try {
            prepared.run(...bind(params))
          } catch (error) {
            const { code, message } = failureOf(error, "")
            if (code !== "constraint") throw error
            this.#database.exec("ROLLBACK TO attempt")
            refusals.push({ statement: number, index, message })
          }
          this.#database.exec("RELEASE attempt")
        }
      }
      return refusals
    })
  }

  #transaction<A>(end: "COMMIT" | "ROLLBACK", body: () => A): A {
    this.#database.exec("BEGIN IMMEDIATE")
    try {
      const result = body()
      this.#database.exec(end)
      return result
    } finally {
      // some errors end the transaction by themselves
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK")
    }
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    const statement = known ?? this.#database.prepare(sql)
    if (known === undefined) statement.setReturnArrays(true)
    else this.#statements.delete(sql)
    this.#statements.set(sql, statement)
    if (this.#statements.size > maxStatements) {
      const [oldest] = this.#statements.keys()
      if (oldest !== undefined) this.#statements.delete(oldest)
    }
    return statement
  }

  /** Reads numbers, and again with bigints if an integer does not fit: that is rare, and bigints are slow. */
  #rows(statement: StatementSync, params: ReadonlyArray<SQLInputValue>): ReadonlyArray<ReadonlyArray<Value>> {
    try {
      return arrays(statement.all(...params))
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ERR_OUT_OF_RANGE")) throw error
    }
    statement.setReadBigInts(true)
    try {
      return arrays(statement.all(...params)).map((row) => row.map(narrow))
    } finally {
      statement.setReadBigInts(false)
    }
  }
}

// `setReturnArrays` is not in the types of `all`
const arrays = (rows: unknown): ReadonlyArray<ReadonlyArray<Value>> => rows as ReadonlyArray<ReadonlyArray<Value>>

const narrow = (value: Value): Value =>
  typeof value === "bigint" && BigInt.asIntN(54, value) === value && value !== -(2n ** 53n) ? Number(value) : value

const bind = (params: ReadonlyArray<Value>): ReadonlyArray<SQLInputValue> => params

const none: ReadonlyArray<ReadonlyArray<Value>> = [[]]
const setsOf = ({ params, paramsList }: Statement): ReadonlyArray<ReadonlyArray<Value>> =>
  paramsList ?? (params === undefined ? none : [params])

/** Serves a port until it is told to close. */
const serve = (port: NonNullable<typeof parentPort>, opening: Opening): void => {
  let connection: Connection | undefined
  const handle = (request: Request): unknown => {
    connection ??= new Connection(opening)
    switch (request.kind) {
      case "read":
        return connection.read(request.sql, request.params)
      case "write":
        return connection.write(request.statements)
      case "attempt":
        return connection.attempt(request.statements)
      default:
        return undefined
    }
  }
  const answer = (request: Request): Reply => {
    try {
      return { id: request.id, value: handle(request) }
    } catch (error) {
      return { id: request.id, failure: failureOf(error, opening.file) }
    }
  }
  port.on("message", (request: Request) => {
    if (request.kind !== "close") return port.postMessage(answer(request))
    // the end of the thread is the answer
    connection?.close()
    port.close()
  })
}

if (parentPort !== null) serve(parentPort, workerData as Opening)
