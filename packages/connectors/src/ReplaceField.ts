/**
 * Keeps, leaves out and renames fields of a key or value.
 *
 * As Connect's `ReplaceField`: what is excluded is out even when it is included, and renaming comes last. Two fields that
 * would get one name are refused, with a schema as in Connect and without one too, where Connect loses one of them.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import * as Transform from "@kelpie/core/Transform"
import { fieldChange } from "./internal/fieldChange.ts"
import { read, write } from "./internal/members.ts"
import * as Schemas from "./internal/schemas.ts"
import * as Side from "./internal/side.ts"
import { version } from "./internal/version.ts"

const badRename = (mapping: string): boolean => !/^[^:]+:[^:]+$/.test(mapping)

const config = {
  exclude: ConfigKey.List("exclude", {
    default: [],
    importance: "medium",
    doc: "Fields to leave out, even if include names them."
  }),
  include: ConfigKey.List("include", {
    default: [],
    importance: "medium",
    doc: "Fields to keep; the others are left out. Empty: all are kept."
  }),
  renames: ConfigKey.List("renames", {
    default: [],
    importance: "medium",
    doc: "Fields to rename, each as old:new.",
    check: (mappings: ReadonlyArray<string>) => {
      const bad = mappings.find(badRename)
      return bad === undefined ? undefined : `Invalid rename mapping: ${bad}. Write old:new`
    }
  }),
  replaceNullWithDefault: Schemas.replaceNullWithDefault
}

/** Old name to new name; `undefined` for a field that is left out. */
const renaming = ({ exclude, include, renames }: ConfigKey.Values<typeof config>) => {
  const out = new Set(exclude)
  const kept = new Set(include)
  const names = new Map(renames.map((mapping) => {
    const colon = mapping.indexOf(":")
    return [mapping.slice(0, colon), mapping.slice(colon + 1)]
  }))
  return (field: string): string | undefined =>
    out.has(field) || (kept.size > 0 && !kept.has(field)) ? undefined : names.get(field) ?? field
}

const make = (side: Side.Side) => {
  const name = `ReplaceField$${side.name}`
  return Transform.make(name, {
    version,
    aliases: [`org.apache.kafka.connect.transforms.${name}`],
    doc: `Keeps, leaves out or renames fields of the record's ${side.noun}.`,
    config,
    apply: (values) => {
      const nameOf = renaming(values)
      const mayCollide = values.renames.length > 0
      return fieldChange(name, side, {
        schemaless: (members) => {
          const next: Record<string, unknown> = {}
          for (const [field, value] of Object.entries(members)) {
            const to = nameOf(field)
            if (to === undefined) continue
            if (mayCollide && Object.hasOwn(next, to)) throw Schemas.twice(name, to)
            write(next, to, value)
          }
          return next
        },
        struct: (schema) => {
          const kept = Schemas.fieldsOf(schema).flatMap((field) => {
            const to = nameOf(field.field)
            return to === undefined ? [] : [{
              from: field.field,
              to,
              standIn: values.replaceNullWithDefault ? Schemas.defaultOf(field) ?? null : null,
              schema: { ...field, field: to }
            }]
          })
          return {
            schema: Schemas.struct(name, Schemas.basics(schema), kept.map((field) => field.schema)),
            change: (members) => {
              const next: Record<string, unknown> = {}
              for (const { from, standIn, to } of kept) write(next, to, read(members, from) ?? standIn)
              return next
            }
          }
        }
      })
    }
  })
}

/** Keeps, leaves out and renames fields of the record's key. */
export const Key = make(Side.key)

/** Keeps, leaves out and renames fields of the record's value. */
export const Value = make(Side.value)
