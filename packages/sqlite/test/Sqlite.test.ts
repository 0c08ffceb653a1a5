import { assert, describe, it } from "@effect/vitest"
import { ClusterState, ConfigStore, Item, OffsetStore, StatusStore, type StoreError, TopicLog } from "@kelpie/core"
import { Sqlite, SqliteConfigStore, SqliteOffsetStore, SqliteTopicLog } from "@kelpie/sqlite"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { chmod, mkdir, open as openFile, readFile, rename, rm, writeFile } from "node:fs/promises"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { MaxPages } from "../src/internal/settings.ts"
import * as Fixtures from "./fixtures.ts"

const { patience } = Fixtures
const item = Item.task("orders", 0)
const run = { token: 1, start: 1 }
const text = (value: Uint8Array | null) => new TextDecoder().decode(value ?? undefined)
const bytes = (length: number): TopicLog.LogRecord => ({
  key: null,
  value: new Uint8Array(length).fill(120),
  headers: [],
  timestampMillis: 1
})
const subscribe = (topic: string) =>
  TopicLog.use((log) =>
    log.subscribe({
      group: "g",
      topics: { list: [topic] },
      member: 0,
      members: 1,
      item: Item.task("sink", 0),
      run
    })
  )
const storeOffset = (connector: string, offset: string) =>
  Effect.flatMap(
    OffsetStore.use((store) => store.open(Item.connector(connector), run)),
    (writer) => writer.prepare([{ partition: "p", offset }]).commit
  ).pipe(Effect.scoped)
const offsetOf = (connector: string) =>
  Effect.map(OffsetStore.use((store) => store.read(connector, ["p"])), ([offset]) => offset)
const refusal = (options: Sqlite.Options): Effect.Effect<StoreError> =>
  Effect.flip(Effect.provide(Effect.asVoid(ConfigStore), Sqlite.layer(options), { local: true })).pipe(
    Effect.catch(() => Effect.die(new Error("it was opened")))
  )
const open = (options: Sqlite.Options) =>
  Effect.provide(Effect.asVoid(ConfigStore), Sqlite.layer(options), { local: true })

const sql = (file: string, statements: string) =>
  Effect.sync(() => {
    const database = new DatabaseSync(file)
    database.exec(statements)
    database.close()
  })

/** Writes nonsense over the first page of a table. */
const overwritePage = (file: string, table: string) =>
  Effect.promise(async () => {
    const database = new DatabaseSync(file, { readOnly: true })
    const page = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)?.rootpage
    const size = database.prepare("PRAGMA page_size").get()?.page_size
    database.close()
    const handle = await openFile(file, "r+")
    await handle.write(Buffer.alloc(Number(size), 0xee), 0, Number(size), (Number(page) - 1) * Number(size))
    await handle.close()
  })

/** The transactions in a log file: the frames that say how large the database is after them. */
const commits = (file: string) =>
  Effect.map(Effect.promise(() => readFile(file)), (log) => {
    const pageSize = log.readUInt32BE(8)
    let count = 0
    for (let at = 32; at + 24 <= log.length; at += 24 + pageSize) {
      if (log.compare(log, 16, 24, at + 8, at + 16) === 0 && log.readUInt32BE(at + 4) !== 0) count++
    }
    return count
  })

