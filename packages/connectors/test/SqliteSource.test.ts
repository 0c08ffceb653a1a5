import { assert, describe, it } from "@effect/vitest"
import { SqliteSource } from "@kelpie/connectors/SqliteSource"
import * as SqliteDatabase from "@kelpie/sqlite/SqliteDatabase"
import { Effect, Fiber, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import {
  assertError,
  type Batch,
  batches,
  decoded,
  freshFolder,
  pullRecords,
  stored,
  valuesOf
} from "./connectorTask.ts"

const freshFile = Effect.map(freshFolder, (folder) => path.join(folder, "data.db"))
const writerOf = (file: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(file)),
    (writer) => Effect.sync(() => writer.isOpen && writer.close())
  )

/** A database with a second connection that writes to it. */
const freshDatabase = Effect.fnUntraced(function*(sql: string) {
  const file = yield* freshFile
  const writer = yield* writerOf(file)
  writer.exec(sql)
  return { file, writer }
})

const task = (file: string, tables: ReadonlyArray<string>, more?: Record<string, string>, offset?: unknown) =>
  Stream.toPull(batches(SqliteSource, {
    config: { database: file, ...more },
    taskConfig: { tables },
    offsets: () => offset
  }))
const pullValues = <E>(pull: Effect.Effect<ReadonlyArray<Batch>, E>, count: number) =>
  Effect.map(pullRecords(pull, count), valuesOf)

/** A started instance, and the times it asked for new task configs. */
const instance = Effect.fnUntraced(function*(file: string, more?: Record<string, string>) {
  const asked = yield* Queue.unbounded<void>()
  const started = yield* SqliteSource["~source"].start?.({
    name: "db",
    config: decoded(SqliteSource.fields, { database: file, "busy.timeout.ms": "0", ...more }),
    requestReconfiguration: Effect.asVoid(Queue.offer(asked, undefined))
  }) ?? Effect.die("no start")
  return { taskConfigs: started.taskConfigs, asked: Queue.take(asked) }
})

/** Nothing is found by looking now and then. */
const byEvents = { "table.poll.interval.ms": "1000000000000" }

/** For what no event tells: time goes on until the effect is done. */
const whileTimePasses = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(
    effect,
    TestClock.adjust("1 second").pipe(
      Effect.andThen(Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))),
      Effect.forever
    )
  )

// each database handle starts a thread, which takes its time on a busy machine
const threads = { timeout: 30_000 }

