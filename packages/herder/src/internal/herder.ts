/** Assembles a herder: its worker, its leader, its tick, and the service in front of them. */
import * as Backoff from "@kelpie/core/Backoff"
import { ConfigStore } from "@kelpie/core/ConfigStore"
import * as ConnectorName from "@kelpie/core/ConnectorName"
import * as Executor from "@kelpie/core/Executor"
import * as Identity from "@kelpie/core/Identity"
import { LeaderClient } from "@kelpie/core/LeaderClient"
import { Membership } from "@kelpie/core/Membership"
import * as Middleware from "@kelpie/core/Middleware"
import { OffsetStore } from "@kelpie/core/OffsetStore"
import { Plugins } from "@kelpie/core/Plugins"
import {
  CommandPolicy,
  ConverterDefaults,
  ExecutorLimits,
  FlowPolicy,
  ReconfigurationPolicy,
  RestartPolicy,
  StopPolicy
} from "@kelpie/core/Policies"
import { StatusStore } from "@kelpie/core/StatusStore"
import type { StoreError } from "@kelpie/core/StoreError"
import { TopicLog } from "@kelpie/core/TopicLog"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { CommandId } from "../CommandId.ts"
import type { Herder } from "../Herder.ts"
import * as Tick from "../Tick.ts"
import type * as World from "../World.ts"
import * as Events from "./events.ts"
import * as Leader from "./leader.ts"
import * as Loggers from "./loggers.ts"
import * as Logging from "./logging.ts"
import * as LogLevels from "./logLevels.ts"
import * as Offsets from "./offsets.ts"
import { operations } from "./operations.ts"
import * as Policies from "./policies.ts"
import type { Runtime } from "./runtime.ts"
import * as Sending from "./sending.ts"
import * as StatusWriter from "./statusWriter.ts"
import * as TopicUse from "./topicUse.ts"
import * as Variables from "./variables.ts"
import * as Worker from "./worker.ts"

/** The parts of a herder that tests step by hand. */
export interface Assembled {
  readonly service: Herder["Service"]
  readonly tick: Tick.Tick
  readonly leader: Leader.Leader
  readonly logging: Logging.Logging
}

/** What a herder stands on. */
export type Ports = ConfigStore | StatusStore | OffsetStore | TopicLog | Membership | LeaderClient | Plugins

/** Everything but the loop: nothing runs until it is ticked. `alone`: no other process can write to its stores. */
export const assemble = Effect.fnUntraced(function*(
  options: { readonly alone: boolean }
): Effect.fn.Return<Assembled, never, Ports | Scope.Scope> {
  const scope = yield* Effect.scope
  const configStore = yield* ConfigStore
  const membership = yield* Membership
  const leaderClient = yield* LeaderClient
  const levels = (yield* LogLevels.Current) ?? LogLevels.make(yield* References.MinimumLogLevel)
  const given = yield* Plugins
  // what the host gave when it built the plugins must not undo the filter
  const plugins: Plugins["Service"] = { ...given, provide: (effect) => given.provide(levels.filter(effect)) }
  const middleware = yield* Middleware.Current
  const limits = yield* ExecutorLimits
  const reconfiguration = yield* ReconfigurationPolicy
  const offsetStore = yield* OffsetStore
  const topicLog = yield* TopicLog
  const leader = yield* Leader.make({
    store: configStore,
    membership,
    middleware,
    ...(options.alone ? {} : { fence: (runs) => Effect.andThen(offsetStore.fence(runs), topicLog.fence(runs)) })
  })
  const leads = Effect.map(membership.group, ({ leader, self }) => self !== undefined && leader === self.session)
  const sending = Sending.make({ configStore, leader, leaderClient, membership, middleware })
  const budgetMillis = Duration.toMillis(Duration.fromInputUnsafe((yield* CommandPolicy).budget))

  const settings: World.Settings = {
    workerId: membership.workerId,
    limits,
    policies: Policies.make(reconfiguration, yield* RestartPolicy, reconfiguration.seed ?? (yield* Identity.draw)),
    confirmDelayMillis: (failures) => Backoff.exponential(250, 60_000)(failures) ?? 60_000
  }
  const events = yield* Events.make
  const statuses = yield* StatusWriter.make(yield* StatusStore)
  const tick: Tick.Tick = Tick.make(settings, () => ({
    configStore,
    membership,
    act: (plan) =>
      Effect.suspend(() => {
        if (plan.statusChanges.length > 0 || plan.removed.length > 0) statuses.put(plan.statusChanges, plan.removed)
        events.publish(plan.events)
        return Effect.forEach(plan.commands, (command) => worker.interpret(command, plan.world.state), {
          discard: true
        })
      })
  }))
  const runtime: Runtime = {
    scope,
    configStore,
    statusStore: yield* StatusStore,
    offsetStore,
    topicLog,
    membership,
    plugins,
    middleware,
    executor: yield* (yield* Executor.Executor),
    variables: yield* Variables.make(plugins),
    defaults: yield* ConverterDefaults,
    stop: yield* StopPolicy,
    flow: yield* FlowPolicy,
    reconfiguration,
    send: sending.once,
    change: (connector, command) =>
      Effect.flatMap(CommandId, (id) => sending.within(connector, command, { budgetMillis, id })),
    leads,
    post: tick.post
  }
  const worker = yield* Worker.make(runtime, limits.send)
  const validating = yield* Semaphore.make(limits.validate)
  yield* Effect.addFinalizer(() => Effect.andThen(worker.shutdown, statuses.flush))
  const logging = yield* Logging.make(configStore, levels)
  const service = operations({
    runtime,
    tick,
    validating,
    events: events.stream,
    checkName: ConnectorName.check,
    outcome: leader.outcome,
    reached: (position) => Effect.timeoutOption(sending.reached(position), budgetMillis),
    offsets: Offsets.make({ configStore, offsetStore, topicLog, plugins, budgetMillis }),
    topicUse: TopicUse.make({ configStore, topicLog, scope, budgetMillis }),
    logging
  })
  return { service, tick, leader, logging }
})

