/** What transforms do with schemas: copies, optional twins, and the defaults that stand in for nulls. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { type ConnectSchema, type Field, LogicalName } from "@kelpie/core/ConnectSchema"
import { type Members, read, write } from "./members.ts"
import { refusal } from "./refusal.ts"

/** A change of structs: the new schema, and what is done with each value. */
export interface StructChange<in Context> {
  readonly schema: ConnectSchema
  readonly change: (value: Members, context: Context) => Members
}

/** The fields of a struct. */
export const fieldsOf = (schema: ConnectSchema): ReadonlyArray<Field> => schema.fields ?? []

/** A field's schema without the field's name. */
export const schemaOf = (field: Field): ConnectSchema => {
  const { field: _name, ...schema } = field
  return schema
}

/** Name, version, documentation and parameters of a schema; its type, members, default and optionality are not copied. */
export const basics = ({ doc, name, parameters, version }: ConnectSchema): Omit<ConnectSchema, "type"> => ({
  ...(name === undefined ? undefined : { name }),
  ...(version === undefined ? undefined : { version }),
  ...(doc === undefined ? undefined : { doc }),
  ...(parameters === undefined ? undefined : { parameters })
})

/** A schema of one type, optional or not. */
export const simple = (type: ConnectSchema["type"], optional: boolean): ConnectSchema =>
  optional ? { type, optional } : { type }

/** The schema of a logical type, optional or not. */
export const logical = (name: "Date" | "Time" | "Timestamp", optional: boolean): ConnectSchema => ({
  type: name === "Timestamp" ? "int64" : "int32",
  name: LogicalName[name],
  version: 1,
  ...(optional ? { optional } : undefined)
})

/** The refusal of a change by which two fields would get one name. */
export const twice = (transform: string, field: string): Error =>
  refusal(transform, field, "two fields of the record would get this name")

/** The schema of a struct that is made from another one. Two fields of one name are refused, as in Connect. */
export const struct = (
  transform: string,
  from: Omit<ConnectSchema, "type"> | undefined,
  fields: ReadonlyArray<Field>
): ConnectSchema => {
  const names = new Set<string>()
  for (const { field } of fields) {
    if (names.has(field)) throw twice(transform, field)
    names.add(field)
  }
  return { type: "struct", ...from, fields }
}

/** The default of a schema; `undefined` when it has none. */
export const defaultOf = (schema: ConnectSchema): unknown => schema.default ?? undefined

/** Names and values of the fields that have a default. */
export const defaultsOf = (fields: ReadonlyArray<Field>): ReadonlyArray<readonly [name: string, value: unknown]> =>
  fields.flatMap((field) => {
    const value = defaultOf(field)
    return value === undefined ? [] : [[field.field, value] as const]
  })

/** Puts the default wherever a fresh copy of a struct has none or null. */
export const putDefaults = (
  members: Record<string, unknown>,
  defaults: ReadonlyArray<readonly [name: string, value: unknown]>
): void => {
  for (const [name, value] of defaults) {
    const now = read(members, name)
    if (now === null || now === undefined) write(members, name, value)
  }
}

/** The key by which most transforms let nulls stay nulls. */
export const replaceNullWithDefault = ConfigKey.Boolean("replace.null.with.default", {
  default: true,
  importance: "medium",
  doc: "A null in a field that has a default value: true replaces it by the default, false keeps the null."
})
