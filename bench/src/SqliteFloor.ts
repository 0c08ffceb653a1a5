/**
 * The hand-written loop over `node:sqlite`: the same transactions, WAL and full synchronisation, in batches of 1,000: the
 * floor is checked and records and offset are stored in one; a batch is one row. Positions are stored once a second.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { batchSize, type Counter, recordBytes, sourceRecords, topic } from "./Records.ts"

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE batches (topic TEXT, partition INTEGER, first_offset INTEGER, records BLOB, PRIMARY KEY (topic, partition, first_offset)) WITHOUT ROWID;
  CREATE TABLE offsets (connector TEXT, partition TEXT, offset TEXT, PRIMARY KEY (connector, partition));
  CREATE TABLE positions (consumer TEXT, topic TEXT, partition INTEGER, offset INTEGER, PRIMARY KEY (consumer, topic, partition));
  CREATE TABLE floors (item TEXT PRIMARY KEY, token INTEGER, start INTEGER);
  INSERT INTO floors VALUES ('0/source', 1, 1), ('0/sink', 2, 2);
`

const encode = (): Uint8Array => {
  const bytes = new Uint8Array(batchSize * (4 + recordBytes))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const { value } of sourceRecords()) {
    if (!(value instanceof Uint8Array)) throw new Error("these are no bytes")
    view.setUint32(at, value.length)
    bytes.set(value, at + 4)
    at += 4 + value.length
  }
  return bytes
}

const decode = (bytes: Uint8Array, firstOffset: number) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const records = []
  for (let at = 0, offset = firstOffset; at < bytes.length; offset++) {
    const length = view.getUint32(at)
    const value = bytes.subarray(at + 4, at + 4 + length)
    records.push({
      topic,
      partition: 0,
      offset,
      originalTopic: topic,
      timestampMillis: 0,
      key: null,
      value,
      headers: []
    })
    at += 4 + length
  }
  return records
}

/** Moves `count` records through a database of its own. */
export const run = (count: number, counter: Counter): void => {
  const folder = mkdtempSync(join(tmpdir(), "bench-"))
  const database = new DatabaseSync(join(folder, "floor.db"))
  database.exec(schema)
  const floor = database.prepare("SELECT token, start FROM floors WHERE item = ?")
  const append = database.prepare("INSERT INTO batches VALUES (?, 0, ?, ?)")
  const store = database.prepare(
    "INSERT INTO offsets VALUES ('source', '{}', ?) ON CONFLICT DO UPDATE SET offset = excluded.offset"
  )
  const read = database.prepare("SELECT records FROM batches WHERE topic = ? AND partition = 0 AND first_offset = ?")
  const position = database.prepare(
    "INSERT INTO positions VALUES ('sink', ?, 0, ?) ON CONFLICT DO UPDATE SET offset = excluded.offset"
  )
  const check = (item: string, token: number): void => {
    if (Number(floor.get(item)?.["token"]) > token) throw new Error("fenced")
  }
  const transaction = (work: () => void): void => {
    database.exec("BEGIN IMMEDIATE")
    work()
    database.exec("COMMIT")
  }
  let stored = performance.now()
  for (let at = 0; at < count; at += batchSize) {
    transaction(() => {
      check("0/source", 1)
      append.run(topic, at, encode())
      store.run(JSON.stringify({ at: at + batchSize }))
    })
    const row = read.get(topic, at)
    if (!(row?.["records"] instanceof Uint8Array)) throw new Error("a batch is missing")
    counter.put(decode(row["records"], at))
    if (performance.now() - stored < 1000 && at + batchSize < count) continue
    stored = performance.now()
    transaction(() => {
      check("0/sink", 2)
      position.run(topic, at + batchSize)
    })
  }
  database.close()
  rmSync(folder, { recursive: true })
}
