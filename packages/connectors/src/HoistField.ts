/** Wraps a whole key or value in an object (a struct, when it has a schema) of one field. As Connect's `HoistField`. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import * as Transform from "@kelpie/core/Transform"
import { write } from "./internal/members.ts"
import { perSchema } from "./internal/perSchema.ts"
import * as Schemas from "./internal/schemas.ts"
import * as Side from "./internal/side.ts"
import { version } from "./internal/version.ts"

const make = (side: Side.Side) => {
  const name = `HoistField$${side.name}`
  return Transform.make(name, {
    version,
    aliases: [`org.apache.kafka.connect.transforms.${name}`],
    doc: `Wraps the record's ${side.noun} in an object with one field. A tombstone becomes an object too.`,
    config: {
      field: ConfigKey.String("field", {
        importance: "medium",
        doc: "Name of the one field.",
        check: (field: string) => field === "" ? "Must name a field" : undefined
      })
    },
    apply: ({ field }) => {
      const schemaOf = perSchema((schema) => Schemas.struct(name, undefined, [{ ...schema, field }]))
      return (record) => {
        const schema = side.schema(record)
        const hoisted: Record<string, unknown> = {}
        write(hoisted, field, side.get(record) ?? null)
        return side.set(record, hoisted, schema && schemaOf(schema))
      }
    }
  })
}

/** Wraps the record's key. */
export const Key = make(Side.key)

/** Wraps the record's value. */
export const Value = make(Side.value)
