/**
 * The config log in `control.db`: one claim may append, positions grow and are never used again, and each key keeps its
 * last record.
 *
 * A removed key keeps its tombstone for 24 hours at least, for readers in other processes that have not seen it; older
 * ones go when the file is opened, but never the newest record, so that the state's position survives. A reader that
 * stands before a tombstone that is gone is told to start anew instead of missing the removal.
 */
import type { DatabaseSync } from "node:sqlite"
import type { ControlCalls, LogEntry } from "../calls.ts"
import { Refusal } from "../failure.ts"
import { getMeta, setMeta } from "./openDatabase.ts"
import type { Handlers } from "./serve.ts"

const keepTombstonesMillis = 24 * 60 * 60 * 1000

/** Forgets old tombstones. */
export const pruneTombstones = (database: DatabaseSync, nowMillis: number): void => {
  const pruned = database.prepare(`
    DELETE FROM records
    WHERE value IS NULL AND removed_at < ? AND position < (SELECT max(position) FROM records)
    RETURNING position
  `).all(nowMillis - keepTombstonesMillis)
  if (pruned.length === 0) return
  const newest = Math.max(...pruned.map(({ position }) => Number(position)))
  database.prepare("UPDATE counters SET value = max(value, ?) WHERE name = 'pruned'").run(newest)
}

/** The identity of the cluster is written once: a record that names another one is refused. */
const checkCluster = (database: DatabaseSync, { key, value }: LogEntry) => {
  if (key !== "cluster" || value === null) return
  const { id }: { readonly id?: unknown } = JSON.parse(value)
  if (typeof id !== "string") return
  const known = getMeta(database, "cluster")
  if (known !== undefined && known !== id) {
    throw new Refusal("Conflict", `this store belongs to the cluster "${known}", not to "${id}"`)
  }
  if (known === undefined) setMeta(database, "cluster", id)
}

/** The operations of the log. */
export const configLog = (
  database: DatabaseSync
): Pick<Handlers<ControlCalls>, "claim" | "append" | "read" | "look"> => {
  const next = database.prepare("UPDATE counters SET value = value + ? WHERE name = ? RETURNING value")
  const counter = database.prepare("SELECT value FROM counters WHERE name = ?")
  // a key's earlier record goes: UNIQUE (key) makes the insert replace it
  const put = database.prepare("INSERT OR REPLACE INTO records (position, key, value, removed_at) VALUES (?, ?, ?, ?)")
  const after = database.prepare(
    "SELECT key, value, position FROM records WHERE position > ? ORDER BY position LIMIT ?"
  )
  const dataVersion = database.prepare("PRAGMA data_version")
  const version = () => Number(dataVersion.get()?.data_version)
  let seen = version()
  return {
    claim: { kind: "write", run: () => Number(next.get(1, "claim")?.value) },
    append: {
      kind: "write",
      run: ({ claim, entries, nowMillis }) => {
        if (Number(counter.get("claim")?.value) !== claim) {
          throw new Refusal("Fenced", "somebody else has claimed the config log since")
        }
        const last = Number(next.get(entries.length, "position")?.value)
        return entries.map((entry, index) => {
          checkCluster(database, entry)
          const position = last - entries.length + 1 + index
          put.run(position, entry.key, entry.value, entry.value === null ? nowMillis : null)
          return position
        })
      }
    },
    read: {
      kind: "read",
      run: ({ after: position, limit }) => {
        if (position > 0 && position < Number(counter.get("pruned")?.value)) {
          throw new Refusal(
            "Unavailable",
            "this process has not read the config log for so long that removals it has not seen are forgotten: restart it"
          )
        }
        return after.all(position, limit).map((row) => ({
          key: String(row.key),
          value: row.value === null ? null : String(row.value),
          position: Number(row.position)
        }))
      }
    },
    look: {
      kind: "read",
      run: () => {
        const now = version()
        const changed = now !== seen
        seen = now
        return changed
      }
    }
  }
}
