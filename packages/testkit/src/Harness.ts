/**
 * A herder that is stepped tick by tick under virtual time, on memory stores unless told otherwise. What a tick did comes
 * back as data.
 */
import { ConfigStore } from "@kelpie/core/ConfigStore"
import * as Executor from "@kelpie/core/Executor"
import * as Identity from "@kelpie/core/Identity"
import { LeaderClient } from "@kelpie/core/LeaderClient"
import type { LeaderCommand } from "@kelpie/core/LeaderCommand"
import { Membership } from "@kelpie/core/Membership"
import type * as Plugin from "@kelpie/core/Plugin"
import { Plugins } from "@kelpie/core/Plugins"
import * as Stores from "@kelpie/core/Stores"
import type { Herder } from "@kelpie/herder/Herder"
import type { HerderError } from "@kelpie/herder/HerderError"
import * as Stepped from "@kelpie/herder/Stepped"
import type * as Tick from "@kelpie/herder/Tick"
import type * as World from "@kelpie/herder/World"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { ScriptedLeader } from "./ScriptedLeader.ts"
import * as TestExecutor from "./TestExecutor.ts"
import * as Timeline from "./Timeline.ts"

/** What to build. */
export interface Options<out P extends ReadonlyArray<Plugin.Any> = ReadonlyArray<Plugin.Plugin<never>>> {
  /** What they need from their host is provided to `make`. */
  readonly plugins: P
  /** Somebody else leads, by this script; left out: this worker leads. */
  readonly leader?: ScriptedLeader | undefined
  /** Left out: memory. */
  readonly stores?: Layer.Layer<Stores.Stores> | undefined
  /** Policies, middleware, listeners: whatever is a reference. */
  readonly settings?: Layer.Layer<never> | undefined
  /** Left out: `TestExecutor.sync`, where an attempt is over when its tick is. */
  readonly executor?: Executor.Make | undefined
}

/** A stepped herder. */
export interface Harness {
  /** One tick: everything that came in, and everything that is due. */
  readonly tick: Effect.Effect<Tick.Outcome>
  /** Moves time to the next deadline and ticks; a defect when nothing is due. */
  readonly wake: Effect.Effect<Tick.Outcome>
  /** Moves time; does not tick. */
  readonly advance: (duration: Duration.Input) => Effect.Effect<void>
  /** Creates a connector and ticks until it is quiet. */
  readonly deploy: (name: string, config: Plugin.ConnectorConfig) => Effect.Effect<void, HerderError>
  /** Ticks until nothing comes in any more; a defect that names what still happens after 100 ticks. */
  readonly settle: Effect.Effect<ReadonlyArray<Tick.Outcome>>
  readonly status: (name: string) => Effect.Effect<Herder.ConnectorStatus, HerderError>
  /** Every operation of the service. */
  readonly herder: Herder["Service"]
  readonly world: Effect.Effect<World.World>
  /** Executes a command as the leader would. */
  readonly command: (command: LeaderCommand) => Effect.Effect<void>
  /** One line of fixed columns per event so far. */
  readonly timeline: Effect.Effect<ReadonlyArray<string>>
}

const self: Membership.Member = { workerId: "worker-1:8083", session: "session-1" }
const other: Membership.Member = { workerId: "worker-2:8083", session: "session-2" }

/** The group as this worker sees it, and as the leader does: the other leads, and owns nothing. */
const memberships = (leader: string) => ({
  worker: Membership.given(
    self.workerId,
    Effect.succeed({ self, members: leader === self.session ? [self] : [self, other], leader })
  ),
  leader: Membership.given(
    self.workerId,
    Effect.succeed({ self: leader === self.session ? self : other, members: [self], leader })
  )
})

/** Stops everything, and lets time pass meanwhile: what does not stop by itself is given up at its deadline. */
const stop = Effect.fnUntraced(function*(scope: Scope.Closeable) {
  const time = yield* Effect.forkDetach(Effect.forever(Effect.andThen(Effect.yieldNow, TestClock.adjust("1 second"))))
  yield* Scope.close(scope, Exit.void)
  yield* Fiber.interrupt(time)
})

/** Builds a harness; the scope stops it. */
export const make = Effect.fnUntraced(function*<const P extends ReadonlyArray<Plugin.Any>>(
  options: Options<P>
): Effect.fn.Return<Harness, never, Plugin.Services<P[number]> | Scope.Scope> {
  const scope = yield* Effect.acquireRelease(Scope.make(), stop)
  const { leader: scripted, settings = Layer.empty, stores = Stores.layerMemory } = options
  const membership = memberships(scripted === undefined ? self.session : other.session)
  const context = yield* Layer.buildWithScope(
    Layer.mergeAll(
      stores,
      Plugins.layer(options.plugins),
      Layer.succeed(Membership, membership.worker),
      Executor.layer(options.executor ?? TestExecutor.sync),
      settings
    ),
    scope
  )
  const configStore = yield* Effect.provideContext(ConfigStore, context)
  const leading = yield* Stepped.makeLeader({
    store: configStore,
    membership: membership.leader,
    middleware: (_, next) => next
  })
  const client: LeaderClient["Service"] = {
    send: (_, envelope) => {
      const execute = leading.execute(envelope)
      return scripted === undefined ? execute : scripted.receive(envelope, execute)
    }
  }
  const herder = yield* Stepped.make.pipe(
    Effect.provideContext(context),
    Effect.provideService(LeaderClient, client),
    Scope.provide(scope)
  )
  yield* Effect.orDie(scripted === undefined ? herder.leader.claim : leading.claim)
  const timeline = Timeline.make()

  const tick = Effect.gen(function*() {
    const outcome = yield* herder.tick.tick
    timeline.add(yield* Clock.currentTimeMillis, outcome)
    return outcome
  })
  const settle = Effect.gen(function*() {
    const outcomes: Array<Tick.Outcome> = []
    for (let ticks = 0; ticks < 100; ticks++) {
      // what other fibers have to do comes first
      yield* Effect.yieldNow
      const outcome = yield* tick
      outcomes.push(outcome)
      if (outcome.consumed.length === 0 && outcome.commands.length === 0) return outcomes
    }
    const last = outcomes[outcomes.length - 1]?.consumed.map((message) => message._tag) ?? []
    return yield* Effect.die(new Error(`it does not settle; still coming in: ${last.join(", ")}`))
  })
  const wake = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const { nextWakeMillis } = yield* tick
    if (nextWakeMillis === undefined) return yield* Effect.die(new Error("nothing is due"))
    yield* TestClock.setTime(now + nextWakeMillis)
    return yield* tick
  })
  yield* tick
  return {
    tick,
    wake,
    settle,
    advance: TestClock.adjust,
    deploy: (name, config) => Effect.andThen(herder.service.create(name, config), Effect.asVoid(settle)),
    status: herder.service.status,
    herder: herder.service,
    world: Effect.sync(herder.tick.world),
    command: (command) =>
      Effect.flatMap(
        Identity.draw,
        (id) => Effect.asVoid(Effect.orDie((scripted === undefined ? herder.leader : leading).execute({ id, command })))
      ),
    timeline: Effect.sync(timeline.lines)
  }
})
