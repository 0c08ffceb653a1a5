/**
 * What operators do with offsets. Every worker can do it, for the stores are shared: an alteration is one step that the
 * stores refuse once a task that was placed later has opened (I7), so it comes either before what a resume starts, or not at
 * all.
 */
import * as ClusterState from "@kelpie/core/ClusterState"
import type { ConfigStore } from "@kelpie/core/ConfigStore"
import type { OffsetStore } from "@kelpie/core/OffsetStore"
import type { Plugins } from "@kelpie/core/Plugins"
import type { StoreError } from "@kelpie/core/StoreError"
import type { TopicLog } from "@kelpie/core/TopicLog"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Herder } from "../Herder.ts"
import {
  ConnectorNotFound,
  HerderError,
  NotStopped,
  PluginNotFound,
  StateConflict,
  Unavailable
} from "../HerderError.ts"
import * as Entries from "./offsetEntries.ts"
import { group } from "./sinkTask.ts"

/** What the operations need. */
export interface Context {
  readonly configStore: ConfigStore["Service"]
  readonly offsetStore: OffsetStore["Service"]
  readonly topicLog: TopicLog["Service"]
  readonly plugins: Plugins["Service"]
  /** How long tasks may take to be released, and a store to answer. */
  readonly budgetMillis: number
}

/** The operations. */
export type Offsets = Pick<Herder["Service"], "offsets" | "alterOffsets" | "resetOffsets">

const fail = (reason: HerderError["reason"]) => Effect.fail(new HerderError({ reason }))

/** After a write that was not answered nobody knows; anything else had no effect. */
const fromStore = (writes: boolean) => (error: StoreError): HerderError =>
  new HerderError({
    reason: new Unavailable({
      message: error.message,
      outcome: writes && error.kind === "Unavailable" ? "unknown" : "none"
    })
  })

/** How often an alteration is tried when somebody resumes and stops the connector again and again. */
const attempts = 5

/** Makes the operations. */
export const make = (context: Context): Offsets => {
  const { budgetMillis, configStore, offsetStore, plugins, topicLog } = context

  const within = <A, E>(what: string, outcome: "none" | "unknown", effect: Effect.Effect<A, E>) =>
    Effect.timeoutOrElse(effect, {
      duration: budgetMillis,
      orElse: () => fail(new Unavailable({ message: `${what} took longer than ${budgetMillis} ms`, outcome }))
    })
  const reading = <A>(effect: Effect.Effect<A, StoreError>): Effect.Effect<A, HerderError> =>
    within("reading offsets", "none", Effect.mapError(effect, fromStore(false)))

  const definitionOf = (state: ClusterState.ClusterState, name: string) => {
    const connector = ClusterState.connector(state, name)
    if (connector === undefined) {
      const reason = ClusterState.unreadable(state, name)
      return fail(reason === undefined ? new ConnectorNotFound({ name }) : new StateConflict({ message: reason }))
    }
    const wanted = connector.config["connector.class"] ?? ""
    return Option.match(plugins.connector(wanted), {
      onNone: () => fail(new PluginNotFound({ name: wanted, near: [] })),
      onSome: (definition) => Effect.succeed(definition)
    })
  }

  /** The state at which the connector is stopped and nobody runs a task of it; waits for tasks that still stop. */
  const whenReleased = Effect.fnUntraced(function*(name: string) {
    for (;;) {
      const state = yield* reading(configStore.refresh)
      yield* definitionOf(state, name)
      if (ClusterState.connector(state, name)?.target !== "STOPPED") return yield* fail(new NotStopped({ name }))
      if (isReleased(state, name)) return state
      // a hint may be lost between the look and the wait
      yield* Effect.raceFirst(Effect.sleep(250), Stream.runDrain(Stream.take(configStore.changes, 1)))
    }
  })
  const stopped = (name: string) =>
    Effect.timeoutOrElse(whenReleased(name), {
      duration: budgetMillis,
      orElse: () =>
        fail(new StateConflict({ message: `The tasks of connector ${name} have not stopped yet: ask again` }))
    })

  const sinkOffsets = (name: string) => Effect.map(reading(topicLog.positions(group(name))), Entries.fromPositions)
  const sourceOffsets = (name: string) => Effect.map(reading(offsetStore.list(name)), Entries.fromStored)

  /** What an operator wants, as an alteration of one of the stores. */
  const prepare = Effect.fnUntraced(function*(
    name: string,
    state: ClusterState.ClusterState,
    wanted: ReadonlyArray<Herder.OffsetEntry> | "reset"
  ) {
    const definition = yield* definitionOf(state, name)
    const at = { connector: name, position: state.position }
    if (definition.kind === "sink") {
      const positions = wanted === "reset"
        ? (yield* reading(topicLog.positions(group(name)))).map((one) => ({ ...one, offset: null }))
        : yield* Entries.toPositions(wanted, yield* reading(topicLog.topics))
      return { checked: true, apply: topicLog.alterPositions({ ...at, group: group(name), positions }) }
    }
    const runtime = definition["~source"]
    const stored = yield* reading(offsetStore.list(name))
    const entries = wanted === "reset"
      ? stored.map(({ partition }) => ({ partition, offset: null }))
      : yield* Entries.toStored(runtime, wanted, new Set(stored.map(({ partition }) => partition)))
    return { checked: Entries.declaresOffsets(runtime), apply: offsetStore.alter({ ...at, entries }) }
  })

  const change = Effect.fnUntraced(function*(
    name: string,
    wanted: ReadonlyArray<Herder.OffsetEntry> | "reset"
  ): Effect.fn.Return<Herder.OffsetsChanged, HerderError> {
    for (let left = attempts; left > 0; left--) {
      const found = yield* Effect.result(stopped(name))
      if (found._tag === "Failure") {
        // what was refused before had no effect
        return yield* left < attempts && found.failure.reason._tag === "NotStopped" ? resumed(name) : found.failure
      }
      const { apply, checked } = yield* prepare(name, found.success, wanted)
      const done = yield* within("storing offsets", "unknown", Effect.result(apply))
      if (done._tag === "Success") return { checked }
      if (done.failure.kind !== "Fenced") return yield* fromStore(true)(done.failure)
    }
    return yield* resumed(name)
  })

  return {
    offsets: Effect.fnUntraced(function*(name) {
      const definition = yield* definitionOf(yield* configStore.state, name)
      return yield* definition.kind === "sink" ? sinkOffsets(name) : sourceOffsets(name)
    }),
    alterOffsets: change,
    resetOffsets: (name) => change(name, "reset")
  }
}

const resumed = (name: string) =>
  fail(
    new StateConflict({
      message: `Connector ${name} was resumed while its offsets were to be modified: nothing was changed`
    })
  )

/** Whether nobody owns a task of the connector: what ran one can store nothing any more. */
const isReleased = (state: ClusterState.ClusterState, name: string): boolean => {
  for (const [item, record] of ClusterState.placements(state, name)) {
    if (item !== "connector" && record._tag !== "Released") return false
  }
  return true
}
