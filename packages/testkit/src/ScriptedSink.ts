/**
 * A sink whose every hook follows a script, and that remembers its calls and the records it was given.
 *
 * It is a real definition: give it to `Plugins.layer([sink])`. Scripts are set in code, for one connector or for all
 * (`script`), or by plain keys of a configuration (`scripted.<hook>`, see `Script`); code wins.
 */
import type * as ConfigKey from "@kelpie/core/ConfigKey"
import type { ConnectorError } from "@kelpie/core/ConnectorError"
import type { SinkRecord } from "@kelpie/core/ConnectRecord"
import type { Run } from "@kelpie/core/Item"
import type * as Plugin from "@kelpie/core/Plugin"
import * as SinkConnector from "@kelpie/core/SinkConnector"
import * as Effect from "effect/Effect"
import * as Hooks from "./internal/hooks.ts"

/** What can be scripted. `stopTask` is called when a scope closes: an error of it is a defect. */
export type Hook = "validate" | "startTask" | "put" | "flush" | "stopTask"

/** The keys of its configurations. */
export const fields = Hooks.keys(["validate", "startTask", "put", "flush", "stopTask"])
/** The types of its keys. */
export type Fields = typeof fields

/** Scripts by hook. */
export type Scripts = Hooks.Scripts<Hook>

/** A task. */
export type Instance = Hooks.Instance

/** One start of a task, with what it was given. */
export interface Start extends Instance {
  readonly config: ConfigKey.Values<Fields>
  readonly run: Run
}

/** A record that a task accepted. */
export interface Accepted {
  readonly connector: string
  readonly task: number
  readonly record: SinkRecord
  /** Whether a flush succeeded since. */
  readonly flushed: boolean
}

/** The sink and its probes. */
export interface ScriptedSink extends SinkConnector.SinkConnector<Fields> {
  /** Writes a configuration. */
  readonly config: (
    values?: ConfigKey.Input<Fields>,
    options?: SinkConnector.SinkOptions
  ) => Plugin.ConnectorConfig
  /**
   * Sets the scripts of some hooks, for all connectors (each plays its own copy) or for one. `undefined` removes one.
   * `validate` is not told the connector, so its script is for all.
   */
  readonly script: Hooks.Hooks<Hook>["script"]
  /** Gives up on records: those for which the function gives an error are reported with it; they are not accepted. */
  readonly giveUpOn: (judge: (record: SinkRecord) => ConnectorError | undefined) => Effect.Effect<void>
  /** The virtual times of the calls of a hook, in milliseconds. */
  readonly calls: (hook: Hook, connector?: string) => Effect.Effect<ReadonlyArray<number>>
  /** Every call, oldest first. */
  readonly history: Effect.Effect<ReadonlyArray<Hooks.HookCall<Hook>>>
  /** Every start that succeeded, oldest first, with what it was given. */
  readonly starts: (connector?: string) => Effect.Effect<ReadonlyArray<Start>>
  /** What is started and not stopped. */
  readonly live: (connector?: string) => Effect.Effect<ReadonlyArray<Instance>>
  /** The records of every `put` that succeeded, in order, also those that came twice. */
  readonly records: (connector?: string) => Effect.Effect<ReadonlyArray<Accepted>>
}

interface Stored {
  readonly connector: string
  readonly task: number
  readonly record: SinkRecord
  flushed: boolean
}

/** Makes a sink with a state of its own. */
export const make = (options?: {
  /** The plugin's name. Default `ScriptedSink`. */
  readonly name?: string | undefined
  /** Scripts for all connectors. */
  readonly scripts?: Scripts | undefined
}): Effect.Effect<ScriptedSink> =>
  Effect.gen(function*() {
    const hooks = Hooks.make<Hook>()
    yield* hooks.script(options?.scripts ?? {})
    const starts: Array<Start> = []
    const stored: Array<Stored> = []
    let judge: (record: SinkRecord) => ConnectorError | undefined = () => undefined

    const definition = SinkConnector.make(options?.name ?? "ScriptedSink", {
      version: "1.0.0",
      doc: "Follows scripts, for tests",
      config: fields,
      validate: (config) => Effect.as(hooks.call("validate", { connector: "" }, config.validate), []),
      task: ({ config, name, report, run, task }) =>
        Effect.gen(function*() {
          const instance = { connector: name, task }
          yield* hooks.call("startTask", instance, config.startTask)
          yield* hooks.alive(instance, "stopTask", config.stopTask)
          starts.push({ ...instance, config, run })
          const unflushed: Array<Stored> = []
          const put = Effect.fnUntraced(function*(records: ReadonlyArray<SinkRecord>) {
            yield* hooks.call("put", instance, config.put)
            for (const record of records) {
              const error = judge(record)
              if (error !== undefined) {
                yield* report(record, error)
                continue
              }
              const one = { connector: name, task, record, flushed: false }
              stored.push(one)
              unflushed.push(one)
            }
          })
          const flush = Effect.map(hooks.call("flush", instance, config.flush), () => {
            for (const one of unflushed.splice(0)) one.flushed = true
          })
          return { put, flush }
        })
    })
    const of = <A extends Instance>(all: ReadonlyArray<A>, connector: string | undefined) =>
      all.filter((one) => connector === undefined || one.connector === connector)
    return {
      ...definition,
      config: (values = {}, options = {}) => definition.config(values, options),
      script: hooks.script,
      giveUpOn: (next) =>
        Effect.sync(() => {
          judge = next
        }),
      calls: hooks.calls,
      history: hooks.history,
      live: hooks.live,
      starts: (connector) => Effect.sync(() => of(starts, connector)),
      records: (connector) => Effect.sync(() => of(stored, connector).map((one) => ({ ...one })))
    }
  })
