import { assert, describe, it } from "@effect/vitest"
import { ClusterState, ConfigRecord, Item, type Status } from "@kelpie/core"
import { Plan, View, World } from "@kelpie/herder"

const settings: World.Settings = {
  workerId: "me:8083",
  limits: { generate: 1, generateSlow: 1, start: 1, orphans: 1 },
  policies: () => ({
    lane: { delayMillis: () => undefined, maxDefects: 1, failsWhenExhausted: true },
    restart: { delayMillis: () => undefined, budget: 0, windowMillis: 1 }
  }),
  confirmDelayMillis: () => 250
}

const orders = Item.connector("orders")
const entry: ConfigRecord.ConnectorEntry = {
  incarnation: "first",
  revision: 1,
  config: {},
  target: "STARTED",
  retries: 0,
  held: false
}
/** Of somebody else: what this worker is told, it shows as it is. */
const owned: ConfigRecord.PlacementEntry = { _tag: "Owned", session: "other" }
const releasing = (reason: ConfigRecord.ReleaseReason): ConfigRecord.PlacementEntry => ({
  _tag: "Releasing",
  session: "other",
  reason
})

const status = (item: Item.Item, token: number, state: Status.State = "RUNNING"): Status.StatusRecord => ({
  connector: item.connector,
  ...(item.task === undefined ? {} : { task: item.task }),
  token,
  state,
  workerId: "other:8083",
  version: "1",
  since: 0
})

/** Connector at 1, task set at 2, the instance at 3, its two tasks at 4 and 5. */
const placed: ReadonlyArray<ConfigRecord.Write> = [
  ConfigRecord.connector("orders", entry),
  ConfigRecord.taskSet("orders", {
    incarnation: "first",
    revision: 1,
    digest: "",
    config: {},
    tasks: [{ config: {}, digest: "a" }, { config: {}, digest: "b" }]
  }),
  ConfigRecord.placement(orders, owned),
  ConfigRecord.placement(Item.task("orders", 0), owned),
  ConfigRecord.placement(Item.task("orders", 1), owned)
]

/** A world that has seen writes, one position each, and then statuses in their order. */
const world = (writes: ReadonlyArray<ConfigRecord.Write>, ...statuses: ReadonlyArray<Status.StatusRecord>) => {
  const state = writes.reduce(
    (before, write) => ClusterState.write(before, write, before.position + 1),
    ClusterState.empty
  )
  const messages: ReadonlyArray<Plan.Message> = [
    { _tag: "StateChanged", state, keys: writes.map(({ key }) => key) },
    ...statuses.map((record): Plan.Message => ({ _tag: "StatusesRead", records: [record] }))
  ]
  const start: World.World = { ...World.make(settings), session: "me" }
  return messages.reduce((before, message) => Plan.plan(before, [message], 0).world, start)
}

const shown = (self: World.World) => {
  const found = View.status(self, "orders", () => "source")
  assert.isDefined(found)
  return found
}
const words = (self: World.World) => {
  const { state, tasks } = shown(self)
  return [state, ...tasks.map((task) => task.state)].join(" ")
}

describe("a status", () => {
  const all = [status(orders, 3), status(Item.task("orders", 0), 4), status(Item.task("orders", 1), 5)]

  it("is shown with its item's present token (I8)", () => {
    assert.strictEqual(words(world(placed, ...all)), "RUNNING RUNNING RUNNING")
    assert.strictEqual(shown(world(placed, ...all)).health, "healthy")
  })

  it("of an older owner is not shown: neither its word nor its trace, version and worker (I8)", () => {
    const old = { ...status(orders, 2, "FAILED"), trace: "it failed", version: "0" }
    const { health, state, trace, version, workerId } = shown(world(placed, old))
    assert.deepStrictEqual([state, trace, version, workerId], ["UNASSIGNED", undefined, null, "me:8083"])
    assert.strictEqual(health, "recovering")
    assert.strictEqual(
      words(world(placed, status(orders, 3), status(Item.task("orders", 0), 3))),
      "RUNNING UNASSIGNED UNASSIGNED"
    )
  })

  it("is not shown any more once its owner is asked to let go (I8)", () => {
    const moving = [...placed, ConfigRecord.placement(orders, releasing("moved"))]
    assert.strictEqual(words(world(moving, ...all)), "UNASSIGNED RUNNING RUNNING")
    const restarting = [...placed, ConfigRecord.placement(Item.task("orders", 1), releasing("restart"))]
    assert.strictEqual(words(world(restarting, ...all)), "RUNNING RUNNING RESTARTING")
  })

  it("is not shown for a new owner until he tells one (I8)", () => {
    const moved = [...placed, ConfigRecord.placement(orders, owned)]
    assert.strictEqual(words(world(moved, ...all)), "UNASSIGNED RUNNING RUNNING")
    assert.strictEqual(words(world(moved, ...all, status(orders, 6))), "RUNNING RUNNING RUNNING")
  })

  it("that comes late does not replace the one of a newer owner (I8)", () => {
    const moved = [...placed, ConfigRecord.placement(orders, owned)]
    assert.strictEqual(
      words(world(moved, ...all, status(orders, 6), status(orders, 3, "FAILED"))),
      "RUNNING RUNNING RUNNING"
    )
  })
})

describe("health", () => {
  it("is never healthy without the tasks that it should have", () => {
    const { conditions, health } = shown(world(placed, status(orders, 3), status(Item.task("orders", 0), 4)))
    assert.strictEqual(health, "recovering")
    assert.deepStrictEqual(conditions, [{ reason: "TaskStarting", message: "task 1 has not started yet" }])
  })
})