describe("durability", () => {
  it.effect("a SIGKILL in the middle of appends loses nothing that was acknowledged", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const child = yield* Fixtures.start("appender", [directory])
      for (let n = 0; n < 50; n++) yield* child.line
      yield* child.kill
      const acknowledged = Number((yield* child.rest).at(-1) ?? 50)
      yield* Effect.gen(function*() {
        const offset: { readonly n: number } = JSON.parse(
          (yield* OffsetStore.use((_) => _.read("orders", ["{}"])))[0] ?? ""
        )
        assert.isAtLeast(offset.n, acknowledged)
        const subscription = yield* subscribe("orders")
        const read: Array<string> = []
        while (read.length < offset.n) {
          for (const { records } of yield* subscription.read(1_000)) read.push(...records.map((_) => text(_.value)))
        }
        // every record once, in order, and as many as the offset says (I9)
        assert.deepStrictEqual(read, Array.from({ length: offset.n }, (_, n) => String(n + 1)))
        const state = yield* ConfigStore.use((store) => store.state)
        for (let n = 1; n <= acknowledged; n++) {
          assert.isDefined(ClusterState.placement(state, Item.task(`job-${n}`, 0)), `job-${n}`)
        }
      }).pipe(Effect.scoped, Effect.provide(Sqlite.layer({ directory })))
    }), patience)

  it.effect("closing answers what was asked, and leaves files without logs", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Sqlite.layer({ directory }), scope)
      const writes = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, n) => n),
        (n) =>
          storeOffset(`c${n}`, String(n)).pipe(Effect.provide(context), Effect.forkScoped({ startImmediately: true }))
      )
      const store = yield* OffsetStore.pipe(Effect.provide(context))
      const opened = yield* store.open(item, run)
      const last = yield* opened.prepare([{ partition: "p", offset: "last" }]).commit.pipe(
        Effect.forkScoped({ startImmediately: true })
      )
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(last)
      yield* Effect.forEach(writes, Fiber.await)
      const late = yield* Effect.flip(store.read("orders", ["p"]))
      assert.strictEqual(late.kind, "Unavailable")
      assert.include(late.detail, "data.db is closed")
      for (const name of ["control.db-wal", "data.db-wal"]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.tryPromise(() => readFile(path.join(directory, name))))))
      }
      assert.strictEqual(yield* offsetOf("orders").pipe(Effect.provide(Sqlite.layer({ directory }))), "last")
    }), patience)
})

describe("the main thread", () => {
  it.effect(
    "goes on while another process holds the write lock; the write then succeeds",
    () =>
      Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        yield* Effect.gen(function*() {
          const locker = yield* Fixtures.start("locker", [path.join(directory, "data.db")])
          assert.strictEqual(yield* locker.line, "locked")
          const write = yield* Effect.forkScoped(storeOffset("orders", "1"), { startImmediately: true })
          for (let n = 0; n < 1_000; n++) yield* Fixtures.turn
          assert.isUndefined(write.pollUnsafe())
          yield* locker.tell("let go")
          yield* Fiber.join(write)
          assert.strictEqual(yield* offsetOf("orders"), "1")
        }).pipe(Effect.scoped, Effect.provide(Sqlite.layer({ directory, busyTimeout: "1 minute" })))
      }),
    patience
  )

  it.effect("is told when the lock is held for too long, and the store works afterwards", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const file = path.join(directory, "data.db")
        const locker = yield* Fixtures.start("locker", [file])
        assert.strictEqual(yield* locker.line, "locked")
        const error = yield* Effect.flip(storeOffset("orders", "1"))
        assert.strictEqual(error.kind, "Unavailable")
        assert.strictEqual(error.detail, `${file} was locked by another process for longer than 20 ms`)
        assert.isUndefined(yield* offsetOf("orders")) // reading needs no lock
        yield* locker.kill
        yield* storeOffset("orders", "2")
        assert.strictEqual(yield* offsetOf("orders"), "2")
      }).pipe(Effect.scoped, Effect.provide(Sqlite.layer({ directory, busyTimeout: "20 millis" })))
    }), patience)

  it.effect("an interrupted caller leaves the store usable", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const locker = yield* Fixtures.start("locker", [path.join(directory, "data.db")])
        assert.strictEqual(yield* locker.line, "locked")
        const write = yield* Effect.forkScoped(storeOffset("orders", "1"), { startImmediately: true })
        yield* Fiber.interrupt(write)
        yield* locker.tell("let go")
        yield* storeOffset("orders", "2")
        assert.strictEqual(yield* offsetOf("orders"), "2")
      }).pipe(Effect.scoped, Effect.provide(Sqlite.layer({ directory, busyTimeout: "1 minute" })))
    }), patience)
})

