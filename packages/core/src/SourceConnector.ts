/** Defines sources: typed config, a split into tasks, resumable tasks that give batches. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ConfigKey from "./ConfigKey.ts"
import { type ConnectorError, fromRejection } from "./ConnectorError.ts"
import type { SourceRecord } from "./ConnectRecord.ts"
import { refuseSecrets } from "./internal/refuseSecrets.ts"
import * as Plugin from "./Plugin.ts"

/** A source definition. */
export interface SourceConnector<in out F extends ConfigKey.Fields, out R = never> extends Plugin.Plugin<R> {
  readonly kind: "source"
  readonly fields: F
  /** Writes a configuration in code, checked by the compiler. */
  readonly config: (values: ConfigKey.Input<F>, options?: Plugin.ConnectorOptions) => Plugin.ConnectorConfig
  readonly "~source": Runtime
}

/** A source definition as the herder runs it: the codecs stand for the types. */
export interface Runtime {
  readonly taskConfig: Schema.Codec<unknown, unknown>
  readonly partition: Schema.Codec<unknown, unknown>
  readonly offset: Schema.Codec<unknown, unknown>
  readonly validate:
    | ((config: never) => Effect.Effect<ReadonlyArray<ConfigKey.Problem<any>>, ConnectorError, any>)
    | undefined
  readonly start: ((context: StartContext<any>) => Effect.Effect<Started<unknown>, ConnectorError, any>) | undefined
  readonly task: (context: TaskContext<any, unknown, unknown, unknown>) => Stream.Stream<
    Batch<unknown, unknown>,
    ConnectorError,
    any
  >
}

/** Records of one source partition, and the offset to store once they are durable. */
export interface Batch<out P, out O> {
  readonly records: ReadonlyArray<SourceRecord>
  readonly partition: P
  readonly offset: O
  /** Run after the records are durable, for systems that want an acknowledgement. */
  readonly ack?: Effect.Effect<void, ConnectorError> | undefined
}

/** A batch of a source that has one partition only. */
export interface SingleBatch<out O> extends Omit<Batch<undefined, O>, "partition"> {
  readonly partition?: undefined
}
type BatchOf<P, O> = [P] extends [undefined] ? SingleBatch<O> : Batch<P, O>

/** The offsets stored for this connector, by source partition. */
export interface Offsets<in P, out O> {
  readonly get: [P] extends [undefined] ? () => Effect.Effect<Option.Option<O>, ConnectorError>
    : (partition: P) => Effect.Effect<Option.Option<O>, ConnectorError>
}

/** What a connector instance is started with. */
export interface StartContext<F extends ConfigKey.Fields> {
  readonly name: string
  readonly config: ConfigKey.Values<F>
  /** Asks for new task configs; the lane coalesces. */
  readonly requestReconfiguration: Effect.Effect<void>
}

/** What a task is started with. */
export interface TaskContext<F extends ConfigKey.Fields, T, P, O> {
  readonly name: string
  readonly task: number
  readonly config: ConfigKey.Values<F>
  readonly taskConfig: T
  readonly offsets: Offsets<P, O>
}

/** A started connector instance. */
export interface Started<out T> {
  /** At most `maxTasks` configs; an empty list is a connector with nothing to do at the moment. */
  readonly taskConfigs: (maxTasks: number) => Effect.Effect<ReadonlyArray<T>, ConnectorError>
}

interface About<F extends ConfigKey.Fields> {
  readonly version: string
  readonly aliases?: ReadonlyArray<string> | undefined
  readonly doc?: string | undefined
  readonly config: F
}

/** The definition of a source in Effect. */
export interface Definition<
  F extends ConfigKey.Fields,
  T extends Schema.Codec<any, any>,
  P extends Schema.Codec<any, any>,
  O extends Schema.Codec<any, any>,
  R1,
  R2,
  R3
> extends About<F> {
  readonly taskConfig?: T
  readonly partition?: P
  readonly offset?: O
  /** Checks that need more than one key, or the outside world. Runs with a deadline, never on a started instance. */
  readonly validate?: (
    config: ConfigKey.Values<F>
  ) => Effect.Effect<ReadonlyArray<ConfigKey.Problem<F>>, ConnectorError, R3>
  /** Scoped: closing the scope stops the instance. Left out: one task with an empty config. */
  readonly start?: (context: StartContext<F>) => Effect.Effect<Started<T["Type"]>, ConnectorError, R1 | Scope.Scope>
  /** Pulled, so a slow topic slows the source; interrupted on stop. A stream that ends leaves the task done. */
  readonly task: (
    context: TaskContext<F, T["Type"], P["Type"], O["Type"]>
  ) => Stream.Stream<BatchOf<P["Type"], O["Type"]>, ConnectorError, R2>
}

/**
 * Defines a source.
 *
 * A task config must not hold a secret (tasks see the connector's config): a `taskConfig` schema with a `Redacted` is
 * refused here.
 */
