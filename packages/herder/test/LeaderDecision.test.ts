import { assert, describe, it } from "@effect/vitest"
import { ClusterState, type ConfigRecord, Item, type LeaderCommand } from "@kelpie/core"
import { LeaderDecision } from "@kelpie/herder"
import { Arbitrary, HashMap, Schema } from "effect"
import { confirmation, ModelLog } from "./ModelLog.ts"

type Command = LeaderCommand.LeaderCommand

const put = (
  name: string,
  config: Record<string, string> = {},
  more: Partial<typeof LeaderCommand.PutConnector.Type> = {}
): Command => ({ _tag: "PutConnector", name, config, expect: "any", ...more })
const target = (name: string, target: ConfigRecord.TargetState): Command => ({ _tag: "SetTarget", name, target })
const remove = (name: string): Command => ({ _tag: "DeleteConnector", name })
const restart = (name: string, connector: boolean, ...tasks: ReadonlyArray<number>): Command => ({
  _tag: "Restart",
  name,
  connector,
  tasks
})
/** A task set made from the present config by the present owner; each task is its digest. */
const publish = (log: ModelLog, name: string, ...digests: ReadonlyArray<string>): Command => {
  const connector = ClusterState.connector(log.state, name)
  return {
    _tag: "PublishTaskSet",
    name,
    incarnation: connector?.incarnation ?? "none",
    revision: connector?.revision ?? 0,
    token: ClusterState.token(log.state, Item.connector(name)) ?? 0,
    digest: "whole",
    config: connector?.config ?? {},
    tasks: digests.map((digest) => ({ config: {}, digest }))
  }
}
const oneWorker = () => new ModelLog(["a"])
/** A connector with its tasks on one worker. */
const running = (name: string, ...digests: ReadonlyArray<string>) => {
  const log = oneWorker()
  log.send(put(name, { k: "1" }))
  log.send(publish(log, name, ...digests))
  return log
}
const entry = (log: ModelLog, name: string) => {
  const found = ClusterState.connector(log.state, name)
  assert.isDefined(found)
  return found
}

describe("PutConnector", () => {
  it("creates a connector of a new incarnation and places its instance in the same commit", () => {
    const log = oneWorker()
    const decision = log.decide({
      _tag: "PutConnector",
      name: "orders",
      config: { k: "1" },
      expect: "absent",
      target: "PAUSED"
    })
    assert.strictEqual(decision._tag === "Success" && decision.success.created, true)
    assert.deepStrictEqual(log.send(put("orders", { k: "1" }, { target: "PAUSED" })), [
      "connector/orders",
      "placement/connector/orders"
    ])
    const { config, held, incarnation, retries, revision, target } = entry(log, "orders")
    assert.strictEqual(incarnation, "i2")
    assert.deepStrictEqual({ revision, config, target, retries, held }, {
      revision: 1,
      config: { k: "1" },
      target: "PAUSED",
      retries: 0,
      held: false
    })
  })

  it("counts a revision for a changed config, and writes nothing for an equal one", () => {
    const log = running("orders", "x")
    assert.deepStrictEqual(log.send(put("orders", { k: "1" })), [])
    assert.deepStrictEqual(log.send(put("orders", { k: "2" })), ["connector/orders"])
    assert.strictEqual(entry(log, "orders").revision, 2)
    assert.deepStrictEqual(log.send(put("orders", { k: "2", l: "" })), ["connector/orders"])
    assert.deepStrictEqual(log.send(put("orders", { l: "", k: "2" })), [], "the order of keys is no change")
    assert.deepStrictEqual(log.send(put("orders", { k: "2" })), ["connector/orders"])
    assert.strictEqual(entry(log, "orders").revision, 4)
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a" }, "nothing moves or stops")
  })

  it("compares the config's own keys only", () => {
    const log = oneWorker()
    log.send(put("orders", { k: "1" }))
    assert.deepStrictEqual(log.send(put("orders", { toString: "1" })), ["connector/orders"])
  })

  it("keeps what is not config: incarnation, target, retries and hold", () => {
    const log = running("orders", "x")
    log.send({ _tag: "RetryReconfiguration", name: "orders" })
    log.send({ _tag: "HoldReconfiguration", name: "orders", held: true })
    const before = entry(log, "orders")
    log.send(put("orders", { k: "2" }))
    const { incarnation, held, retries, target } = entry(log, "orders")
    assert.deepStrictEqual({ incarnation, held, retries, target }, {
      incarnation: before.incarnation,
      held: true,
      retries: 1,
      target: "STARTED"
    })
  })

  it("is refused when its guard does not hold (I3)", () => {
    const log = running("orders", "x")
    const { incarnation, revision } = entry(log, "orders")
    const guarded = (name: string, expect: { incarnation: string; revision: number } | "absent") =>
      log.refusal({ _tag: "PutConnector", name, config: { k: "3" }, expect })
    assert.strictEqual(guarded("orders", "absent"), "Exists")
    assert.strictEqual(guarded("orders", { incarnation, revision: revision + 1 }), "Stale")
    assert.strictEqual(guarded("orders", { incarnation: "other", revision }), "Stale")
    assert.strictEqual(guarded("other", { incarnation, revision }), "NotFound")
    assert.isUndefined(guarded("orders", { incarnation, revision }))
    assert.isUndefined(guarded("other", "absent"))
  })

  it("leaves a connector unplaced while there is no member, until a leader recovers", () => {
    const log = new ModelLog([])
    assert.deepStrictEqual(log.send(put("orders")), ["connector/orders"])
    log.sessions = ["a"]
    log.recover()
    assert.deepStrictEqual(log.placed("orders"), { connector: "a" })
  })
})

