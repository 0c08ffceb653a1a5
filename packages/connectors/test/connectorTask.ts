/** Runs the task of a definition without a herder: the configuration is the flat one, offsets go through JSON. */
import { assert } from "@effect/vitest"
import type { ConnectorError, SinkConnector, SinkRecord, SourceConnector } from "@kelpie/core"
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { Effect, Option, Result, Schema, type Scope, type Stream } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"

/** A fresh folder, removed with the scope. */
export const freshFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "kelpie-connectors-"))),
  (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true }))
)

/** Decodes a configuration that has to be valid. */
export const decoded = <F extends ConfigKey.Fields>(
  fields: F,
  config: Readonly<Record<string, string>>
): ConfigKey.Values<F> =>
  Result.getOrThrowWith(ConfigKey.decode(fields, config), (problems) => new Error(JSON.stringify(problems)))

/** The batch of a source whose types are not known here. */
export type Batch = SourceConnector.Batch<any, any>

/** An offset as a store gives it back. */
export const stored = (source: SourceConnector.SourceConnector<any>, offset: unknown): unknown => {
  const codec = Schema.toCodecJson(source["~source"].offset)
  return Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeUnknownSync(codec)(offset))))
}

/** The batches of a task. `offsets` is asked with the source partition. */
export const batches = (source: SourceConnector.SourceConnector<any>, options: {
  readonly config: Readonly<Record<string, string>>
  readonly taskConfig?: unknown
  readonly offsets?: ((partition: any) => unknown) | undefined
}): Stream.Stream<Batch, ConnectorError> =>
  source["~source"].task({
    name: "source",
    task: 0,
    config: decoded(source.fields, options.config),
    taskConfig: options.taskConfig ?? {},
    offsets: {
      get: (partition: unknown) => Effect.sync(() => Option.fromUndefinedOr(options.offsets?.(partition)))
    }
    // the definition's own types were erased; those here need nothing from a host
  }) as Stream.Stream<Batch, ConnectorError>

/** Pulls batches until they hold `count` records. */
export const pullRecords = <E>(pull: Effect.Effect<ReadonlyArray<Batch>, E>, count: number) =>
  Effect.gen(function*() {
    const pulled: Array<Batch> = []
    for (let records = 0; records < count;) {
      for (const batch of yield* pull) {
        pulled.push(batch)
        records += batch.records.length
      }
    }
    return pulled
  })

/** The values of batches. */
export const valuesOf = (pulled: ReadonlyArray<Batch>): ReadonlyArray<unknown> =>
  pulled.flatMap((batch) => batch.records.map((record) => record.value))

/** Starts a task of a sink; reported records are collected. */
export const sinkTask = Effect.fnUntraced(function*(
  sink: SinkConnector.SinkConnector<any>,
  config: Readonly<Record<string, string>>
): Effect.fn.Return<
  SinkConnector.Task<any> & { readonly reported: Array<readonly [value: unknown, message: string]> },
  ConnectorError,
  Scope.Scope
> {
  const reported: Array<readonly [unknown, string]> = []
  const task = yield* sink["~sink"].task({
    name: "sink",
    task: 0,
    run: { token: 1, start: 1 },
    config: decoded(sink.fields, config),
    report: (record, error) => Effect.sync(() => void reported.push([record.value, error.message]))
  })
  return { ...task, reported }
})

/** A record of a topic, with the members that matter. */
export const sinkRecord = (value: unknown, more?: Partial<SinkRecord>): SinkRecord => ({
  topic: "t",
  originalTopic: "t",
  partition: 0,
  offset: 0,
  timestampMillis: 0,
  value,
  ...more
})

/** Fails the test unless the error has the class and its message all the words. */
export const assertError = (
  error: { readonly _tag: string },
  tag: ConnectorError["_tag"],
  ...words: ReadonlyArray<string>
) => {
  const message = error instanceof Error ? error.message : ""
  assert.strictEqual(error._tag, tag, message)
  for (const word of words) assert.include(message, word)
}