export const make = <
  const F extends ConfigKey.Fields,
  T extends Schema.Codec<any, any> = Schema.Codec<{}>,
  P extends Schema.Codec<any, any> = Schema.Codec<undefined>,
  O extends Schema.Codec<any, any> = Schema.Codec<undefined>,
  R1 = never,
  R2 = never,
  R3 = never
>(name: string, definition: Definition<F, T, P, O, R1, R2, R3> // a `start` that opens something is inferred with the scope in `R1`, which the runtime gives it
): SourceConnector<F, Exclude<R1, Scope.Scope> | R2 | R3> => {
  if (definition.taskConfig !== undefined) refuseSecrets(name, definition.taskConfig)
  return {
    kind: "source",
    name,
    aliases: definition.aliases ?? [],
    version: definition.version,
    doc: definition.doc,
    fields: definition.config,
    config: (values, options) => ({
      "connector.class": name,
      ...ConfigKey.encode(definition.config, values),
      ...Plugin.fromOptions(options ?? {})
    }),
    // the one place where the types of a definition are erased: the codecs decode what its functions are given
    "~source": {
      taskConfig: definition.taskConfig ?? Schema.Struct({}),
      partition: definition.partition ?? Schema.Undefined,
      offset: definition.offset ?? Schema.Undefined,
      validate: definition.validate,
      start: definition.start,
      task: definition.task as Runtime["task"]
    },
    "~R": Plugin.covariant
  }
}

/** Stored offsets with promises. */
export interface AsyncOffsets<in P, out O> {
  readonly get: [P] extends [undefined] ? () => Promise<O | undefined> : (partition: P) => Promise<O | undefined>
}
type AsyncBatch<P, O> = Omit<BatchOf<P, O>, "ack"> & { readonly ack?: (() => Promise<void>) | undefined }

/** The definition of a source with async functions. */
export interface AsyncDefinition<
  F extends ConfigKey.Fields,
  T extends Schema.Codec<any, any>,
  P extends Schema.Codec<any, any>,
  O extends Schema.Codec<any, any>
> extends About<F> {
  readonly taskConfig?: T
  readonly partition?: P
  readonly offset?: O
  readonly taskConfigs?: (context: {
    readonly config: ConfigKey.Values<F>
    readonly maxTasks: number
    readonly signal: AbortSignal
  }) => Promise<ReadonlyArray<T["Type"]>>
  readonly task: (
    context: Omit<TaskContext<F, T["Type"], P["Type"], O["Type"]>, "offsets"> & {
      readonly offsets: AsyncOffsets<P["Type"], O["Type"]>
      readonly signal: AbortSignal
    }
  ) => AsyncIterable<AsyncBatch<P["Type"], O["Type"]>>
}

/**
 * Defines a source with an async generator, for authors without Effect. `signal` is aborted on stop. A rejection is
 * transient unless it is one of the three classes.
 */
export const makeAsync = <
  const F extends ConfigKey.Fields,
  T extends Schema.Codec<any, any> = Schema.Codec<{}>,
  P extends Schema.Codec<any, any> = Schema.Codec<undefined>,
  O extends Schema.Codec<any, any> = Schema.Codec<undefined>
>(name: string, definition: AsyncDefinition<F, T, P, O>): SourceConnector<F> => {
  const { task, taskConfigs, ...about } = definition
  const effectful: Definition<F, T, P, O, never, never, never> = {
    ...about,
    task: (context) => fromGenerator(context, task) as never
  }
  return make(
    name,
    taskConfigs === undefined ? effectful : {
      ...effectful,
      start: ({ config }) =>
        Effect.succeed({
          taskConfigs: (maxTasks) =>
            Effect.tryPromise({ try: (signal) => taskConfigs({ config, maxTasks, signal }), catch: fromRejection })
        })
    }
  )
}

const fromGenerator = <F extends ConfigKey.Fields>(
  context: TaskContext<F, any, any, any>,
  task: AsyncDefinition<F, any, any, any>["task"]
): Stream.Stream<Batch<unknown, unknown>, ConnectorError> =>
  Stream.fromPull(Effect.gen(function*() {
    const controller = new AbortController()
    yield* Effect.addFinalizer(() => Effect.sync(() => controller.abort()))
    const stored = context.offsets.get as (partition?: unknown) => Effect.Effect<Option.Option<unknown>, ConnectorError>
    const get = (partition?: unknown) => Effect.runPromise(Effect.map(stored(partition), Option.getOrUndefined))
    const iterator = task({ ...context, offsets: { get }, signal: controller.signal })[Symbol.asyncIterator]()
    return Effect.flatMap(
      Effect.tryPromise({
        try: (signal) => {
          // interrupted while it waits: the generator is told at once, not only when the stream is closed
          signal.addEventListener("abort", () => controller.abort(), { once: true })
          return iterator.next()
        },
        catch: fromRejection
      }),
      (next) => {
        if (next.done === true) return Cause.done()
        const { ack, ...batch } = next.value
        return Effect.succeed(
          [
            ack === undefined ? batch : { ...batch, ack: Effect.tryPromise({ try: ack, catch: fromRejection }) }
          ] as const
        )
      }
    )
  })) as Stream.Stream<Batch<unknown, unknown>, ConnectorError>
