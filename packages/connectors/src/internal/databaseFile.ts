/** The read-only handle of the database file that has a path now, and the words for what is wrong with it. */
import { type ConnectorError, PermanentError, TransientError } from "@kelpie/core/ConnectorError"
import * as SqliteDatabase from "@kelpie/sqlite/SqliteDatabase"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as fs from "node:fs/promises"

/** Which file, and how long a lock is waited for. */
export interface Options {
  readonly file: string
  readonly busyTimeout: Duration.Duration
}

interface Current {
  readonly inode: bigint
  readonly database: SqliteDatabase.SqliteDatabase
  readonly scope: Scope.Closeable
}

/**
 * Gives the open handle; opens it on first use, and anew when another file has the name. Nothing is open while there is no
 * such file: SQLite must not go on with a file that was deleted. The last handle closes with the scope.
 */
export const databaseFile = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Effect.Effect<SqliteDatabase.SqliteDatabase, SqliteDatabase.SqliteError>, never, Scope.Scope> {
  let current: Current | undefined
  const close = Effect.suspend(() => {
    const scope = current?.scope
    current = undefined
    return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
  })
  const turn = yield* Semaphore.make(1)
  yield* Effect.addFinalizer(() => close)
  return turn.withPermits(1)(Effect.gen(function*() {
    const inode = yield* Effect.promise(() =>
      fs.stat(options.file, { bigint: true }).then((_) => _.ino, () => undefined)
    )
    if (current !== undefined && current.inode === inode) return current.database
    yield* close
    // a file that cannot be looked at is opened all the same, for SQLite's own word on it
    const scope = yield* Scope.make()
    const database = yield* SqliteDatabase.open({
      file: options.file,
      readOnly: true,
      busyTimeoutMillis: Duration.toMillis(options.busyTimeout)
    }).pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
    current = { inode: inode ?? 0n, database, scope }
    return database
  }))
})

/** What is wrong with a database that is read: all of it may be better later, when somebody else is done with the file. */
export const readError = ({ busyTimeout, file }: Options) => (error: SqliteDatabase.SqliteError): TransientError =>
  new TransientError({ message: `database ${file} ${reasonOf(error, busyTimeout)}`, cause: error })

/** What is wrong with a database that is written: only a lock and a full disk pass by themselves. */
export const writeError = ({ busyTimeout, file }: Options) => (error: SqliteDatabase.SqliteError): ConnectorError => {
  const message = error.code === "missing"
    ? `the folder of database ${file} does not exist: create it`
    : `database ${file} ${reasonOf(error, busyTimeout)}`
  return error.code === "busy" || error.code === "full"
    ? new TransientError({ message, cause: error })
    : new PermanentError({ message, cause: error })
}

const reasonOf = ({ code, message, operation }: SqliteDatabase.SqliteError, busyTimeout: Duration.Duration): string => {
  switch (code) {
    case "busy":
      return `is locked by another connection (waited ${Duration.toMillis(busyTimeout)} ms, busy.timeout.ms)`
    case "missing":
      return "does not exist"
    case "not-a-database":
      return "is not a SQLite database"
    default:
      return `cannot be ${operation === "open" ? "opened" : operation === "read" ? "read" : "written"}: ${message}`
  }
}
