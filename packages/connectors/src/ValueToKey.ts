/**
 * Makes the record's key of some fields of its value. As Connect's `ValueToKey`.
 *
 * A tombstone has no fields and is refused: keep it away with the predicate `RecordIsTombstone`, negated.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import type { ConnectSchema, Field } from "@kelpie/core/ConnectSchema"
import * as Transform from "@kelpie/core/Transform"
import { structChange } from "./internal/fieldChange.ts"
import { type Members, membersOf, read, write } from "./internal/members.ts"
import { refusal } from "./internal/refusal.ts"
import * as Schemas from "./internal/schemas.ts"
import * as Side from "./internal/side.ts"
import { version } from "./internal/version.ts"

const name = "ValueToKey"

/** Makes keys from values. */
export const ValueToKey = Transform.make(name, {
  version,
  aliases: ["org.apache.kafka.connect.transforms.ValueToKey"],
  doc: "Replaces the record's key by an object of some fields of its value.",
  config: {
    fields: ConfigKey.List("fields", {
      importance: "high",
      doc: "Fields of the value that make the key.",
      check: (fields: ReadonlyArray<string>) => fields.length === 0 ? "Must name at least one field" : undefined
    }),
    replaceNullWithDefault: Schemas.replaceNullWithDefault
  },
  apply: (values) => {
    const fields = [...new Set(values.fields)]
    const plain = fields.map((field) => [field, null] as const)
    const changeOf = structChange<undefined>(name, Side.value, (schema) => {
      const taken = fields.map((field) => member(schema, field))
      const standIns = taken.map((field) =>
        [field.field, values.replaceNullWithDefault ? Schemas.defaultOf(field) ?? null : null] as const
      )
      return { schema: Schemas.struct(name, undefined, taken), change: (members) => keyOf(members, standIns) }
    })
    return (record) => {
      const members = membersOf(name, Side.value, record.value)
      if (record.valueSchema === undefined) return Side.key.set(record, keyOf(members, plain), undefined)
      const { change, schema } = changeOf(record.valueSchema)
      return Side.key.set(record, change(members, undefined), schema)
    }
  }
})

const member = (schema: ConnectSchema, field: string): Field => {
  const found = Schemas.fieldsOf(schema).find((candidate) => candidate.field === field)
  if (found === undefined) throw refusal(name, field, "the value's schema has no such field")
  return found
}

/** The named members, each with what stands in for a null. */
const keyOf = (members: Members, fields: ReadonlyArray<readonly [field: string, standIn: unknown]>): Members => {
  const key: Record<string, unknown> = {}
  for (const [field, standIn] of fields) write(key, field, read(members, field) ?? standIn)
  return key
}
