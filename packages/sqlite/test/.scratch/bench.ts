import { Effect, Layer } from "effect"
import { OffsetStore, TopicLog } from "@kelpie/core"
import { Sqlite } from "@kelpie/sqlite"
import { encode } from "../../src/internal/recordBatch.ts"
import { DatabaseSync } from "node:sqlite"
import { mkdtempSync, rmSync } from "node:fs"
const dir = mkdtempSync("/tmp/scratch/b-")
const N = Number(process.argv[2] ?? 400)
const records = (i: number) => Array.from({ length: 1000 }, (_, j) => ({ key: null, value: new Uint8Array(100).fill((i + j) & 255), headers: [], timestampMillis: 1_700_000_000_000 + i }))
const batches = Array.from({ length: 20 }, (_, i) => records(i))
const hand = (sync: string, auto: number) => {
  const db = new DatabaseSync(`${dir}/hand-${Math.random()}.db`)
  db.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=${sync}; PRAGMA wal_autocheckpoint=${auto}; PRAGMA cache_size=-16384`)
  db.exec("CREATE TABLE batches(id INTEGER PRIMARY KEY, topic INTEGER, part INTEGER, end_offset INTEGER, count INTEGER, ts REAL, data BLOB); CREATE UNIQUE INDEX bi ON batches(topic,part,end_offset); CREATE TABLE offsets(c TEXT, p TEXT, o TEXT, PRIMARY KEY(c,p)) WITHOUT ROWID; CREATE TABLE floors(s INTEGER, i TEXT, t INTEGER, n INTEGER, PRIMARY KEY(s,i)) WITHOUT ROWID")
  db.exec("INSERT INTO floors VALUES(0,'0/a',1,1)")
  const fl = db.prepare("SELECT t,n FROM floors WHERE s=? AND i=?"), mx = db.prepare("SELECT end_offset FROM batches WHERE topic=? AND part=? ORDER BY end_offset DESC LIMIT 1"), ins = db.prepare("INSERT INTO batches(topic,part,end_offset,count,ts,data) VALUES(?,?,?,?,?,?)"), off = db.prepare("INSERT INTO offsets VALUES(?,?,?) ON CONFLICT DO UPDATE SET o=excluded.o"), b = db.prepare("BEGIN IMMEDIATE"), c = db.prepare("COMMIT")
  const t = performance.now()
  for (let i = 0; i < N; i++) {
    b.run(); fl.get(0, "0/a"); fl.get(1, "0/a")
    for (const e of encode(batches[i % 20]!)) {
      const end = Number(mx.get(1, 0)?.end_offset ?? 0)
      ins.run(1, 0, end + e.count, e.count, e.maxTimestampMillis, e.data)
    }
    off.run("a", `{"file":"x"}`, `{"position":${i}}`); c.run()
  }
  const ms = performance.now() - t
  db.close()
  return ms
}
const port = (sync: "full" | "normal") => Effect.gen(function*() {
  const log = yield* TopicLog, offsets = yield* OffsetStore
  const item = { connector: "a", task: 0 }, run = { token: 1, start: 1 }
  const o = yield* offsets.open(item, run), w = yield* log.open(item, run)
  const t = performance.now()
  for (let i = 0; i < N; i++) yield* w.append([{ topic: "t", records: batches[i % 20]! }], o.prepare([{ partition: `{"file":"x"}`, offset: `{"position":${i}}` }]))
  const ms = performance.now() - t
  const t2 = performance.now()
  const s = yield* log.subscribe({ item: { connector: "s", task: 0 }, run, group: "g", topics: { list: ["t"] }, member: 0, members: 1 })
  let n = 0
  while (n < N * 1000) for (const b of yield* s.read(5000)) n += b.records.length
  if (process.argv[3]) console.log("   read back", Math.round(n / (performance.now() - t2) * 1000), "rec/s")
  return ms
}).pipe(Effect.scoped, Effect.provide(Sqlite.layer({ directory: `${dir}/port-${Math.random()}`, synchronous: sync })), Effect.runPromise)
const rate = (ms: number) => `${Math.round(N * 1000 / ms * 1000)} rec/s`

const median = (xs: number[]) => xs.sort((a, b) => a - b)[xs.length >> 1]!
for (const sync of ["full", "normal"] as const) {
  const h: number[] = [], h2: number[] = [], p: number[] = []
  for (let k = 0; k < 9; k++) { h.push(hand(sync, 4000)); p.push(await port(sync)); h2.push(hand(sync, 4000)) }
  console.log(sync, "hand", rate(median(h)), "control", rate(median(h2)), "port", rate(median(p)), "port/hand", ((median(h) + median(h2)) / 2 / median(p)).toFixed(2))
}
rmSync(dir, { recursive: true })
