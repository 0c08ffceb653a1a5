/** A boolean as one byte, 1 or 0, as Connect's BooleanConverter writes it. */
import type { ConnectSchema } from "./ConnectSchema.ts"
import { converterPair } from "./internal/converterPair.ts"
import { refuse, refuseType } from "./internal/typeName.ts"

const schema: ConnectSchema = { type: "boolean", optional: true }

const read = (bytes: Uint8Array): boolean => {
  if (bytes.length !== 1) return refuse("", "1 byte", String(bytes.length))
  return bytes[0] === 1 || (bytes[0] !== 0 && refuse("", "the byte 0 or 1", "another"))
}

const { converter, headerConverter } = converterPair("org.apache.kafka.connect.converters.BooleanConverter", {
  doc: "A boolean as one byte.",
  config: {},
  open: () => ({
    toBytes: (_, value, schema) =>
      schema !== undefined && schema.type !== "boolean"
        ? refuse("", "a schema of type boolean", `one of type ${schema.type}`)
        : typeof value === "boolean"
        ? Uint8Array.of(value ? 1 : 0)
        : value === null || value === undefined
        ? null
        : refuseType("", "a boolean", value),
    fromBytes: (_, bytes) => ({ value: bytes === null ? null : read(bytes), schema })
  })
})

export {
  /** For keys and values. */
  converter,
  /** For headers. */
  headerConverter
}