describe("group commit", () => {
  it.effect(
    "writes that wait share a transaction, and one that is refused takes only itself back",
    () =>
      Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        yield* Effect.gen(function*() {
          const file = path.join(directory, "data.db")
          const offsets = yield* OffsetStore
          const log = yield* TopicLog
          const stale = yield* log.open(item, run)
          yield* log.fence([{ item, run: { token: 2, start: 1 } }])
          const writers = yield* Effect.forEach(
            Array.from({ length: 100 }, (_, n) => Item.connector(`c${n}`)),
            (item) => offsets.open(item, run)
          )
          const locker = yield* Fixtures.start("locker", [file])
          assert.strictEqual(yield* locker.line, "locked")
          const before = yield* commits(`${file}-wal`)
          const writes = yield* Effect.forEach(writers, (writer, n) =>
            writer.prepare([{ partition: "p", offset: String(n) }]).commit.pipe(
              Effect.forkScoped({ startImmediately: true })
            ))
          const refused = yield* stale.append([{ topic: "t", records: [bytes(10)] }]).pipe(
            Effect.flip,
            Effect.forkScoped({ startImmediately: true })
          )
          yield* locker.tell("let go")
          yield* Effect.forEach(writes, Fiber.join)
          assert.strictEqual((yield* Fiber.join(refused)).kind, "Fenced")
          // the first one may have left alone, before the others came
          assert.isAtMost((yield* commits(`${file}-wal`)) - before, 5)
          assert.deepStrictEqual(
            yield* Effect.forEach(writers, (_, n) =>
              offsetOf(`c${n}`)),
            writers.map((_, n) =>
              String(n)
            )
          )
          assert.deepStrictEqual(yield* log.topics, [])
        }).pipe(Effect.scoped, Effect.provide(Sqlite.layer({ directory, busyTimeout: "1 minute" })))
      }),
    patience
  )
})

describe("a full disk", () => {
  it.effect("refuses what does not fit, says so, and keeps what was acknowledged", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const full = Sqlite.layer({ directory }).pipe(Layer.provide(Layer.succeed(MaxPages, 80)))
      const stored = yield* Effect.gen(function*() {
        const writer = yield* TopicLog.use((log) => log.open(item, run))
        const source = yield* OffsetStore.use((store) => store.open(item, run))
        const append = (n: number) =>
          writer.append(
            [{ topic: "t", records: [bytes(20_000)] }],
            source.prepare([{ partition: "p", offset: String(n) }])
          )
        let stored = 0
        let error: StoreError | undefined
        while (error === undefined) {
          error = yield* Effect.match(append(stored + 1), { onFailure: (error) => error, onSuccess: () => undefined })
          if (error === undefined) stored++
        }
        assert.strictEqual(error.kind, "Unavailable")
        assert.include(error.detail, `the disk is full: ${path.join(directory, "data.db")} cannot grow`)
        assert.strictEqual(yield* offsetOf("orders"), String(stored))
        return stored
      }).pipe(Effect.scoped, Effect.provide(full))
      assert.isAbove(stored, 0)
      yield* Effect.gen(function*() {
        const subscription = yield* subscribe("t")
        const read = (yield* subscription.read(1_000)).flatMap(({ records }) => records)
        assert.strictEqual(read.length, stored)
        assert.strictEqual(yield* offsetOf("orders"), String(stored))
      }).pipe(Effect.scoped, Effect.provide(Sqlite.layer({ directory })))
    }), patience)

  it.effect("one large write of a group does not take the small ones with it", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const offsets = yield* OffsetStore
        const writer = yield* TopicLog.use((log) => log.open(item, run))
        const [a, b] = [yield* offsets.open(Item.connector("a"), run), yield* offsets.open(Item.connector("b"), run)]
        const locker = yield* Fixtures.start("locker", [path.join(directory, "data.db")])
        assert.strictEqual(yield* locker.line, "locked")
        const [first, large, last] = yield* Effect.forEach([
          a.prepare([{ partition: "p", offset: "1" }]).commit,
          writer.append([{ topic: "t", records: [bytes(2_000_000)] }]),
          b.prepare([{ partition: "p", offset: "2" }]).commit
        ], (write) => Effect.forkScoped(Effect.exit(write), { startImmediately: true }))
        yield* locker.tell("let go")
        assert.isTrue(first !== undefined && Exit.isSuccess(yield* Fiber.join(first)))
        assert.isTrue(large !== undefined && Exit.isFailure(yield* Fiber.join(large)))
        assert.isTrue(last !== undefined && Exit.isSuccess(yield* Fiber.join(last)))
        assert.deepStrictEqual([yield* offsetOf("a"), yield* offsetOf("b")], ["1", "2"])
        assert.deepStrictEqual(yield* TopicLog.use((log) => log.topics), [])
      }).pipe(
        Effect.scoped,
        Effect.provide(
          Sqlite.layer({ directory, busyTimeout: "1 minute" }).pipe(Layer.provide(Layer.succeed(MaxPages, 80)))
        )
      )
    }), patience)
})

