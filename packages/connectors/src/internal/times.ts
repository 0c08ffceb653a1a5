/** Times in the forms that a record can hold: texts, Unix times and the logical types, each to and from epoch milliseconds. */
import { type ConnectSchema, LogicalName } from "@kelpie/core/ConnectSchema"
import type { DateFormat } from "./dateFormat.ts"
import { compact } from "./javaNumber.ts"
import { typeName } from "./refusal.ts"
import * as Schemas from "./schemas.ts"

/** The forms of a time, by the words of `target.type`. */
export type Kind = "string" | "unix" | "Date" | "Time" | "Timestamp"

/** The units of Unix times, by the words of `unix.precision`. */
export type Precision = "seconds" | "milliseconds" | "microseconds" | "nanoseconds"

const dayMillis = 86_400_000

const ofDay = (millis: number): number => ((millis % dayMillis) + dayMillis) % dayMillis

/** The kind that a schema says. */
export const kindOfSchema = (schema: ConnectSchema): Kind | undefined => {
  switch (schema.name) {
    case LogicalName.Timestamp:
      return "Timestamp"
    case LogicalName.Date:
      return "Date"
    case LogicalName.Time:
      return "Time"
  }
  return schema.type === "string" ? "string" : schema.type === "int64" ? "unix" : undefined
}

/** The kind that a value without a schema has. */
export const kindOfValue = (value: unknown): Kind | undefined => {
  if (value instanceof Date) return "Timestamp"
  if (typeof value === "string") return "string"
  return typeof value === "number" || typeof value === "bigint" ? "unix" : undefined
}

/** The schema of a kind. */
export const schemaOf = (kind: Kind, optional: boolean): ConnectSchema => {
  switch (kind) {
    case "string":
      return Schemas.simple("string", optional)
    case "unix":
      return Schemas.simple("int64", optional)
    default:
      return Schemas.logical(kind, optional)
  }
}

/** Reads a value of one kind as epoch milliseconds, or says why not. */
export const reader =
  (format: DateFormat | undefined, precision: Precision) => (kind: Kind, value: unknown): number | string => {
    switch (kind) {
      case "string":
        if (typeof value !== "string") return `expected a string, found ${typeName(value)}`
        if (format === undefined) return "is a string, and no format is configured to read it"
        return format.parse(value) ?? "the string does not have the configured format"
      case "unix":
        return typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))
          ? fromUnix(value, precision)
          : `expected a whole number, found ${typeName(value)}`
      case "Time":
        return typeof value === "number" && Number.isInteger(value)
          ? value
          : `expected milliseconds, found ${typeName(value)}`
      default:
        return value instanceof Date ? value.getTime() : `expected a Date, found ${typeName(value)}`
    }
  }

/** Writes epoch milliseconds as one kind; a string needs the format. */
export const writer = (
  kind: Kind,
  format: DateFormat | undefined,
  precision: Precision
): (millis: number) => unknown => {
  switch (kind) {
    case "string":
      return (millis) => format?.format(millis)
    case "unix":
      return (millis) => toUnix(millis, precision)
    case "Date":
      return (millis) => new Date(millis - ofDay(millis))
    case "Time":
      return ofDay
    default:
      return (millis) => new Date(millis)
  }
}

const fromUnix = (value: number | bigint, precision: Precision): number => {
  switch (precision) {
    case "seconds":
      return Number(value) * 1000
    case "milliseconds":
      return Number(value)
    case "microseconds":
      return typeof value === "bigint" ? Number(value / 1000n) : Math.trunc(value / 1000)
    default:
      return typeof value === "bigint" ? Number(value / 1_000_000n) : Math.trunc(value / 1_000_000)
  }
}

/** Parts of a unit are cut off towards the epoch; nanoseconds beyond an `int64` are its bound. Both as in Java. */
const toUnix = (millis: number, precision: Precision): number | bigint => {
  switch (precision) {
    case "seconds":
      return Math.trunc(millis / 1000) + 0
    case "milliseconds":
      return millis
    case "microseconds":
      return compact(BigInt(millis) * 1000n)
    default:
      return compact(inInt64(BigInt(millis) * 1_000_000n))
  }
}

const inInt64 = (n: bigint): bigint => {
  const max = 2n ** 63n - 1n
  return n > max ? max : n < -max - 1n ? -max - 1n : n
}
