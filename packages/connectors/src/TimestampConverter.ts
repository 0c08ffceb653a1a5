/**
 * Converts times between texts, Unix time and the logical types. As Connect's `TimestampConverter`.
 *
 * With a schema its type says what comes in (a string, an int64, `Timestamp`, `Date` or `Time`); without one a text is read
 * by `format`, a whole number is Unix time, and a `Date` is itself. A field that a schema does not have is passed over;
 * without a schema it becomes null. All times are UTC. See `internal/dateFormat.ts` for what formats can say.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import type { ConnectSchema, Field } from "@kelpie/core/ConnectSchema"
import * as Transform from "@kelpie/core/Transform"
import * as Result from "effect/Result"
import * as DateFormat from "./internal/dateFormat.ts"
import { structChange } from "./internal/fieldChange.ts"
import { isMembers, type Members, membersOf, read, write } from "./internal/members.ts"
import { perSchema } from "./internal/perSchema.ts"
import { badConfig, reasonOf, refusal, typeName } from "./internal/refusal.ts"
import * as Schemas from "./internal/schemas.ts"
import * as Side from "./internal/side.ts"
import * as Times from "./internal/times.ts"
import { version } from "./internal/version.ts"

const config = {
  field: ConfigKey.String("field", {
    default: "",
    importance: "high",
    doc: "The field that holds the time. Empty: the whole is a time."
  }),
  target: ConfigKey.Literals(["string", "unix", "Date", "Time", "Timestamp"])("target.type", {
    importance: "high",
    recommended: ["string", "unix", "Date", "Time", "Timestamp"],
    doc: "What to convert to: string, unix, Date, Time or Timestamp."
  }),
  format: ConfigKey.String("format", {
    default: "",
    importance: "medium",
    doc:
      "Pattern of Java's SimpleDateFormat by which texts are written and read. Needed for target.type string and for texts that come in.",
    check: (pattern: string) => reasonOf(DateFormat.compile(pattern))
  }),
  precision: ConfigKey.Literals(["seconds", "milliseconds", "microseconds", "nanoseconds"])("unix.precision", {
    default: "milliseconds",
    importance: "low",
    recommended: ["seconds", "milliseconds", "microseconds", "nanoseconds"],
    doc:
      "The unit of Unix times, in and out: seconds, milliseconds, microseconds or nanoseconds. What is finer than a millisecond is lost."
  }),
  replaceNullWithDefault: Schemas.replaceNullWithDefault
}

type Values = ConfigKey.Values<typeof config>

/** The bound of JavaScript's dates, on both sides of the epoch. */
const maxMillis = 8.64e15

/** Converts one value; without a schema its kind is that of its JavaScript type. */
type Convert = (value: unknown, schema: ConnectSchema | undefined) => unknown

const converter = (transform: string, values: Values): Convert => {
  const format = values.format === "" ? undefined : Result.getOrThrowWith(
    DateFormat.compile(values.format),
    (reason) => badConfig(transform, "format", reason)
  )
  if (format === undefined && values.target === "string") {
    throw badConfig(transform, "format", "a format is needed for target.type string")
  }
  const read = Times.reader(format, values.precision)
  const write = Times.writer(values.target, format, values.precision)
  const field = values.field === "" ? undefined : values.field
  return (value, schema) => {
    if (value === null || value === undefined) return null
    const kind = schema === undefined ? Times.kindOfValue(value) : Times.kindOfSchema(schema)
    if (kind === undefined) {
      throw refusal(transform, field, `a value of type ${schema?.type ?? typeName(value)} is no time`)
    }
    const millis = read(kind, value)
    if (typeof millis === "string") throw refusal(transform, field, millis)
    if (!(Math.abs(millis) <= maxMillis)) throw refusal(transform, field, "the time is out of range")
    return write(millis)
  }
}

const convertWhole = (side: Side.Side, target: Times.Kind, convert: Convert): Transform.Apply => {
  const schemaOf = perSchema((schema) => Times.schemaOf(target, schema.optional === true))
  return (record) => {
    const value = side.get(record)
    const schema = side.schema(record)
    if (schema === undefined && (value === null || value === undefined)) return record
    return side.set(record, convert(value, schema), schema && schemaOf(schema))
  }
}

const convertField = (name: string, side: Side.Side, values: Values, convert: Convert): Transform.Apply => {
  const changeOf = structChange<undefined>(name, side, (schema) => structPlan(name, schema, values, convert))
  return (record) => {
    const value = side.get(record)
    const schema = side.schema(record)
    const absent = value === null || value === undefined
    if (schema !== undefined) {
      const plan = changeOf(schema)
      return side.set(record, absent ? null : plan.change(membersOf(name, side, value), undefined), plan.schema)
    }
    if (absent) return record
    const members = membersOf(name, side, value)
    const next = { ...members }
    write(next, values.field, convert(read(members, values.field), undefined))
    return side.set(record, next, undefined)
  }
}

const structPlan = (
  name: string,
  schema: ConnectSchema,
  { field, replaceNullWithDefault, target }: Values,
  convert: Convert
): Schemas.StructChange<undefined> => {
  const fields = Schemas.fieldsOf(schema)
  const defaults = replaceNullWithDefault ? Schemas.defaultsOf(fields) : []
  const found = fields.find((candidate) => candidate.field === field)
  const converted = fields.map((candidate): Field =>
    candidate === found ? { ...Times.schemaOf(target, found.optional === true), field } : candidate
  )
  const change = (members: Members): Members => {
    const next = { ...members }
    Schemas.putDefaults(next, defaults)
    if (found !== undefined) write(next, field, convert(read(next, field), found))
    return next
  }
  return {
    schema: {
      ...Schemas.struct(name, Schemas.basics(schema), converted),
      ...(schema.optional === true ? { optional: true } : undefined),
      ...(isMembers(schema.default) ? { default: change(schema.default) } : undefined)
    },
    change
  }
}

const make = (side: Side.Side) => {
  const name = `TimestampConverter$${side.name}`
  return Transform.make(name, {
    version,
    aliases: [`org.apache.kafka.connect.transforms.${name}`],
    doc: `Converts a time in the record's ${side.noun}, or all of it, to another form.`,
    config,
    apply: (values) => {
      const convert = converter(name, values)
      return values.field === ""
        ? convertWhole(side, values.target, convert)
        : convertField(name, side, values, convert)
    }
  })
}

/** Converts times in the record's key. */
export const Key = make(Side.key)

/** Converts times in the record's value. */
export const Value = make(Side.value)
