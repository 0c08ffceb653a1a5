/**
 * Headers as text whose type is inferred, as Connect's SimpleHeaderConverter does it: `null`, booleans, numbers of the
 * smallest type, dates and times, arrays and maps; anything else is a string. It is what `header.converter` is by default.
 */
import * as Converter from "./Converter.ts"
import * as HeaderText from "./internal/headerText.ts"
import * as Utf8 from "./internal/utf8.ts"

const codec: Converter.Codec = {
  toBytes: (_, value, schema) =>
    value === null || value === undefined ? null : Utf8.encode(HeaderText.print(value, schema)),
  fromBytes: (_, bytes) => bytes === null ? { value: null } : HeaderText.parse(Utf8.decode(bytes))
}

/** For headers only. */
export const headerConverter = Converter.make("SimpleHeaderConverter", {
  kind: "header_converter",
  version: "0.1.0",
  aliases: ["org.apache.kafka.connect.storage.SimpleHeaderConverter", "Simple"],
  doc: "Headers as text; on the way back the text says the type.",
  config: {},
  open: () => codec
})
