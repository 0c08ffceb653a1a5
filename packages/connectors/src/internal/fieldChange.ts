/** The frame of the transforms that change the fields of a key or a value, with a schema or without. */
import type { ConnectRecord } from "@kelpie/core/ConnectRecord"
import type { ConnectSchema } from "@kelpie/core/ConnectSchema"
import type { Apply } from "@kelpie/core/Transform"
import { type Members, membersOf } from "./members.ts"
import { perSchema } from "./perSchema.ts"
import { refusal } from "./refusal.ts"
import type { StructChange } from "./schemas.ts"
import type { Side } from "./side.ts"

/** What one transform does; both functions leave their argument as it is. */
export interface FieldChange {
  /** Called per record without a schema. */
  readonly schemaless: (value: Members, record: ConnectRecord) => Members
  /** Called once per schema, which is a struct's. */
  readonly struct: (schema: ConnectSchema) => StructChange<ConnectRecord>
}

/** Once per schema: the change, with the transform's name before what it refuses. */
export const structChange = <Context>(
  transform: string,
  side: Side,
  make: (schema: ConnectSchema) => StructChange<Context>
): (schema: ConnectSchema) => StructChange<Context> =>
  perSchema((schema) => {
    if (schema.type !== "struct") {
      throw refusal(transform, undefined, `the schema of the ${side.noun} must be a struct, found ${schema.type}`)
    }
    return make(schema)
  })

/** Nulls pass as they are, schema included: there is nothing to change in them. */
export const fieldChange = (transform: string, side: Side, { schemaless, struct }: FieldChange): Apply => {
  const changeOf = structChange(transform, side, struct)
  return (record) => {
    const value = side.get(record)
    if (value === null || value === undefined) return record
    const schema = side.schema(record)
    if (schema === undefined) {
      return side.set(record, schemaless(membersOf(transform, side, value), record), undefined)
    }
    const plan = changeOf(schema)
    return side.set(record, plan.change(membersOf(transform, side, value), record), plan.schema)
  }
}
