/** Statuses in `data.db`: the latest of each item, as JSON texts. */
import type { DatabaseSync } from "node:sqlite"
import type { DataCalls } from "../calls.ts"
import type { Handlers } from "./serve.ts"

/** The operations of the status store. */
export const statuses = (
  database: DatabaseSync
): Pick<Handlers<DataCalls>, "putStatuses" | "removeStatuses" | "loadStatuses" | "statusesAfter"> => {
  const tokenOf = database.prepare("SELECT token FROM statuses WHERE item = ?")
  const put = database.prepare("INSERT OR REPLACE INTO statuses (item, token, writer, record) VALUES (?, ?, ?, ?)")
  const remove = database.prepare("DELETE FROM statuses WHERE item = ?")
  const load = database.prepare("SELECT record FROM statuses ORDER BY sequence")
  const newer = database.prepare("SELECT record FROM statuses WHERE sequence > ? AND writer <> ? ORDER BY sequence")
  const last = database.prepare("SELECT coalesce(max(seq), 0) AS last FROM sqlite_sequence WHERE name = 'statuses'")
  return {
    putStatuses: {
      kind: "write",
      run: ({ records, writer }) => {
        for (const { item, json, token } of records) {
          const stored = tokenOf.get(item)
          // an older owner's status comes too late
          if (stored === undefined || Number(stored.token) <= token) put.run(item, token, writer, json)
        }
        return null
      }
    },
    removeStatuses: {
      kind: "write",
      run: ({ items }) => {
        for (const item of items) remove.run(item)
        return null
      }
    },
    loadStatuses: { kind: "read", run: () => load.all().map(({ record }) => String(record)) },
    statusesAfter: {
      kind: "read",
      run: ({ after, writer }) => ({
        last: Number(last.get()?.last), // before the rows: what comes between is told twice, not never
        records: after === undefined ? [] : newer.all(after, writer).map(({ record }) => String(record))
      })
    }
  }
}
