/**
 * Lifts the fields of nested objects to the top, under names joined with a delimiter. As Connect's `Flatten`.
 *
 * Arrays stay as they are; a map within a schema is refused, since its members are not fields. Two fields that would get
 * one name are refused, with a schema as in Connect and without one too, where Connect loses one of them.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import type { ConnectSchema, Field } from "@kelpie/core/ConnectSchema"
import * as Transform from "@kelpie/core/Transform"
import { fieldChange } from "./internal/fieldChange.ts"
import { joinedNames } from "./internal/joinedNames.ts"
import { isMembers, type Members, read, write } from "./internal/members.ts"
import { refusal, typeName } from "./internal/refusal.ts"
import * as Schemas from "./internal/schemas.ts"
import * as Side from "./internal/side.ts"
import { version } from "./internal/version.ts"

/** A field on the way: a leaf with the name it gets and its default, or a struct with members. */
type Node =
  | { readonly field: string; readonly to: string; readonly standIn: unknown }
  | { readonly field: string; readonly nodes: ReadonlyArray<Node> }

interface Names {
  readonly transform: string
  readonly join: (prefix: string, name: string) => string
}

const flattenPlain = (names: Names, members: Members, prefix: string, next: Record<string, unknown>): void => {
  for (const [field, value] of Object.entries(members)) {
    const to = names.join(prefix, field)
    if (isMembers(value)) {
      flattenPlain(names, value, to, next)
    } else if (value instanceof Map || typeof value === "function" || typeof value === "symbol") {
      throw refusal(names.transform, to, `cannot flatten a value of type ${typeName(value)}`)
    } else {
      if (Object.hasOwn(next, to)) throw Schemas.twice(names.transform, to)
      write(next, to, value ?? null)
    }
  }
}

/** Collects the leaves of a struct; a leaf under an optional struct is optional, and takes its part of that struct's default. */
const plan = (
  names: Names,
  schema: ConnectSchema,
  prefix: string,
  above: { readonly optional: boolean; readonly standIn: unknown },
  leaves: Array<Field>
): ReadonlyArray<Node> =>
  Schemas.fieldsOf(schema).map((field): Node => {
    const to = names.join(prefix, field.field)
    const optional = above.optional || field.optional === true
    const inherited = isMembers(above.standIn) ? read(above.standIn, field.field) : undefined
    if (field.type === "struct") {
      const standIn = field.default ?? inherited
      return { field: field.field, nodes: plan(names, field, to, { optional, standIn }, leaves) }
    }
    if (field.type === "map") throw refusal(names.transform, to, "cannot flatten a map that has a schema")
    const leaf: Field = {
      ...Schemas.schemaOf(field),
      field: to,
      ...(optional ? { optional } : undefined),
      ...(inherited === undefined || field.default !== undefined ? undefined : { default: inherited })
    }
    leaves.push(leaf)
    return { field: field.field, to, standIn: Schemas.defaultOf(leaf) ?? null }
  })

/** Writes the leaves; of a struct that is null, their defaults. */
const flattenStruct = (
  names: Names,
  nodes: ReadonlyArray<Node>,
  members: Members | undefined,
  next: Record<string, unknown>
): void => {
  for (const node of nodes) {
    const value = members === undefined ? undefined : read(members, node.field)
    if ("to" in node) {
      write(next, node.to, value ?? node.standIn)
    } else if (value === null || value === undefined) {
      flattenStruct(names, node.nodes, undefined, next)
    } else if (isMembers(value)) {
      flattenStruct(names, node.nodes, value, next)
    } else {
      throw refusal(names.transform, node.field, `must be a struct, found ${typeName(value)}`)
    }
  }
}

const make = (side: Side.Side) => {
  const name = `Flatten$${side.name}`
  return Transform.make(name, {
    version,
    aliases: [`org.apache.kafka.connect.transforms.${name}`],
    doc: `Lifts nested fields of the record's ${side.noun} to the top.`,
    config: {
      delimiter: ConfigKey.String("delimiter", {
        default: ".",
        importance: "medium",
        doc: "Stands between the names of the objects that a field was in and its own."
      })
    },
    apply: ({ delimiter }) => {
      const names: Names = { transform: name, join: joinedNames(delimiter) }
      return fieldChange(name, side, {
        schemaless: (members) => {
          const next: Record<string, unknown> = {}
          flattenPlain(names, members, "", next)
          return next
        },
        struct: (schema) => {
          const leaves: Array<Field> = []
          const above = { optional: schema.optional === true, standIn: schema.default }
          const nodes = plan(names, schema, "", above, leaves)
          return {
            schema: Schemas.struct(name, Schemas.basics(schema), leaves),
            change: (members) => {
              const next: Record<string, unknown> = {}
              flattenStruct(names, nodes, members, next)
              return next
            }
          }
        }
      })
    }
  })
}

/** Flattens the record's key. */
export const Key = make(Side.key)

/** Flattens the record's value. */
export const Value = make(Side.value)
