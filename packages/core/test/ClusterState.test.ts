import { assert, describe, it } from "@effect/vitest"
import { ClusterState, ConfigRecord, Item } from "@kelpie/core"
import { HashMap, Schema } from "effect"

const connector = (incarnation: string, revision = 1): ConfigRecord.ConnectorEntry => ({
  incarnation,
  revision,
  config: { "connector.class": "Generator" },
  target: "STARTED",
  retries: 0,
  held: false
})
const taskSet = (incarnation: string, tasks: number, revision = 1): ConfigRecord.TaskSetEntry => ({
  incarnation,
  revision,
  digest: `digest of ${revision}`,
  config: { "connector.class": "Generator" },
  tasks: Array.from({ length: tasks }, (_, task) => ({ config: { part: task }, digest: `task ${task}` }))
})

/** A log of these writes; the first has position 1. */
const log = (...writes: ReadonlyArray<ConfigRecord.Write | ConfigRecord.EncodedWrite>) =>
  writes.map((write, index): ConfigRecord.Encoded => ({
    ...("value" in write ? write : ConfigRecord.encode(write)),
    position: index + 1
  }))
const fold = (records: ReadonlyArray<ConfigRecord.Encoded>) => records.reduce(ClusterState.apply, ClusterState.empty)

/** Everything that the state says, as plain data. */
const plain = (state: ClusterState.ClusterState) => ({
  cluster: state.cluster,
  leader: state.leader,
  connectors: Object.fromEntries(HashMap.entries(state.connectors)),
  taskSets: Object.fromEntries(HashMap.entries(state.taskSets)),
  placements: Object.fromEntries(
    Array.from(HashMap.entries(state.placements), ([name, items]) => [name, Object.fromEntries(items)])
  ),
  unreadable: Object.fromEntries(HashMap.entries(state.unreadable))
})

describe("ClusterState.apply", () => {
  it("keeps the last record of each key with its position", () => {
    const state = fold(log(
      { key: "cluster", entry: { id: "c1" } },
      { key: "leader", entry: { session: "a" } },
      ConfigRecord.connector("orders", connector("i1")),
      ConfigRecord.connector("orders", connector("i1", 2)),
      ConfigRecord.placement(Item.task("orders", 0), { _tag: "Owned", session: "a" })
    ))
    assert.deepStrictEqual(state.cluster, { id: "c1", position: 1 })
    assert.deepStrictEqual(state.leader, { session: "a", position: 2 })
    assert.deepStrictEqual(ClusterState.connector(state, "orders"), { ...connector("i1", 2), position: 4 })
    assert.strictEqual(ClusterState.token(state, Item.task("orders", 0)), 5)
    assert.strictEqual(state.position, 5)
  })

  it("removes what has a tombstone", () => {
    const item = Item.connector("orders")
    const state = fold(log(
      ConfigRecord.connector("orders", connector("i1")),
      ConfigRecord.taskSet("orders", taskSet("i1", 1)),
      ConfigRecord.placement(item, { _tag: "Owned", session: "a" }),
      ConfigRecord.connector("orders", undefined),
      ConfigRecord.taskSet("orders", undefined),
      ConfigRecord.placement(item, undefined)
    ))
    assert.deepStrictEqual(plain(state), plain(ClusterState.empty))
    assert.strictEqual(state.position, 6)
  })

  it("ignores keys of a newer version, but moves on", () => {
    const state = fold(log({ key: "quota/orders", value: "{}" }))
    assert.deepStrictEqual(plain(state), plain(ClusterState.empty))
    assert.strictEqual(state.position, 1)
  })

  it("leaves the state it was given as it was", () => {
    const before = fold(log(
      ConfigRecord.connector("orders", connector("i1")),
      ConfigRecord.placement(Item.connector("orders"), { _tag: "Owned", session: "a" })
    ))
    const kept = plain(before)
    ClusterState.write(before, ConfigRecord.connector("orders", undefined), 3)
    ClusterState.write(before, ConfigRecord.placement(Item.task("orders", 1), { _tag: "Owned", session: "b" }), 4)
    assert.deepStrictEqual(plain(before), kept)
  })

  it("tells names apart that look like paths", () => {
    const names = ["a", "a/b", "0/a", "__proto__", "constructor", "tasks/a"]
    const state = fold(log(...names.map((name) => ConfigRecord.connector(name, connector(`of ${name}`)))))
    assert.deepStrictEqual(ClusterState.names(state), [...names].sort())
    for (const name of names) assert.strictEqual(ClusterState.connector(state, name)?.incarnation, `of ${name}`)
  })
})

