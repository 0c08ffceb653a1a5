/** Values that depend on a seed and a number only, made a batch at a time from one block of noise. */
import type { SourceRecord } from "@kelpie/core/ConnectRecord"
import type { ConnectSchema } from "@kelpie/core/ConnectSchema"

/** What is made. */
export interface Options {
  readonly topic: string
  readonly seed: number
  readonly valueBytes: number
  readonly valueType: "string" | "bytes" | "json"
  readonly partitions: number | undefined
  /** The distance of one record's number to the next. */
  readonly step: number
}

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
const windows = 1 << 16

const stringSchema: ConnectSchema = { type: "string" }
const bytesSchema: ConnectSchema = { type: "bytes" }

/** Gives a function that makes `length` records from number `index` on. */
export const generate = (options: Options): (index: number, length: number) => ReadonlyArray<SourceRecord> => {
  const { partitions, step, topic } = options
  const valuesOf = values(options)
  const valueSchema = options.valueType === "json"
    ? undefined
    : options.valueType === "string"
    ? stringSchema
    : bytesSchema
  return (index, length) => {
    const makeValue = valuesOf(length)
    const records: Array<SourceRecord> = []
    for (let i = 0, n = index; i < length; i++, n += step) {
      const value = makeValue(n)
      records.push(
        partitions === undefined
          ? { topic, key: null, value, valueSchema }
          : { topic, partition: n % partitions, key: null, value, valueSchema }
      )
    }
    return records
  }
}

/** Gives, for a batch of some length, what makes one value after the other. */
type Values = (length: number) => (index: number) => unknown

/** A value is its number and a window of the noise, which begins anywhere. */
const values = (options: Options): Values => {
  const { seed, valueBytes, valueType } = options
  const noise = makeNoise(seed, windows + valueBytes)
  const startOf = (index: number): number => Math.imul(index ^ seed, 0x9e3779b1) >>> 16
  const make = { string: strings, bytes: blocks, json: objects }[valueType]
  return make(valueBytes, noise, startOf)
}

/** Strings are views of the noise. */
const strings = (valueBytes: number, noise: Buffer, startOf: (index: number) => number): Values => {
  const text = noise.toString("latin1")
  const make = (index: number): string => {
    const prefix = `${index} `
    const rest = valueBytes - prefix.length
    if (rest < 0) return prefix.slice(0, valueBytes)
    const start = startOf(index)
    return prefix + text.substring(start, start + rest)
  }
  return () => make
}

/** Bytes are views of one block for the batch. */
const blocks = (valueBytes: number, noise: Buffer, startOf: (index: number) => number): Values => (length) => {
  const block = new Uint8Array(length * valueBytes)
  let next = 0
  return (index) => {
    const prefix = `${index} `
    const start = startOf(index)
    const end = next + valueBytes
    const value = block.subarray(next, end)
    for (let i = 0; i < prefix.length && next < end; i++) block[next++] = prefix.charCodeAt(i)
    noise.copy(block, next, start, start + end - next)
    next = end
    return value
  }
}

const objects = (valueBytes: number, noise: Buffer, startOf: (index: number) => number): Values => {
  const text = noise.toString("latin1")
  const members = JSON.stringify({ index: 0, payload: "" }).length - 1
  const make = (index: number): unknown => {
    const start = startOf(index)
    return { index, payload: text.substring(start, start + Math.max(0, valueBytes - members - `${index}`.length)) }
  }
  return () => make
}

/** The generator is "mulberry32": small, and the same on every machine. */
const makeNoise = (seed: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  let state = seed | 0
  for (let i = 0; i < length; i++) {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    bytes[i] = alphabet.charCodeAt(((mixed ^ (mixed >>> 14)) >>> 0) % alphabet.length)
  }
  return bytes
}
