/** Makes the two definitions of a converter: Connect's converters also convert headers. */
import type * as ConfigKey from "../ConfigKey.ts"
import * as Converter from "../Converter.ts"

/** The definitions of one converter, for keys and values and for headers. */
export interface ConverterPair<F extends ConfigKey.Fields> {
  readonly converter: Converter.Converter<F>
  readonly headerConverter: Converter.Converter<F>
}

/** `javaName` is the full class name in Connect; its last part, with and without "Converter", names the definitions too. */
export const converterPair = <const F extends ConfigKey.Fields>(javaName: string, definition: {
  readonly doc: string
  readonly config: F
  readonly open: (config: ConfigKey.Values<F>, use: "key" | "value" | "header") => Converter.Codec
}): ConverterPair<F> => {
  const name = javaName.slice(javaName.lastIndexOf(".") + 1)
  const shared = { ...definition, version: "0.1.0", aliases: [javaName, name.replace(/Converter$/, "")] }
  return {
    converter: Converter.make(name, shared),
    headerConverter: Converter.make(name, { ...shared, kind: "header_converter" })
  }
}
