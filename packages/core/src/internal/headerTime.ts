/** Dates and times as Connect writes them in headers: ISO 8601 in UTC, in three fixed forms. */
import { type ConnectSchema, LogicalName } from "../ConnectSchema.ts"
import type { SchemaAndValue } from "../Converter.ts"

const dateSchema: ConnectSchema = { type: "int32", name: LogicalName.Date, version: 1 }
const timeSchema: ConnectSchema = { type: "int32", name: LogicalName.Time, version: 1 }
const timestampSchema: ConnectSchema = { type: "int64", name: LogicalName.Timestamp, version: 1 }

const form = /^(\d{4}-\d\d-\d\d)?(T)?(\d\d:\d\d:\d\d\.\d{3}Z)?$/

/** The date of a full ISO text; `undefined` for one that the calendar does not have. */
const instant = (iso: string): Date | undefined => {
  const date = new Date(iso)
  return !Number.isNaN(date.getTime()) && date.toISOString() === iso ? date : undefined
}

/** Reads a date, a time or a timestamp; `undefined` for any other text. Colons may be escaped. */
export const parse = (text: string): SchemaAndValue | undefined => {
  if (text.length < 10 || text.length > 26) return undefined
  const [, date, separator, time] = form.exec(text.replaceAll("\\:", ":")) ?? []
  if ((separator === undefined) === (date !== undefined && time !== undefined)) return undefined
  const at = date === undefined && time === undefined
    ? undefined
    : instant(`${date ?? "1970-01-01"}T${time ?? "00:00:00.000Z"}`)
  if (at === undefined) return undefined
  if (date === undefined) return { value: at.getTime(), schema: timeSchema }
  return { value: at, schema: time === undefined ? dateSchema : timestampSchema }
}

/** Writes a date. Without a schema that says what it is, midnight is a date and anything else a timestamp. */
export const print = (date: Date, schema: ConnectSchema | undefined): string => {
  const iso = date.toISOString()
  const isDate = schema?.name === LogicalName.Date ||
    (schema?.name !== LogicalName.Timestamp && iso.endsWith("T00:00:00.000Z"))
  return isDate ? iso.slice(0, iso.indexOf("T")) : iso
}

/** Writes a time of day, given in milliseconds. */
export const printTime = (millis: number): string => new Date(millis).toISOString().slice(11)
