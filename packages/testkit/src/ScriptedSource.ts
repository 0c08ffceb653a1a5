/**
 * A source whose every hook follows a script, which remembers its calls, and whose records are pushed by the test.
 *
 * It is a real definition: give it to `Plugins.layer([source])`. Scripts are set in code, for one connector or for all
 * (`script`), or by plain keys of a configuration (`scripted.<hook>`, see `Script`); code wins. What was emitted is kept by
 * connector and task, and a task goes on at its stored offset, so that a restart shows which records were stored.
 */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import type { SourceRecord } from "@kelpie/core/ConnectRecord"
import type * as Plugin from "@kelpie/core/Plugin"
import * as SourceConnector from "@kelpie/core/SourceConnector"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Hooks from "./internal/hooks.ts"

/** What can be scripted. `stop` and `stopTask` are called when a scope closes: an error of theirs is a defect. */
export type Hook = "validate" | "start" | "taskConfigs" | "startTask" | "poll" | "stopTask" | "stop"

const hookKeys = Hooks.keys(["validate", "start", "taskConfigs", "startTask", "poll", "stopTask", "stop"])

/** The keys of its configurations. */
export const fields = {
  tasks: ConfigKey.Int("scripted.tasks", {
    default: 1,
    min: 0,
    doc: "How many task configs it gives, whatever tasks.max says"
  }),
  ...hookKeys
}
/** The types of its keys. */
export type Fields = typeof fields

/** Scripts by hook. */
export type Scripts = Hooks.Scripts<Hook>

/** A connector instance, or one of its tasks. */
export type Instance = Hooks.Instance

/** One start of an instance or a task, with what it was given. */
export interface Start extends Instance {
  readonly config: ConfigKey.Values<Fields>
  /** Of a task: the name of its part of the work. */
  readonly part?: string | undefined
  /** Of a task: the records before this one are stored. */
  readonly position?: number | undefined
}

/** The source and its probes. */
export interface ScriptedSource extends SourceConnector.SourceConnector<Fields> {
  /** Writes a configuration. `tasksMax` is `tasks.max`; left out: 8. */
  readonly config: (
    values?: ConfigKey.Input<Fields> & { readonly tasksMax?: number | undefined },
    options?: Plugin.ConnectorOptions
  ) => Plugin.ConnectorConfig
  /**
   * Sets the scripts of some hooks, for all connectors (each plays its own copy) or for one. `undefined` removes one.
   * `validate` is not told the connector, so its script is for all.
   */
  readonly script: Hooks.Hooks<Hook>["script"]
  /** What the next generation gives: so many tasks, or one for each named part. Wins over `scripted.tasks`. */
  readonly setTasks: (connector: string, tasks: number | ReadonlyArray<string>) => Effect.Effect<void>
  /** Asks for a reconfiguration as the running instance; a defect when none runs. */
  readonly requestReconfiguration: (connector: string) => Effect.Effect<void>
  /** One batch for a task; it may be emitted before the task runs. */
  readonly emit: (connector: string, task: number, records: ReadonlyArray<SourceRecord>) => Effect.Effect<void>
  /** The virtual times of the calls of a hook, in milliseconds. */
  readonly calls: (hook: Hook, connector?: string) => Effect.Effect<ReadonlyArray<number>>
  /** Every call, oldest first. */
  readonly history: Effect.Effect<ReadonlyArray<Hooks.HookCall<Hook>>>
  /** Every start that succeeded, oldest first, with what it was given. */
  readonly starts: (connector?: string) => Effect.Effect<ReadonlyArray<Start>>
  /** What is started and not stopped. */
  readonly live: (connector?: string) => Effect.Effect<ReadonlyArray<Instance>>
  /** How many records of a task were acknowledged: the offset behind the last batch that was. */
  readonly acknowledged: (connector: string, task: number) => Effect.Effect<number>
}

interface Emitted {
  readonly batches: Array<{ readonly from: number; readonly records: ReadonlyArray<SourceRecord> }>
  /** The offset behind the last batch. */
  end: number
  acknowledged: number
  readonly arrived: Latch.Latch
}

