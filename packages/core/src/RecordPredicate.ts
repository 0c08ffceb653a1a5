/** Defines predicates of records: they decide which records a transform sees. */
import type * as ConfigKey from "./ConfigKey.ts"
import type { ConnectRecord } from "./ConnectRecord.ts"
import * as Plugin from "./Plugin.ts"

/** A predicate definition. */
export interface RecordPredicate<in out F extends ConfigKey.Fields = any> extends Plugin.Plugin<never> {
  readonly kind: "predicate"
  readonly fields: F
  readonly test: (config: ConfigKey.Values<F>) => (record: ConnectRecord) => boolean
}

/** `test` is called once with the config; the function it gives is called per record and is pure. */
export const make = <const F extends ConfigKey.Fields>(name: string, definition: {
  readonly version: string
  readonly aliases?: ReadonlyArray<string> | undefined
  readonly doc?: string | undefined
  readonly config: F
  readonly test: (config: ConfigKey.Values<F>) => (record: ConnectRecord) => boolean
}): RecordPredicate<F> => ({
  kind: "predicate",
  name,
  aliases: definition.aliases ?? [],
  version: definition.version,
  doc: definition.doc,
  fields: definition.config,
  test: definition.test,
  "~R": Plugin.covariant
})
