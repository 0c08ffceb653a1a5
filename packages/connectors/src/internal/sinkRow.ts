/** Turns records into rows of SQLite tables. */
import type { SinkRecord } from "@kelpie/core/ConnectRecord"
import { type ConnectSchema, LogicalName } from "@kelpie/core/ConnectSchema"
import type { Value } from "@kelpie/sqlite/SqliteDatabase"
import * as Result from "effect/Result"
import { jsonText } from "./jsonText.ts"
import { typeName } from "./refusal.ts"

/** A row to write. */
export interface Row {
  readonly record: SinkRecord
  readonly table: string
  readonly columns: ReadonlyArray<string>
  readonly values: ReadonlyArray<Value>
}

/** How a row is made. */
export interface Options {
  readonly tableNameFormat: string
  readonly primaryKey: ReadonlyArray<string>
}

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** The name of a record's table. */
export const tableOf = ({ topic }: SinkRecord, format: string): string => format.replaceAll("${topic}", () => topic)

/** The row of a record, or why it has none. */
export const rowOf = (record: SinkRecord, { primaryKey, tableNameFormat }: Options): Result.Result<Row, string> => {
  const { key, value, valueSchema } = record
  if (!isMembers(value)) {
    return Result.fail(`the value is ${typeName(value)}, not a struct or an object; HoistField makes one of it`)
  }
  const columns: Array<string> = []
  const values: Array<Value> = []
  for (const field of primaryKey) {
    if (isPresent(value, field)) continue
    const found = isMembers(key) ? key[field] : primaryKey.length === 1 ? key : undefined
    if (found === undefined || found === null) {
      return Result.fail(`neither value nor key has the member ${field} of pk.fields`)
    }
    const converted = toValue(found, keyFieldOf(record, field))
    if (converted instanceof Unfit) return Result.fail(`member ${field} of the key ${converted.reason}`)
    columns.push(field)
    values.push(converted)
  }
  const fromKey = columns.length
  const fields = valueSchema?.fields
  const names = Object.keys(value)
  for (let i = 0; i < names.length; i++) {
    const column = names[i] ?? ""
    if (fromKey > 0 && columns.includes(column)) continue
    // the members mostly stand in the order of the schema
    const field = fields?.[i]?.field === column ? fields[i] : fieldOf(valueSchema, column)
    const converted = toValue(value[column], field)
    if (converted instanceof Unfit) return Result.fail(`member ${column} ${converted.reason}`)
    columns.push(column)
    values.push(converted)
  }
  if (columns.length === 0) return Result.fail("the value has no members")
  return Result.succeed({ record, table: tableOf(record, tableNameFormat), columns, values })
}

/** The type that a new column for a member of this row is declared with. */
export const columnType = ({ columns, record, values }: Row, column: string): string => {
  const { value, valueSchema } = record
  const ofValue = fieldOf(valueSchema, column)
  // a column that the value has no member for came from the key
  const schema = isMembers(value) && Object.hasOwn(value, column) ? ofValue : ofValue ?? keyFieldOf(record, column)
  return declaredType(schema, values[columns.indexOf(column)] ?? null)
}

const keyFieldOf = ({ key, keySchema }: SinkRecord, field: string): ConnectSchema | undefined =>
  isMembers(key) ? fieldOf(keySchema, field) : keySchema

const isPresent = (members: Members, field: string): boolean =>
  Object.hasOwn(members, field) && members[field] !== undefined && members[field] !== null

const fieldOf = (schema: ConnectSchema | undefined, name: string): ConnectSchema | undefined =>
  schema?.fields?.find((field) => field.field === name)

const tooLarge = (value: bigint): boolean => BigInt.asIntN(64, value) !== value

/** Why a member cannot be kept. */
class Unfit {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** What SQLite keeps for a member. */
const toValue = (member: unknown, schema: ConnectSchema | undefined): Value | Unfit => {
  switch (typeof member) {
    case "string":
      return member
    case "number":
      // node:sqlite binds a number as REAL: only a bigint stays an integer in a column that is not declared as one
      return Number.isSafeInteger(member) && schema?.type !== "double" && schema?.type !== "float"
        ? BigInt(member)
        : member
    case "boolean":
      return member ? 1n : 0n
    case "bigint":
      return tooLarge(member) ? new Unfit("is an integer of more than 64 bits") : member
    case "undefined":
      return null
    case "object":
      return toObjectValue(member, schema)
    default:
      return new Unfit(`is a ${typeof member}`)
  }
}

const toObjectValue = (member: object | null, schema: ConnectSchema | undefined): Value | Unfit => {
  if (member === null || member instanceof Uint8Array) return member
  if (member instanceof Date) {
    if (Number.isNaN(member.getTime())) return new Unfit("is not a valid date")
    const text = member.toISOString()
    return schema?.name === LogicalName.Date ? text.slice(0, 10) : text
  }
  return Result.getOrElse(Result.try(() => jsonText(member)), () => new Unfit("cannot be written as JSON"))
}

const declaredType = (schema: ConnectSchema | undefined, value: Value): string => {
  if (schema !== undefined) return schemaType(schema)
  switch (typeof value) {
    case "string":
      return "TEXT"
    case "number":
      return "REAL"
    case "bigint":
      return "INTEGER"
    default:
      // a null tells nothing: a column without a type takes what comes
      return value === null ? "" : "BLOB"
  }
}

const schemaType = ({ name, type }: ConnectSchema): string => {
  // kept as text: a date, and a decimal with all its digits
  if (name === LogicalName.Date || name === LogicalName.Timestamp || name === LogicalName.Decimal) return "TEXT"
  switch (type) {
    case "int8":
    case "int16":
    case "int32":
    case "int64":
    case "boolean":
      return "INTEGER"
    case "float":
    case "double":
      return "REAL"
    case "bytes":
      return "BLOB"
    default:
      return "TEXT"
  }
}
