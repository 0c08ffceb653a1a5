/** Plays the operations of a simulation, on the caller's stack and in virtual time, and checks the laws at every step. */
import * as Backoff from "@kelpie/core/Backoff"
import * as ClusterState from "@kelpie/core/ClusterState"
import type { Herder } from "@kelpie/herder/Herder"
import type { HerderError } from "@kelpie/herder/HerderError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HashMap from "effect/HashMap"
import * as Logger from "effect/Logger"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as TestRuntime from "../../TestRuntime.ts"
import * as Checker from "./checker.ts"
import * as Cluster from "./cluster.ts"
import * as Connectors from "./connectors.ts"
import { format, type Operation } from "./operations.ts"
import * as SimulatedStores from "./stores.ts"
import * as Troubles from "./troubles.ts"
import { makeBoot, type Worker } from "./workers.ts"

/** How a run ended. */
export interface Played {
  readonly violation: Checker.Violation | undefined
  readonly timeline: ReadonlyArray<string>
}

/** Plays operations. The same seed and operations give the same timeline. */
export const play = (seed: number, operations: ReadonlyArray<Operation>, workers: number): Played => {
  const timeline: Array<string> = []
  const checker = Checker.make()
  const exit = TestRuntime.runSyncExit(
    Effect.provide(
      Random.withSeed(run(seed, operations, workers, checker, timeline), `simulation ${seed}`),
      Logger.layer([])
    )
  )
  if (Exit.isFailure(exit)) checker.broken("run", String(exit.cause))
  return { violation: checker.violation(), timeline }
}

const run = Effect.fnUntraced(function*(
  seed: number,
  operations: ReadonlyArray<Operation>,
  count: number,
  checker: Checker.Checker,
  timeline: Array<string>
): Effect.fn.Return<void, never, Scope.Scope> {
  const stores = yield* SimulatedStores.make(seed, checker)
  const outside = Connectors.make(checker)
  const expected = new Map<string, Checker.Expected>()
  const cluster = count === 1 ? undefined : yield* Cluster.make(seed, checker)
  const boot = yield* makeBoot({ seed, stores, outside, checker, cluster })
  const workers = new Map<number, Worker>()
  /** What ends at a time: troubles of stores, network and workers. */
  const troubles = Troubles.make()
  const line = (text: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => void timeline.push(`${`${now}`.padStart(9)}  ${text}`))

  const start = Effect.fnUntraced(function*(number: number) {
    if (workers.has(number)) return
    const worker = yield* boot(number)
    if (worker !== undefined) workers.set(number, worker)
  })

  const crash = (number: number) => {
    const worker = workers.get(number)
    if (worker === undefined) return
    workers.delete(number)
    worker.life.dead = true
    stores.release(worker.life)
    if (worker.session !== undefined) checker.ended(worker.session)
  }

  const shutdown = Effect.fnUntraced(function*(number: number) {
    const worker = workers.get(number)
    if (worker === undefined) return
    const { fiber, life, session } = worker
    workers.delete(number)
    // it is told to stop, so it runs
    if (life.frozen) thaw(worker)
    fiber.interruptUnsafe()
    yield* TestClock.adjust("30 seconds")
    if (fiber.pollUnsafe() === undefined) checker.broken("shutdown", "it did not end within its deadlines")
    if (outside.live(life) > 0) checker.broken("shutdown", "connector code is left running")
    life.dead = true
    if (session !== undefined) checker.ended(session)
  })

  const thaw = (worker: Worker) => {
    worker.life.frozen = false
    worker.thaw()
  }

  /** The worker that a client happens to ask. */
  const anyone = () => {
    const all = [...workers.values()]
    return all[Math.floor(Backoff.draw("client", seed, asked++) * all.length)]
  }
  let asked = 0

  /** Calls the herder and compares what it answers with the log. */
  const ask = Effect.fnUntraced(function*(
    name: string,
    effect: (herder: Herder["Service"]) => Effect.Effect<unknown, HerderError>,
    accepted: (before: Checker.Expected) => Checker.Expected
  ) {
    const worker = anyone()
    if (worker === undefined) return
    const fiber = worker.fork(effect(worker.herder))
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
        return yield* start(operation.worker ?? 0)
      case "Crash":
        return crash(operation.worker ?? 0)
      case "Shutdown":
        return yield* shutdown(operation.worker ?? 0)
      case "Compact":
        return stores.compact()
      case "Advance":
        return yield* TestClock.adjust(operation.millis)
      case "Freeze": {
        const worker = workers.get(operation.worker ?? 0)
        if (worker === undefined) return
        worker.life.frozen = true
        const end = () => thaw(worker)
        if (cluster !== undefined) return troubles.add((yield* Clock.currentTimeMillis) + operation.millis, end)
        yield* TestClock.adjust(operation.millis)
        end()
        return yield* TestClock.adjust(1)
      }
      case "Cut": {
        const life = workers.get(operation.worker)?.life
        if (life === undefined) return
        life.cut = true
        return troubles.add((yield* Clock.currentTimeMillis) + operation.millis, () => {
          life.cut = false
        })
      }
      case "Slow": {
        const life = workers.get(operation.worker)?.life
        if (life === undefined) return
        life.slow = true
        return troubles.add((yield* Clock.currentTimeMillis) + operation.millis, () => {
          life.slow = false
        })
      }
      case "Lose":
        if (cluster === undefined) return
        cluster.loss = operation.chance
        return troubles.add((yield* Clock.currentTimeMillis) + operation.millis, () => {
          cluster.loss = 0
        })
      case "Trouble":
        stores.trouble = operation.chance
        return troubles.add((yield* Clock.currentTimeMillis) + operation.millis, () => {
          stores.trouble = 0
        })
      case "Emit":
        return outside.emit(operation.name, operation.task, operation.count)
      case "Break":
        return outside.breakHook(operation)
      case "Ask":
        return workers.size === 0 ? undefined : yield* outside.ask(operation.name)
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
    troubles.endAt(yield* Clock.currentTimeMillis)
    yield* step(operation)
    checker.compare(expected)
    if (checker.violation() !== undefined) return
  }

  // liveness: faults stop, and everything comes to what was asked for (I17)
  yield* line("faults stop")
  troubles.endAt(Infinity)
  outside.mend()
  if (cluster === undefined) crash(0)
  for (let number = 0; number < count; number++) yield* start(number)
  if (workers.size < count) return checker.broken("I17", "a worker does not start on stores that work")
  yield* TestClock.adjust("2 minutes")
  const names = ClusterState.names(checker.state())
  for (const name of names) {
    yield* ask(name, (herder) => herder.resume(name), (before) => ({ ...before, target: "STARTED" }))
    const connector = ClusterState.connector(checker.state(), name)
    if (connector?.config["connector.class"] === "SimulatedSource") yield* put(name, 3, 9)
  }
  yield* TestClock.adjust("5 minutes")
  // what failed while there were faults stays so until somebody restarts it
  for (const name of names) {
    yield* ask(name, (herder) => herder.restart(name, { includeTasks: true, onlyFailed: true }), (before) => before)
  }
  yield* TestClock.adjust("5 minutes")
  checker.compare(expected)
  for (const { herder } of workers.values()) yield* rest(herder, names, outside, checker)
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
  for (let number = 0; number < count; number++) yield* shutdown(number)
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
