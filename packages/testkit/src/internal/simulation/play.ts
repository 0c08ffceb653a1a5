/** Plays the operations of a simulation, on the caller's stack and in virtual time, and checks the laws at every step. */
import * as ClusterState from "@kelpie/core/ClusterState"
import { Plugins } from "@kelpie/core/Plugins"
import { Herder } from "@kelpie/herder/Herder"
import type { HerderError } from "@kelpie/herder/HerderError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as TestRuntime from "../../TestRuntime.ts"
import { SyncScheduler } from "../syncScheduler.ts"
import { fifo } from "../taskQueue.ts"
import * as Checker from "./checker.ts"
import * as Connectors from "./connectors.ts"
import { format, type Operation } from "./operations.ts"
import * as SimulatedStores from "./stores.ts"

/** How a run ended. */
export interface Played {
  readonly violation: Checker.Violation | undefined
  readonly timeline: ReadonlyArray<string>
}

interface Worker {
  readonly life: SimulatedStores.Life
  readonly session: string | undefined
  readonly herder: Herder["Service"]
  readonly fiber: Fiber.Fiber<unknown, unknown>
  /** Runs what has gathered while it was frozen. */
  readonly thaw: () => void
}

/** Plays operations. The same seed and operations give the same timeline. */
export const play = (seed: number, operations: ReadonlyArray<Operation>): Played => {
  const timeline: Array<string> = []
  const checker = Checker.make()
  const exit = TestRuntime.runSyncExit(
    Effect.provide(Random.withSeed(run(seed, operations, checker, timeline), `simulation ${seed}`), Logger.layer([]))
  )
  if (Exit.isFailure(exit)) checker.broken("run", String(exit.cause))
  return { violation: checker.violation(), timeline }
}

