import { assert, describe, it } from "@effect/vitest"
import { ClusterState, Item, type LeaderCommand } from "@kelpie/core"
import { ModelLog } from "./ModelLog.ts"

type PublishTaskSet = Extract<LeaderCommand.LeaderCommand, { readonly _tag: "PublishTaskSet" }>

/** A connector without tasks, and what its owner would publish. */
const owned = () => {
  const log = new ModelLog(["me"])
  log.send({ _tag: "PutConnector", name: "orders", config: { k: "1" }, expect: "absent" })
  const { config, incarnation, revision } = entry(log)
  const token = ClusterState.token(log.state, Item.connector("orders"))
  assert.isDefined(token)
  const publish: PublishTaskSet = {
    _tag: "PublishTaskSet",
    name: "orders",
    incarnation,
    revision,
    token,
    digest: "whole",
    config,
    tasks: [{ config: {}, digest: "x" }, { config: {}, digest: "y" }, { config: {}, digest: "z" }]
  }
  return { log, publish }
}
const entry = (log: ModelLog) => {
  const found = ClusterState.connector(log.state, "orders")
  assert.isDefined(found)
  return found
}

describe("the guard of a task set (I3)", () => {
  it("holds for what it was made from: the set is written whole", () => {
    const { log, publish } = owned()
    log.send(publish)
    assert.deepStrictEqual(ClusterState.taskSet(log.state, "orders")?.tasks, publish.tasks)
  })

  // each of them alone, with all others as they should be
  it.each([
    ["another incarnation", { incarnation: "another" }],
    ["an older revision", { revision: 0 }],
    ["a newer revision", { revision: 2 }],
    ["an older token", { token: 1 }],
    ["a token that nobody has", { token: 1000 }]
  ])("does not hold for %s", (_, change) => {
    const { log, publish } = owned()
    const { position } = log.state
    assert.strictEqual(log.refusal({ ...publish, ...change }), "Stale")
    assert.strictEqual(log.state.position, position)
  })

  it.each(["PAUSED", "STOPPED"] as const)("does not hold for a connector that is %s", (target) => {
    const { log, publish } = owned()
    log.send({ _tag: "SetTarget", name: "orders", target })
    assert.strictEqual(log.refusal(publish), "Stopped")
  })

  it("does not hold while the owner is asked to let go, nor for him afterwards", () => {
    const { log, publish } = owned()
    log.send({ _tag: "Restart", name: "orders", connector: true, tasks: [] })
    assert.strictEqual(log.refusal(publish), "Stale")
    log.confirmAll()
    assert.strictEqual(log.refusal(publish), "Stale")
  })
})

describe("the guard of a change (I3)", () => {
  it.each([
    ["another incarnation", { incarnation: "another", revision: 1 }],
    ["an older revision", { incarnation: undefined, revision: 0 }],
    ["a newer revision", { incarnation: undefined, revision: 2 }]
  ])("does not hold for %s", (_, { incarnation, revision }) => {
    const { log } = owned()
    const expect = { incarnation: incarnation ?? entry(log).incarnation, revision }
    assert.strictEqual(log.refusal({ _tag: "PutConnector", name: "orders", config: { k: "2" }, expect }), "Stale")
    log.send({ _tag: "PutConnector", name: "orders", config: { k: "2" }, expect: { ...expect, ...entry(log) } })
    assert.strictEqual(entry(log).revision, 2)
  })
})
