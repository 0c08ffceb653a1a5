import { assert, describe, it } from "@effect/vitest"
import type { TopicLog } from "@kelpie/core"
import { Schema } from "effect"
import { decode, encode } from "../src/internal/recordBatch.ts"

const Bytes = Schema.NullOr(Schema.Uint8Array)
const LogRecord = Schema.Struct({
  key: Bytes,
  value: Bytes,
  headers: Schema.Array(Schema.Tuple([Schema.String, Bytes])),
  timestampMillis: Schema.Finite
})

const decodeAll = (records: ReadonlyArray<TopicLog.LogRecord>) =>
  encode(records).flatMap(({ count, data }) => decode(data, count, 0))
const plain = (value: string | null) => value?.isWellFormed() ?? true

describe("recordBatch", () => {
  it.prop("what is decoded is what was encoded", { records: Schema.Array(LogRecord) }, ({ records }) => {
    const texts = records.filter(({ headers }) => headers.every(([name]) => plain(name)))
    assert.deepStrictEqual(decodeAll(texts), texts)
  })

  it.prop("a part is what is left without the first records", { records: Schema.Array(LogRecord) }, ({ records }) => {
    const [batch] = encode(records)
    if (batch === undefined) return assert.deepStrictEqual(records, [])
    const all = decode(batch.data, batch.count, 0)
    for (let skip = 0; skip <= batch.count; skip++) {
      assert.deepStrictEqual(decode(batch.data, batch.count, skip), all.slice(skip))
    }
  })

  it("many bytes become several batches, and a large record one of its own", () => {
    const record = (bytes: number): TopicLog.LogRecord => ({
      key: null,
      value: new Uint8Array(bytes).fill(7),
      headers: [],
      timestampMillis: 1
    })
    const records = [record(3_000_000), record(10), ...Array.from({ length: 20_000 }, () => record(300))]
    const batches = encode(records)
    assert.strictEqual(batches[0]?.count, 1)
    assert.isTrue(batches.slice(1).every(({ data }) => data.length <= 1024 * 1024))
    assert.deepStrictEqual(decodeAll(records), records)
  })

  it("bytes that are cut short, or of another layout, are refused", () => {
    const [batch] = encode([{ key: null, value: new Uint8Array(100), headers: [], timestampMillis: 1 }])
    assert.throws(() => decode(batch?.data.slice(0, -1) ?? new Uint8Array(), 1, 0), /cut short/)
    assert.throws(() => decode(Uint8Array.of(9, 0), 1, 0), /unknown layout 9/)
  })
})
