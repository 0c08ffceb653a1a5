/** The two sides of a record that a transform can work on; most transforms of Connect exist once for each. */
import type { ConnectRecord } from "@kelpie/core/ConnectRecord"
import type { ConnectSchema } from "@kelpie/core/ConnectSchema"

/** One side. */
export interface Side {
  /** The suffix of the transform's name. */
  readonly name: "Key" | "Value"
  /** The side in texts. */
  readonly noun: "key" | "value"
  readonly get: (record: ConnectRecord) => unknown
  readonly schema: (record: ConnectRecord) => ConnectSchema | undefined
  /** A copy of the record with another key or value. */
  readonly set: <Rec extends ConnectRecord>(record: Rec, value: unknown, schema: ConnectSchema | undefined) => Rec
}

/** The record's key. */
export const key: Side = {
  name: "Key",
  noun: "key",
  get: (record) => record.key,
  schema: (record) => record.keySchema,
  set: (record, key, keySchema) => keySchema === record.keySchema ? { ...record, key } : { ...record, key, keySchema }
}

/** The record's value. */
export const value: Side = {
  name: "Value",
  noun: "value",
  get: (record) => record.value,
  schema: (record) => record.valueSchema,
  set: (record, value, valueSchema) =>
    valueSchema === record.valueSchema ? { ...record, value } : { ...record, value, valueSchema }
}