/** A leader alone. */
export const makeLeader = Leader.make

/** How often every connector is looked at, whether something was heard of it or not. */
const resyncInterval = "5 minutes"

/** Runs an assembled herder: its tick, and what wakes it. */
const run = Effect.fnUntraced(function*({ logging, tick }: Assembled) {
  const configStore = yield* ConfigStore
  const membership = yield* Membership
  const statusStore = yield* StatusStore
  const wake = Effect.sync(tick.wake)
  yield* Effect.forkScoped(Stream.runForEach(configStore.changes, () => wake))
  yield* Effect.forkScoped(Stream.runForEach(membership.changes, () => wake))
  yield* Effect.forkScoped(
    Stream.runForEach(statusStore.changes, (records) => Effect.sync(() => tick.post({ _tag: "StatusesRead", records })))
  )
  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(Effect.sleep(resyncInterval), Effect.sync(() => tick.post({ _tag: "Resync" }))))
  )
  yield* logging.follow
  yield* Effect.forkScoped(tick.loop)
})

/** Leads while the group says that this worker should, and looks after its members whenever they change. */
const lead = Effect.fnUntraced(function*({ leader, tick }: Assembled) {
  const membership = yield* Membership
  const moved = Latch.makeUnsafe(true)
  yield* Effect.forkScoped(Stream.runForEach(membership.changes, () => Effect.sync(() => moved.openUnsafe())))
  const delays = Backoff.exponential(250, 5000)
  /** The session that has looked at all statuses as the leader. */
  let pruned: string | undefined
  const statusStore = yield* StatusStore
  /** Statuses may be left of what was deleted while nobody led. */
  const pruneOnce = (session: string) =>
    pruned === session ? Effect.void : Effect.map(statusStore.load, (records) => {
      pruned = session
      tick.post({ _tag: "StatusesRead", records })
    })
  const attend = (failures: number): Effect.Effect<void> =>
    Effect.flatMap(membership.group, ({ leader: hinted, self }) =>
      self === undefined || hinted !== self.session
        ? Effect.void
        : Effect.catch(Effect.andThen(leader.attend, pruneOnce(self.session)), (error) =>
          Effect.logDebug(`the leader cannot look after its members: ${error.message}`).pipe(
            Loggers.as("leader"),
            Effect.andThen(Effect.sleep(delays(failures) ?? 5000)),
            Effect.andThen(attend(failures + 1))
          )))
  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(moved.await, Effect.andThen(Effect.sync(() => moved.closeUnsafe()), attend(1))))
  )
})

/** A herder on whatever ports it is given, with other workers. */
export const make: Effect.Effect<Assembled, StoreError, Ports | Scope.Scope> = LogLevels.filtered(
  Effect.gen(function*() {
    const assembled = yield* assemble({ alone: false })
    yield* assembled.tick.tick
    assembled.tick.post({ _tag: "StatusesRead", records: yield* (yield* StatusStore).load })
    yield* run(assembled)
    yield* lead(assembled)
    return assembled
  })
)

/** A herder that holds its stores alone, and leads. */
export const makeSolo: Effect.Effect<Herder["Service"], StoreError, Ports | Scope.Scope> = LogLevels.filtered(
  Effect.gen(function*() {
    yield* (yield* ConfigStore).exclusive
    const assembled = yield* assemble({ alone: true })
    yield* assembled.leader.claim
    yield* assembled.tick.tick
    // a life that ended between a delete and its clean-up has left statuses
    assembled.tick.post({ _tag: "StatusesRead", records: yield* (yield* StatusStore).load, prune: true })
    yield* run(assembled)
    return assembled.service
  })
)
