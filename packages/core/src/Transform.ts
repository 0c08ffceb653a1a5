/** Defines transforms of records: the middleware of the data plane that users know by the `transforms` key. */
import type * as ConfigKey from "./ConfigKey.ts"
import type { ConnectRecord } from "./ConnectRecord.ts"
import * as Plugin from "./Plugin.ts"

/** Changes one record; `undefined` drops it. What it keeps of the record (offset, partition) it copies by spreading. */
export type Apply = <Rec extends ConnectRecord>(record: Rec) => Rec | undefined

/** A transform definition. */
export interface Transform<in out F extends ConfigKey.Fields = any> extends Plugin.Plugin<never> {
  readonly kind: "transform"
  readonly fields: F
  readonly apply: (config: ConfigKey.Values<F>) => Apply
}

/**
 * `apply` is called once with the config; the function it gives is called per record and is pure. It throws to refuse a
 * record: a `TransientError` is retried under `errors.retry.timeout`, anything else goes the way of `errors.tolerance`.
 */
export const make = <const F extends ConfigKey.Fields>(name: string, definition: {
  readonly version: string
  readonly aliases?: ReadonlyArray<string> | undefined
  readonly doc?: string | undefined
  readonly config: F
  readonly apply: (config: ConfigKey.Values<F>) => Apply
}): Transform<F> => ({
  kind: "transform",
  name,
  aliases: definition.aliases ?? [],
  version: definition.version,
  doc: definition.doc,
  fields: definition.config,
  apply: definition.apply,
  "~R": Plugin.covariant
})
