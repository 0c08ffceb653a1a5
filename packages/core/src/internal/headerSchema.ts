/** The schema that the members of an array or a map in a header have in common. */
import type { ConnectSchema, Type } from "../ConnectSchema.ts"

/** Each holds every number of those before it, by Connect's rules. */
const widening: ReadonlyArray<Type> = ["int8", "int16", "int32", "int64", "float", "double"]

const both = (
  a: ConnectSchema | undefined,
  b: ConnectSchema | undefined
): ConnectSchema | undefined => a === undefined || b === undefined ? undefined : merge(a, b)

const mergeNamed = (a: ConnectSchema, b: ConnectSchema): ConnectSchema | undefined =>
  a.name === b.name && a.parameters?.["scale"] === b.parameters?.["scale"] ? a : undefined

const merge = (a: ConnectSchema, b: ConnectSchema): ConnectSchema | undefined => {
  if (a === b) return a
  if (a.name !== undefined || b.name !== undefined) return mergeNamed(a, b)
  const [wideA, wideB] = [widening.indexOf(a.type), widening.indexOf(b.type)]
  if (wideA >= 0 && wideB >= 0) return wideA >= wideB ? a : b
  if (a.type !== b.type) return undefined
  const [items, keys, values] = [both(a.items, b.items), both(a.keys, b.keys), both(a.values, b.values)]
  return { type: a.type, ...(items && { items }), ...(keys && { keys }), ...(values && { values }) }
}

/**
 * The schema that all have in common; one of `undefined` is a null, and makes it optional. `undefined` when there is no such
 * schema, or there are only nulls.
 */
export const commonSchema = (schemas: ReadonlyArray<ConnectSchema | undefined>): ConnectSchema | undefined => {
  const [first, ...others] = schemas.filter((schema) => schema !== undefined)
  const common = others.reduce(both, first)
  return common === undefined || !schemas.includes(undefined) ? common : { ...common, optional: true }
}
