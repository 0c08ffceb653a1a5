/**
 * Hides fields of a key or value: an empty value of the same type takes their place, or a replacement.
 *
 * As Connect's `MaskField`: false, 0, an empty text, the epoch, an empty array or map; bytes and structs have no mask and
 * are refused. The replacement is for numbers and texts only. Nulls stay nulls, tombstones included, which Connect refuses.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { type ConnectSchema, LogicalName } from "@kelpie/core/ConnectSchema"
import * as Transform from "@kelpie/core/Transform"
import { fieldChange } from "./internal/fieldChange.ts"
import * as JavaNumber from "./internal/javaNumber.ts"
import { read, write } from "./internal/members.ts"
import { refusal, typeName } from "./internal/refusal.ts"
import * as Schemas from "./internal/schemas.ts"
import * as Side from "./internal/side.ts"
import { version } from "./internal/version.ts"

const config = {
  fields: ConfigKey.List("fields", {
    importance: "high",
    doc: "Fields to mask.",
    check: (fields: ReadonlyArray<string>) => fields.length === 0 ? "Must name at least one field" : undefined
  }),
  replacement: ConfigKey.String("replacement", {
    optional: true,
    importance: "low",
    doc: "What stands in the place of numbers and texts; it is read as a number where the field is one.",
    check: (text: string) => text === "" ? "Must not be empty" : undefined
  }),
  replaceNullWithDefault: Schemas.replaceNullWithDefault
}

/** The empty value of the same type; `undefined` when there is none. */
const emptied = (value: unknown, schema: ConnectSchema | undefined): unknown => {
  switch (typeof value) {
    case "boolean":
      return false
    case "number":
    case "bigint":
      return 0
    case "string":
      return schema?.name === LogicalName.Decimal ? "0" : ""
  }
  if (value instanceof Date) return new Date(0)
  if (Array.isArray(value)) return []
  if (value instanceof Map) return new Map()
  return ArrayBuffer.isView(value) || schema?.type === "struct" ? undefined : {}
}

/** The replacement as a value of the same type; `undefined` when it is none. */
const replaced = (value: unknown, schema: ConnectSchema | undefined, replacement: string): unknown => {
  if (typeof value === "string") {
    const number = schema?.name === LogicalName.Decimal
    return number && JavaNumber.decimalToInt64(replacement) === undefined ? undefined : replacement
  }
  if (typeof value !== "number" && typeof value !== "bigint") return undefined
  const whole = intTypeOf(value, schema)
  if (whole === undefined) return JavaNumber.readFloat(replacement)
  const n = JavaNumber.decimalToInt64(replacement)
  return n === undefined ? undefined : JavaNumber.wrap(n, whole)
}

/** The whole type of a number; without a schema a number without a fraction is an `int64`, as the JSON converter has it. */
const intTypeOf = (value: number | bigint, schema: ConnectSchema | undefined): JavaNumber.IntType | undefined => {
  const type = schema?.type
  if (type === undefined) return typeof value === "bigint" || Number.isSafeInteger(value) ? "int64" : undefined
  return type === "int8" || type === "int16" || type === "int32" || type === "int64" ? type : undefined
}

const masker =
  (transform: string, replacement: string | undefined) =>
  (value: unknown, field: string, schema: ConnectSchema | undefined): unknown => {
    if (value === null || value === undefined) return null
    const mask = replacement === undefined ? emptied(value, schema) : replaced(value, schema, replacement)
    if (mask !== undefined) return mask
    const type = schema?.type === "struct" ? "struct" : typeName(value)
    throw refusal(
      transform,
      field,
      replacement === undefined
        ? `cannot mask a value of type ${type}`
        : `cannot mask a value of type ${type} with the configured replacement`
    )
  }

const make = (side: Side.Side) => {
  const name = `MaskField$${side.name}`
  return Transform.make(name, {
    version,
    aliases: [`org.apache.kafka.connect.transforms.${name}`],
    doc: `Hides fields of the record's ${side.noun}.`,
    config,
    apply: ({ fields, replaceNullWithDefault, replacement }) => {
      const mask = masker(name, replacement)
      return fieldChange(name, side, {
        schemaless: (members) => {
          const next = { ...members }
          for (const field of fields) write(next, field, mask(read(members, field), field, undefined))
          return next
        },
        struct: (schema) => {
          const defaults = replaceNullWithDefault ? Schemas.defaultsOf(Schemas.fieldsOf(schema)) : []
          const masked = Schemas.fieldsOf(schema).filter(({ field }) => fields.includes(field))
          return {
            schema,
            change: (members) => {
              const next = { ...members }
              Schemas.putDefaults(next, defaults)
              for (const field of masked) write(next, field.field, mask(read(next, field.field), field.field, field))
              return next
            }
          }
        }
      })
    }
  })
}

/** Hides fields of the record's key. */
export const Key = make(Side.key)

/** Hides fields of the record's value. */
export const Value = make(Side.value)
