/**
 * Casts fields, or a whole key or value, to another primitive type. As Connect's `Cast`.
 *
 * Numbers narrow as in Java (low bits of whole numbers, nearest bound of floats), `true` is 1, any text but "true" is
 * false, bytes become base64. A field that a schema does not have is passed over; without a schema it becomes null.
 * A cast whole value loses the name of its logical type, which Connect keeps although the type no longer fits it.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { type ConnectSchema, type Field, LogicalName } from "@kelpie/core/ConnectSchema"
import * as Transform from "@kelpie/core/Transform"
import * as Result from "effect/Result"
import { castValue, type Target, targets } from "./internal/castValue.ts"
import { fieldChange } from "./internal/fieldChange.ts"
import { read, write } from "./internal/members.ts"
import { perSchema } from "./internal/perSchema.ts"
import { badConfig, reasonOf, refusal } from "./internal/refusal.ts"
import * as Schemas from "./internal/schemas.ts"
import * as Side from "./internal/side.ts"
import { version } from "./internal/version.ts"

/** One type for the whole, or types of fields by name. */
type Spec = Target | ReadonlyMap<string, Target>

const targetOf = (word: string): Target | undefined => {
  const name = word.trim().toLowerCase()
  return Object.hasOwn(targets, name) ? targets[name] : undefined
}

const parse = (entries: ReadonlyArray<string>): Result.Result<Spec, string> => {
  if (entries.length === 0) return Result.fail("Must specify at least one field to cast")
  const fields = new Map<string, Target>()
  for (const entry of entries) {
    const [field = "", type, ...more] = entry.split(":")
    const target = targetOf(type ?? field)
    if (more.length > 0 || field.trim() === "") {
      return Result.fail(`Invalid cast: ${entry}. Write field:type, or one type`)
    }
    if (target === undefined) {
      return Result.fail(`Invalid type in ${entry}; it must be one of ${Object.keys(targets).join(", ")}`)
    }
    if (type !== undefined) fields.set(field.trim(), target)
    else if (entries.length === 1) return Result.succeed(target)
    else return Result.fail("A type without a field casts the whole value and must be the only entry")
  }
  return Result.succeed(fields)
}

const config = {
  spec: ConfigKey.List("spec", {
    importance: "high",
    doc:
      "What to cast: field:type for each field, or one type alone for the whole. Types: int8, int16, int32, int64, float32, float64, boolean, string. Bytes can be cast to string only.",
    check: (entries: ReadonlyArray<string>) => reasonOf(parse(entries))
  }),
  replaceNullWithDefault: Schemas.replaceNullWithDefault
}

/** The schema after a cast; the default is cast with it. */
const castSchema = (schema: ConnectSchema, target: Target, of: Omit<ConnectSchema, "type">, refuse: Refuse) => {
  const standIn = Schemas.defaultOf(schema)
  return {
    type: target,
    ...of,
    ...(schema.optional === true ? { optional: true } : undefined),
    ...(standIn === undefined ? undefined : { default: castValue(standIn, schema, target, refuse) })
  }
}

type Refuse = (reason: string) => Error

const logicalNames: ReadonlySet<string | undefined> = new Set(Object.values(LogicalName))

const castWhole = (name: string, side: Side.Side, target: Target): Transform.Apply => {
  const refuse: Refuse = (reason) => refusal(name, undefined, `the ${side.noun}: ${reason}`)
  const schemaOf = perSchema((schema) =>
    castSchema(schema, target, logicalNames.has(schema.name) ? {} : Schemas.basics(schema), refuse)
  )
  return (record) => {
    const value = side.get(record)
    if (value === null || value === undefined) return record
    const schema = side.schema(record)
    return side.set(record, castValue(value, schema, target, refuse), schema && schemaOf(schema))
  }
}

const castFields = (
  name: string,
  side: Side.Side,
  casts: ReadonlyMap<string, Target>,
  replaceNullWithDefault: boolean
): Transform.Apply => {
  const list = [...casts].map(([field, target]) => ({
    field,
    target,
    refuse: (reason: string) => refusal(name, field, reason)
  }))
  return fieldChange(name, side, {
    schemaless: (members) => {
      const next = { ...members }
      for (const { field, refuse, target } of list) {
        write(next, field, castValue(read(members, field), undefined, target, refuse))
      }
      return next
    },
    struct: (schema) => {
      const fields = Schemas.fieldsOf(schema)
      const defaults = replaceNullWithDefault ? Schemas.defaultsOf(fields) : []
      const present = list.flatMap((cast) => {
        const found = fields.find((field) => field.field === cast.field)
        return found === undefined ? [] : [{ ...cast, schema: found }]
      })
      const changed = fields.map((field): Field => {
        const cast = present.find((cast) => cast.field === field.field)
        return cast === undefined ? field : { ...castSchema(field, cast.target, {}, cast.refuse), field: field.field }
      })
      return {
        schema: {
          ...Schemas.struct(name, Schemas.basics(schema), changed),
          ...(schema.optional === true ? { optional: true } : undefined)
        },
        change: (members) => {
          const next = { ...members }
          Schemas.putDefaults(next, defaults)
          for (const { field, refuse, schema, target } of present) {
            write(next, field, castValue(read(next, field), schema, target, refuse))
          }
          return next
        }
      }
    }
  })
}

const make = (side: Side.Side) => {
  const name = `Cast$${side.name}`
  return Transform.make(name, {
    version,
    aliases: [`org.apache.kafka.connect.transforms.${name}`],
    doc: `Casts fields of the record's ${side.noun}, or all of it, to another type.`,
    config,
    apply: ({ replaceNullWithDefault, spec }) => {
      const parsed = Result.getOrThrowWith(parse(spec), (reason) => badConfig(name, "spec", reason))
      return typeof parsed === "string"
        ? castWhole(name, side, parsed)
        : castFields(name, side, parsed, replaceNullWithDefault)
    }
  })
}

/** Casts the record's key. */
export const Key = make(Side.key)

/** Casts the record's value. */
export const Value = make(Side.value)
