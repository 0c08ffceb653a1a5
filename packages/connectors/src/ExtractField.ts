/**
 * Puts one field of a key or value in the place of the whole. As Connect's `ExtractField`.
 *
 * Nulls stay nulls. A field that a schema does not have is refused; without a schema it gives null.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import type { ConnectSchema, Field } from "@kelpie/core/ConnectSchema"
import * as Transform from "@kelpie/core/Transform"
import * as Result from "effect/Result"
import * as FieldPath from "./internal/fieldPath.ts"
import { isMembers, membersOf, read } from "./internal/members.ts"
import { perSchema } from "./internal/perSchema.ts"
import { badConfig, refusal, typeName } from "./internal/refusal.ts"
import * as Schemas from "./internal/schemas.ts"
import * as Side from "./internal/side.ts"
import { version } from "./internal/version.ts"

const config = {
  field: ConfigKey.String("field", {
    importance: "medium",
    doc: "The field to extract; with field.syntax.version V2, a path to a nested field such as a.b.",
    check: (field: string) => field === "" ? "Must name a field" : undefined
  }),
  syntax: ConfigKey.String("field.syntax.version", {
    default: "V1",
    importance: "high",
    recommended: ["V1", "V2"],
    doc:
      "V1: a field's name is taken as it stands. V2: dots divide the names of nested fields; put a name that has dots itself in backticks.",
    check: (text: string) => /^v[12]$/i.test(text) ? undefined : "String must be one of (case insensitive): V1, V2"
  }),
  replaceNullWithDefault: Schemas.replaceNullWithDefault
}

/** What a schema says of the path: the schema of its end, and the default of each step. */
interface Plan {
  readonly schema: ConnectSchema
  readonly standIns: ReadonlyArray<unknown>
}

const planOf = (
  transform: string,
  path: FieldPath.FieldPath,
  replaceNullWithDefault: boolean
) =>
(schema: ConnectSchema): Plan => {
  const fields: Array<Field> = []
  let current: ConnectSchema = schema
  for (const step of path) {
    const field = Schemas.fieldsOf(current).find((candidate) => candidate.field === step)
    if (field === undefined) throw refusal(transform, path.join("."), "unknown field")
    fields.push(field)
    current = Schemas.schemaOf(field)
  }
  return {
    schema: current,
    // Defaults of the structs on the way always count, as in Connect; the key is about the field itself.
    standIns: fields.map((field, i) =>
      i < path.length - 1 || replaceNullWithDefault ? Schemas.defaultOf(field) ?? null : null
    )
  }
}

const extract = (
  transform: string,
  path: FieldPath.FieldPath,
  from: Readonly<Record<string, unknown>>,
  standIns: ReadonlyArray<unknown> | undefined
): unknown => {
  let current: unknown = from
  for (const [i, step] of path.entries()) {
    if (!isMembers(current)) {
      throw refusal(transform, path.slice(0, i).join("."), `must be an object with fields, found ${typeName(current)}`)
    }
    current = read(current, step) ?? standIns?.[i] ?? null
    if (current === null) return null
  }
  return current
}

const make = (side: Side.Side) => {
  const name = `ExtractField$${side.name}`
  return Transform.make(name, {
    version,
    aliases: [`org.apache.kafka.connect.transforms.${name}`],
    doc: `Replaces the record's ${side.noun} by one of its fields.`,
    config,
    apply: (values) => {
      const path = Result.getOrThrowWith(
        FieldPath.parse(values.field, /v2/i.test(values.syntax) ? "V2" : "V1"),
        (reason) => badConfig(name, "field", reason)
      )
      const plan = perSchema(planOf(name, path, values.replaceNullWithDefault))
      return (record) => {
        const value = side.get(record)
        const schema = side.schema(record)
        const known = schema && plan(schema)
        const field = value === null || value === undefined
          ? null
          : extract(name, path, membersOf(name, side, value), known?.standIns)
        return side.set(record, field, known?.schema)
      }
    }
  })
}

/** Extracts from the record's key. */
export const Key = make(Side.key)

/** Extracts from the record's value. */
export const Value = make(Side.value)