const run = Effect.fnUntraced(function*(
  seed: number,
  operations: ReadonlyArray<Operation>,
  checker: Checker.Checker,
  timeline: Array<string>
): Effect.fn.Return<void, never, Scope.Scope> {
  const stores = yield* SimulatedStores.make(seed, checker)
  const outside = Connectors.make(checker)
  const expected = new Map<string, Checker.Expected>()
  const boot = yield* makeBoot(stores, outside, checker)
  let worker: Worker | undefined
  let troubleUntil = 0
  const line = (text: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => void timeline.push(`${`${now}`.padStart(9)}  ${text}`))

  const crash = Effect.suspend(() => {
    if (worker === undefined) return Effect.void
    worker.life.dead = true
    stores.release(worker.life)
    if (worker.session !== undefined) checker.ended(worker.session)
    worker = undefined
    return Effect.void
  })

  const shutdown = Effect.suspend(() => {
    if (worker === undefined) return Effect.void
    const { fiber, life, session } = worker
    worker = undefined
    fiber.interruptUnsafe()
    return Effect.andThen(
      TestClock.adjust("30 seconds"),
      Effect.sync(() => {
        if (fiber.pollUnsafe() === undefined) checker.broken("shutdown", "it did not end within its deadlines")
        if (outside.live(life) > 0) checker.broken("shutdown", "connector code is left running")
        life.dead = true
        if (session !== undefined) checker.ended(session)
      })
    )
  })

  /** Calls the herder and compares what it answers with the log. */
  const ask = Effect.fnUntraced(function*(
    name: string,
    effect: (herder: Herder["Service"]) => Effect.Effect<unknown, HerderError>,
    accepted: (before: Checker.Expected) => Checker.Expected
  ) {
    if (worker === undefined) return
    const fiber = yield* Effect.forkDetach(effect(worker.herder), { startImmediately: true })
    for (let waits = 0; waits < 200 && fiber.pollUnsafe() === undefined; waits++) yield* TestClock.adjust(50)
    const exit = fiber.pollUnsafe()
    fiber.interruptUnsafe()
    const before = expected.get(name) ?? { known: true, exists: false }
    if (exit === undefined) {
      expected.set(name, { ...before, known: false })
      return yield* line("  no answer")
    }
    if (Exit.isSuccess(exit)) {
      expected.set(name, accepted(before))
      return
    }
    const error = Exit.findErrorOption(exit)
    const reason = error._tag === "Some" ? error.value.reason : undefined
    yield* line(`  ${reason?._tag ?? "defect"}`)
    if (reason === undefined) return checker.broken("answer", String(exit.cause))
    if (reason._tag === "Unavailable" && reason.outcome === "unknown") expected.set(name, { ...before, known: false })
  })

  const put = (name: string, tasks: number, note: number) => {
    const config = {
      "connector.class": "SimulatedSource",
      "tasks.max": "3",
      "simulated.tasks": `${tasks}`,
      "simulated.note": `${note}`
    }
    return ask(
      name,
      (herder) => herder.put(name, config),
      (before) => ({
        known: before.known || !before.exists,
        exists: true,
        target: before.exists ? before.target : "STARTED",
        config
      })
    )
  }

  const step = Effect.fnUntraced(function*(operation: Operation) {
    switch (operation._tag) {
      case "Boot":
        if (worker === undefined) worker = yield* boot
        return
      case "Crash":
        return yield* crash
      case "Shutdown":
        return yield* shutdown
      case "Compact":
        return stores.compact()
      case "Advance":
        return yield* TestClock.adjust(operation.millis)
      case "Freeze":
        if (worker === undefined) return
        worker.life.frozen = true
        yield* TestClock.adjust(operation.millis)
        worker.life.frozen = false
        worker.thaw()
        return yield* TestClock.adjust(1)
      case "Trouble":
        stores.trouble = operation.chance
        troubleUntil = (yield* Clock.currentTimeMillis) + operation.millis
        return
      case "Emit":
        return outside.emit(operation.name, operation.task, operation.count)
      case "Break":
        return outside.breakHook(operation)
      case "Ask":
        return worker === undefined ? undefined : yield* outside.ask(operation.name)
      case "Create": {
        const { name, tasks } = operation
        const config = { "connector.class": "SimulatedSource", "tasks.max": "3", "simulated.tasks": `${tasks}` }
        return yield* ask(
          name,
          (herder) => herder.create(name, config),
          () => ({ known: true, exists: true, target: "STARTED", config })
        )
      }
      case "CreateSink": {
        const { name, tasks } = operation
        const config = { "connector.class": "SimulatedSink", "tasks.max": `${tasks}`, "topics.regex": "t-.*" }
        return yield* ask(
          name,
          (herder) => herder.create(name, config),
          () => ({ known: true, exists: true, target: "STARTED", config })
        )
      }
      case "Update":
        return yield* put(operation.name, operation.tasks, operation.note)
      case "Delete":
        return yield* ask(
          operation.name,
          (herder) => herder.delete(operation.name),
          () => ({ known: true, exists: false })
        )
      case "Pause":
      case "Resume":
      case "Stop": {
        const target = ({ Pause: "PAUSED", Resume: "STARTED", Stop: "STOPPED" } as const)[operation._tag]
        const verb = ({ Pause: "pause", Resume: "resume", Stop: "stop" } as const)[operation._tag]
        return yield* ask(
          operation.name,
          (herder) => herder[verb](operation.name),
          (before) => ({
            ...before,
            known: true,
            exists: true,
            target,
            config: before.known ? before.config : undefined
          })
        )
      }
      case "Retry":
        return yield* ask(operation.name, (herder) => herder.retry(operation.name), (before) => before)
      case "Park":
        return yield* ask(operation.name, (herder) => herder.park(operation.name), (before) => before)
      case "Unpark":
        return yield* ask(operation.name, (herder) => herder.unpark(operation.name), (before) => before)
      case "Restart": {
        const { name, onlyFailed } = operation
        return yield* ask(
          name,
          (herder) => herder.restart(name, { includeTasks: true, onlyFailed }),
          (before) => before
        )
      }
    }
  })

  for (const operation of operations) {
    yield* line(format(operation))
    if (troubleUntil <= (yield* Clock.currentTimeMillis)) stores.trouble = 0
    yield* step(operation)
    checker.compare(expected)
    if (checker.violation() !== undefined) return
  }

  // liveness: faults stop, and everything comes to what was asked for (I17)
  yield* line("faults stop")
  stores.trouble = 0
  outside.mend()
  yield* crash
  worker = yield* boot
  if (worker === undefined) return checker.broken("I17", "a worker does not start on stores that work")
  yield* TestClock.adjust("2 minutes")
  const names = ClusterState.names(checker.state())
  for (const name of names) {
    yield* ask(name, (herder) => herder.resume(name), (before) => ({ ...before, target: "STARTED" }))
    const connector = ClusterState.connector(checker.state(), name)
    if (connector?.config["connector.class"] === "SimulatedSource") yield* put(name, 3, 9)
  }
  yield* TestClock.adjust("10 minutes")
  checker.compare(expected)
  yield* rest(worker.herder, names, outside, checker)
  if (checker.violation() !== undefined) return
  for (const name of names) yield* ask(name, (herder) => herder.delete(name), () => ({ known: true, exists: false }))
  yield* TestClock.adjust("2 minutes")
  const { placements, taskSets } = checker.state()
  if (!HashMap.isEmpty(placements) || !HashMap.isEmpty(taskSets)) {
    checker.broken("I17", "records of deleted connectors are left")
  }
  if ((yield* stores.statuses).length > 0) {
    checker.broken("I17", `statuses of deleted connectors are left: ${JSON.stringify(yield* stores.statuses)}`)
  }
  yield* shutdown
})

