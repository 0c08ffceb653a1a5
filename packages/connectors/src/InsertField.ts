/**
 * Adds fields to a key or value: the record's topic, partition, offset or timestamp, or a fixed text.
 *
 * As Connect's `InsertField`. With a schema the timestamp is a `Timestamp`, without one it is epoch milliseconds; what the
 * record does not have (partition and timestamp of a source record) is not added.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import type { ConnectRecord } from "@kelpie/core/ConnectRecord"
import type { ConnectSchema, Field } from "@kelpie/core/ConnectSchema"
import * as Transform from "@kelpie/core/Transform"
import { fieldChange } from "./internal/fieldChange.ts"
import { write } from "./internal/members.ts"
import { badConfig, refusal } from "./internal/refusal.ts"
import * as Schemas from "./internal/schemas.ts"
import * as Side from "./internal/side.ts"
import { version } from "./internal/version.ts"

/** The name of a field to add; with `!` after it the field is required, with `?` or nothing optional. */
const fieldKey = (name: string, what: string) =>
  ConfigKey.String(name, {
    optional: true,
    importance: "medium",
    doc:
      `Name of the field that gets ${what}. End it with ! for a required field, or with ? for an optional one (as without).`,
    check: (text: string) => /^[!?]?$/.test(text) ? "Must name a field" : undefined
  })

const config = {
  topic: fieldKey("topic.field", "the record's topic"),
  partition: fieldKey("partition.field", "the record's partition"),
  offset: fieldKey("offset.field", "the record's offset (sink connectors only)"),
  timestamp: fieldKey("timestamp.field", "the record's timestamp"),
  static: fieldKey("static.field", "the text of static.value"),
  staticValue: ConfigKey.String("static.value", {
    optional: true,
    importance: "medium",
    doc: "The text for the field that static.field names."
  }),
  replaceNullWithDefault: Schemas.replaceNullWithDefault
}

interface Insertion {
  readonly field: string
  readonly optional: boolean
  readonly schema: ConnectSchema
  /** With a schema. */
  readonly typed: (record: ConnectRecord) => unknown
  /** Without one. */
  readonly plain: (record: ConnectRecord) => unknown
}

const text = Schemas.simple("string", false)

const insertions = (transform: string, values: ConfigKey.Values<typeof config>): ReadonlyArray<Insertion> => {
  const all: Array<Insertion> = []
  const add = (
    spec: string | undefined,
    schema: ConnectSchema,
    plain: Insertion["plain"],
    typed: Insertion["typed"] = plain
  ) => {
    if (spec !== undefined) {
      all.push({ field: spec.replace(/[!?]$/, ""), optional: !spec.endsWith("!"), schema, typed, plain })
    }
  }
  add(values.topic, text, (record) => record.topic)
  add(values.partition, Schemas.simple("int32", false), (record) => record.partition)
  add(values.offset, Schemas.simple("int64", false), (record) => {
    if ("offset" in record && record.offset !== undefined) return record.offset
    throw refusal(
      transform,
      undefined,
      "offset.field is only for records of sink connectors: this record has no offset"
    )
  })
  add(
    values.timestamp,
    Schemas.logical("Timestamp", false),
    (record) => record.timestampMillis,
    (record) => record.timestampMillis === undefined ? undefined : new Date(record.timestampMillis)
  )
  add(values.static, text, () => values.staticValue)
  return all
}

const checked = (transform: string, values: ConfigKey.Values<typeof config>): ReadonlyArray<Insertion> => {
  const all = insertions(transform, values)
  if (all.length === 0) {
    throw badConfig(
      transform,
      "topic.field",
      "no field to insert; set one of topic.field, partition.field, offset.field, timestamp.field and static.field"
    )
  }
  if (values.static !== undefined && values.staticValue === undefined) {
    throw badConfig(transform, "static.value", "a text is needed for the field that static.field names")
  }
  return all
}

const make = (side: Side.Side) => {
  const name = `InsertField$${side.name}`
  return Transform.make(name, {
    version,
    aliases: [`org.apache.kafka.connect.transforms.${name}`],
    doc: `Adds topic, partition, offset, timestamp or a fixed text to the record's ${side.noun}.`,
    config,
    apply: (values) => {
      const added = checked(name, values)
      return fieldChange(name, side, {
        schemaless: (members, record) => {
          const next = { ...members }
          for (const { field, plain } of added) {
            const value = plain(record)
            if (value !== undefined) write(next, field, value)
          }
          return next
        },
        struct: (schema) => {
          const fields = Schemas.fieldsOf(schema)
          const defaults = values.replaceNullWithDefault ? Schemas.defaultsOf(fields) : []
          return {
            schema: Schemas.struct(name, Schemas.basics(schema), [...fields, ...added.map(fieldOf)]),
            change: (members, record) => {
              const next = { ...members }
              Schemas.putDefaults(next, defaults)
              for (const { field, optional, typed } of added) {
                const value = typed(record)
                if (value === undefined && !optional) {
                  throw refusal(name, field, "the field is required, and the record does not have what it is made of")
                }
                write(next, field, value ?? null)
              }
              return next
            }
          }
        }
      })
    }
  })
}

const fieldOf = ({ field, optional, schema }: Insertion): Field => ({
  field,
  ...schema,
  ...(optional ? { optional } : undefined)
})

/** Adds fields to the record's key. */
export const Key = make(Side.key)

/** Adds fields to the record's value. */
export const Value = make(Side.value)