describe("a connector that cannot be read", () => {
  const broken = () => {
    const log = running("orders", "x", "y")
    log.state = ClusterState.apply(log.state, {
      key: "connector/orders",
      value: "{",
      position: log.state.position + 1
    })
    return log
  }

  it("exists: it is put again or deleted, nothing else", () => {
    const log = broken()
    assert.strictEqual(log.refusal(put("orders", {}, { expect: "absent" })), "Exists")
    assert.strictEqual(log.refusal(target("orders", "PAUSED")), "Stale")
    assert.strictEqual(log.refusal({ _tag: "RetryReconfiguration", name: "orders" }), "Stale")
    assert.strictEqual(log.refusal(restart("orders", true)), "Stale")
    assert.strictEqual(log.refusal(publish(log, "orders", "x")), "NotFound")
    log.send(remove("orders"))
    assert.isUndefined(ClusterState.unreadable(log.state, "orders"))
    log.confirmAll()
    assert.deepStrictEqual(log.placed("orders"), {})
  })

  it("is a new incarnation when it is put again, and what ran before is released first (I5)", () => {
    const log = broken()
    const token = ClusterState.token(log.state, Item.connector("orders"))
    log.send(put("orders", { k: "2" }))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a->", 0: "a->", 1: "a->" })
    log.confirmAll()
    assert.deepStrictEqual(log.placed("orders"), { connector: "a" })
    assert.notStrictEqual(ClusterState.token(log.state, Item.connector("orders")), token)
    assert.isUndefined(ClusterState.taskSet(log.state, "orders"), "the old set does not count (I4)")
  })
})

