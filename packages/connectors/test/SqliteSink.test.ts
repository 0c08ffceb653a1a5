import { assert, describe, it } from "@effect/vitest"
import { SqliteSink } from "@kelpie/connectors/SqliteSink"
import { Effect } from "effect"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assertError, decoded, freshFolder, sinkRecord, sinkTask } from "./connectorTask.ts"

const freshFile = Effect.map(freshFolder, (folder) => path.join(folder, "data.db"))
const connection = (file: string) =>
  Effect.acquireRelease(Effect.sync(() => new DatabaseSync(file)), (other) => Effect.sync(() => other.close()))

/** A sink task on a fresh database, and a second connection to look and to interfere. */
const sink = Effect.fnUntraced(function*(config: Record<string, string> = {}, prepare = "") {
  const file = yield* freshFile
  const other = yield* connection(file)
  other.exec(prepare)
  const task = yield* sinkTask(SqliteSink, { database: file, "busy.timeout.ms": "0", ...config })
  const all = (sql: string) => other.prepare(sql).all().map((row) => ({ ...row }))
  return { task, other, all, file }
})

const orders = {
  type: "struct",
  fields: [
    { field: "id", type: "int64" },
    { field: "price", type: "double", optional: true },
    { field: "paid", type: "boolean" },
    { field: "title", type: "string" },
    { field: "photo", type: "bytes" },
    { field: "at", type: "int64", name: "org.apache.kafka.connect.data.Timestamp" },
    { field: "amount", type: "bytes", name: "org.apache.kafka.connect.data.Decimal" },
    { field: "tags", type: "array", items: { type: "string" } }
  ]
} as const

// each database handle starts a thread, which takes its time on a busy machine
const threads = { timeout: 30_000 }

