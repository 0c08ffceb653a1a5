/**
 * The answer of configuration validation, in the shape that Connect's clients read: per key a definition and a value.
 *
 * Member names and word lists are Connect's and closed (specification, 6.2; some clients decode them into enums). In every
 * entry `definition.name` equals `value.name`.
 */
import * as Schema from "effect/Schema"

/** What a key is. `default_value` of a secret is hidden. */
export const Definition = Schema.Struct({
  name: Schema.String,
  type: Schema.Literals(["STRING", "SHORT", "INT", "LONG", "DOUBLE", "BOOLEAN", "LIST", "CLASS", "PASSWORD"]),
  required: Schema.Boolean,
  default_value: Schema.NullOr(Schema.String),
  importance: Schema.Literals(["HIGH", "MEDIUM", "LOW"]),
  documentation: Schema.String,
  group: Schema.NullOr(Schema.String),
  order_in_group: Schema.Int,
  width: Schema.Literals(["SHORT", "MEDIUM", "LONG", "NONE"]),
  display_name: Schema.String,
  dependents: Schema.Array(Schema.String)
})
export type Definition = typeof Definition.Type

/**
 * What a configuration says for a key: the text as it was written, variables included, or the default. A secret is hidden,
 * what a variable stands for is never shown.
 */
export const Value = Schema.Struct({
  name: Schema.String,
  value: Schema.NullOr(Schema.String),
  recommended_values: Schema.Array(Schema.String),
  errors: Schema.Array(Schema.String),
  visible: Schema.Boolean
})
export type Value = typeof Value.Type

/** One key. */
export const ConfigInfo = Schema.Struct({ definition: Definition, value: Value })
export type ConfigInfo = typeof ConfigInfo.Type

/** All keys of a connector. `name` is the class as it was written; `error_count` counts the errors of all keys. */
export const ConfigInfos = Schema.Struct({
  name: Schema.String,
  error_count: Schema.Int,
  groups: Schema.Array(Schema.String),
  configs: Schema.Array(ConfigInfo)
})
export type ConfigInfos = typeof ConfigInfos.Type