describe("PublishTaskSet", () => {
  it("writes the set whole and places its tasks in the same commit (I4)", () => {
    const log = oneWorker()
    log.send(put("orders"))
    assert.deepStrictEqual(log.send(publish(log, "orders", "x", "y")), [
      "tasks/orders",
      "placement/0/orders",
      "placement/1/orders"
    ])
    const set = ClusterState.taskSet(log.state, "orders")
    assert.deepStrictEqual(set?.tasks.map((task) => task.digest), ["x", "y"])
    assert.strictEqual(set?.incarnation, entry(log, "orders").incarnation)
    assert.strictEqual(set?.revision, 1)
  })

  it("is refused from an older config, an older owner, for another incarnation, and when not started (I3)", () => {
    const log = running("orders", "x")
    const old = publish(log, "orders", "y")
    log.send(put("orders", { k: "2" }))
    assert.strictEqual(log.refusal(old), "Stale", "an older revision")
    const fromOldOwner = publish(log, "orders", "y")
    log.send(restart("orders", true))
    assert.strictEqual(log.refusal(fromOldOwner), "Stale", "an owner that is asked to let go")
    log.confirmAll()
    assert.strictEqual(log.refusal(fromOldOwner), "Stale", "an older token")
    const paused = publish(log, "orders", "y")
    log.send(target("orders", "PAUSED"))
    assert.strictEqual(log.refusal(paused), "Stopped")
    log.send(remove("orders"))
    assert.strictEqual(log.refusal(paused), "NotFound")
    log.send(put("orders", { k: "2" }))
    log.confirmAll()
    log.send(put("orders", { k: "3" }))
    assert.strictEqual(log.refusal(paused), "Stale", "another incarnation of the same revision")
  })

  it("hands over: unchanged tasks go on, new and changed ones wait for all that is removed or changed (I6)", () => {
    const log = running("orders", "x", "y", "z")
    const unchanged = ClusterState.token(log.state, Item.task("orders", 0))
    log.send(publish(log, "orders", "x", "Y"))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a", 1: "a->", 2: "a->" })
    log.send(publish(log, "orders", "x", "Y", "Z", "new"))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a", 1: "a->", 2: "a->" }, "the new task waits")
    const [first, second] = log.releasing()
    assert.isDefined(first)
    assert.isDefined(second)
    log.send(confirmation([first]))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a", 1: "-", 2: "a->" })
    log.send(confirmation([second]))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a", 1: "a", 2: "a", 3: "a" })
    assert.strictEqual(
      ClusterState.token(log.state, Item.task("orders", 0)),
      unchanged,
      "an unchanged task is not touched"
    )
  })

  it("moves revision and digest in one record when the tasks are the same, and restarts nothing (law 9)", () => {
    const log = running("orders", "x", "y")
    log.send(put("orders", { k: "2" }))
    assert.deepStrictEqual(log.send(publish(log, "orders", "x", "y")), ["tasks/orders"])
    assert.strictEqual(ClusterState.taskSet(log.state, "orders")?.revision, 2)
  })

  it("waits for the tasks of an earlier incarnation (I5, I6)", () => {
    const log = running("orders", "x", "y")
    log.send(remove("orders"))
    log.send(put("orders"))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a->", 0: "a->", 1: "a->" })
    const instance = log.releasing().filter((item) => item.task === undefined)
    log.send(confirmation(instance))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a->", 1: "a->" })
    log.send(publish(log, "orders", "x"))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a->", 1: "a->" })
    log.confirmAll()
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a" })
  })
})

describe("SetTarget", () => {
  it("pauses and resumes without touching a placement, and writes nothing twice", () => {
    const log = running("orders", "x")
    for (const to of ["PAUSED", "STARTED"] as const) {
      assert.deepStrictEqual(log.send(target("orders", to)), ["connector/orders"])
      assert.deepStrictEqual(log.send(target("orders", to)), [])
    }
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a" })
    assert.strictEqual(entry(log, "orders").revision, 1, "a target is no config")
  })

  it("removes the tasks when it stops, and keeps the instance's place", () => {
    const log = running("orders", "x", "y")
    log.send(target("orders", "STOPPED"))
    assert.deepStrictEqual(ClusterState.taskSet(log.state, "orders")?.tasks, [])
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a->", 1: "a->" })
    log.confirmAll()
    assert.deepStrictEqual(log.placed("orders"), { connector: "a" })
    assert.deepStrictEqual(log.send(target("orders", "STOPPED")), [])
    log.send(target("orders", "STARTED"))
    log.send(publish(log, "orders", "x"))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a" })
  })

  it("stops a task that was about to restart for good", () => {
    const log = running("orders", "x")
    log.send(restart("orders", false, 0))
    const answered = log.releasing()
    log.send(target("orders", "STOPPED"))
    log.send(confirmation(answered))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a->" }, "the older request is not open any more")
    log.confirmAll()
    assert.deepStrictEqual(log.placed("orders"), { connector: "a" })
  })

  it("lets a parked lane go when it resumes", () => {
    const log = running("orders", "x")
    log.send({ _tag: "HoldReconfiguration", name: "orders", held: true })
    assert.deepStrictEqual(log.send(target("orders", "STARTED")), ["connector/orders"])
    assert.isFalse(entry(log, "orders").held)
  })

  it("is refused for a connector that does not exist", () => {
    assert.strictEqual(oneWorker().refusal(target("orders", "PAUSED")), "NotFound")
  })
})