describe("SqliteSink", threads, () => {
  it.effect("creates a table from the schema and writes typed rows", () =>
    Effect.gen(function*() {
      const { all, task } = yield* sink()
      const value = {
        id: 1,
        price: 3,
        paid: true,
        title: "x",
        photo: new Uint8Array([7]),
        at: new Date(0),
        amount: "1.10",
        tags: ["a", "b"]
      }
      yield* task.put([sinkRecord(value, { valueSchema: orders, topic: "orders" })])
      assert.deepStrictEqual(all("SELECT * FROM orders"), [{
        ...value,
        paid: 1,
        at: "1970-01-01T00:00:00.000Z",
        tags: `["a","b"]`
      }])
      assert.deepStrictEqual(
        all("SELECT name, type FROM pragma_table_info('orders')").map((row) => [row["name"], row["type"]]),
        [["id", "INTEGER"], ["price", "REAL"], ["paid", "INTEGER"], ["title", "TEXT"], ["photo", "BLOB"], [
          "at",
          "TEXT"
        ], [
          "amount",
          "TEXT"
        ], ["tags", "TEXT"]]
      )
    }))

  it.effect("creates a table from the members of the first record when there is no schema", () =>
    Effect.gen(function*() {
      const { all, task } = yield* sink()
      yield* task.put([
        sinkRecord({ a: 1, b: 1.5, c: "x", d: null, e: { f: [1] }, g: 9007199254740993n }),
        sinkRecord({ a: 2, c: "y" })
      ])
      assert.deepStrictEqual(all("SELECT a, b, c, d, e, CAST(g AS TEXT) AS g, typeof(a) AS t FROM t"), [
        { a: 1, b: 1.5, c: "x", d: null, e: `{"f":[1]}`, g: "9007199254740993", t: "integer" },
        { a: 2, b: null, c: "y", d: null, e: null, g: null, t: "integer" }
      ])
    }))

  it.effect("keeps a whole number whole in a column that is not declared as one", () =>
    Effect.gen(function*() {
      const { all, task } = yield* sink({}, "CREATE TABLE t (a, b TEXT)")
      yield* task.put([sinkRecord({ a: 3, b: 3 })])
      assert.deepStrictEqual(all("SELECT a, typeof(a) AS t, b FROM t"), [{ a: 3, t: "integer", b: "3" }])
    }))

  it.effect("writes to the table that table.name.format names, whatever the names are", () =>
    Effect.gen(function*() {
      const { all, task } = yield* sink({ "table.name.format": `in "\${topic}"` })
      yield* task.put([sinkRecord({ "drop \"table\"; --": 1, select: 2 }, { topic: "$&" })])
      assert.deepStrictEqual(all(`SELECT * FROM "in ""$&"""`), [{ "drop \"table\"; --": 1, select: 2 }])
    }))

  it.effect("changes the row of the same pk.fields in upsert mode, in the order of the records", () =>
    Effect.gen(function*() {
      const { all, task } = yield* sink({ "insert.mode": "upsert", "pk.fields": "id" })
      yield* task.put([
        sinkRecord({ id: 1, a: "1", b: "x" }),
        sinkRecord({ id: 2, a: "1", b: "x" }),
        sinkRecord({ id: 1, a: "2" }),
        sinkRecord({ id: 1, a: "3", b: "y" })
      ])
      yield* task.put([sinkRecord({ id: 2 }), sinkRecord({ id: 3, a: "1" })])
      assert.deepStrictEqual(all("SELECT * FROM t ORDER BY id"), [
        { id: 1, a: "3", b: "y" },
        { id: 2, a: "1", b: "x" },
        { id: 3, a: "1", b: null }
      ])
    }))

  it.effect("takes pk.fields from the key when the value has none, and gives a record without them up", () =>
    Effect.gen(function*() {
      const { all, task } = yield* sink({ "insert.mode": "upsert", "pk.fields": "id" })
      yield* task.put([
        sinkRecord({ a: 1 }, { key: { id: "k1" } }),
        sinkRecord({ a: 2 }, { key: "k2" }),
        sinkRecord({ a: 3 }, { key: null }),
        sinkRecord({ a: 4, id: "k1" }, { key: "other" })
      ])
      assert.deepStrictEqual(all("SELECT * FROM t ORDER BY id"), [{ id: "k1", a: 4 }, { id: "k2", a: 2 }])
      assert.deepStrictEqual(task.reported, [[
        { a: 3 },
        "SqliteSink: neither value nor key has the member id of pk.fields"
      ]])
    }))

  it.effect("gives up records that are no rows, and writes the others", () =>
    Effect.gen(function*() {
      const { all, task } = yield* sink()
      const large = 2n ** 63n
      yield* task.put([null, "text", [1], {}, { a: large }, { a: 1 }].map((value) => sinkRecord(value)))
      assert.deepStrictEqual(all("SELECT * FROM t"), [{ a: 1 }])
      assert.deepStrictEqual(task.reported.map(([, message]) => message.replace("SqliteSink: ", "")), [
        "the value is null, not a struct or an object; HoistField makes one of it",
        "the value is string, not a struct or an object; HoistField makes one of it",
        "the value is array, not a struct or an object; HoistField makes one of it",
        "the value has no members",
        "member a is an integer of more than 64 bits"
      ])
    }))

  it.effect("gives up the records that a constraint refuses, and writes the others in one transaction", () =>
    Effect.gen(function*() {
      const { all, task } = yield* sink({}, "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL)")
      yield* task.put([
        sinkRecord({ id: 1, a: "first" }),
        sinkRecord({ id: 1, a: "again" }),
        sinkRecord({ id: 2, a: null }),
        sinkRecord({ id: 3, a: "last" })
      ])
      assert.deepStrictEqual(all("SELECT * FROM t"), [{ id: 1, a: "first" }, { id: 3, a: "last" }])
      assert.deepStrictEqual(task.reported.map(([value, message]) => [value, message]), [
        [{ id: 1, a: "again" }, "SqliteSink: UNIQUE constraint failed: t.id"],
        [{ id: 2, a: null }, "SqliteSink: NOT NULL constraint failed: t.a"]
      ])
    }))

  it.effect("fails when no single record can be blamed for a constraint, and writes nothing", () =>
    Effect.gen(function*() {
      const { all, task } = yield* sink(
        {},
        `CREATE TABLE p (id INTEGER PRIMARY KEY);
         CREATE TABLE t (p INTEGER REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED)`
      )
      assertError(
        yield* Effect.flip(task.put([sinkRecord({ p: 1 })])),
        "PermanentError",
        "FOREIGN KEY constraint failed"
      )
      assert.deepStrictEqual(all("SELECT * FROM t"), [])
    }))

  it.effect("refuses a member without a column, or adds the column with auto.evolve", () =>
    Effect.gen(function*() {
      const strict = yield* sink()
      yield* strict.task.put([sinkRecord({ a: 1 }), sinkRecord({ a: 2, b: "x" }), sinkRecord({ A: 3 })])
      assert.deepStrictEqual(strict.all("SELECT * FROM t"), [{ a: 1 }, { a: 3 }])
      assert.deepStrictEqual(strict.task.reported.map(([, message]) => message), [
        "SqliteSink: table t has no column b: add it, or set auto.evolve=true"
      ])
      const evolving = yield* sink({ "auto.evolve": "true" })
      yield* evolving.task.put([sinkRecord({ a: 1 }), sinkRecord({ a: 2, b: "x" })])
      yield* evolving.task.put([sinkRecord({ c: 1.5 })])
      assert.deepStrictEqual(evolving.all("SELECT * FROM t"), [
        { a: 1, b: null, c: null },
        { a: 2, b: "x", c: null },
        { a: null, b: null, c: 1.5 }
      ])
    }))

  it.effect("refuses records of a missing table with auto.create off", () =>
    Effect.gen(function*() {
      const { task } = yield* sink({ "auto.create": "false" })
      yield* task.put([sinkRecord({ a: 1 })])
      assert.deepStrictEqual(task.reported.map(([, message]) => message), [
        "SqliteSink: there is no table t: create it, or set auto.create=true"
      ])
    }))

  it.effect("finds its way when somebody drops the table, or adds the column that it wants to add", () =>
    Effect.gen(function*() {
      const { all, other, task } = yield* sink({ "auto.evolve": "true" })
      yield* task.put([sinkRecord({ a: 1 })])
      other.exec("DROP TABLE t")
      yield* task.put([sinkRecord({ a: 2 })])
      other.exec("ALTER TABLE t ADD COLUMN b")
      yield* task.put([sinkRecord({ a: 3, b: 4 })])
      assert.deepStrictEqual(all("SELECT * FROM t"), [{ a: 2, b: null }, { a: 3, b: 4 }])
    }))

  it.effect("fails as transient while another connection holds the lock, and writes the batch on the retry", () =>
    Effect.gen(function*() {
      const { all, file, other, task } = yield* sink()
      other.exec("BEGIN IMMEDIATE")
      const batch = [sinkRecord({ a: 1 }), sinkRecord({ a: 2 })]
      assertError(yield* Effect.flip(task.put(batch)), "TransientError", file, "is locked by another connection")
      other.exec("ROLLBACK")
      yield* task.put(batch)
      assert.deepStrictEqual(all("SELECT * FROM t"), [{ a: 1 }, { a: 2 }])
    }))

  it.effect("says that upsert cannot work without a unique index on pk.fields", () =>
    Effect.gen(function*() {
      const { task } = yield* sink({ "insert.mode": "upsert", "pk.fields": "a" }, "CREATE TABLE t (a)")
      assertError(yield* Effect.flip(task.put([sinkRecord({ a: 1 })])), "PermanentError", "UNIQUE constraint")
    }))

  it.effect("names a folder that does not exist", () =>
    Effect.gen(function*() {
      const database = path.join(yield* freshFolder, "none", "data.db")
      assertError(yield* Effect.flip(sinkTask(SqliteSink, { database })), "PermanentError", database, "folder")
    }))

  it.effect("asks for pk.fields in upsert mode", () =>
    Effect.gen(function*() {
      const validate = (config: Record<string, string>) =>
        SqliteSink["~sink"].validate?.(decoded(SqliteSink.fields, { database: "x", ...config }) as never) ??
          Effect.die("none")
      assert.deepStrictEqual((yield* validate({ "insert.mode": "upsert" })).map((_) => _.property), ["primaryKey"])
      assert.deepStrictEqual(yield* validate({ "insert.mode": "upsert", "pk.fields": "id" }), [])
    }))
})