describe("SqliteSource tasks", threads, () => {
  it.effect("give rows as structs with the schema of the table", () =>
    Effect.gen(function*() {
      const { file } = yield* freshDatabase(
        `CREATE TABLE orders (id INTEGER PRIMARY KEY, price REAL, title TEXT, photo BLOB, at DATETIME, "odd ""name" VARCHAR(9));
         INSERT INTO orders VALUES (1, 2.5, 'x', x'0708', '2026-01-01', 'y'), (2, NULL, NULL, NULL, NULL, NULL)`
      )
      const [batch] = yield* pullRecords(yield* task(file, ["orders"], { "topic.prefix": "db." }), 2)
      const valueSchema = {
        type: "struct",
        name: "orders",
        fields: [["id", "int64"], ["price", "double"], ["title", "string"], ["photo", "bytes"], ["at", "string"], [
          "odd \"name",
          "string"
        ]].map(([field, type]) => ({ field, type, optional: true }))
      }
      const empty = { price: null, title: null, photo: null, at: null, "odd \"name": null }
      const full = { price: 2.5, title: "x", photo: new Uint8Array([7, 8]), at: "2026-01-01", "odd \"name": "y" }
      assert.deepStrictEqual<unknown>(
        batch?.records,
        [{ id: 1, ...full }, { id: 2, ...empty }].map((value) => ({
          topic: "db.orders",
          key: null,
          value,
          valueSchema
        }))
      )
      assert.deepStrictEqual([batch?.partition, batch?.offset], [{ table: "orders" }, { column: "rowid", value: 2 }])
      assert.strictEqual(batch?.records[0]?.valueSchema, batch?.records[1]?.valueSchema)
    }))

  it.effect("keep a value of another type than its column's, and say so in the record's schema", () =>
    Effect.gen(function*() {
      const { file } = yield* freshDatabase(
        `CREATE TABLE t (a INTEGER, b REAL);
         INSERT INTO t VALUES (1, 1), ('text', x'01'), (1.5, 2), (9007199254740993, 'text'), (1e300, NULL)`
      )
      const [batch] = yield* pullRecords(yield* task(file, ["t"]), 5)
      assert.deepStrictEqual(
        batch?.records.map(({ value, valueSchema }) => [
          ...Object.values(Object(value)),
          ...valueSchema?.fields?.map((field) => field.type) ?? []
        ]),
        [
          [1, 1, "int64", "double"],
          ["text", new Uint8Array([1]), "string", "bytes"],
          [1.5, 2, "double", "double"],
          [9007199254740993n, "text", "int64", "string"],
          [1e300, null, "double", "double"]
        ]
      )
    }))

  it.effect("give new rows when another connection commits them, by events", () =>
    Effect.gen(function*() {
      for (const mode of ["DELETE", "WAL"]) {
        const { file, writer } = yield* freshDatabase(`PRAGMA journal_mode = ${mode}; CREATE TABLE t (a)`)
        writer.exec("INSERT INTO t VALUES (1)")
        const pull = yield* task(file, ["t"])
        assert.deepStrictEqual(yield* pullValues(pull, 1), [{ a: 1 }])
        const next = yield* Effect.forkChild(pullValues(pull, 2), { startImmediately: true })
        writer.exec("INSERT INTO t VALUES (2), (3)")
        assert.deepStrictEqual(yield* Fiber.join(next), [{ a: 2 }, { a: 3 }])
      }
    }))

  it.effect("read in batches of batch.max.rows, and take turns between tables", () =>
    Effect.gen(function*() {
      const { file } = yield* freshDatabase(
        `CREATE TABLE a (n); INSERT INTO a VALUES (1), (2), (3), (4), (5); CREATE TABLE b (n); INSERT INTO b VALUES (6), (7)`
      )
      const pulled = yield* pullRecords(yield* task(file, ["a", "b"], { "batch.max.rows": "2" }), 7)
      assert.deepStrictEqual(pulled.map((batch) => batch.partition.table), ["a", "b", "a", "a"])
      assert.deepStrictEqual(
        valuesOf(pulled.filter((batch) => batch.partition.table === "a")),
        [1, 2, 3, 4, 5].map((n) => ({ n }))
      )
    }))

  it.effect.each(["rowid", "ID", "code"])(
    "go on from every offset of %s, numbers of any size and text",
    (column) =>
      Effect.gen(function*() {
        const { file } = yield* freshDatabase(
          `CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT);
         INSERT INTO t VALUES (-5, 'a'), (7, 'c'), (9007199254740993, '10'), (9223372036854775807, 'e')`
        )
        const settings = { "batch.max.rows": "1", "incrementing.column.name": column }
        const all = yield* pullRecords(yield* task(file, ["t"], settings), 4)
        yield* Effect.forEach(all.slice(0, -1), (batch, i) =>
          Effect.gen(function*() {
            const pull = yield* task(file, ["t"], settings, stored(SqliteSource, batch.offset))
            assert.deepStrictEqual(yield* pullValues(pull, 3 - i), valuesOf(all).slice(i + 1))
          }).pipe(Effect.scoped))
      })
  )

  it.effect("begin at the start when the stored offset is of another column", () =>
    Effect.gen(function*() {
      const { file } = yield* freshDatabase("CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (10)")
      const settings = { "incrementing.column.name": "id" }
      assert.deepStrictEqual(yield* pullValues(yield* task(file, ["t"], settings, { column: "rowid", value: 99 }), 1), [
        { id: 10 }
      ])
    }))

  it.effect("read whole tables in bulk mode, again after a change, not more often than poll.interval.ms", () =>
    Effect.gen(function*() {
      const { file, writer } = yield* freshDatabase(
        `CREATE TABLE t (a TEXT, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
         INSERT INTO t VALUES ('x', 2), ('x', 1), ('y', 1)`
      )
      const pull = yield* task(file, ["t"], { mode: "bulk", "batch.max.rows": "2" })
      const first = yield* pullRecords(pull, 3)
      assert.deepStrictEqual(valuesOf(first), [{ a: "x", b: 1 }, { a: "x", b: 2 }, { a: "y", b: 1 }])
      assert.deepStrictEqual(first.map((batch) => batch.offset), [{ rows: 2 }, { rows: 3 }])
      writer.exec("UPDATE t SET b = 9 WHERE a = 'y'")
      const again = yield* whileTimePasses(pullValues(pull, 3))
      assert.deepStrictEqual(again, [{ a: "x", b: 1 }, { a: "x", b: 2 }, { a: "y", b: 9 }])
    }))

  it.effect("see a new column, and a table that was dropped and made again", () =>
    Effect.gen(function*() {
      const { file, writer } = yield* freshDatabase("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
      const pull = yield* task(file, ["t", "gone"])
      assert.deepStrictEqual(yield* pullValues(pull, 1), [{ a: 1 }])
      writer.exec("ALTER TABLE t ADD COLUMN b; INSERT INTO t VALUES (2, 3)")
      assert.deepStrictEqual(yield* pullValues(pull, 1), [{ a: 2, b: 3 }])
      writer.exec("DROP TABLE t; CREATE TABLE gone (c); INSERT INTO gone VALUES (4)")
      assert.deepStrictEqual(yield* pullValues(pull, 1), [{ c: 4 }])
    }))

  it.effect("wait while another connection holds the lock", () =>
    Effect.gen(function*() {
      const { file, writer } = yield* freshDatabase("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
      const pull = yield* task(file, ["t"], { "busy.timeout.ms": "0" })
      assert.deepStrictEqual(yield* pullValues(pull, 1), [{ a: 1 }])
      writer.exec("BEGIN EXCLUSIVE; INSERT INTO t VALUES (2)")
      const next = yield* Effect.forkChild(whileTimePasses(pullValues(pull, 1)), { startImmediately: true })
      // another handle meets the lock, and takes longer for that than the one that is open
      assert.strictEqual((yield* Effect.flip(SqliteDatabase.open({ file, busyTimeoutMillis: 0 }))).code, "busy")
      assert.isUndefined(next.pollUnsafe())
      writer.exec("COMMIT")
      assert.deepStrictEqual(yield* Fiber.join(next), [{ a: 2 }])
    }))

  it.effect("go on in a database file that took the place of the old one", () =>
    Effect.gen(function*() {
      const { file, writer } = yield* freshDatabase("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
      const pull = yield* task(file, ["t"])
      yield* pullValues(pull, 1)
      writer.close()
      const other = yield* writerOf(`${file}.new`)
      other.exec("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
      other.close()
      yield* Effect.promise(() => fs.rename(`${file}.new`, file))
      assert.deepStrictEqual(yield* pullValues(pull, 1), [{ a: 2 }])
    }))

  it.effect("fail as transient when the file is gone, and permanently for a column that does not exist", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const missing = yield* Effect.flip(Stream.runDrain(batches(SqliteSource, {
        config: { database: file },
        taskConfig: { tables: ["t"] }
      })))
      assertError(missing, "TransientError", file, "does not exist")
      ;(yield* writerOf(file)).exec("CREATE TABLE t (a)")
      const wrong = yield* Effect.flip(Stream.runDrain(batches(SqliteSource, {
        config: { database: file, "incrementing.column.name": "nope" },
        taskConfig: { tables: ["t"] }
      })))
      assertError(wrong, "PermanentError", "table t", "nope", "incrementing.column.name")
    }))
})

describe("SqliteSource instances", threads, () => {
  it.effect("split the ordinary tables in the order of their creation", () =>
    Effect.gen(function*() {
      const { file } = yield* freshDatabase(
        `CREATE TABLE z (a); CREATE TABLE b (id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE VIEW v AS SELECT 1;
         CREATE VIRTUAL TABLE f USING fts5(x); CREATE TABLE a (a)`
      )
      const { taskConfigs } = yield* instance(file)
      assert.deepStrictEqual(yield* taskConfigs(2), [{ tables: ["z", "a"] }, { tables: ["b"] }])
      assert.deepStrictEqual(yield* taskConfigs(9), [{ tables: ["z"] }, { tables: ["b"] }, { tables: ["a"] }])
    }))

  it.effect("choose tables by names and patterns", () =>
    Effect.gen(function*() {
      const { file } = yield* freshDatabase(
        "CREATE TABLE Orders (a); CREATE TABLE order_items (a); CREATE TABLE users (a)"
      )
      const of = (tables: string) => Effect.flatMap(instance(file, { tables }), ({ taskConfigs }) => taskConfigs(1))
      assert.deepStrictEqual(yield* of("orders"), [{ tables: ["Orders"] }])
      assert.deepStrictEqual(yield* of("order*, nothing"), [{ tables: ["Orders", "order_items"] }])
      assert.deepStrictEqual(yield* of("nothing"), [])
    }))

  it.effect("ask for new task configs when a table comes or goes, and change one task", () =>
    Effect.gen(function*() {
      const { file, writer } = yield* freshDatabase("CREATE TABLE a (n); CREATE TABLE b (n); CREATE TABLE c (n)")
      const { asked, taskConfigs } = yield* instance(file, byEvents)
      assert.deepStrictEqual(yield* taskConfigs(2), [{ tables: ["a", "c"] }, { tables: ["b"] }])
      writer.exec("CREATE TABLE d (n)")
      yield* whileTimePasses(asked)
      assert.deepStrictEqual(yield* taskConfigs(2), [{ tables: ["a", "c"] }, { tables: ["b", "d"] }])
      writer.exec("DROP TABLE a")
      yield* whileTimePasses(asked)
      assert.deepStrictEqual(yield* taskConfigs(2), [{ tables: ["c"] }, { tables: ["b", "d"] }])
    }))

  it.effect("ask once when the file goes, say what is missing, and go on when it is back", () =>
    Effect.gen(function*() {
      const { file, writer } = yield* freshDatabase("CREATE TABLE a (n)")
      const { asked, taskConfigs } = yield* instance(file, byEvents)
      yield* taskConfigs(1)
      writer.close()
      yield* Effect.promise(() => fs.rm(file))
      yield* whileTimePasses(asked)
      assertError(yield* Effect.flip(taskConfigs(1)), "TransientError", file, "does not exist")
      ;(yield* writerOf(file)).exec("CREATE TABLE back (n)")
      assert.deepStrictEqual(yield* taskConfigs(1), [{ tables: ["back"] }])
    }))

  it.effect("open nothing before task configs are asked for; then a missing file is transient and is not created", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const { taskConfigs } = yield* instance(file)
      assertError(yield* Effect.flip(taskConfigs(1)), "TransientError", file, "does not exist")
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(path.dirname(file))), [])
      ;(yield* writerOf(file)).exec("CREATE TABLE t (a)")
      assert.deepStrictEqual(yield* taskConfigs(1), [{ tables: ["t"] }])
    }))

  it.effect("fail as transient while the database is locked", () =>
    Effect.gen(function*() {
      const { file, writer } = yield* freshDatabase("CREATE TABLE t (a)")
      const { taskConfigs } = yield* instance(file)
      writer.exec("BEGIN EXCLUSIVE")
      assertError(yield* Effect.flip(taskConfigs(1)), "TransientError", file, "is locked by another connection")
      writer.exec("ROLLBACK")
      assert.deepStrictEqual(yield* taskConfigs(1), [{ tables: ["t"] }])
    }))

  it.effect("fail as transient while the file is no database", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* Effect.promise(() => fs.writeFile(file, "no database\n".repeat(100)))
      const { taskConfigs } = yield* instance(file)
      assertError(yield* Effect.flip(taskConfigs(1)), "TransientError", file, "is not a SQLite database")
    }))
})
