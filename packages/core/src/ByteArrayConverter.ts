/** Bytes as they are, as Connect's ByteArrayConverter passes them; other values are refused. */
import type { ConnectSchema } from "./ConnectSchema.ts"
import type { Codec } from "./Converter.ts"
import { converterPair } from "./internal/converterPair.ts"
import { refuse, refuseType } from "./internal/typeName.ts"

const schema: ConnectSchema = { type: "bytes", optional: true }

const codec: Codec = {
  toBytes: (_, value, schema) =>
    schema !== undefined && schema.type !== "bytes"
      ? refuse("", "a schema of type bytes", `one of type ${schema.type}`)
      : value instanceof Uint8Array
      ? value
      : value === null || value === undefined
      ? null
      : refuseType("", "bytes", value),
  fromBytes: (_, value) => ({ value, schema })
}

const { converter, headerConverter } = converterPair("org.apache.kafka.connect.converters.ByteArrayConverter", {
  doc: "Bytes as they are.",
  config: {},
  open: () => codec
})

export {
  /** For keys and values. */
  converter,
  /** For headers. */
  headerConverter
}