describe("files that cannot be used", () => {
  it.effect("a read-only directory is named, whether the files are there or not", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* open({ directory })
      const empty = path.join(directory, "empty")
      yield* Effect.promise(() => mkdir(empty))
      yield* Effect.acquireRelease(
        Effect.promise(async () => {
          for (const name of ["", "empty"]) await chmod(path.join(directory, name), 0o555)
          for (const name of ["control.db", "data.db"]) await chmod(path.join(directory, name), 0o444)
        }),
        () => Effect.promise(() => chmod(directory, 0o755)) // so that it can be removed
      )
      // the superuser may write everywhere
      const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
      for (const where of [directory, empty, path.join(directory, "missing")]) {
        const child = yield* Fixtures.start("readonly", [where], user)
        const outcome = yield* child.line
        assert.match(outcome, /^open control\.db: Unavailable: /)
        assert.include(outcome, where)
        assert.match(outcome, /read-only|cannot be opened|cannot be created/)
      }
    }), patience)

  it.effect("a directory below a file cannot be created", () =>
    Effect.gen(function*() {
      const file = path.join(yield* Fixtures.temporary, "file")
      yield* Effect.promise(() => writeFile(file, ""))
      const error = yield* refusal({ directory: path.join(file, "data") })
      assert.strictEqual(error.kind, "Unavailable")
      assert.include(error.detail, `the data directory ${path.join(file, "data")} cannot be created`)
    }), patience)

  it.effect("refuses a newer schema, naming both versions, and does not touch the file", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* open({ directory })
      for (const [name, newest] of [["data.db", 2], ["control.db", 2]] as const) {
        const file = path.join(directory, name)
        yield* sql(file, "PRAGMA user_version = 99")
        const before = yield* Effect.promise(() => readFile(file))
        const error = yield* refusal({ directory })
        assert.strictEqual(error.kind, "Corrupt")
        assert.include(
          error.detail,
          `${file} has schema version 99, but this Kelpie knows versions up to ${newest}: start the newer`
        )
        assert.isTrue(before.equals(yield* Effect.promise(() => readFile(file))))
      }
    }), patience)

  it.effect("brings a data.db of the first version up to date, and keeps what is in it", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const record = { key: null, value: null, headers: [], timestampMillis: 0 }
      const append = (token: number) =>
        Effect.gen(function*() {
          const log = yield* TopicLog
          const writer = yield* log.open({ connector: "c", task: 0 }, { token, start: 1 }, { usage: "c" })
          yield* writer.append([{ topic: `t${token}`, records: [record] }])
          return [yield* log.topics, yield* log.usedTopics("c")] as const
        }).pipe(Effect.scoped, Effect.provide(Sqlite.layer({ directory })))
      yield* append(1)
      yield* sql(path.join(directory, "data.db"), "DROP TABLE used_topics; PRAGMA user_version = 1")
      const [topics, used] = yield* append(2)
      assert.deepStrictEqual(topics.map(({ name }) => name), ["t1", "t2"])
      assert.deepStrictEqual(used, ["t2"])
    }), patience)

  it.effect("refuses what is not a database, and the database of another program", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const file = path.join(directory, "control.db")
      yield* Effect.promise(() => writeFile(file, "these are notes, not a database. ".repeat(100)))
      const notes = yield* refusal({ directory })
      assert.strictEqual(notes.kind, "Corrupt")
      assert.include(notes.detail, `${file} is not a SQLite database`)
      yield* Effect.promise(() => rm(file))
      yield* sql(file, "CREATE TABLE notes (text TEXT)")
      const other = yield* refusal({ directory })
      assert.strictEqual(other.kind, "Corrupt")
      assert.include(other.detail, `${file} is a database of another program`)
    }), patience)

  it.effect("refuses a data.db that was not created with its control.db, naming both", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* Fixtures.temporary, yield* Fixtures.temporary]
      yield* open({ directory: one })
      yield* open({ directory: two })
      yield* Effect.promise(() => rename(path.join(one, "data.db"), path.join(two, "data.db")))
      const error = yield* refusal({ directory: two })
      assert.strictEqual(error.kind, "Corrupt")
      assert.include(
        error.detail,
        `${path.join(two, "data.db")} and ${path.join(two, "control.db")} do not belong together`
      )
    }), patience)

  it.effect("refuses another cluster: by the option, or by the cluster record", () =>
    Effect.gen(function*() {
      const [named, recorded] = [yield* Fixtures.temporary, yield* Fixtures.temporary]
      yield* open({ directory: named, clusterId: "one" })
      yield* open({ directory: named })
      const error = yield* refusal({ directory: named, clusterId: "two" })
      assert.strictEqual(error.kind, "Corrupt")
      assert.include(error.detail, `control.db belongs to the cluster "one", and this runtime to "two"`)

      yield* ConfigStore.use((store) => store.claim("me", Effect.succeed(true))).pipe(
        Effect.flatMap((claim) => claim.commit([{ write: { key: "cluster", entry: { id: "three" } } }])),
        Effect.provide(Sqlite.layer({ directory: recorded }))
      )
      assert.strictEqual((yield* refusal({ directory: recorded, clusterId: "two" })).kind, "Corrupt")
      yield* open({ directory: recorded, clusterId: "three" })
    }), patience)

  it.effect("a data.db of another cluster is refused beside its control.db", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.provide(OffsetStore, SqliteOffsetStore.layer({ directory, clusterId: "one" }))
      yield* Effect.provide(ConfigStore, SqliteConfigStore.layer({ directory, clusterId: "two" }))
      const error = yield* refusal({ directory })
      assert.strictEqual(error.kind, "Corrupt")
      const [data, control] = [path.join(directory, "data.db"), path.join(directory, "control.db")]
      assert.include(error.detail, `${data} belongs to the cluster "one", ${control} to "two"`)
    }), patience)

  it.effect("a damaged file is said to be damaged", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const file = path.join(directory, "data.db")
      yield* open({ directory })
      yield* overwritePage(file, "offsets")
      const error = yield* offsetOf("orders").pipe(
        Effect.flip,
        Effect.provide(SqliteOffsetStore.layer({ directory }))
      )
      assert.strictEqual(error.kind, "Corrupt")
      assert.include(error.detail, `${file} is damaged`)
    }), patience)
})

describe("options", () => {
  it.effect("a wrong option is named", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const exit = yield* Effect.exit(Effect.provide(TopicLog, SqliteTopicLog.layer({ directory, partitions: 0 })))
      assert.include(String(exit), `the option "partitions" has to be a whole number above 0`)
    }), patience)

  it.effect("several processes may open a new directory at once", () =>
    Effect.gen(function*() {
      const directory = path.join(yield* Fixtures.temporary, "deep", "new")
      const children = yield* Effect.forEach(["a", "b", "c"], (name) => Fixtures.start("opener", [directory, name]))
      assert.deepStrictEqual(yield* Effect.forEach(children, (child) => child.line), ["done", "done", "done"])
      const statuses = yield* StatusStore.use((store) => store.load).pipe(Effect.provide(Sqlite.layer({ directory })))
      assert.sameMembers(statuses.map(({ connector }) => connector), ["a", "b", "c"])
    }), patience)
})
