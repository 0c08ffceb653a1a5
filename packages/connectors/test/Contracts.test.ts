import { FileSink, FileSource, GeneratorSource, SqliteSink, SqliteSource } from "@kelpie/connectors"
import { SinkContract, SourceContract } from "@kelpie/testkit"
import { describeContract, nodeHandles } from "@kelpie/testkit/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { freshFolder } from "./connectorTask.ts"

/** A machine that does other things too. */
const patient = { patience: "30 seconds", stopWithin: "20 seconds", limit: "2 minutes" } as const

const linesOf = (file: string) => fs.readFileSync(file, "utf8").split("\n").slice(0, -1)

/** The open files below a folder and the watches of it in this process; what the system does not tell is not there. */
const openIn = (folder: string) =>
  Effect.sync(() => {
    const fds = fs.existsSync("/proc/self/fd") ? fs.readdirSync("/proc/self/fd") : []
    const inode = ` ino:${fs.statSync(folder).ino.toString(16)} `
    return fds.flatMap((fd) => {
      try {
        const target = fs.readlinkSync(`/proc/self/fd/${fd}`)
        if (target.startsWith(folder)) return [target]
        if (target !== "anon_inode:inotify") return []
        return fs.readFileSync(`/proc/self/fdinfo/${fd}`, "utf8").split("\n").filter((line) => line.includes(inode))
      } catch {
        return [] // closed meanwhile, as the one by which the folder was read
      }
    })
  })

const textFile = Effect.map(freshFolder, (folder) => ({ folder, file: path.join(folder, "lines.txt"), lines: 0 }))

describeContract(
  "FileSource",
  SourceContract(FileSource, {
    world: textFile,
    config: ({ file }) => FileSource.config({ file, topic: "lines", batchSize: 2 }),
    produce: (world, count) =>
      Effect.sync(() => {
        for (let n = 0; n < count; n++) fs.appendFileSync(world.file, `line ${++world.lines}\n`)
      }),
    held: ({ folder }) => openIn(folder),
    handles: nodeHandles,
    ...patient
  })
)

describeContract(
  "FileSink",
  SinkContract(FileSink, {
    world: textFile,
    config: ({ file }) => FileSink.config({ file }, {}),
    value: (n) => `${n}`,
    read: ({ file }) => Effect.sync(() => linesOf(file).map(Number)),
    badValue: Object.create({
      toJSON: () => {
        throw new TypeError("no JSON")
      }
    }) as unknown,
    held: ({ folder }) => openIn(folder),
    handles: nodeHandles,
    ...patient
  })
)

const database = Effect.gen(function*() {
  const folder = yield* freshFolder
  const file = path.join(folder, "data.db")
  const other = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(file)),
    (other) => Effect.sync(() => other.close())
  )
  return { folder, file, other, rows: 0 }
})

const tables = Effect.tap(database, ({ other }) =>
  Effect.sync(() =>
    other.exec(`
      PRAGMA journal_mode = WAL;
      CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE b (id INTEGER PRIMARY KEY, at DATETIME, photo BLOB)`)
  ))

describeContract(
  "SqliteSource",
  SourceContract(SqliteSource, {
    world: tables,
    config: ({ file }) => SqliteSource.config({ database: file, maxRows: 1 }),
    records: 4,
    produce: (world, count) =>
      Effect.sync(() => {
        for (let n = 0; n < count; n++) {
          const id = ++world.rows
          world.other.exec(
            id % 2 === 0 ? `INSERT INTO a VALUES (${id}, 'x')` : `INSERT INTO b VALUES (${id}, '2026-01-01', x'00')`
          )
        }
      }),
    // somebody else has the file locked
    outage: ({ other }) =>
      Effect.acquireRelease(
        Effect.sync(() => other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")),
        () => Effect.sync(() => other.exec("ROLLBACK; PRAGMA locking_mode = NORMAL; SELECT 1 FROM a"))
      ),
    handles: nodeHandles,
    ...patient
  })
)

for (const insertMode of ["insert", "upsert"] as const) {
  describeContract(
    `SqliteSink, insert.mode=${insertMode}`,
    SinkContract(SqliteSink, {
      world: database,
      config: ({ file }) =>
        SqliteSink.config({ database: file, insertMode, primaryKey: ["id"], busyTimeout: "1 second" }, {}),
      value: (id) => ({ id, name: `name ${id}` }),
      read: ({ other }) =>
        Effect.sync(() => other.prepare("SELECT id FROM records ORDER BY rowid").all().map(({ id }) => Number(id))),
      once: true,
      badValue: "no row",
      outage: ({ other }) =>
        Effect.acquireRelease(
          Effect.sync(() => other.exec("BEGIN IMMEDIATE")),
          () => Effect.sync(() => other.exec("ROLLBACK"))
        ),
      handles: nodeHandles,
      ...patient
    })
  )
}

describeContract(
  "GeneratorSource",
  SourceContract(GeneratorSource, {
    world: Effect.void,
    config: () => GeneratorSource.config({ topic: "numbers", batchSize: 2, rate: 200 }),
    produce: () => Effect.void,
    handles: nodeHandles,
    ...patient
  })
)
