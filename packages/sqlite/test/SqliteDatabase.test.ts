import { assert, describe, it } from "@effect/vitest"
import * as SqliteDatabase from "@kelpie/sqlite/SqliteDatabase"
import { Effect, Exit, Fiber, Scope } from "effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"

const folder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "kelpie-sqlite-"))),
  (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true }))
)
const freshFile = Effect.map(folder, (folder) => path.join(folder, "data.db"))

/** A second connection of this thread, to make and hold locks. */
const other = (file: string) =>
  Effect.acquireRelease(Effect.sync(() => new DatabaseSync(file)), (other) => Effect.sync(() => other.close()))

// each handle starts a thread, which takes its time on a busy machine
describe("SqliteDatabase", { timeout: 30_000 }, () => {
  it.effect("creates a file, writes in a transaction and reads rows", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const database = yield* SqliteDatabase.open({ file })
      const changes = yield* database.run([
        { sql: "CREATE TABLE t (a INTEGER, b TEXT, c BLOB)" },
        { sql: "INSERT INTO t VALUES (?, ?, ?)", paramsList: [[1, "x", new Uint8Array([7])], [2, null, null]] },
        { sql: "UPDATE t SET b = ? WHERE a = ?", params: ["y", 2] }
      ])
      assert.deepStrictEqual(changes.map((_) => _.changes).slice(1), [2, 1])
      assert.deepStrictEqual(yield* database.all("SELECT * FROM t ORDER BY a"), [
        { a: 1, b: "x", c: new Uint8Array([7]) },
        { a: 2, b: "y", c: null }
      ])
      assert.deepStrictEqual(yield* database.table("SELECT a, a + 1 AS next FROM t WHERE a > ?", [1]), {
        columns: ["a", "next"],
        rows: [[2, 3]]
      })
    }))

  it.effect("gives an integer outside the safe range as a bigint, and only that", () =>
    Effect.gen(function*() {
      const database = yield* SqliteDatabase.open({ file: yield* freshFile })
      const largest = 2n ** 63n - 1n
      yield* database.run([
        { sql: "CREATE TABLE t (a INTEGER)" },
        { sql: "INSERT INTO t VALUES (?)", paramsList: [[largest], [-(2n ** 53n)], [2 ** 53 - 1], [1.5], [null]] }
      ])
      assert.deepStrictEqual((yield* database.all("SELECT a FROM t")).map((row) => row["a"]), [
        largest,
        -(2n ** 53n),
        2 ** 53 - 1,
        1.5,
        null
      ])
      assert.deepStrictEqual(yield* database.all("SELECT 1 AS one"), [{ one: 1 }])
    }))

  it.effect("rolls everything back when one statement fails, and stays usable", () =>
    Effect.gen(function*() {
      const database = yield* SqliteDatabase.open({ file: yield* freshFile })
      yield* database.run([{ sql: "CREATE TABLE t (a INTEGER PRIMARY KEY)" }])
      const error = yield* Effect.flip(database.run([
        { sql: "INSERT INTO t VALUES (?)", params: [1] },
        { sql: "INSERT INTO t VALUES (?)", paramsList: [[2], [2]] }
      ]))
      assert.strictEqual(error.code, "constraint")
      assert.strictEqual(error.operation, "write")
      assert.strictEqual(error.message, "UNIQUE constraint failed: t.a")
      assert.deepStrictEqual(yield* database.all("SELECT * FROM t"), [])
    }))

  it.effect("tells which parameter sets a constraint would refuse, and writes none", () =>
    Effect.gen(function*() {
      const database = yield* SqliteDatabase.open({ file: yield* freshFile })
      yield* database.run([{ sql: "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL)" }])
      const refusals = yield* database.attempt([
        { sql: "INSERT INTO t VALUES (?, ?)", paramsList: [[1, "x"], [1, "y"], [2, null], [3, "z"]] },
        { sql: "INSERT INTO t VALUES (3, 'again')" }
      ])
      assert.deepStrictEqual(refusals, [
        { statement: 0, index: 1, message: "UNIQUE constraint failed: t.a" },
        { statement: 0, index: 2, message: "NOT NULL constraint failed: t.b" },
        { statement: 1, index: 0, message: "UNIQUE constraint failed: t.a" }
      ])
      assert.deepStrictEqual(yield* database.all("SELECT * FROM t"), [])
    }))

  it.effect("names a missing file, a missing folder and a file of another format", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const open = (options: SqliteDatabase.Options) => Effect.flip(Effect.scoped(SqliteDatabase.open(options)))
      assert.strictEqual((yield* open({ file: path.join(root, "none.db"), readOnly: true })).code, "missing")
      assert.strictEqual((yield* open({ file: path.join(root, "none", "none.db") })).code, "missing")
      const text = path.join(root, "text.db")
      yield* Effect.promise(() => fs.writeFile(text, "not a database".repeat(100)))
      const error = yield* open({ file: text, readOnly: true })
      assert.deepStrictEqual([error.code, error.operation], ["not-a-database", "open"])
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(root)), ["text.db"])
    }))

  it.effect("refuses to write through a handle that is opened for reading", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      ;(yield* other(file)).exec("CREATE TABLE t (a)")
      const database = yield* SqliteDatabase.open({ file, readOnly: true })
      assert.strictEqual((yield* Effect.flip(database.run([{ sql: "DELETE FROM t" }]))).code, "read-only")
    }))

  it.effect("fails as busy while another connection holds the lock, and works afterwards", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const locker = yield* other(file)
      locker.exec("CREATE TABLE t (a)")
      const database = yield* SqliteDatabase.open({ file, busyTimeoutMillis: 0 })
      locker.exec("BEGIN EXCLUSIVE")
      assert.strictEqual((yield* Effect.flip(database.all("SELECT * FROM t"))).code, "busy")
      assert.strictEqual((yield* Effect.flip(database.run([{ sql: "DELETE FROM t" }]))).code, "busy")
      assert.strictEqual((yield* Effect.flip(SqliteDatabase.open({ file, busyTimeoutMillis: 0 }))).code, "busy")
      locker.exec("ROLLBACK")
      assert.deepStrictEqual(yield* database.all("SELECT * FROM t"), [])
    }))

  it.effect("sees tables and columns that another connection adds", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const writer = yield* other(file)
      writer.exec("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
      const database = yield* SqliteDatabase.open({ file, readOnly: true })
      assert.deepStrictEqual(yield* database.all("SELECT * FROM t"), [{ a: 1 }])
      writer.exec("ALTER TABLE t ADD COLUMN b DEFAULT 2")
      assert.deepStrictEqual(yield* database.all("SELECT * FROM t"), [{ a: 1, b: 2 }])
    }))

  it.effect("stays usable after a call was interrupted, and never runs one that was still waiting", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const database = yield* SqliteDatabase.open({ file })
      yield* database.run([{ sql: "CREATE TABLE t (a)" }])
      const endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT max(i) FROM n"
      const running = yield* Effect.forkChild(database.all(endless), { startImmediately: true })
      const waiting = yield* Effect.forkChild(database.run([{ sql: "INSERT INTO t VALUES (1)" }]), {
        startImmediately: true
      })
      yield* Fiber.interrupt(waiting)
      yield* Fiber.interrupt(running)
      assert.deepStrictEqual(yield* database.all("SELECT * FROM t"), [])
    }))

  it.effect("keeps the names of columns that are special in JavaScript", () =>
    Effect.gen(function*() {
      const database = yield* SqliteDatabase.open({ file: yield* freshFile })
      const [row] = yield* database.all(`SELECT 1 AS "__proto__", 2 AS "constructor"`)
      assert.deepStrictEqual(Object.entries(row ?? {}), [["__proto__", 1], ["constructor", 2]])
    }))

  it.effect("forgets the oldest prepared statements, and runs any number of them", () =>
    Effect.gen(function*() {
      const database = yield* SqliteDatabase.open({ file: yield* freshFile })
      for (let round = 0; round < 2; round++) {
        for (let i = 0; i < 200; i++) assert.deepStrictEqual(yield* database.all(`SELECT ${i} AS i`), [{ i }])
      }
    }))

  it.effect("ends its thread with its scope; a later call says so", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const scope = yield* Scope.make()
      const database = yield* Scope.provide(SqliteDatabase.open({ file }), scope)
      yield* database.run([{ sql: "PRAGMA user_version = 1" }])
      yield* Scope.close(scope, Exit.void)
      const error = yield* Effect.flip(database.all("SELECT 1"))
      assert.deepStrictEqual([error.code, error.message], ["other", "the handle is closed"])
    }))

  it.effect("closes while the worker still runs a call that nobody waits for", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const scope = yield* Scope.make()
      const database = yield* Scope.provide(SqliteDatabase.open({ file }), scope)
      yield* database.run([{ sql: "CREATE TABLE t (a)" }])
      const insert = { sql: "INSERT INTO t VALUES (?)", paramsList: Array.from({ length: 50_000 }, (_, i) => [i]) }
      const running = yield* Effect.forkChild(database.run([insert]), { startImmediately: true })
      yield* Fiber.interrupt(running)
      yield* Scope.close(scope, Exit.void)
      // all of it or nothing of it, and no lock is left
      const writer = yield* other(file)
      const count = Number(writer.prepare("SELECT count(*) AS n FROM t").get()?.["n"])
      assert.include([0, 50_000], count)
      writer.exec("BEGIN EXCLUSIVE; ROLLBACK")
    }))

  it.effect("keeps a process alive for a call and for closing, and for nothing else", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const url = JSON.stringify(import.meta.resolve("@kelpie/sqlite/SqliteDatabase"))
      const script = `
        const { open } = await import(${url})
        const { Effect, Scope } = await import(${JSON.stringify(import.meta.resolve("effect"))})
        const file = ${JSON.stringify(file)}
        const closed = Effect.scoped(Effect.flatMap(open({ file }), (database) => database.all("SELECT 1 AS one")))
        console.log(await Effect.runPromise(closed))
        const leftOpen = Scope.provide(open({ file }), Effect.runSync(Scope.make()))
        const database = await Effect.runPromise(leftOpen)
        console.log(await Effect.runPromise(database.all("SELECT 2 AS two")))`
      const run = promisify(execFile)
      const { stdout } = yield* Effect.promise(() => run(process.execPath, ["--input-type=module", "-e", script]))
      assert.strictEqual(stdout.trim(), "[ { one: 1 } ]\n[ { two: 2 } ]")
    }))

  it("quotes any name", () => {
    assert.strictEqual(SqliteDatabase.quote(`a"b; DROP`), `"a""b; DROP"`)
  })
})
