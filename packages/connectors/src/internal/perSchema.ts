/** Work that depends on a schema only, done once per schema object and not once per record. */
import type { ConnectSchema } from "@kelpie/core/ConnectSchema"

/**
 * Remembers the result for each schema object, for as long as the schema lives. Neighbouring records mostly share their
 * schema, so the last one is compared before the map is asked. A call that throws is not remembered.
 */
export const perSchema = <A>(make: (schema: ConnectSchema) => A): (schema: ConnectSchema) => A => {
  const known = new WeakMap<ConnectSchema, { readonly result: A }>()
  let last: ConnectSchema | undefined
  let entry: { readonly result: A } | undefined
  return (schema) => {
    if (schema === last && entry !== undefined) return entry.result
    const found = known.get(schema) ?? { result: make(schema) }
    known.set(schema, found)
    last = schema
    entry = found
    return found.result
  }
}
