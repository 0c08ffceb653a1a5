/**
 * Connect's data schemas: what a typed key, value or header is made of. The shape is that of the schema in Connect's
 * JSON envelope, so that it is read and written as it stands. A record without a schema is schemaless, as in Connect.
 *
 * In memory: integers and floats are `number` (an `int64` outside the safe range is a `bigint`), `bytes` is a
 * `Uint8Array`, a `struct` is a plain object, a `map` is a plain object when its keys are strings and else a `Map`.
 * Logical types are named as in Connect: `Timestamp` and `Date` are a `Date`, `Time` is milliseconds, `Decimal` a string.
 */

/** The name of a primitive or composed type. */
export type Type =
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "float"
  | "double"
  | "boolean"
  | "string"
  | "bytes"
  | "array"
  | "map"
  | "struct"

/** One member of a struct. */
export interface Field extends ConnectSchema {
  readonly field: string
}

/** A schema; `fields` for a struct, `items` for an array, `keys` and `values` for a map. */
export interface ConnectSchema {
  readonly type: Type
  readonly optional?: boolean | undefined
  readonly name?: string | undefined
  readonly version?: number | undefined
  readonly doc?: string | undefined
  readonly default?: unknown
  readonly parameters?: Readonly<Record<string, string>> | undefined
  readonly fields?: ReadonlyArray<Field> | undefined
  readonly items?: ConnectSchema | undefined
  readonly keys?: ConnectSchema | undefined
  readonly values?: ConnectSchema | undefined
}

/** The names of Connect's logical types. */
export const LogicalName = {
  Timestamp: "org.apache.kafka.connect.data.Timestamp",
  Date: "org.apache.kafka.connect.data.Date",
  Time: "org.apache.kafka.connect.data.Time",
  Decimal: "org.apache.kafka.connect.data.Decimal"
} as const