describe("unreadable records", () => {
  const key = "connector/orders"
  const good = ConfigRecord.encode(ConfigRecord.connector("orders", connector("i1")))

  it("hide the older value of their key and say why", () => {
    const state = fold(log(good, { key, value: `{"incarnation":` }))
    assert.isUndefined(ClusterState.connector(state, "orders"))
    assert.include(ClusterState.unreadable(state, "orders"), key)
    assert.deepStrictEqual(ClusterState.names(state), ["orders"])
  })

  it("show no part of the stored value", () => {
    const state = fold(log({ key, value: `{"config":{"password":"hunter2"}}` }))
    assert.notInclude(ClusterState.unreadable(state, "orders"), "hunter2")
  })

  it("are gone when the key is written again, or removed", () => {
    const broken = { key, value: "no JSON" }
    assert.isUndefined(ClusterState.unreadable(fold(log(broken, good)), "orders"))
    const removed = fold(log(broken, { key, value: null }))
    assert.isUndefined(ClusterState.unreadable(removed, "orders"))
    assert.deepStrictEqual(ClusterState.names(removed), [])
  })

  it("harm no other key", () => {
    const state = fold(log(ConfigRecord.connector("users", connector("i2")), { key, value: "[]" }))
    assert.strictEqual(ClusterState.connector(state, "users")?.incarnation, "i2")
  })

  it("leave no half leader and no half cluster", () => {
    const state = fold(log(
      { key: "leader", entry: { session: "a" } },
      { key: "cluster", entry: { id: "c" } },
      { key: "leader", value: "{}" },
      { key: "cluster", value: "{}" }
    ))
    assert.isUndefined(state.leader)
    assert.isUndefined(state.cluster)
  })
})

describe("ClusterState.taskSet", () => {
  it("counts only with the incarnation it was made for (I4)", () => {
    const first = fold(log(
      ConfigRecord.connector("orders", connector("i1")),
      ConfigRecord.taskSet("orders", taskSet("i1", 2))
    ))
    assert.strictEqual(ClusterState.taskSet(first, "orders")?.tasks.length, 2)
    const recreated = ClusterState.write(first, ConfigRecord.connector("orders", connector("i2")), 3)
    assert.isUndefined(ClusterState.taskSet(recreated, "orders"))
    assert.deepStrictEqual(ClusterState.items(recreated, "orders"), [Item.connector("orders")])
  })

  it("counts in whichever order the two records came", () => {
    const state = fold(log(
      ConfigRecord.taskSet("orders", taskSet("i1", 1)),
      ConfigRecord.connector("orders", connector("i1"))
    ))
    assert.deepStrictEqual(ClusterState.items(state, "orders"), [Item.connector("orders"), Item.task("orders", 0)])
  })

  it("counts with a newer revision of its incarnation", () => {
    const state = fold(log(
      ConfigRecord.taskSet("orders", taskSet("i1", 1)),
      ConfigRecord.connector("orders", connector("i1", 2))
    ))
    assert.strictEqual(ClusterState.taskSet(state, "orders")?.revision, 1)
  })

  it("does not make a connector: a task set alone places nothing", () => {
    assert.deepStrictEqual(ClusterState.items(fold(log(ConfigRecord.taskSet("gone", taskSet("i1", 3)))), "gone"), [])
  })
})

