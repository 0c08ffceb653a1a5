/** Defines sinks: typed config and values, a scoped task that puts batches. */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as ConfigKey from "./ConfigKey.ts"
import { type ConnectorError, fromRejection } from "./ConnectorError.ts"
import type { SinkRecord } from "./ConnectRecord.ts"
import type { Run } from "./Item.ts"
import * as Plugin from "./Plugin.ts"

/** The common keys of a sink written in code. */
export interface SinkOptions extends Plugin.ConnectorOptions {
  readonly topics?: ReadonlyArray<string> | undefined
}

/** A sink definition. */
export interface SinkConnector<in out F extends ConfigKey.Fields, out R = never> extends Plugin.Plugin<R> {
  readonly kind: "sink"
  readonly fields: F
  /** Writes a configuration in code, checked by the compiler. */
  readonly config: (values: ConfigKey.Input<F>, options: SinkOptions) => Plugin.ConnectorConfig
  readonly "~sink": Runtime
}

/** A sink definition as the herder runs it. */
export interface Runtime {
  /** Left out: values are passed on as the converter gave them. */
  readonly value: Schema.Codec<unknown, unknown> | undefined
  readonly validate:
    | ((config: never) => Effect.Effect<ReadonlyArray<ConfigKey.Problem<any>>, ConnectorError, any>)
    | undefined
  readonly task: (
    context: TaskContext<any> & ReportContext<unknown>
  ) => Effect.Effect<Task<unknown>, ConnectorError, any>
}

/** What a task is started with. */
export interface TaskContext<F extends ConfigKey.Fields> {
  readonly name: string
  readonly task: number
  readonly config: ConfigKey.Values<F>
  /** The run of this task: grows with every owner and start, so that a target with transactions can fence older ones. */
  readonly run: Run
}

/** How a task gives up on single records. */
export interface ReportContext<V> {
  /** Gives up on one record: it goes the way of `errors.tolerance`, the rest of the batch goes on. */
  readonly report: (record: SinkRecord<V>, error: ConnectorError) => Effect.Effect<void, ConnectorError>
}

/** A started task. */
export interface Task<in V> {
  /** Called in order, one at a time. A transient failure keeps the batch and retries it. */
  readonly put: (records: ReadonlyArray<SinkRecord<V>>) => Effect.Effect<void, ConnectorError>
  /** Positions are committed only after it succeeded. Left out: `put` is durable when it returns. */
  readonly flush?: Effect.Effect<void, ConnectorError> | undefined
}

interface About<F extends ConfigKey.Fields, V extends Schema.Codec<any, any>> {
  readonly version: string
  readonly aliases?: ReadonlyArray<string> | undefined
  readonly doc?: string | undefined
  readonly config: F
  /** Values are decoded before `put`; a record that does not decode goes the way of `errors.tolerance`. */
  readonly value?: V
}

/** Defines a sink in Effect; closing the scope of `task` stops it. */
export const make = <
  const F extends ConfigKey.Fields,
  V extends Schema.Codec<any, any> = Schema.Codec<unknown>,
  R = never,
  R2 = never
>(
  name: string,
  definition: About<F, V> & {
    /** Checks that need more than one key, or the outside world. Runs with a deadline, never on a started instance. */
    readonly validate?: (
      config: ConfigKey.Values<F>
    ) => Effect.Effect<ReadonlyArray<ConfigKey.Problem<F>>, ConnectorError, R2>
    readonly task: (
      context: TaskContext<F> & ReportContext<V["Type"]>
    ) => Effect.Effect<Task<V["Type"]>, ConnectorError, R | Scope.Scope>
  }
  // a `task` that opens something is inferred with the scope in `R`, which the runtime gives it
): SinkConnector<F, Exclude<R, Scope.Scope> | R2> => ({
  kind: "sink",
  name,
  aliases: definition.aliases ?? [],
  version: definition.version,
  doc: definition.doc,
  fields: definition.config,
  config: (values, { topics, ...options }) => ({
    "connector.class": name,
    ...(topics === undefined ? {} : { topics: topics.join(",") }),
    ...ConfigKey.encode(definition.config, values),
    ...Plugin.fromOptions(options)
  }),
  "~sink": {
    value: definition.value,
    validate: definition.validate,
    task: definition.task as Runtime["task"]
  },
  "~R": Plugin.covariant
})

/** Defines a sink with async functions, for authors without Effect. A rejection is transient unless it says otherwise. */
export const makeAsync = <const F extends ConfigKey.Fields, V extends Schema.Codec<any, any> = Schema.Codec<unknown>>(
  name: string,
  definition: About<F, V> & {
    readonly put: (
      records: ReadonlyArray<SinkRecord<V["Type"]>>,
      context: TaskContext<F> & { readonly signal: AbortSignal }
    ) => Promise<void>
    /** Runs when a task stops. */
    readonly close?: (() => Promise<void>) | undefined
  }
): SinkConnector<F> => {
  const { close, put, ...about } = definition
  return make<F, V>(name, {
    ...about,
    task: Effect.fnUntraced(function*(context) {
      if (close !== undefined) yield* Effect.addFinalizer(() => Effect.ignore(Effect.tryPromise(close)))
      return {
        put: (records) =>
          Effect.tryPromise({ try: (signal) => put(records, { ...context, signal }), catch: fromRejection })
      }
    })
  })
}
