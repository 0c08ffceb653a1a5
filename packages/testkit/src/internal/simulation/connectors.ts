/** The connectors of a simulation: a source that gives numbered records, a sink that remembers, both breakable. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { type ConnectorError, PermanentError, TransientError } from "@kelpie/core/ConnectorError"
import type { SourceRecord } from "@kelpie/core/ConnectRecord"
import type * as Plugin from "@kelpie/core/Plugin"
import * as SinkConnector from "@kelpie/core/SinkConnector"
import * as SourceConnector from "@kelpie/core/SourceConnector"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type Checker, placeKey } from "./checker.ts"
import type { Operation } from "./operations.ts"
import type { Life } from "./stores.ts"

type Broken = Extract<Operation, { _tag: "Break" }>

/** What outlives workers: what was emitted, and what is broken. */
export interface Outside {
  readonly emit: (connector: string, task: number, count: number) => void
  readonly emitted: (connector: string, task: number) => number
  readonly breakHook: (operation: Broken) => void
  readonly mend: () => void
  /** Asks for a reconfiguration as the running instance, if one runs. */
  readonly ask: (connector: string) => Effect.Effect<void>
  readonly plugins: (life: Life) => ReadonlyArray<Plugin.Plugin<never>>
  /** Instances and tasks that run in a life. */
  readonly live: (life: Life) => number
}

interface Emitted {
  count: number
  readonly arrived: Latch.Latch
}

/** The world outside of one run. */
export const make = (checker: Checker): Outside => {
  const emitted = new Map<string, Emitted>()
  const breaks = new Map<string, { how: Broken["how"]; left: number }>()
  const requests = new Map<string, Effect.Effect<void>>()
  const alive = new Map<Life, number>()

  const of = (connector: string, task: number): Emitted => {
    const key = `${task}/${connector}`
    let found = emitted.get(key)
    if (found === undefined) emitted.set(key, found = { count: 0, arrived: Latch.makeUnsafe() })
    return found
  }
  /** What a call of a hook does before it succeeds. */
  const hook = (connector: string, name: Broken["hook"]): Effect.Effect<void, ConnectorError> =>
    Effect.suspend((): Effect.Effect<void, ConnectorError> => {
      const broken = breaks.get(`${name}/${connector}`)
      if (broken === undefined || broken.left === 0) return Effect.void
      broken.left--
      switch (broken.how) {
        case "transient":
          return Effect.fail(new TransientError({ message: `${name} fails` }))
        case "permanent":
          return Effect.fail(new PermanentError({ message: `${name} refuses` }))
        case "die":
          return Effect.die(new Error(`${name} dies`))
        case "hang":
          return Effect.never
        case "slow":
          return Effect.sleep(1500)
      }
    })
  const living = (life: Life) =>
    Effect.acquireRelease(
      Effect.sync(() => void alive.set(life, (alive.get(life) ?? 0) + 1)),
      () => Effect.sync(() => void alive.set(life, (alive.get(life) ?? 0) - 1))
    )

  const source = (life: Life) =>
    SourceConnector.make("SimulatedSource", {
      version: "1.0.0",
      config: {
        tasks: ConfigKey.Int("simulated.tasks", { default: 1 }),
        note: ConfigKey.Int("simulated.note", { default: 0 })
      },
      taskConfig: Schema.Struct({ task: Schema.Int }),
      partition: Schema.Struct({ task: Schema.Int }),
      offset: Schema.Struct({ position: Schema.Int }),
      start: Effect.fnUntraced(function*({ config, name, requestReconfiguration }) {
        yield* hook(name, "start")
        yield* living(life)
        requests.set(name, requestReconfiguration)
        const configs = Array.from({ length: config.tasks }, (_, task) => ({ task }))
        return { taskConfigs: () => Effect.as(hook(name, "taskConfigs"), configs) }
      }),
      task: ({ name, offsets, taskConfig: { task } }) =>
        Stream.scoped(Stream.fromPull(Effect.gen(function*() {
          yield* living(life)
          const stored = yield* offsets.get({ task })
          const log = of(name, task)
          let position = Option.match(stored, { onNone: () => 0, onSome: (offset) => offset.position })
          const next: Effect.Effect<ReadonlyArray<SourceRecord>> = Effect.suspend((): typeof next => {
            if (position < log.count) {
              const records = Array.from({ length: Math.min(3, log.count - position) }, (_, index) => ({
                topic: `t-${name}`,
                value: { connector: name, task, sequence: position + index }
              }))
              position += records.length
              return Effect.succeed(records)
            }
            log.arrived.closeUnsafe()
            return Effect.andThen(log.arrived.await, next)
          })
          return Effect.map(
            Effect.andThen(hook(name, "poll"), next),
            (records) => [{ records, partition: { task }, offset: { position } }] as const
          )
        })))
    })

  const sink = (life: Life) =>
    SinkConnector.make("SimulatedSink", {
      version: "1.0.0",
      config: {},
      task: Effect.fnUntraced(function*({ name }) {
        yield* living(life)
        return {
          put: (records) =>
            Effect.andThen(
              hook(name, "put"),
              Effect.suspend(() => {
                if (life.dead) return Effect.never
                for (const { offset, originalTopic, partition } of records) {
                  checker.putDone(name, placeKey(originalTopic, partition, offset))
                }
                return Effect.void
              })
            )
        }
      })
    })

  return {
    emit: (connector, task, count) => {
      const log = of(connector, task)
      log.count += count
      log.arrived.openUnsafe()
    },
    emitted: (connector, task) => of(connector, task).count,
    breakHook: ({ hook: name, how, name: connector, times }) =>
      void breaks.set(`${name}/${connector}`, { how, left: times }),
    mend: () => breaks.clear(),
    ask: (connector) => requests.get(connector) ?? Effect.void,
    plugins: (life) => [source(life), sink(life)],
    live: (life) => alive.get(life) ?? 0
  }
}