describe("DeleteConnector", () => {
  it("removes config and task set, and asks every owner to let go", () => {
    const log = running("orders", "x")
    assert.deepStrictEqual(log.send(remove("orders")), [
      "connector/orders",
      "tasks/orders",
      "placement/connector/orders",
      "placement/0/orders"
    ])
    assert.strictEqual(log.refusal(remove("orders")), "NotFound")
    log.confirmAll()
    assert.deepStrictEqual(log.placed("orders"), {})
  })

  it("forgets what is released already, also in the middle of a hand-over", () => {
    const log = running("orders", "x", "y")
    log.send(publish(log, "orders", "X", "Y"))
    const [first] = log.releasing()
    assert.isDefined(first)
    log.send(confirmation([first]))
    log.send(remove("orders"))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a->", 1: "a->" })
    log.confirmAll()
    assert.deepStrictEqual(log.placed("orders"), {})
  })
})

describe("Restart", () => {
  it("lets go of what was named and places it again, marked as restarting", () => {
    const log = running("orders", "x", "y")
    assert.deepStrictEqual(log.send(restart("orders", true, 1)), ["placement/connector/orders", "placement/1/orders"])
    assert.deepStrictEqual(log.send(restart("orders", true, 1)), [], "it is asked already")
    log.confirmAll()
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a", 1: "a" })
    const restarting = [undefined, 0, 1].map((task) => {
      const record = ClusterState.placement(log.state, { connector: "orders", task })
      return record?._tag === "Owned" && record.restarting === true
    })
    assert.deepStrictEqual(restarting, [true, false, true])
  })

  it("is refused for a connector or a task that does not exist, as a whole", () => {
    const log = running("orders", "x")
    assert.strictEqual(log.refusal(restart("other", true)), "NotFound")
    assert.strictEqual(log.refusal(restart("orders", true, 0, 1)), "NotFound")
  })
})

describe("ConfirmRelease", () => {
  it("takes effect once, for the request it answers only", () => {
    const log = running("orders", "x")
    assert.deepStrictEqual(log.send({ _tag: "ConfirmRelease", items: [{ connector: "orders", position: 2 }] }), [])
    log.send(restart("orders", false, 0))
    const [request] = log.releasing()
    assert.isDefined(request)
    const confirm = (position: number, times: number): Command => ({
      _tag: "ConfirmRelease",
      items: Array.from({ length: times }, () => ({ connector: "orders", task: 0, position }))
    })
    assert.deepStrictEqual(log.send(confirm(request.position - 1, 1)), [], "an older request")
    assert.deepStrictEqual(log.send(confirm(request.position, 2)), ["placement/0/orders"], "one record for one item")
    assert.deepStrictEqual(log.send(confirm(request.position, 1)), [], "answered before")
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "a" })
  })

  it("ignores items that nobody knows", () => {
    const items = [{ connector: "ghost", task: 3, position: 1 }]
    assert.deepStrictEqual(oneWorker().send({ _tag: "ConfirmRelease", items }), [])
  })
})

describe("RetryReconfiguration and HoldReconfiguration", () => {
  it("count retries, and hold and let go once", () => {
    const log = running("orders", "x")
    const hold = (held: boolean): Command => ({ _tag: "HoldReconfiguration", name: "orders", held })
    assert.deepStrictEqual(log.send(hold(false)), [])
    assert.deepStrictEqual(log.send(hold(true)), ["connector/orders"])
    assert.deepStrictEqual(log.send(hold(true)), [])
    log.send({ _tag: "RetryReconfiguration", name: "orders" })
    const { held, retries, revision } = entry(log, "orders")
    assert.deepStrictEqual({ held, retries, revision }, { held: false, retries: 1, revision: 1 }, "a retry lets go")
  })

  it("are refused for a connector that is not there or not started", () => {
    const log = running("orders", "x")
    for (const to of ["PAUSED", "STOPPED"] as const) {
      log.send(target("orders", to))
      assert.strictEqual(log.refusal({ _tag: "RetryReconfiguration", name: "orders" }), "Stopped")
      assert.strictEqual(log.refusal({ _tag: "HoldReconfiguration", name: "orders", held: true }), "Stopped")
    }
    assert.strictEqual(log.refusal({ _tag: "RetryReconfiguration", name: "other" }), "NotFound")
    assert.strictEqual(log.refusal({ _tag: "HoldReconfiguration", name: "other", held: true }), "NotFound")
  })
})

