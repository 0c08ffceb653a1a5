/** Source offsets in `data.db`, behind the floors of their items. */
import type { DatabaseSync } from "node:sqlite"
import type { DataCalls, StoredOffsets } from "../calls.ts"
import type { Floors } from "./floors.ts"
import type { Handlers } from "./serve.ts"

/** The operations of the offset store, and how an append stores offsets in its own transaction. */
export const offsets = (
  database: DatabaseSync,
  floors: Floors
): Pick<Handlers<DataCalls>, "storeOffsets" | "readOffsets" | "listOffsets" | "alterOffsets"> & {
  readonly store: (offsets: StoredOffsets) => void
} => {
  const put = database.prepare(`
    INSERT INTO offsets (connector, source_partition, source_offset) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET source_offset = excluded.source_offset
  `)
  const remove = database.prepare("DELETE FROM offsets WHERE connector = ? AND source_partition = ?")
  const get = database.prepare("SELECT source_offset FROM offsets WHERE connector = ? AND source_partition = ?")
  const list = database.prepare("SELECT source_partition, source_offset FROM offsets WHERE connector = ?")
  const putAll = ({ connector, entries }: Pick<StoredOffsets, "connector" | "entries">) => {
    for (const { offset, partition } of entries) {
      if (offset === null) remove.run(connector, partition)
      else put.run(connector, partition, offset)
    }
  }
  const store = (offsets: StoredOffsets) => {
    floors.check("offsets", offsets)
    putAll(offsets)
  }
  return {
    store,
    storeOffsets: {
      kind: "write",
      run: (offsets) => {
        store(offsets)
        return null
      }
    },
    alterOffsets: {
      kind: "write",
      run: (alteration) => {
        floors.raiseAll("offsets", alteration)
        putAll(alteration)
        return null
      }
    },
    readOffsets: {
      kind: "read",
      run: ({ connector, partitions }) =>
        partitions.map((partition) => {
          const row = get.get(connector, partition)
          return row === undefined ? undefined : String(row.source_offset)
        })
    },
    listOffsets: {
      kind: "read",
      run: ({ connector }) =>
        list.all(connector).map((row) => ({
          partition: String(row.source_partition),
          offset: String(row.source_offset)
        }))
    }
  }
}
