/** Defines converters: values to the bytes that a topic holds, and back. */
import type * as ConfigKey from "./ConfigKey.ts"
import type { ConnectSchema } from "./ConnectSchema.ts"
import * as Plugin from "./Plugin.ts"

/** A value with its schema; without one it is schemaless. */
export interface SchemaAndValue {
  readonly value: unknown
  readonly schema?: ConnectSchema | undefined
}

/** A converter with its configuration. Both functions are called per record, are pure, and throw to refuse a value. */
export interface Codec {
  /** `null` is a tombstone. */
  readonly toBytes: (topic: string, value: unknown, schema: ConnectSchema | undefined) => Uint8Array | null
  readonly fromBytes: (topic: string, bytes: Uint8Array | null) => SchemaAndValue
}

/** A converter definition; `key.converter`, `value.converter` and `header.converter` take its name. */
export interface Converter<in out F extends ConfigKey.Fields = any> extends Plugin.Plugin<never> {
  readonly kind: "converter" | "header_converter"
  readonly fields: F
  readonly open: (config: ConfigKey.Values<F>, use: "key" | "value" | "header") => Codec
}

/** `open` is called once per task and use. */
export const make = <const F extends ConfigKey.Fields>(name: string, definition: {
  readonly kind?: "converter" | "header_converter" | undefined
  readonly version: string
  readonly aliases?: ReadonlyArray<string> | undefined
  readonly doc?: string | undefined
  readonly config: F
  readonly open: (config: ConfigKey.Values<F>, use: "key" | "value" | "header") => Codec
}): Converter<F> => ({
  kind: definition.kind ?? "converter",
  name,
  aliases: definition.aliases ?? [],
  version: definition.version,
  doc: definition.doc,
  fields: definition.config,
  open: definition.open,
  "~R": Plugin.covariant
})
