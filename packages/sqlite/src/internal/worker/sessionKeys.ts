/** The cluster's keys for requests between workers, as `control.db` keeps them. */
import type { DatabaseSync } from "node:sqlite"
import type { ControlCalls, StoredKey } from "../calls.ts"
import type { Handlers } from "./serve.ts"

/** The operations of the keys. */
export const sessionKeys = (
  database: DatabaseSync
): Pick<Handlers<ControlCalls>, "loadKeys" | "addKey" | "dropKeys"> => {
  const all = database.prepare("SELECT id, secret, created_at FROM session_keys ORDER BY added")
  const newest = database.prepare("SELECT id FROM session_keys ORDER BY added DESC LIMIT 1")
  const insert = database.prepare("INSERT INTO session_keys (id, secret, created_at) VALUES (?, ?, ?)")
  const drop = database.prepare(
    "DELETE FROM session_keys WHERE created_at < ? AND added < (SELECT max(added) FROM session_keys)"
  )
  return {
    loadKeys: {
      kind: "read",
      run: () =>
        all.all().map((row): StoredKey => ({
          id: String(row.id),
          secret: String(row.secret),
          createdAt: Number(row.created_at)
        }))
    },
    addKey: {
      kind: "write",
      run: ({ after, key }) => {
        const last = newest.get()
        if ((last === undefined ? undefined : String(last.id)) !== after) return false
        insert.run(key.id, key.secret, key.createdAt)
        return true
      }
    },
    dropKeys: {
      kind: "write",
      run: ({ before }) => {
        drop.run(before)
        return null
      }
    }
  }
}
