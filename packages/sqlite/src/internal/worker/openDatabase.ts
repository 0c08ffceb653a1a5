/**
 * Opens a database file of Kelpie's: refuses what is not one, brings its schema up to date, and checks whose it is.
 *
 * Nothing is written before the file is known to be ours: not even the journal mode, which is kept in the file.
 */
import { mkdirSync } from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Opened, Opening } from "../calls.ts"
import { Refusal } from "../failure.ts"

/** One of the two kinds of file. */
export interface Kind {
  /** The file's name in the directory. */
  readonly name: string
  /** SQLite's `application_id`: tells our files from other programs' databases. */
  readonly applicationId: number
  /** Step n brings version n to version n + 1 (`user_version`); steps are only ever added. */
  readonly migrations: ReadonlyArray<(database: DatabaseSync) => void>
}

/** An open file. */
export interface Open {
  readonly database: DatabaseSync
  readonly file: string
  readonly opened: Opened
}

const number = (database: DatabaseSync, sql: string): number => {
  const [value] = Object.values(database.prepare(sql).get() ?? {})
  return typeof value === "number" ? value : 0
}

/** The version of the schema; refuses files of others and of newer versions. */
const version = (database: DatabaseSync, file: string, kind: Kind): number => {
  const found = number(database, "PRAGMA user_version")
  const id = number(database, "PRAGMA application_id")
  if (id !== kind.applicationId && (id !== 0 || number(database, "SELECT count(*) FROM sqlite_schema") > 0)) {
    throw new Refusal(
      "Corrupt",
      `${file} is a database of another program: move it away, or choose another directory`
    )
  }
  const known = kind.migrations.length
  if (found > known) {
    throw new Refusal(
      "Corrupt",
      `${file} has schema version ${found}, but this Kelpie knows versions up to ${known}: ` +
        "start the newer Kelpie that wrote it, or restore a backup from before the upgrade"
    )
  }
  return found
}

const configure = (database: DatabaseSync, opening: Opening) => {
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${opening.synchronous === "full" ? "FULL" : "NORMAL"};
    PRAGMA fullfsync = ${opening.synchronous === "full" ? 1 : 0};
    PRAGMA checkpoint_fullfsync = 1;
    PRAGMA wal_autocheckpoint = 4000;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -16384;
    PRAGMA temp_store = MEMORY;
  `)
  if (opening.maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${opening.maxPages}`)
}

/** Runs in one transaction: two processes that open a new file at once do not both create it. */
const migrate = (database: DatabaseSync, file: string, kind: Kind) => {
  const from = version(database, file, kind)
  for (const step of kind.migrations.slice(from)) step(database)
  if (from === kind.migrations.length) return
  database.exec(
    `PRAGMA application_id = ${kind.applicationId}; PRAGMA user_version = ${kind.migrations.length}`
  )
}

/** A value of the `meta` table. */
export const getMeta = (database: DatabaseSync, key: string): string | undefined => {
  const value = database.prepare("SELECT value FROM meta WHERE key = ?").get(key)?.value
  return typeof value === "string" ? value : undefined
}

/** Writes a value of the `meta` table. */
export const setMeta = (database: DatabaseSync, key: string, value: string) => {
  database.prepare("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value")
    .run(key, value)
}

/** The file's ids: those it has, or else those it is given; refused when it has others. */
const identify = (database: DatabaseSync, file: string, opening: Opening, drawn: boolean): Opened => {
  const storeId = getMeta(database, "store")
  const clusterId = getMeta(database, "cluster")
  const beside = opening.storeId !== undefined && !drawn ? path.join(opening.directory, "control.db") : undefined
  if (beside !== undefined && storeId !== undefined && storeId !== opening.storeId) {
    throw new Refusal(
      "Corrupt",
      `${file} and ${beside} do not belong together: one of them comes from another directory; bring back the two ` +
        "files that were created together"
    )
  }
  if (clusterId !== undefined && opening.clusterId !== undefined && clusterId !== opening.clusterId) {
    throw new Refusal(
      "Corrupt",
      `${file} belongs to the cluster "${clusterId}", ${beside ?? "and this runtime"} to "${opening.clusterId}": ` +
        "choose another directory"
    )
  }
  if (storeId === undefined && opening.storeId !== undefined) setMeta(database, "store", opening.storeId)
  if (clusterId === undefined && opening.clusterId !== undefined) setMeta(database, "cluster", opening.clusterId)
  return { storeId: storeId ?? opening.storeId, clusterId: clusterId ?? opening.clusterId }
}

const createDirectory = (directory: string) => {
  try {
    mkdirSync(directory, { recursive: true })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Refusal("Unavailable", `the data directory ${directory} cannot be created: ${reason}`)
  }
}

/**
 * Opens the file, and creates it and its directory when they are missing. `drawn`: the store id was drawn for this file,
 * in case it is new, so an older one wins. `prepare` runs in the opening transaction.
 */
export const openDatabase = (
  kind: Kind,
  opening: Opening,
  options: { readonly drawn: boolean; readonly prepare: (database: DatabaseSync) => void }
): Open => {
  createDirectory(opening.directory)
  const file = path.join(opening.directory, kind.name)
  const database = new DatabaseSync(file, { timeout: opening.busyTimeoutMillis })
  try {
    version(database, file, kind)
    configure(database, opening)
    database.exec("BEGIN IMMEDIATE")
    migrate(database, file, kind)
    const opened = identify(database, file, opening, options.drawn)
    options.prepare(database)
    database.exec("COMMIT")
    return { database, file, opened }
  } catch (cause) {
    database.close() // drops an open transaction
    throw cause
  }
}
