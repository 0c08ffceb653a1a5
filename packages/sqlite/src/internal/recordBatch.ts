/**
 * Records as one array of bytes: a row of `batches`.
 *
 * | field        | bytes                                                                    |
 * | ------------ | ------------------------------------------------------------------------ |
 * | version      | 1: the number 1                                                          |
 * | timestamps   | 1: 0 when all records have the first one's timestamp, 1 when each its own |
 * | timestamp    | 8: the first record's                                                    |
 * | each record: |                                                                          |
 * | - timestamp  | 8, if each has its own                                                   |
 * | - key, value | length + 1 as a varint, 0 for `null`; then the bytes                     |
 * | - headers    | their number as a varint; each: name and value, as a key                 |
 *
 * Timestamps are epoch milliseconds as 64-bit floats, little endian, as they are in memory: nothing is rounded. Varints
 * have seven bits a byte, the low ones first. The number of records and their offsets stand in the row. Decoding copies
 * nothing: keys and values are views of the batch, which lives as long as one of them does.
 */
import type { TopicLog } from "@kelpie/core/TopicLog"
import { Buffer } from "node:buffer"

type LogRecord = TopicLog.LogRecord

/** A batch ends before it grows beyond this, unless a single record does. */
const maxBytes = 1024 * 1024
const maxRecords = 16_384
const head = 10
const layout = 1

const varintLength = (value: number): number => {
  let length = 1
  while (value >= 0x80) {
    value = Math.floor(value / 0x80)
    length++
  }
  return length
}
const bytesLength = (bytes: Uint8Array | null): number =>
  bytes === null ? 1 : varintLength(bytes.length + 1) + bytes.length

const headersLength = (headers: LogRecord["headers"]): number => {
  let length = varintLength(headers.length)
  for (const [name, value] of headers) {
    const nameLength = Buffer.byteLength(name)
    length += varintLength(nameLength + 1) + nameLength + bytesLength(value)
  }
  return length
}

/** Writes into an array that is large enough. */
class Writer {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly view: DataView<ArrayBuffer>
  at = 0
  constructor(length: number) {
    this.bytes = new Uint8Array(length)
    this.view = new DataView(this.bytes.buffer)
  }
  byte(value: number) {
    this.bytes[this.at++] = value
  }
  float(value: number) {
    this.view.setFloat64(this.at, value, true)
    this.at += 8
  }
  varint(value: number) {
    while (value >= 0x80) {
      this.bytes[this.at++] = (value % 0x80) | 0x80
      value = Math.floor(value / 0x80)
    }
    this.bytes[this.at++] = value
  }
  data(value: Uint8Array | null) {
    if (value === null) return this.byte(0)
    this.varint(value.length + 1)
    this.bytes.set(value, this.at)
    this.at += value.length
  }
}

/** An encoded run of records. */
export interface Encoded {
  readonly count: number
  readonly maxTimestampMillis: number
  readonly data: Uint8Array<ArrayBuffer>
}

const write = (records: ReadonlyArray<LogRecord>, from: number, to: number, ownTimestamps: boolean, length: number) => {
  const writer = new Writer(length)
  writer.byte(layout)
  writer.byte(ownTimestamps ? 1 : 0)
  writer.float(records[from]?.timestampMillis ?? 0)
  for (let i = from; i < to; i++) {
    const record = records[i]
    if (record === undefined) break
    if (ownTimestamps) writer.float(record.timestampMillis)
    writer.data(record.key)
    writer.data(record.value)
    writer.varint(record.headers.length)
    for (const [name, value] of record.headers) {
      writer.data(Buffer.from(name))
      writer.data(value)
    }
  }
  return writer.bytes
}

/** Encodes records, in one batch or, when they are many, in several. */
export const encode = (records: ReadonlyArray<LogRecord>): ReadonlyArray<Encoded> => {
  const batches: Array<Encoded> = []
  let from = 0
  while (from < records.length) {
    const first = records[from]?.timestampMillis
    let length = head
    let ownTimestamps = false
    let maxTimestamp = -Infinity
    let to = from
    for (; to < records.length && to - from < maxRecords; to++) {
      const record = records[to]
      if (record === undefined) break
      const size = bytesLength(record.key) + bytesLength(record.value) + headersLength(record.headers)
      if (to > from && length + size > maxBytes) break
      length += size
      if (record.timestampMillis !== first) ownTimestamps = true
      if (record.timestampMillis > maxTimestamp) maxTimestamp = record.timestampMillis
    }
    if (ownTimestamps) length += 8 * (to - from)
    batches.push({
      count: to - from,
      maxTimestampMillis: Number.isFinite(maxTimestamp) ? maxTimestamp : 0,
      data: write(records, from, to, ownTimestamps, length)
    })
    from = to
  }
  return batches
}

/** Reads what `Writer` wrote; reading beyond the end throws. */
class Reader {
  readonly bytes: Uint8Array
  readonly view: DataView
  at = 0
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
  byte(): number {
    const value = this.bytes[this.at++]
    if (value === undefined) throw new RangeError("the batch is cut short")
    return value
  }
  float(): number {
    const value = this.view.getFloat64(this.at, true)
    this.at += 8
    return value
  }
  varint(): number {
    let value = 0
    for (let scale = 1;; scale *= 0x80) {
      const byte = this.byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }
  data(): Uint8Array | null {
    const length = this.varint() - 1
    if (length < 0) return null
    const start = this.at
    this.at += length
    if (this.at > this.bytes.length) throw new RangeError("the batch is cut short")
    return this.bytes.subarray(start, this.at)
  }
}

const noHeaders: LogRecord["headers"] = []
const decoder = new TextDecoder()

const readHeaders = (reader: Reader): LogRecord["headers"] => {
  const count = reader.varint()
  if (count === 0) return noHeaders
  const headers: Array<readonly [string, Uint8Array | null]> = []
  for (let i = 0; i < count; i++) headers.push([decoder.decode(reader.data() ?? undefined), reader.data()])
  return headers
}

/** Decodes the records of a batch, without its first `skip`. Throws when the bytes are no batch. */
export const decode = (data: Uint8Array, count: number, skip: number): Array<LogRecord> => {
  const reader = new Reader(data)
  const version = reader.byte()
  if (version !== layout) throw new RangeError(`unknown layout ${version} of a batch`)
  const ownTimestamps = reader.byte() === 1
  const first = reader.float()
  const records: Array<LogRecord> = []
  for (let i = 0; i < count; i++) {
    const timestampMillis = ownTimestamps ? reader.float() : first
    const key = reader.data()
    const value = reader.data()
    const headers = readHeaders(reader)
    if (i >= skip) records.push({ key, value, headers, timestampMillis })
  }
  return records
}
