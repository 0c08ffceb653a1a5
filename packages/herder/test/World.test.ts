import { assert, describe, it, vi } from "@effect/vitest"
import { ClusterState, ConfigRecord, Item } from "@kelpie/core"
import { Plan, World } from "@kelpie/herder"
import { HashMap, Option } from "effect"
import { Draft } from "../src/internal/draft.ts"

const count = 10_000
const name = (n: number) => `connector-${n}`

const settings: World.Settings = {
  workerId: "me:8083",
  limits: { generate: count, generateSlow: count, start: count, orphans: count },
  policies: () => ({
    lane: { delayMillis: ({ failures }) => 250 * failures, maxDefects: 10, failsWhenExhausted: true },
    restart: { delayMillis: () => undefined, budget: 0, windowMillis: 1000 }
  }),
  confirmDelayMillis: () => 250
}

/** Many connectors that run and have nothing to do. */
const makeIdle = () => {
  let state = ClusterState.empty
  const keys: Array<string> = []
  const write = (write: ConfigRecord.Write) => {
    state = ClusterState.write(state, write, state.position + 1)
    keys.push(write.key)
  }
  for (let n = 0; n < count; n++) {
    write(ConfigRecord.connector(name(n), {
      incarnation: `i${n}`,
      revision: 1,
      config: {},
      target: "STARTED",
      retries: 0,
      held: false
    }))
    write(ConfigRecord.placement(Item.connector(name(n)), { _tag: "Owned", session: "me" }))
  }
  let plan = Plan.plan({ ...World.make(settings), session: "me" }, [{ _tag: "StateChanged", state, keys }], 0)
  while (plan.commands.length > 0) {
    const answers = plan.commands.flatMap((command): ReadonlyArray<Plan.Message> => {
      switch (command._tag) {
        case "StartConnector":
          return [{ _tag: "RunStarted", item: Item.connector(command.connector), run: command.run, version: "1" }]
        case "Generate":
          return [{
            _tag: "Settled",
            connector: command.connector,
            attempt: command.attempt,
            ended: true,
            outcome: { _tag: "Succeeded" }
          }]
        default:
          return []
      }
    })
    plan = Plan.plan(plan.world, answers, 0)
  }
  assert.strictEqual(plan.nextWakeAt, Infinity)
  return plan.world
}

/** The keys of which two maps do not hold the same object. */
const changed = <A>(before: HashMap.HashMap<string, A>, after: HashMap.HashMap<string, A>): ReadonlyArray<string> => {
  const keys = new Set([...HashMap.keys(before), ...HashMap.keys(after)])
  return [...keys].filter((key) =>
    Option.getOrUndefined(HashMap.get(before, key)) !== Option.getOrUndefined(HashMap.get(after, key))
  )
}

/** Makes a plan, and counts the changes of the map of connectors. */
const counted = (world: World.World, inbox: ReadonlyArray<Plan.Message>, now: number) => {
  const set = vi.spyOn(Draft.prototype, "setConnector")
  const plan = Plan.plan(world, inbox, now)
  const writes = set.mock.calls.map(([name]) => name)
  set.mockRestore()
  return { plan, writes }
}

describe("a plan beside 10,000 idle connectors", () => {
  const idle = makeIdle()
  const one = name(4711)
  const connector = World.connector(idle, one).connector.run
  const run = connector._tag === "Running" ? connector.run : { token: 0, start: 0 }

  /** One connector is touched, a few times, and nothing else. */
  const touchesOne = (before: World.World, inbox: ReadonlyArray<Plan.Message>, now: number) => {
    const { plan, writes } = counted(before, inbox, now)
    assert.deepStrictEqual(changed(before.connectors, plan.world.connectors), [one])
    assert.deepStrictEqual(changed(before.statuses, plan.world.statuses), [one])
    assert.deepStrictEqual([...new Set(writes)], [one])
    assert.isAtMost(writes.length, 10)
    assert.isAtMost(plan.commands.length, 2)
    return plan
  }

  it("touches the one that asks, fails, waits and is due", () => {
    const asked = touchesOne(idle, [{ _tag: "Asked", connector: one, run }], 1000)
    const [generate] = asked.commands
    assert.strictEqual(generate?._tag, "Generate")
    const failed = touchesOne(asked.world, [{
      _tag: "Settled",
      connector: one,
      attempt: generate?._tag === "Generate" ? generate.attempt : 0,
      ended: true,
      outcome: { _tag: "Failed", failure: { class: "transient", stage: "generating", message: "no" } }
    }], 1000)
    assert.strictEqual(failed.nextWakeAt, 1250)
    const due = touchesOne(failed.world, [], 1250)
    assert.deepStrictEqual(due.commands.map((command) => command._tag), ["Generate"])
    assert.strictEqual(due.nextWakeAt, Infinity)
  })

  it("touches the one whose record changed", () => {
    const entry = ClusterState.connector(idle.state, one)
    assert.isDefined(entry)
    const paused = ConfigRecord.connector(one, { ...entry, target: "PAUSED" })
    const state = ClusterState.write(idle.state, paused, idle.state.position + 1)
    const plan = counted(idle, [{ _tag: "StateChanged", state, keys: [paused.key] }], 1000)
    assert.deepStrictEqual(changed(idle.connectors, plan.plan.world.connectors), [one])
    assert.deepStrictEqual([...new Set(plan.writes)], [one])
    assert.deepStrictEqual(plan.plan.commands.map((command) => command._tag), ["StopRun"])
  })

  it("touches none for a result that nobody waits for, and none when nothing comes", () => {
    for (const inbox of [[], [{ _tag: "AttemptEnded", connector: one, attempt: 1 }]] as const) {
      const { plan, writes } = counted(idle, inbox, 1000)
      assert.deepStrictEqual(writes, [])
      assert.strictEqual(plan.world.connectors, idle.connectors)
      assert.strictEqual(plan.world.statuses, idle.statuses)
    }
  })

  it("touches none when it looks at all and nothing is to be healed", () => {
    const { plan, writes } = counted(idle, [{ _tag: "Resync" }], 1000)
    assert.deepStrictEqual([writes, plan.commands, plan.transitions], [[], [], []])
    assert.strictEqual(plan.world.connectors, idle.connectors)
  })
})
