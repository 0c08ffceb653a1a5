import { assert, describe, it } from "@effect/vitest"
import { type ConfigRecord, Item } from "@kelpie/core"
import { Lane, RunMachine } from "@kelpie/herder"
import { Arbitrary, Effect, Schema } from "effect"
import { type Edge, PlanModel } from "./PlanModel.ts"

const small = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
const Step = Schema.Struct({ kind: small(41), name: small(2), n: small(19) })
const walks = Arbitrary.array(Arbitrary.schema(Step), { minLength: 40, maxLength: 240 })

const targets: ReadonlyArray<ConfigRecord.TargetState> = ["STARTED", "STARTED", "PAUSED", "STOPPED"]
const sets = [["x"], ["x", "y"], ["x", "Y"], ["X", "Y", "z"], [], ["x", "y", "z"]]

/** What operators and the rest of the cluster do. */
const operate = (model: PlanModel, { kind, n, name: index }: typeof Step.Type): void => {
  const name = ["orders", "users", "events"][index] ?? "orders"
  const { log } = model
  switch (kind) {
    case 0:
    case 1:
      return model.write(log.offer({ _tag: "PutConnector", name, config: { n: `${n}` }, expect: "any" }))
    case 2:
      return n > 8 ? undefined : model.write(log.offer({ _tag: "DeleteConnector", name }))
    case 3:
      return model.write(log.offer({ _tag: "SetTarget", name, target: targets[n % 4] ?? "STARTED" }))
    case 4:
      return model.write(log.offer({ _tag: "Restart", name, connector: n % 2 === 0, tasks: n > 9 ? [n % 3] : [] }))
    case 5:
      return model.write(log.offer({ _tag: "RetryReconfiguration", name }))
    case 6:
      return model.write(log.offer({ _tag: "HoldReconfiguration", name, held: n % 2 === 0 }))
    case 7:
      return model.move(n % 2 === 0 ? Item.connector(name) : Item.task(name, n % 3))
    case 8:
    case 9:
      return model.othersConfirm()
    case 10:
      return model.tell({ _tag: "LeaderHinted", leader: [undefined, "me", "other"][n % 3] })
    case 11:
      return model.readStatus(n % 2 === 0 ? Item.connector(name) : Item.task(name, n % 3))
    case 12:
      return model.tell({ _tag: "Resync" })
    case 13:
      return model.stale(n)
    case 14:
      return model.pass(n * 20)
    case 15:
      return model.pass(n * 1000)
    default:
      return model.seeLog()
  }
}

/** How what the plan asked for ends. */
const settle = (model: PlanModel, { kind, n }: typeof Step.Type): void => {
  const with_ = <A>(found: A | undefined, then: (found: A) => void) => found === undefined ? undefined : then(found)
  const attempt = model.attempt(false, n)
  switch (kind) {
    case 20:
      return with_(model.run(n % 2 === 0 ? "starting" : "running", n), (run) => model.failed(run, n))
    case 21:
    case 22:
      return with_(model.run("running", n), (run) => run.item.task === undefined ? model.asks(run) : model.retrying(run, n))
    case 23:
      return with_(attempt, (one) => model.advanced(one, n))
    case 24:
    case 25:
    case 26:
      return with_(attempt, (one) => one.interrupted && n < 15 ? model.interrupted(one) : model.succeeded(one, sets[n % 6] ?? []))
    case 27:
    case 28:
    case 29:
      return with_(attempt, (one) => model.attemptFailed(one, n))
    case 30:
      return with_(attempt, (one) => model.abandoned(one))
    case 31:
      return with_(model.attempt(true, n), (one) => n < 8 ? model.returned(one) : undefined)
    case 32:
      return with_(attempt, (one) => model.interrupted(one))
    case 33:
    case 34:
      return model.confirm(n > 3)
    case 35:
      return model.confirmFails()
    case 36:
    case 37:
    case 38:
      return with_(model.run("stopping", n), (run) => model.stopped(run))
    default:
      return with_(model.run("starting", n), (run) => model.started(run))
  }
}

/** Walks, and comes to rest. */
const walk = (steps: ReadonlyArray<typeof Step.Type>): ReadonlyArray<Edge> => {
  const model = new PlanModel()
  for (const step of steps) {
    if (step.kind < 20) operate(model, step)
    else settle(model, step)
    // several things may happen between two ticks
    if (step.n % 5 !== 0) model.plan()
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
  it.prop("keeps the laws and comes to rest with what is wanted running", [walks], ([steps]) => {
    walk(steps)
  }, { arbitrary: { runs: 150, size: 240 } })

  it.effect("takes every edge of the lane's and the run's table", () =>
    Effect.gen(function*() {
      const taken = new Set<string>()
      const known = new Set(everyEdge)
      const strange = new Set<string>()
      const result = yield* Arbitrary.checkEffect(walks, (steps) => {
        for (const edge of walk(steps)) {
          taken.add(name(edge))
          if (!known.has(name(edge)) && edge.from !== edge.to) strange.add(name(edge))
        }
        return true
      }, { runs: 150, size: 240, seed: "every edge" })
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
      assert.deepStrictEqual([...strange], [])
      assert.deepStrictEqual(everyEdge.filter((edge) => !taken.has(edge)), [], "edges that no walk took")
    }))
})
