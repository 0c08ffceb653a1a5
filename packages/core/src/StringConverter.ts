/** Values as text, in UTF-8 or another encoding, as Connect's StringConverter reads and writes them. */
import * as ConfigKey from "./ConfigKey.ts"
import type { ConnectSchema } from "./ConnectSchema.ts"
import { converterPair } from "./internal/converterPair.ts"
import * as JsonText from "./internal/jsonText.ts"
import { textEncoding } from "./internal/textEncoding.ts"
import { refuse } from "./internal/typeName.ts"

const config = {
  encoding: ConfigKey.String("converter.encoding", {
    default: "UTF-8",
    importance: "high",
    doc: "The encoding of the text.",
    check: (name: string) =>
      textEncoding(name) === undefined ? "Not a known encoding, such as UTF-8 or ISO-8859-1" : undefined
  })
}

const schema: ConnectSchema = { type: "string", optional: true }

/** The text of a value that is none; objects are JSON, since Java's way of writing them cannot be read by anything. */
const print = (value: unknown): string => {
  switch (typeof value) {
    case "number":
    case "bigint":
    case "boolean":
      return String(value)
    default:
      if (value instanceof Date) return value.toISOString()
      return value instanceof Uint8Array
        ? refuse("", "a text, or a value that has one", "bytes (ByteArrayConverter writes them)")
        : JsonText.stringify(value)
  }
}

const { converter, headerConverter } = converterPair("org.apache.kafka.connect.storage.StringConverter", {
  doc: "Values as text.",
  config,
  open: ({ encoding }) => {
    const { decode, encode } = textEncoding(encoding) ?? refuse("", "a known converter.encoding", "another")
    return {
      toBytes: (_, value) =>
        typeof value === "string" ? encode(value) : value === null || value === undefined ? null : encode(print(value)),
      fromBytes: (_, bytes) => ({ value: bytes === null ? null : decode(bytes), schema })
    }
  }
})

export {
  /** For keys and values. */
  converter,
  /** For headers. */
  headerConverter
}
