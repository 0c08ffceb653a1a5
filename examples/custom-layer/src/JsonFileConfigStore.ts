/**
 * A config store over one plain JSON file, made with `ConfigStore.makeEncoded`: what is asked of an engine are a claim, an
 * append and a read of strings; the fold, the guards and the codecs are Kelpie's.
 *
 * Every change writes the whole file anew beside the old one, forces it to the disk, and gives it the name: after a crash
 * the file is the old one or the new one. It holds the last record of each key, so it does not grow with time. For a few
 * thousand connectors of one process; `exclusive` sees to it that it is one.
 */
import { type ConfigRecord, ConfigStore, StoreError } from "@kelpie/core"
import { SqliteDatabase } from "@kelpie/sqlite"
import { Effect, Layer, Schema, Semaphore } from "effect"
import * as fs from "node:fs/promises"
import * as path from "node:path"

const Log = Schema.Struct({
  /** The newest claim: the number of whoever may append. */
  claim: Schema.Int,
  /** The position of the newest record; never used again, also when its record is gone. */
  position: Schema.Int,
  /** In the order of their positions; `null` is a tombstone. */
  records: Schema.Array(
    Schema.Struct({ key: Schema.String, value: Schema.NullOr(Schema.String), position: Schema.Int })
  )
})
type Log = typeof Log.Type

const LogText = Schema.fromJsonString(Log)
const empty: Log = { claim: 0, position: 0, records: [] }

const attempt = <A>(operation: string, run: () => Promise<A>): Effect.Effect<A, StoreError> =>
  Effect.tryPromise({ try: run, catch: (cause) => new StoreError({ kind: "Unavailable", operation, cause }) })

const isMissing = (cause: unknown): boolean => cause instanceof Error && "code" in cause && cause.code === "ENOENT"

const load = Effect.fnUntraced(function*(file: string): Effect.fn.Return<Log, StoreError> {
  const text = yield* attempt(
    "read",
    () => fs.readFile(file, "utf8").catch((cause: unknown) => isMissing(cause) ? undefined : Promise.reject(cause))
  )
  if (text === undefined) return empty
  return yield* Effect.mapError(
    Schema.decodeUnknownEffect(LogText)(text),
    (cause) => new StoreError({ kind: "Corrupt", operation: "read", detail: `${file} is no config log`, cause })
  )
})

/** Forces what an open file or folder holds to the disk. */
const sync = async (file: string) => {
  await using handle = await fs.open(file, "r")
  await handle.sync()
}

/** Replaces the file, whole or not at all. It goes on when it is interrupted: two of them must not meet. */
const save = (operation: string, file: string, log: Log): Effect.Effect<void, StoreError> =>
  Effect.uninterruptible(attempt(operation, async () => {
    const fresh = `${file}.new`
    await fs.writeFile(fresh, JSON.stringify(log), { flush: true })
    await fs.rename(fresh, file)
    // the new name is on the disk when the folder is
    await sync(path.dirname(file))
  }))

const append = (log: Log, writes: ReadonlyArray<ConfigRecord.EncodedWrite>): Log => {
  const added = writes.map((write, index) => ({ ...write, position: log.position + 1 + index }))
  const last = new Map([...log.records, ...added].map((record) => [record.key, record]))
  const records = [...last.values()].sort((a, b) => a.position - b.position)
  return { ...log, position: log.position + added.length, records }
}

/** A lock that the kernel drops with the process: the write lock of a small database, kept until it is closed. */
const exclusive = (file: string) =>
  SqliteDatabase.open({ file: `${file}.lock`, busyTimeoutMillis: 0 }).pipe(
    Effect.tap((lock) =>
      lock.run([{ sql: "PRAGMA locking_mode = EXCLUSIVE" }, { sql: "CREATE TABLE IF NOT EXISTS held (by INTEGER)" }])
    ),
    Effect.asVoid,
    Effect.mapError((cause) =>
      new StoreError({
        kind: "Unavailable",
        operation: "exclusive",
        detail: cause.code === "busy" ? `another process holds ${file}` : `${file}.lock: ${cause.message}`,
        cause
      })
    )
  )

const engine = (file: string, turn: Semaphore.Semaphore): ConfigStore.Encoded => ({
  claim: turn.withPermits(1)(Effect.gen(function*() {
    const log = yield* load(file)
    const claim = log.claim + 1
    yield* save("claim", file, { ...log, claim })
    return claim
  })),
  append: (claim, writes) =>
    turn.withPermits(1)(Effect.gen(function*() {
      const log = yield* load(file)
      if (log.claim !== claim) return yield* new StoreError({ kind: "Fenced", operation: "append" })
      const next = append(log, writes)
      yield* save("append", file, next)
      return writes.map((_, index) => log.position + 1 + index)
    })),
  read: (after) => Effect.map(load(file), ({ records }) => records.filter(({ position }) => position > after)),
  exclusive: exclusive(file)
})

/** The store; its folder has to exist. */
export const layer = (file: string): Layer.Layer<ConfigStore, StoreError> =>
  Layer.effect(
    ConfigStore,
    Effect.flatMap(Semaphore.make(1), (turn) => ConfigStore.makeEncoded(engine(file, turn)))
  )