describe("recover", () => {
  it("gives the cluster its identity once, and has nothing to do for what the living own", () => {
    const log = running("orders", "x")
    assert.deepStrictEqual(log.recover(), ["cluster"])
    assert.strictEqual(log.state.cluster?.id, "cluster-1")
    assert.deepStrictEqual(log.recover(), [])
  })

  it("places what sessions owned that are no members, also what they were asked to let go", () => {
    const log = running("orders", "x", "y", "z")
    log.send(restart("orders", false, 1))
    log.sessions = ["b"]
    log.recover()
    assert.deepStrictEqual(log.placed("orders"), { connector: "b", 0: "b", 1: "b", 2: "b" })
    const record = ClusterState.placement(log.state, Item.task("orders", 1))
    assert.isTrue(record?._tag === "Owned" && record.restarting, "the restart that was asked for")
  })

  it("forgets leftovers of connectors and tasks that are gone", () => {
    const log = running("orders", "x", "y")
    log.send(put("other"))
    log.send(publish(log, "orders", "x"))
    log.send(remove("other"))
    log.sessions = ["b"]
    log.recover()
    assert.deepStrictEqual(log.placed("orders"), { connector: "b", 0: "b" })
    assert.deepStrictEqual(log.placed("other"), {})
  })

  it("leaves what the living have to let go of with them", () => {
    const log = running("orders", "x")
    log.send(remove("orders"))
    log.recover()
    assert.deepStrictEqual(log.placed("orders"), { connector: "a->", 0: "a->" })
  })

  it("goes on with a hand-over: a new task waits while a member still runs what the set removed (I6)", () => {
    const log = new ModelLog(["a", "b"])
    log.send(put("orders"))
    log.send(publish(log, "orders", "x", "y", "z"))
    assert.deepStrictEqual(log.placed("orders"), { connector: "a", 0: "b", 1: "a", 2: "b" })
    log.send(publish(log, "orders", "x", "Y", "Z", "new"))
    log.sessions = ["b", "c"]
    log.recover()
    assert.deepStrictEqual(log.placed("orders"), { connector: "c", 0: "b", 1: "-", 2: "b->" })
    log.confirmAll()
    assert.deepStrictEqual(log.placed("orders"), { connector: "c", 0: "b", 1: "b", 2: "c", 3: "b" })
  })

  it("releases what the dead owned when there is nobody to take it", () => {
    const log = running("orders", "x")
    log.sessions = []
    log.recover()
    assert.deepStrictEqual(log.placed("orders"), { connector: "-", 0: "-" })
  })

  it("leaves the items of a connector that cannot be read with the living and takes them from the dead", () => {
    const log = new ModelLog(["a", "b"])
    log.send(put("orders"))
    log.send(publish(log, "orders", "x", "y"))
    log.state = ClusterState.apply(log.state, { key: "connector/orders", value: "{", position: log.state.position + 1 })
    log.sessions = ["b"]
    log.recover()
    assert.deepStrictEqual(log.placed("orders"), { 0: "b" })
  })
})