describe("ClusterState.token", () => {
  it("is the position of the `Owned` record, and only of that", () => {
    const item = Item.task("orders", 1)
    const owned = fold(log(ConfigRecord.placement(item, { _tag: "Owned", session: "a" })))
    assert.strictEqual(ClusterState.token(owned, item), 1)
    assert.isUndefined(ClusterState.token(owned, Item.task("orders", 2)))
    const releasing = ClusterState.write(
      owned,
      ConfigRecord.placement(item, { _tag: "Releasing", session: "a", reason: "moved" }),
      2
    )
    assert.isUndefined(ClusterState.token(releasing, item))
    assert.strictEqual(ClusterState.placement(releasing, item)?.position, 2)
  })
})

describe("compaction (I2)", () => {
  const keys = [
    "cluster",
    "leader",
    "connector/a",
    "connector/b",
    "tasks/a",
    "placement/connector/a",
    "placement/0/a",
    "x/y"
  ]
  const values: Readonly<Record<string, ReadonlyArray<unknown>>> = {
    cluster: [{ id: "c1" }, { id: "c2" }],
    leader: [{ session: "s1" }, { session: "s2" }],
    connector: [connector("i1"), connector("i2", 3)],
    tasks: [taskSet("i1", 2), taskSet("i2", 1)],
    placement: [{ _tag: "Owned", session: "s1" }, { _tag: "Released", reason: "moved" }],
    x: [{}]
  }
  const Step = Schema.Struct({
    key: Schema.Literals(keys),
    /** Which value, a tombstone, or what no reader understands. */
    what: Schema.Literals(["first", "second", "tombstone", "broken"]),
    gap: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
    /** Whether a compaction dropped it, if it may. */
    dropped: Schema.Boolean
  })
  type Step = typeof Step.Type
  const valueOf = ({ key, what }: Step): string | null => {
    if (what === "tombstone") return null
    if (what === "broken") return "{ no JSON"
    const all = values[key.split("/")[0] ?? ""] ?? []
    return JSON.stringify(all[what === "first" ? 0 : 1] ?? {})
  }
  const history = (steps: ReadonlyArray<Step>) => {
    let position = 0
    return steps.map((step) => {
      position += step.gap
      return { dropped: step.dropped, record: { key: step.key, value: valueOf(step), position } }
    })
  }

  it.prop("gives the same state for any history of which any overwritten records are dropped", {
    steps: Schema.Array(Step)
  }, ({ steps }) => {
    const all = history(steps)
    const isLast = (index: number) => !all.slice(index + 1).some(({ record }) => record.key === all[index]?.record.key)
    const compacted = all.filter(({ dropped }, index) => !dropped || isLast(index)).map(({ record }) => record)
    const whole = fold(all.map(({ record }) => record))
    assert.deepStrictEqual(plain(fold(compacted)), plain(whole))
    assert.strictEqual(fold(compacted).position, whole.position)
  }, { arbitrary: { runs: 300 } })

  it.prop("gives the same entries when old tombstones are dropped too", { steps: Schema.Array(Step) }, ({ steps }) => {
    const all = history(steps)
    const last = new Map(all.map(({ record }) => [record.key, record]))
    const live = [...last.values()].filter((record) => record.value !== null).sort((a, b) => a.position - b.position)
    assert.deepStrictEqual(plain(fold(live)), plain(fold(all.map(({ record }) => record))))
  }, { arbitrary: { runs: 300 } })

  it.prop("gives the same state when it goes on from any point", {
    steps: Schema.Array(Step),
    cut: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))
  }, ({ cut, steps }) => {
    const records = history(steps).map(({ record }) => record)
    const resumed = records.slice(cut).reduce(ClusterState.apply, fold(records.slice(0, cut)))
    assert.deepStrictEqual(plain(resumed), plain(fold(records)))
  })
})