/** Every connector runs as asked, and every record has arrived. */
const rest = Effect.fnUntraced(function*(
  herder: Herder["Service"],
  names: ReadonlyArray<string>,
  outside: Connectors.Outside,
  checker: Checker.Checker
) {
  for (const name of names) {
    const status = yield* Effect.orDie(herder.status(name))
    const idle = status.reconfiguration.state === "Idle"
    if (status.health !== "healthy" || !idle) {
      const states = [status.state, ...status.tasks.map((task) => task.state)].join(" ")
      checker.broken("I17", `${name} is ${status.health}, its lane ${status.reconfiguration.state}: ${states}`)
    }
    if (status.type === "sink") continue
    for (let task = 0; task < 3; task++) {
      for (let sequence = 0; sequence < outside.emitted(name, task); sequence++) {
        const key = Checker.recordKey(name, task, sequence)
        if (!checker.appendedKeys.has(key)) checker.broken("I9", `${name}-${task}: record ${sequence} was lost`)
      }
    }
  }
})

/** Boots lives of a worker, each on a run queue of its own that dies with it. */
const makeBoot = Effect.fnUntraced(function*(
  stores: SimulatedStores.SimulatedStores,
  outside: Connectors.Outside,
  checker: Checker.Checker
) {
  const around = (yield* Scheduler.Scheduler).makeDispatcher()
  let lives = 0
  const boot: Effect.Effect<Worker | undefined> = Effect.gen(function*() {
    const life: SimulatedStores.Life = { dead: false, frozen: false, number: ++lives }
    const queue = fifo()
    const scheduler: SyncScheduler = new SyncScheduler({
      queue: { push: queue.push, next: () => life.dead || life.frozen ? undefined : queue.next() },
      onWork: () => around.scheduleTask(() => scheduler.flush(), 0)
    })
    let herder: Herder["Service"] | undefined
    const before = checker.state().leader?.session
    /** The session that this life claimed the log with. */
    const session = () => {
      const leader = checker.state().leader?.session
      return leader === before ? undefined : leader
    }
    const runtime = Herder.layerSoloAs({ workerId: `worker-${life.number}:8083` }).pipe(
      Layer.provide([stores.layer(life), Plugins.layer(outside.plugins(life))])
    )
    const living = Effect.scoped(Effect.gen(function*() {
      const context = yield* Layer.build(runtime)
      herder = yield* Effect.provideContext(Herder, context)
      return yield* Effect.never
    })).pipe(Effect.provideService(Scheduler.Scheduler, scheduler))
    const fiber = yield* Effect.forkDetach(living, { startImmediately: true })
    const waits = () => herder === undefined && fiber.pollUnsafe() === undefined
    for (let tries = 0; tries < 20 && waits(); tries++) yield* TestClock.adjust(50)
    if (herder === undefined) {
      // the stores are down: this life has failed to start
      life.dead = true
      stores.release(life)
      const claimed = session()
      if (claimed !== undefined) checker.ended(claimed)
      return undefined
    }
    return { life, herder, fiber, session: session(), thaw: () => scheduler.flush() }
  })
  return boot
})
