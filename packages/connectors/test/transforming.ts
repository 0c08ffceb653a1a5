/** Transforms and predicates with a configuration as users write it, for tests. */
import { assert } from "@effect/vitest"
import {
  ConfigKey,
  type ConnectRecord,
  type ConnectSchema,
  type RecordPredicate,
  type SinkRecord,
  type Transform
} from "@kelpie/core"
import { Result } from "effect"

type Config = Readonly<Record<string, string>>

/** The transform of a configuration; throws when the configuration is refused. */
export const transform = (
  definition: Transform.Transform,
  config: Config = {}
): (record: ConnectRecord) => ConnectRecord | undefined => definition.apply(decoded(definition.fields, config))

/** The predicate of a configuration; throws when the configuration is refused. */
export const predicate = (definition: RecordPredicate.RecordPredicate, config: Config = {}) =>
  definition.test(decoded(definition.fields, config))

const decoded = (fields: ConfigKey.Fields, config: Config) =>
  Result.getOrThrowWith(
    ConfigKey.decode(fields, config),
    (problems) => new Error(problems.flatMap((problem) => problem.errors).join("; "))
  )

/** A record of a source. */
export const valued = (value: unknown, valueSchema?: ConnectSchema.ConnectSchema): ConnectRecord =>
  valueSchema === undefined ? { topic: "orders", value } : { topic: "orders", value, valueSchema }

/** The same as a record of a sink. */
export const sunk = (record: ConnectRecord): SinkRecord => ({
  ...record,
  partition: 3,
  offset: 42,
  timestampMillis: 1_500_000_000_000,
  originalTopic: "orders"
})

/** A struct schema from its fields. */
export const struct = (
  fields: Readonly<Record<string, ConnectSchema.ConnectSchema>>,
  more: Partial<ConnectSchema.ConnectSchema> = {}
): ConnectSchema.ConnectSchema => ({
  type: "struct",
  ...more,
  fields: Object.entries(fields).map(([field, schema]) => ({ field, ...schema }))
})

/** Asserts that something throws, and that the text has every one of these parts. */
export const assertRefused = (run: () => unknown, ...parts: ReadonlyArray<string>): void => {
  const result = Result.try({ try: run, catch: (error) => error instanceof Error ? error.message : String(error) })
  if (Result.isSuccess(result)) return assert.fail("it was not refused")
  for (const part of parts) assert.include(result.failure, part)
}

/** Logical schemas, as they stand in Connect. */
export const Timestamp: ConnectSchema.ConnectSchema = {
  type: "int64",
  name: "org.apache.kafka.connect.data.Timestamp",
  version: 1
}
export const Date_: ConnectSchema.ConnectSchema = {
  type: "int32",
  name: "org.apache.kafka.connect.data.Date",
  version: 1
}
export const Time: ConnectSchema.ConnectSchema = {
  type: "int32",
  name: "org.apache.kafka.connect.data.Time",
  version: 1
}
export const Decimal: ConnectSchema.ConnectSchema = {
  type: "bytes",
  name: "org.apache.kafka.connect.data.Decimal",
  version: 1,
  parameters: { scale: "2" }
}
