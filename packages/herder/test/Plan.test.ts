import { assert, describe, it } from "@effect/vitest"
import { type ConfigRecord, Item, type LeaderCommand } from "@kelpie/core"
import { Lane, RunMachine, World } from "@kelpie/herder"
import { Arbitrary, Effect, Schema } from "effect"
import { type Edge, PlanModel } from "./PlanModel.ts"

type Action = (model: PlanModel, n: number, name: string) => void
type Live = NonNullable<ReturnType<PlanModel["run"]>>
type Attempt = NonNullable<ReturnType<PlanModel["attempt"]>>

const targets: ReadonlyArray<ConfigRecord.TargetState> = ["STARTED", "STARTED", "PAUSED", "STOPPED"]
const sets = [["x"], ["x", "y"], ["x", "Y"], ["X", "Y", "z"], [], ["x", "y", "z"]]
const item = (name: string, n: number) => n % 2 === 0 ? Item.connector(name) : Item.task(name, n % 3)
const withRun =
  (phase: Live["phase"], then: (model: PlanModel, run: Live, n: number) => void): Action => (model, n) => {
    const run = model.run(phase, n)
    if (run !== undefined) then(model, run, n)
  }
const withAttempt =
  (orphan: boolean, then: (model: PlanModel, attempt: Attempt, n: number) => void): Action => (model, n) => {
    const attempt = model.attempt(orphan, n)
    if (attempt !== undefined) then(model, attempt, n)
  }
/** Somebody else writes to the log; the worker may see it at once. */
const writing = (command: (name: string, n: number) => LeaderCommand.LeaderCommand): Action => (model, n, name) => {
  model.write(model.log.offer(command(name, n)))
  if (n % 3 !== 0) model.seeLog()
}

/** What may happen, and how often. The generator likes the ends of a range: what helps things on stands there. */
const actions: ReadonlyArray<readonly [times: number, Action]> = [
  [4, (model) => model.seeLog()],
  [2, (model, n) => model.confirm(n > 3)],
  // what operators do
  [3, writing((name, n) => ({ _tag: "PutConnector", name, config: { n: `${n}` }, expect: "any" }))],
  [1, (model, n, name) => n < 10 ? model.write(model.log.offer({ _tag: "DeleteConnector", name })) : undefined],
  [1, writing((name, n) => ({ _tag: "SetTarget", name, target: targets[n % 4] ?? "STARTED" }))],
  [1, writing((name, n) => ({ _tag: "Restart", name, connector: n % 2 === 0, tasks: n > 9 ? [n % 3] : [] }))],
  [1, writing((name) => ({ _tag: "RetryReconfiguration", name }))],
  [2, writing((name, n) => ({ _tag: "HoldReconfiguration", name, held: n % 2 === 0 }))],
  // what the rest of the cluster does
  [1, (model, n, name) => model.move(item(name, n))],
  [1, (model, n) => model.shares(n > 12)],
  [2, (model) => model.othersConfirm()],
  [2, (model, n) => model.tell({ _tag: "GroupChanged", session: "me", leader: [undefined, "me", "other"][n % 3] })],
  [1, (model, n, name) => model.readStatus(item(name, n))],
  // time, and what comes too late
  [1, (model) => model.tell({ _tag: "Resync" })],
  [1, (model, n) => model.stale(n)],
  [1, (model, n) => model.pass(n * 20)],
  [1, (model, n) => model.pass(n * 1000)],
  // how what was asked for goes wrong
  [1, (model) => model.confirmFails()],
  [1, (model, n) => withRun(n % 2 === 0 ? "starting" : "running", (_, run) => model.failed(run, n))(model, n, "")],
  [1, withRun("running", (model, run, n) => model.retrying(run, n))],
  [2, withAttempt(false, (model, attempt, n) => model.advanced(attempt, n))],
  [4, withAttempt(false, (model, attempt, n) => model.attemptFailed(attempt, n))],
  [1, withAttempt(false, (model, attempt) => model.abandoned(attempt))],
  [1, withAttempt(true, (model, attempt, n) => n < 8 ? model.returned(attempt) : undefined)],
  [1, withAttempt(false, (model, attempt) => model.interrupted(attempt))],
  // how it goes well
  [2, withRun("running", (model, run) => run.item.task === undefined ? model.asks(run) : undefined)],
  [
    2,
    withAttempt(
      false,
      (model, attempt, n) =>
        attempt.interrupted && n < 15 ? model.interrupted(attempt) : model.succeeded(attempt, sets[n % 6] ?? [])
    )
  ],
  [2, withRun("stopping", (model, run) => model.stopped(run))],
  [4, withRun("starting", (model, run) => model.started(run))]
]
const every = actions.flatMap(([times, action]) => Array.from({ length: times }, () => action))

const small = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
const Step = Schema.Struct({ kind: small(every.length - 1), name: small(2), n: small(19) })
const walks = (minLength: number) => Arbitrary.array(Arbitrary.schema(Step), { minLength, maxLength: 240 })

/** Walks, and comes to rest. */
const walk = (steps: ReadonlyArray<typeof Step.Type>): ReadonlyArray<Edge> => {
  const model = new PlanModel()
  for (const { kind, n, name } of steps) {
    every[kind]?.(model, n, ["orders", "users", "events"][name] ?? "orders")
    // several things may happen between two ticks
    if (n % 5 !== 0) model.plan()
  }
  model.rest()
  return model.edges
}

const name = ({ event, from, machine, to }: Edge) => `${machine}: ${from} --${event}--> ${to}`
const everyEdge = [
  ...Lane.machine.edges.map((edge) => name({ machine: Lane.machine.name, ...edge })),
  ...RunMachine.machine.edges.map((edge) => name({ machine: RunMachine.machine.name, ...edge }))
]

describe("a random walk of everything that may happen", () => {
  it.prop("keeps the laws and comes to rest with what is wanted running", [walks(0)], ([steps]) => {
    walk(steps)
  }, { arbitrary: { runs: 40, size: 240 }, timeout: 60_000 })

  it.effect("takes every edge of the lane's and the run's table", () =>
    Effect.gen(function*() {
      const taken = new Set<string>()
      const known = new Set(everyEdge)
      const strange = new Set<string>()
      const result = yield* Arbitrary.checkEffect(walks(200), (steps) => {
        for (const edge of walk(steps)) {
          taken.add(name(edge))
          if (!known.has(name(edge)) && edge.from !== edge.to) strange.add(name(edge))
        }
        return true
      }, { runs: 80, size: 240, seed: "every edge" })
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
      assert.deepStrictEqual([...strange], [])
      assert.deepStrictEqual(everyEdge.filter((edge) => !taken.has(edge)), [], "edges that no walk took")
    }), 60_000)
})

describe("an attempt that fails while its config is changed", () => {
  it("is not interrupted after its end, and one that hung counts as a hang", () => {
    const model = new PlanModel()
    const put = (n: number) =>
      model.write(model.log.send({ _tag: "PutConnector", name: "orders", config: { n: `${n}` }, expect: "any" }))
    put(1)
    model.seeLog()
    model.plan()
    const run = model.run("starting", 0)
    assert.isDefined(run)
    model.started(run)
    model.plan()
    const attempt = model.attempt(false, 0)
    assert.isDefined(attempt)
    put(2)
    model.seeLog()
    // the model refuses an `Interrupt` for what is over
    model.abandoned(attempt)
    model.plan()
    const { lane, slow } = World.connector(model.world, "orders")
    assert.deepStrictEqual([lane._tag, slow], ["Idle", true])
    model.rest()
  })
})
