/** Reads what a `Decimal` schema says. */
import type { ConnectSchema } from "../ConnectSchema.ts"

/** The digits after the point, from the schema's `scale` parameter. Throws when it has none. */
export const decimalScale = (schema: ConnectSchema, path: string): number => {
  const text = schema.parameters?.["scale"]
  if (text !== undefined && /^[+-]?\d{1,4}$/.test(text) && Math.abs(Number(text)) <= 1000) return Number(text)
  throw new Error(
    `${
      path === "" ? "" : `Field ${path}: `
    }The Decimal schema needs a parameter "scale" that is a whole number of at most 1000`
  )
}