/** Makes a source with a state of its own. */
export const make = (options?: {
  /** The plugin's name. Default `ScriptedSource`. */
  readonly name?: string | undefined
  /** Scripts for all connectors. */
  readonly scripts?: Scripts | undefined
}): Effect.Effect<ScriptedSource> =>
  Effect.gen(function*() {
    const hooks = Hooks.make<Hook>()
    yield* hooks.script(options?.scripts ?? {})
    const parts = new Map<string, ReadonlyArray<string>>()
    const requests = new Map<string, Effect.Effect<void>>()
    const emitted = new Map<string, Emitted>()
    const starts: Array<Start> = []

    const numbered = (count: number) => Array.from({ length: count }, (_, index) => String(index))
    const emittedBy = (connector: string, task: number): Emitted => {
      const key = `${task}/${connector}`
      let found = emitted.get(key)
      if (found === undefined) {
        emitted.set(key, found = { batches: [], end: 0, acknowledged: 0, arrived: Latch.makeUnsafe() })
      }
      return found
    }
    const definition = SourceConnector.make(options?.name ?? "ScriptedSource", {
      version: "1.0.0",
      doc: "Follows scripts, for tests",
      config: fields,
      taskConfig: Schema.Struct({ part: Schema.String }),
      partition: Schema.Struct({ task: Schema.Int }),
      offset: Schema.Struct({ position: Schema.Int }),
      validate: (config) => Effect.as(hooks.call("validate", { connector: "" }, config.validate), []),
      start: Effect.fnUntraced(function*({ config, name, requestReconfiguration }) {
        const instance = { connector: name }
        yield* hooks.call("start", instance, config.start)
        yield* hooks.alive(instance, "stop", config.stop)
        starts.push({ ...instance, config })
        yield* Effect.acquireRelease(
          Effect.sync(() => requests.set(name, requestReconfiguration)),
          () =>
            Effect.sync(() => {
              if (requests.get(name) === requestReconfiguration) requests.delete(name)
            })
        )
        return {
          taskConfigs: () =>
            Effect.map(hooks.call("taskConfigs", instance, config.taskConfigs), () =>
              (parts.get(name) ?? numbered(config.tasks)).map((part) => ({ part })))
        }
      }),
      task: ({ config, name, offsets, task, taskConfig }) =>
        Stream.scoped(Stream.fromPull(Effect.gen(function*() {
          const instance = { connector: name, task }
          const source = emittedBy(name, task)
          yield* hooks.call("startTask", instance, config.startTask)
          yield* hooks.alive(instance, "stopTask", config.stopTask)
          const stored = yield* offsets.get({ task })
          let position = Option.match(stored, {
            onNone: () =>
              0,
            onSome: (offset) => offset.position
          })
          starts.push({ ...instance, config, part: taskConfig.part, position })

          const next: Effect.Effect<Emitted["batches"][number]> = Effect.suspend(() => {
            const batch = source.batches.find(({ from }) => from >= position)
            if (batch !== undefined) return Effect.succeed(batch)
            source.arrived.closeUnsafe()
            return Effect.andThen(source.arrived.await, next)
          })
          return Effect.map(Effect.andThen(hooks.call("poll", instance, config.poll), next), ({ from, records }) => {
            const end = position = from + records.length
            const ack = Effect.sync(() => {
              source.acknowledged = Math.max(source.acknowledged, end)
            })
            return [{ records, partition: { task }, offset: { position: end }, ack }] as const
          })
        })))
    })
    return {
      ...definition,
      ...probes(hooks, starts),
      config: ({ tasksMax = 8, ...values } = {}, options) => definition.config(values, { tasksMax, ...options }),
      setTasks: (connector, tasks) =>
        Effect.sync(() => void parts.set(connector, typeof tasks === "number" ? numbered(tasks) : tasks)),
      requestReconfiguration: (connector) =>
        Effect.suspend(() =>
          requests.get(connector) ?? Effect.die(new Error(`no instance of the connector "${connector}" runs`))
        ),
      emit: (connector, task, records) =>
        Effect.sync(() => {
          if (records.length === 0) return
          const source = emittedBy(connector, task)
          source.batches.push({ from: source.end, records })
          source.end += records.length
          source.arrived.openUnsafe()
        }),
      acknowledged: (connector, task) => Effect.sync(() => emittedBy(connector, task).acknowledged)
    }
  })

const probes = (hooks: Hooks.Hooks<Hook>, starts: ReadonlyArray<Start>) => ({
  script: hooks.script,
  calls: hooks.calls,
  history: hooks.history,
  live: hooks.live,
  starts: (connector?: string) =>
    Effect.sync(() => starts.filter((start) => connector === undefined || start.connector === connector))
})