describe("any sequence of commands and confirmations", () => {
  const names = ["orders", "users"]
  const step = Arbitrary.schema(Schema.Struct({
    kind: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 13 })),
    name: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    n: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))
  }))
  type Step = { readonly kind: number; readonly name: number; readonly n: number }

  /** Who ran what before and after a commit, and whether the commit may do so. */
  const checkCommit = (before: ClusterState.ClusterState, log: ModelLog) => {
    for (const name of names) {
      const was = ClusterState.placements(before, name)
      const now = ClusterState.placements(log.state, name)
      for (const [item, record] of now) {
        if (record._tag !== "Owned" || was.get(item)?.position === record.position) continue
        const from = was.get(item)
        const free = from === undefined || from._tag === "Released"
        const confirmed = from?._tag === "Releasing"
        const dead = from !== undefined && from._tag !== "Released" && !log.sessions.includes(from.session)
        assert.isTrue(free || confirmed || dead, `${item}/${name} is placed while ${JSON.stringify(from)} (I5)`)
        assert.include(log.sessions, record.session)
        if (item === "connector") continue
        for (const [other, open] of now) {
          const handsOver = open._tag === "Releasing" && (open.reason === "changed" || open.reason === "removed")
          assert.isFalse(
            other !== "connector" && handsOver,
            `task ${item} is placed while task ${other} still runs (I6)`
          )
        }
      }
    }
  }

  /** What holds after every commit. */
  const checkState = (log: ModelLog) => {
    for (const name of names) {
      const connector = ClusterState.connector(log.state, name)
      const set = ClusterState.taskSet(log.state, name)
      assert.isTrue(set === undefined || set.incarnation === connector?.incarnation, "I4")
      const placements = ClusterState.placements(log.state, name)
      const pending = [...placements.values()].some((record) => record._tag === "Releasing")
      for (const item of ClusterState.items(log.state, name)) {
        const placed = placements.get(item.task ?? "connector")?._tag === "Owned"
        assert.isTrue(placed || pending, `${Item.format(item)} is wanted, not placed, and nothing is pending`)
      }
      if (connector === undefined) {
        for (const record of placements.values()) assert.strictEqual(record._tag, "Releasing")
      }
    }
  }

  const perform = (log: ModelLog, { kind, n, name: index }: Step): void => {
    const name = names[index] ?? "orders"
    const digests = ["x", "y", "z", "X", "Y"]
    switch (kind) {
      case 0:
        return void log.offer(put(name, { n: `${n}` }))
      case 1:
        return void log.offer(remove(name))
      case 2:
        return void log.offer(target(name, (["STARTED", "PAUSED", "STOPPED"] as const)[n % 3] ?? "STARTED"))
      case 3:
        return void log.offer(restart(name, n % 2 === 0, ...(n > 2 ? [n - 3] : [])))
      case 4:
        return void log.offer({ _tag: "RetryReconfiguration", name })
      case 5: {
        log.sessions = n === 0 ? ["a", "b"] : n === 1 ? ["b"] : n === 2 ? ["c", "a"] : log.sessions
        return void log.recover()
      }
      case 6:
      case 7: {
        const items = log.releasing().filter((_, at) => at % 2 === n % 2)
        return void log.offer(confirmation([...items, ...items.slice(0, 1)]))
      }
      case 8:
        return void log.offer({
          _tag: "ConfirmRelease",
          items: [{ connector: name, task: n, position: log.state.position - n }]
        })
      case 9:
        return void log.commit(LeaderDecision.balance(log.state, log))
      case 10: {
        log.members = log.members.map((one, at) => ({ ...one, draining: at === n }))
        return
      }
      default:
        return void log.offer(publish(log, name, ...digests.slice(n % 4, n % 4 + (kind - 10))))
    }
  }

  it.prop("owns no item twice, hands over in order, and leaves nothing behind", [
    Arbitrary.array(step, { maxLength: 80 })
  ], ([steps]) => {
    const log = new ModelLog(["a", "b"])
    for (const one of steps) {
      const before = log.state
      perform(log, one)
      checkCommit(before, log)
      checkState(log)
    }
    for (const name of names) log.offer(remove(name))
    // what the dead had is released by the leader, the rest by those who have it
    log.recover()
    log.confirmAll()
    assert.strictEqual(HashMap.size(log.state.placements), 0)
    assert.strictEqual(HashMap.size(log.state.connectors) + HashMap.size(log.state.taskSets), 0)
  }, { arbitrary: { runs: 200, size: 80 }, timeout: 60_000 })
})
