/** The workers of a simulation: lives of processes, each on a run queue and a clock of its own that die with it. */
import { Plugins } from "@kelpie/core/Plugins"
import type { StoreError } from "@kelpie/core/StoreError"
import { Herder } from "@kelpie/herder/Herder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scheduler from "effect/Scheduler"
import * as TestClock from "effect/testing/TestClock"
import { SyncScheduler } from "../syncScheduler.ts"
import { fifo } from "../taskQueue.ts"
import type * as Checker from "./checker.ts"
import * as Cluster from "./cluster.ts"
import type * as Connectors from "./connectors.ts"
import type * as SimulatedStores from "./stores.ts"

/** A worker that has started. */
export interface Worker {
  readonly life: SimulatedStores.Life
  /** Of a worker that is alone: the one that it claimed the log with. The group tells of others. */
  readonly session: string | undefined
  readonly herder: Herder["Service"]
  /** Runs what a client asks for on the worker's own run queue, by its own clock. */
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  readonly fiber: Fiber.Fiber<unknown, unknown>
  /** Runs what has gathered while it was frozen. */
  readonly thaw: () => void
}

/** What workers stand on. */
export interface World {
  readonly seed: number
  readonly stores: SimulatedStores.SimulatedStores
  readonly outside: Connectors.Outside
  readonly checker: Checker.Checker
  /** Of several workers. */
  readonly cluster: Cluster.Cluster | undefined
}

/** How long a slow worker takes for what comes in at once. */
const slowMillis = 200

/** How often a start is looked at, every 50 ms: one that has to wait for the end of its last life takes a lease. */
const patience = { alone: 20, among: 300 }

/** Boots lives of workers, by the number of the worker. */
export const makeBoot = Effect.fnUntraced(function*({ checker, cluster, outside, seed, stores }: World) {
  const around = (yield* Scheduler.Scheduler).makeDispatcher()
  const clock = yield* Clock.Clock
  const later = Effect.runForkWith(yield* Effect.context())
  let lives = 0

  const runtime = (
    life: SimulatedStores.Life,
    worker: number
  ): Layer.Layer<Herder, StoreError> => {
    const ports = Layer.mergeAll(stores.layer(life), Plugins.layer(outside.plugins(life)))
    if (cluster === undefined) {
      return Herder.layerSoloAs({ workerId: `worker-${life.number}:8083` }).pipe(Layer.provide(ports))
    }
    const workerId = `worker-${worker}:8083`
    return cluster.receiving(life, workerId).pipe(
      Layer.provideMerge(Herder.layer),
      Layer.provide([ports, cluster.membership(life, workerId), cluster.client(life)])
    )
  }

  return Effect.fnUntraced(function*(worker: number): Effect.fn.Return<Worker | undefined> {
    const life: SimulatedStores.Life = {
      dead: false,
      frozen: false,
      slow: false,
      cut: false,
      number: ++lives
    }
    const queue = fifo()
    const scheduler: SyncScheduler = new SyncScheduler({
      queue: { push: queue.push, next: () => life.dead || life.frozen ? undefined : queue.next() },
      onWork: () => {
        if (life.slow) later(Effect.andThen(Effect.sleep(slowMillis), Effect.sync(() => scheduler.flush())))
        else around.scheduleTask(() => scheduler.flush(), 0)
      }
    })
    let herder: Herder["Service"] | undefined
    let fork: Worker["fork"] = Effect.runFork
    const before = checker.state().leader?.session
    /** The session that this life claimed the log with. */
    const session = () => {
      const leader = checker.state().leader?.session
      return leader === before || cluster !== undefined ? undefined : leader
    }
    const living = Effect.scoped(Effect.gen(function*() {
      const context = yield* Layer.build(runtime(life, worker))
      herder = yield* Effect.provideContext(Herder, context)
      fork = Effect.runForkWith(yield* Effect.context())
      return yield* Effect.never
    })).pipe(
      Effect.provideService(Scheduler.Scheduler, scheduler),
      Effect.provideService(Clock.Clock, cluster === undefined ? clock : Cluster.drifting(clock, seed, worker))
    )
    const fiber = yield* Effect.forkDetach(living, { startImmediately: true })
    const waits = () => herder === undefined && fiber.pollUnsafe() === undefined
    const tries = cluster === undefined ? patience.alone : patience.among
    for (let tried = 0; tried < tries && waits(); tried++) yield* TestClock.adjust(50)
    if (herder === undefined) {
      // the stores are down: this life has failed to start
      life.dead = true
      stores.release(life)
      const claimed = session()
      if (claimed !== undefined) checker.ended(claimed)
      return undefined
    }
    return { life, herder, fork, fiber, session: session(), thaw: () => scheduler.flush() }
  })
})
