import { assert, describe, it } from "@effect/vitest"
import { ClusterState, ConfigRecord, Item, type LeaderCommand, type Membership, PlacementPolicy } from "@kelpie/core"
import { LeaderDecision, Placement } from "@kelpie/herder"
import { Arbitrary, Schema } from "effect"
import * as Loads from "../src/internal/loads.ts"
import { confirmation, member, ModelLog } from "./ModelLog.ts"

type Members = ReadonlyArray<Membership.Member>
type Config = Readonly<Record<string, string>>
type Command = LeaderCommand.LeaderCommand

const policy = PlacementPolicy.defaults
const put = (name: string, config: Config = {}): Command => ({ _tag: "PutConnector", name, config, expect: "any" })
const remove = (name: string): Command => ({ _tag: "DeleteConnector", name })
const publish = (log: ModelLog, name: string, tasks: number): Command => {
  const { config = {}, incarnation = "", revision = 0 } = ClusterState.connector(log.state, name) ?? {}
  return {
    _tag: "PublishTaskSet",
    name,
    incarnation,
    revision,
    token: ClusterState.token(log.state, Item.connector(name)) ?? 0,
    digest: "",
    config,
    tasks: Array.from({ length: tasks }, (_, task) => ({ config: {}, digest: `${task}` }))
  }
}

/** A log with such members. */
const logOf = (...members: Members): ModelLog => {
  const log = new ModelLog([])
  log.members = members
  return log
}

/** Connectors whose items somebody owns already: the instance first, then the tasks. */
const owned = (
  members: Members,
  connectors: Readonly<Record<string, string>>,
  configs: Record<string, Config> = {}
) => {
  const log = logOf(...members)
  for (const [name, owners] of Object.entries(connectors)) {
    const config = configs[name] ?? {}
    const tasks = Array.from({ length: owners.length - 1 }, () => ({ config: {}, digest: "" }))
    const entry: ConfigRecord.ConnectorEntry = {
      incarnation: name,
      revision: 1,
      config,
      target: "STARTED",
      retries: 0,
      held: false
    }
    log.commit([
      ConfigRecord.connector(name, entry),
      ConfigRecord.taskSet(name, { incarnation: name, revision: 1, digest: "", config, tasks }),
      ...[...owners].flatMap((session, at) =>
        session === "-" ? [] : [
          ConfigRecord.placement(at === 0 ? Item.connector(name) : Item.task(name, at - 1), { _tag: "Owned", session })
        ]
      )
    ])
  }
  return log
}

const names = (log: ModelLog): ReadonlyArray<string> => ClusterState.names(log.state)
/** `a` for an owner, `a>` for one that is asked to let go, `-` for nobody; the instance first. */
const shown = (log: ModelLog, name: string): string =>
  ClusterState.items(log.state, name).map((item) => {
    const record = ClusterState.placement(log.state, item)
    return record?._tag === "Owned" ? record.session : record?._tag === "Releasing" ? `${record.session}>` : "-"
  }).join("")
const loads = (log: ModelLog): ReadonlyArray<number> =>
  log.members.map(({ session }) =>
    names(log).flatMap((name) => [...ClusterState.placements(log.state, name).values()])
      .filter((record) => record._tag === "Owned" && record.session === session).length
  )
const balance = (log: ModelLog): ReadonlyArray<string> =>
  Placement.balance(log.state, log.members, policy).map(Item.format)

const [a, b, c] = [member("a"), member("b"), member("c")]

describe("a new item", () => {
  it("goes to the least loaded member, of equals to the oldest", () => {
    const log = owned([a, b, c], { x: "abb", y: "ac" })
    log.send(put("one"))
    assert.deepStrictEqual(shown(log, "one"), "c")
    const level = owned([b, a], { x: "ab" })
    level.send(put("one"))
    assert.deepStrictEqual(shown(level, "one"), "b")
  })

  it("goes to the one with fewest items of its connector when loads are equal", () => {
    const log = owned([a, b], { other: "bb" }, {})
    log.send(put("x"))
    log.send(publish(log, "x", 2))
    assert.deepStrictEqual(shown(log, "x"), "aab", "first to be level, then away from the others")
  })

  it("spreads the tasks of a connector", () => {
    const log = logOf(a, b, c)
    log.send(put("x"))
    log.send(publish(log, "x", 8))
    assert.deepStrictEqual(loads(log), [3, 3, 3])
  })

  it("needs the plugin of its connector", () => {
    const log = logOf(member("a", { plugins: ["Lines"] }), member("b", { plugins: ["Lines", "Table"] }))
    log.send(put("x", { "connector.class": " Table " }))
    log.send(publish(log, "x", 3))
    assert.deepStrictEqual(shown(log, "x"), "bbbb")
    log.send(put("y", { "connector.class": "Lines" }))
    assert.deepStrictEqual(shown(log, "y"), "a")
  })

  it("needs all labels that its connector asks for", () => {
    const log = logOf(
      member("a", { labels: { gpu: "true" } }),
      member("b", { labels: { gpu: "true", zone: "b" } }),
      member("c", { labels: { gpu: "true", zone: "a", disk: "fast" } })
    )
    log.send(put("x", { "placement.labels": "gpu=true,zone=a" }))
    log.send(publish(log, "x", 2))
    assert.deepStrictEqual(shown(log, "x"), "ccc")
    log.send(put("y", { "placement.labels": "toString=x" }))
    assert.deepStrictEqual(shown(log, "y"), "-")
  })

  it("goes to a draining member only while no other is able", () => {
    const log = logOf(member("a", { draining: true }), b, member("c", { draining: true, plugins: ["Table"] }))
    log.send(put("x"))
    log.send(publish(log, "x", 2))
    assert.deepStrictEqual(shown(log, "x"), "bbb")
    log.members = [member("a", { draining: true }), member("b", { plugins: ["Lines"] })]
    log.send(put("y", { "connector.class": "Table" }))
    assert.deepStrictEqual(shown(log, "y"), "a")
  })

  it("waits unplaced while nobody is able, and is placed once somebody is", () => {
    const log = logOf(member("a", { plugins: ["Lines"] }), member("b", { plugins: ["Lines"] }))
    log.send(put("x", { "connector.class": "Table" }))
    assert.deepStrictEqual(shown(log, "x"), "-")
    log.recover()
    assert.deepStrictEqual(shown(log, "x"), "-")
    log.members = [...log.members, member("c", { plugins: ["Table"] })]
    log.recover()
    assert.deepStrictEqual(shown(log, "x"), "c")
  })

  it("is not given to the only member when that one is not able", () => {
    const log = logOf(member("a", { plugins: ["Lines"] }))
    log.send(put("x", { "connector.class": "Table" }))
    assert.deepStrictEqual(shown(log, "x"), "-")
  })
})

describe("whyUnplaced", () => {
  const config = { "connector.class": "Table", "placement.labels": "gpu=true,zone=a" }
  const gpu = { gpu: "true", zone: "a" }
  it.each<readonly [string | undefined, Members]>([
    ["there is no worker", []],
    ["no worker has the plugin Table", [member("a", { plugins: ["Lines"], labels: gpu })]],
    ["no worker has the labels gpu=true,zone=a", [a, member("b", { labels: { gpu: "true", zone: "b" } })]],
    [
      "no worker has both the plugin Table and the labels gpu=true,zone=a",
      [a, member("b", { plugins: ["Lines"], labels: gpu })]
    ],
    [undefined, [a, member("b", { plugins: ["Table"], labels: gpu, draining: true })]]
  ])("says %s", (why, members) => {
    assert.strictEqual(Placement.whyUnplaced(members, config), why)
  })

  it("says what is wrong with labels that cannot be read", () => {
    assert.include(Placement.whyUnplaced([a], { "placement.labels": "${env:LABELS}" }), "form name=value")
  })
})

describe("balance", () => {
  it("moves nothing while members differ by no more than two items, or 20 % of the average", () => {
    assert.deepStrictEqual(balance(owned([a, b], { x: "aaab", y: "ab" })), [])
    assert.deepStrictEqual(balance(owned([a, b], { x: `${"a".repeat(22)}${"b".repeat(18)}` })), [])
    assert.deepStrictEqual(balance(owned([a, b], { x: "aaaab" })), ["x-2"])
    assert.deepStrictEqual(balance(owned([a, b], { x: `${"a".repeat(23)}${"b".repeat(18)}` })), ["x-21", "x-20"])
  })

  it("takes thresholds and bounds from the policy", () => {
    const log = owned([a, b], { x: "aaaaab" })
    const moved = (change: Partial<typeof policy>) =>
      Placement.balance(log.state, log.members, { ...policy, ...change }).length
    assert.deepStrictEqual([moved({}), moved({ rebalanceMoves: 1 }), moved({ rebalanceThreshold: 2 })], [1, 2, 0])
  })

  it("gives to a member that owns nothing, however small the difference is in share", () => {
    assert.deepStrictEqual(balance(owned([a, b], { x: "aa" })), ["x-0"])
    assert.deepStrictEqual(balance(owned([a, b], { x: "a" })), [])
    assert.deepStrictEqual(balance(owned([a, b, member("c", { draining: true })], { x: "ab", y: "ab" })), [])
  })

  it("goes on while an item is on its way, within the bound", () => {
    const log = owned([a, b], { x: `${"a".repeat(22)}${"b".repeat(18)}` })
    log.commit([ConfigRecord.placement(Item.task("x", 0), { _tag: "Releasing", session: "a", reason: "moved" })])
    assert.deepStrictEqual(balance(log), ["x-20"], "21 without the one that moves, and 18 with it are 20 each")
    log.commit(
      ["x-20", "x-19", "x-18"].map((_, at) =>
        ConfigRecord.placement(Item.task("x", 20 - at), { _tag: "Releasing", session: "a", reason: "moved" })
      )
    )
    assert.deepStrictEqual(balance(log), [], "four of 40 are on their way")
  })

  it("counts what nobody owns as with those who will get it", () => {
    assert.deepStrictEqual(balance(owned([a, b], { x: "aaaaaaab----" })), [], "7 and 5 then")
    assert.deepStrictEqual(balance(owned([a, b], { x: "aaaaaaaaab--" })), ["x-7"])
  })

  it("does not move what is let go anyway, and counts that it will be placed", () => {
    const log = owned([a, b], { x: "aaaa", y: "b" })
    log.send({ _tag: "Restart", name: "x", connector: true, tasks: [0] })
    assert.deepStrictEqual(balance(log), [], "the two that restart may go to b")
  })

  it("empties draining members first, whatever the loads are", () => {
    const log = owned([member("a", { draining: true }), b, c], { x: "ab", y: "cca", z: "bc" })
    assert.deepStrictEqual(balance(log), ["x"])
    assert.deepStrictEqual(
      Placement.balance(log.state, log.members, { ...policy, rebalanceMoves: 1 }).map(Item.format),
      ["x", "y-1"]
    )
    const full = owned([b, member("a", { draining: true }), c], { x: "bbbbb", y: "a" })
    assert.deepStrictEqual(
      Placement.balance(full.state, full.members, { ...policy, rebalanceMoves: 0.4 }).map(Item.format),
      ["y", "x-3"]
    )
  })

  it("leaves with a draining member what nobody else can run", () => {
    const log = owned([member("a", { draining: true, plugins: ["Table"] }), member("b", { plugins: ["Lines"] })], {
      x: "aaa"
    }, { x: { "connector.class": "Table" } })
    assert.deepStrictEqual(balance(log), [])
  })

  it("moves what its owner cannot run any more, if another can", () => {
    const members = [a, member("b", { labels: { zone: "b" } })]
    assert.deepStrictEqual(balance(owned(members, { x: "ab" }, { x: { "placement.labels": "zone=b" } })), ["x"])
    assert.deepStrictEqual(balance(owned(members, { x: "ab" }, { x: { "placement.labels": "zone=c" } })), [])
  })

  it("compares only members that can take from each other", () => {
    const members = [member("a", { plugins: ["Lines"] }), member("b", { plugins: ["Table"] }), c]
    const lines = { "connector.class": "Lines" }
    const table = { "connector.class": "Table" }
    assert.deepStrictEqual(balance(owned(members.slice(0, 2), { x: "aaaaaa", y: "b" }, { x: lines, y: table })), [])
    assert.deepStrictEqual(
      balance(owned(members, { x: "aaaa", y: "ccc", z: "b" }, { x: lines, y: table, z: table })),
      ["x-2"],
      "a cannot give to b, but to c, and c to b"
    )
  })

  it("moves the items whose connector is spread better by it", () => {
    const log = owned([a, b], { u: "a", v: "aaaab", w: "ab", x: "aaa" })
    assert.deepStrictEqual(
      Placement.balance(log.state, log.members, { ...policy, rebalanceMoves: 1 }).map(Item.format),
      ["v-2", "x-1", "u"],
      "v has four on a and one on b, x has three and none; then x has two and one, u one and none"
    )
  })

  it("does not depend on the order in which the records were written", () => {
    // their hashes are equal, so a map keeps them in the order of their writes
    const connectors = { "8t": "bb", "fj": "bbb" }
    const configs = { "8t": { "connector.class": "Lines" }, "fj": { "connector.class": "Table" } }
    const turned = { "fj": connectors["fj"], "8t": connectors["8t"] }
    const members = [member("a", { plugins: ["Lines"] }), b, member("c", { plugins: ["Table"] })]
    const [one, other] = [owned(members, connectors, configs), owned(members, turned, configs)]
    assert.notDeepEqual(
      [...one.state.connectors].map(([name]) => name),
      [...other.state.connectors].map(([name]) => name)
    )
    const all = { ...policy, rebalanceMoves: 1 }
    const moves = Placement.balance(one.state, members, all)
    assert.strictEqual(moves.length, 3)
    assert.deepStrictEqual(Placement.balance(other.state, members, all), moves)

    for (const log of [one, other]) {
      log.members = [member("d"), member("e")]
      log.recover()
    }
    for (const name of ["8t", "fj"]) assert.strictEqual(shown(one, name), shown(other, name))
  })

  it("moves nothing because of a delete", () => {
    const log = owned([a, b], { u: "ab", v: "ab", w: "bb" })
    assert.deepStrictEqual(log.send(remove("w")), ["connector/w", "tasks/w", "placement/connector/w", "placement/0/w"])
    assert.deepStrictEqual(balance(log), [])
    log.confirmAll()
    log.send(remove("u"))
    assert.deepStrictEqual(balance(log), [])
  })

  it("leaves what a connector runs that cannot be read", () => {
    const log = owned([a, b], { x: "aaaaa" })
    log.state = ClusterState.apply(log.state, { key: "connector/x", value: "{", position: 1000 })
    assert.deepStrictEqual(balance(log), [])
  })
})

describe("a move", () => {
  it("is no load of the member that it leaves", () => {
    const log = owned([a, b], { x: "aa", y: "bb" })
    log.commit([ConfigRecord.placement(Item.connector("y"), { _tag: "Releasing", session: "b", reason: "moved" })])
    log.send(put("z"))
    assert.deepStrictEqual(shown(log, "z"), "b")
    log.send(remove("x"))
    log.send(put("z2"))
    assert.deepStrictEqual(shown(log, "z2"), "a", "nor is what is removed")
    const restarting = owned([a, b], { x: "aa", y: "bb" })
    restarting.send({ _tag: "Restart", name: "y", connector: true, tasks: [0] })
    restarting.send(put("z"))
    assert.deepStrictEqual(shown(restarting, "z"), "a", "what restarts is")
  })

  it("goes to the least loaded member, and the next begins in the commit that ends the last", () => {
    const log = owned([a, b, c], { x: "aaaaa", y: "bbbbb" })
    log.commit(LeaderDecision.balance(log.state, log))
    assert.deepStrictEqual([shown(log, "x"), shown(log, "y")], ["aaaaa>", "bbbbb"])
    const keys = log.confirmAll()
    assert.deepStrictEqual(keys, ["placement/3/x", "placement/3/y"])
    assert.deepStrictEqual([shown(log, "x"), shown(log, "y")], ["aaaac", "bbbbb>"])
    log.confirmAll()
    assert.deepStrictEqual(log.confirmAll(), ["placement/2/x"], "3, 4 and 3 are level")
    assert.deepStrictEqual(loads(log), [3, 4, 3])
  })

  it("goes on under a new leader, also when the member that had the last one is gone", () => {
    const log = owned([a, b, c], { x: `${"a".repeat(11)}${"b".repeat(11)}${"c".repeat(9)}`, y: "b" })
    log.commit([ConfigRecord.placement(Item.connector("y"), { _tag: "Releasing", session: "d", reason: "moved" })])
    log.recover()
    assert.deepStrictEqual(shown(log, "y"), "c")
    assert.deepStrictEqual(loads(log), [11, 11, 10], "within one: there is no more to do")
    const other = owned([a, b, c], { x: `${"a".repeat(12)}${"b".repeat(12)}${"c".repeat(9)}`, y: "b" })
    other.commit([ConfigRecord.placement(Item.connector("y"), { _tag: "Releasing", session: "d", reason: "moved" })])
    other.recover()
    assert.deepStrictEqual(loads(other), [11, 12, 10], "one more is on its way")
  })

  it("of a task that the next set changes or removes holds up that set (I6)", () => {
    const log = owned([a, b], { x: "abab" })
    log.commit([ConfigRecord.placement(Item.task("x", 1), { _tag: "Releasing", session: "a", reason: "moved" })])
    log.send({ ...publish(log, "x", 1), tasks: [{ config: {}, digest: "" }] } as Command)
    assert.strictEqual(ClusterState.placement(log.state, Item.task("x", 1))?._tag, "Releasing")
    log.send({ ...publish(log, "x", 1), tasks: [{ config: {}, digest: "" }, { config: {}, digest: "new" }] } as Command)
    assert.deepStrictEqual(shown(log, "x"), "aba>", "the new task 1 waits for the old one")
    log.send({ _tag: "PutConnector", name: "x", config: { k: "2" }, expect: "any" })
    const record = ClusterState.placement(log.state, Item.task("x", 1))
    assert.isTrue(record?._tag === "Releasing" && record.reason === "removed")
  })
})

describe("any placements and members", () => {
  const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
  const worker = Schema.Struct({ plugins: upTo(5), zone: upTo(3), draining: upTo(4) })
  const items = Schema.Struct({ plugin: upTo(1), zone: upTo(4), owners: Schema.Array(upTo(3)) })
  type Case = {
    readonly workers: ReadonlyArray<typeof worker.Type>
    readonly connectors: ReadonlyArray<typeof items.Type>
  }
  const cases = (most: number, ofEach: number) =>
    Arbitrary.all({
      workers: Arbitrary.array(Arbitrary.schema(worker), { minLength: 2, maxLength: 4 }),
      connectors: Arbitrary.array(
        Arbitrary.map(Arbitrary.schema(items), (one) => ({ ...one, owners: one.owners.slice(0, ofEach) })),
        { minLength: 1, maxLength: most }
      )
    })
  const numbers = Arbitrary.array(Arbitrary.schema(upTo(1000)), { maxLength: 30 })

  const plugins = [["Lines"], ["Table"], ["Lines", "Table"]]
  const zones = ["a", "b"]
  const memberOf = ({ draining, plugins: which, zone }: typeof worker.Type, at: number) =>
    member("abcd"[at] ?? "", {
      ...(plugins[which] === undefined ? {} : { plugins: plugins[which] }),
      ...(zones[zone] === undefined ? {} : { labels: { zone: zones[zone] } }),
      ...(draining === 0 ? { draining: true } : {})
    })
  const configOf = ({ plugin, zone }: typeof items.Type): Config => ({
    "connector.class": plugins[plugin]?.[0] ?? "",
    ...(zones[zone] === undefined ? {} : { "placement.labels": `zone=${zones[zone]}` })
  })
  /** The sessions that may own an item of such a connector. */
  const allowed = (members: Members, config: Config): ReadonlyArray<string> => {
    const zone = config["placement.labels"]?.slice("zone=".length)
    const able = members.filter((one) =>
      (one.plugins ?? plugins[2] ?? []).includes(config["connector.class"] ?? "") &&
      (zone === undefined || one.labels?.["zone"] === zone)
    )
    const staying = able.filter((one) => one.draining !== true)
    return (staying.length > 0 ? staying : able).map(({ session }) => session)
  }
  const logFor = ({ connectors, workers }: Case): ModelLog => {
    const members = workers.map(memberOf)
    const named = connectors.map((one, at) => [`c${at}`, one] as const)
    return owned(
      members,
      Object.fromEntries(
        named.map(([name, { owners }]) => [name, `a${owners.map((at) => members[at]?.session ?? "a").join("")}`])
      ),
      Object.fromEntries(named.map(([name, one]) => [name, configOf(one)]))
    )
  }
  const placed = (log: ModelLog) =>
    names(log).flatMap((name) => {
      const may = allowed(log.members, ClusterState.connector(log.state, name)?.config ?? {})
      return ClusterState.items(log.state, name).map((item) => {
        const record = ClusterState.placement(log.state, item)
        return { item, may, owner: record?._tag === "Owned" ? record.session : undefined }
      })
    })

  const squares = (counts: ReadonlyArray<number>) => counts.reduce((sum, count) => sum + count * count, 0)
  /** Tries everything: the least squared loads that can be, and the fewest moves that give them. */
  const bruteForce = (log: ModelLog) => {
    const drains = new Set(log.members.filter((one) => one.draining === true).map(({ session }) => session))
    const choices = placed(log).map(({ may, owner = "" }) => ({
      owner,
      // nobody takes what only draining members can run
      to: may.length === 0 || drains.has(owner) && may.includes(owner) ? [owner] : may
    }))
    const counts = new Map(log.members.map(({ session }) => [session, 0]))
    let best = { squares: Infinity, moves: Infinity }
    const add = (session: string, by: number) => counts.set(session, (counts.get(session) ?? 0) + by)
    const tryFrom = (at: number, moves: number): void => {
      const choice = choices[at]
      if (choice === undefined) {
        const found = { squares: squares([...counts.values()]), moves }
        if (found.squares < best.squares || found.squares === best.squares && moves < best.moves) best = found
        return
      }
      for (const session of choice.to) {
        add(session, 1)
        tryFrom(at + 1, moves + (session === choice.owner ? 0 : 1))
        add(session, -1)
      }
    }
    tryFrom(0, 0)
    return best
  }

  /** The same records, written in another order. */
  const rebuilt = ({ state }: ModelLog): ClusterState.ClusterState => {
    const writes = [...state.connectors].map(([name, entry]) => [ConfigRecord.connector(name, entry), entry] as const)
    const sets = [...state.taskSets].map(([name, entry]) => [ConfigRecord.taskSet(name, entry), entry] as const)
    const placements = [...state.placements].flatMap(([connector, records]) =>
      Array.from(
        records,
        ([task, entry]) =>
          [ConfigRecord.placement(task === "connector" ? { connector } : { connector, task }, entry), entry] as const
      )
    )
    return [...placements.reverse(), ...sets.reverse(), ...writes.reverse()].reduce(
      (all, [write, { position }]) => ClusterState.write(all, write, position),
      ClusterState.empty
    )
  }
  const known = ({ moving, sessions }: Loads.Loads) => ({ moving, sessions: Object.fromEntries(sessions) })

  /** Balances to the end; owners confirm in any order, some at a time. Gives the items that moved, in their order. */
  const settle = (log: ModelLog, order: ReadonlyArray<number>, bound: number): ReadonlyArray<string> => {
    const moved: Array<string> = []
    const commit = (writes: ReadonlyArray<ConfigRecord.Write>) => {
      for (const { entry, key } of writes) {
        if (entry !== undefined && "_tag" in entry && entry._tag === "Releasing") moved.push(key)
      }
      log.commit(writes)
      const { moving } = Loads.of(log.state)
      assert.isAtMost(moving, bound)
      const again = rebuilt(log)
      assert.deepStrictEqual(known(Loads.of(again)), known(Loads.of(log.state)))
      assert.deepStrictEqual(
        Placement.balance(again, log.members, policy),
        Placement.balance(log.state, log.members, policy),
        "nothing but the last record of each key and the members decides"
      )
    }
    for (let step = 0;; step++) {
      assert.isBelow(step, 200, "it comes to an end")
      commit(LeaderDecision.balance(log.state, log))
      const open = log.releasing()
      if (open.length === 0) return moved
      const one = (order[step % Math.max(1, order.length)] ?? 0) % open.length
      const decision = log.decide(confirmation(open.filter((_, at) => at === one || (order[at] ?? 0) % 3 === 0)))
      assert.isTrue(decision._tag === "Success")
      if (decision._tag === "Success") commit(decision.success.writes)
    }
  }

  it.prop("come to the best loads that abilities allow, with the fewest moves that give them", [
    cases(4, 2),
    numbers
  ], ([given, order]) => {
    const log = logFor(given)
    const best = bruteForce(log)
    const before = placed(log)
    const begins = balance(log).length > 0
    const moved = settle(log, order, 1)
    const after = placed(log)
    after.forEach(({ item, may, owner }, at) => {
      assert.isTrue(may.length === 0 ? owner === before[at]?.owner : may.includes(owner ?? ""), Item.format(item))
    })
    if (begins) assert.deepStrictEqual({ squares: squares(loads(log)), moves: moved.length }, best)
    else assert.deepStrictEqual(after, before)
  }, { arbitrary: { runs: 400 }, timeout: 60_000 })

  it.prop("come to within one item wherever everybody can run everything", [
    cases(10, 10),
    numbers,
    Arbitrary.schema(upTo(5))
  ], ([given, order, joins]) => {
    const log = logFor({
      workers: given.workers.map(() => ({ plugins: 3, zone: 2, draining: 1 })),
      connectors: given.connectors.map((one) => ({ ...one, zone: 2 }))
    })
    log.members = [...log.members, ...["e", "f"].slice(0, joins).map((session) => member(session))]
    const before = loads(log)
    const total = before.reduce((sum, load) => sum + load, 0)
    const average = total / before.length
    const [most, least] = [Math.max(...before), Math.min(...before)]
    const begins = most - least > Math.max(2, average / 5) || least === 0 && most > 1
    const moved = settle(log, order, Math.max(1, Math.floor(total / 10)))
    const after = loads(log)
    assert.strictEqual(moved.length > 0, begins)
    if (begins) assert.isAtMost(Math.max(...after) - Math.min(...after), 1)
    // the fullest keep the rest of the division
    const quota = [...before].sort((x, y) => y - x).map((_, at) =>
      Math.floor(average) + (at < total % before.length ? 1 : 0)
    )
    const needed = [...before].sort((x, y) => y - x).reduce(
      (sum, load, at) => sum + Math.max(0, load - (quota[at] ?? 0)),
      0
    )
    assert.strictEqual(moved.length, begins ? needed : 0)
  }, { arbitrary: { runs: 150 }, timeout: 60_000 })

  it.prop("leave a draining member with nothing that another can run", [cases(6, 5), numbers], ([given, order]) => {
    const log = logFor(given)
    const [first, ...others] = log.members
    if (first === undefined) return
    log.members = [{ ...first, draining: true }, ...others]
    settle(log, order, Math.max(1, Math.floor(placed(log).length / 10)))
    for (const { may, owner } of placed(log)) {
      if (owner === first.session) assert.isTrue(may.length === 0 || may.includes(owner))
    }
  }, { arbitrary: { runs: 150 }, timeout: 60_000 })

  it.prop("give new items to the least loaded of those that may own them", [cases(6, 4)], ([given]) => {
    const log = logFor(given)
    for (const [at, one] of given.connectors.entries()) {
      const config = configOf(one)
      const may = allowed(log.members, config)
      const before = loads(log)
      const least = Math.min(...may.map((session) => before[log.sessions.indexOf(session)] ?? Infinity))
      log.send(put(`new${at}`, config))
      const owner = shown(log, `new${at}`)
      assert.isTrue(may.length === 0 ? owner === "-" : may.includes(owner))
      if (may.length > 0) assert.strictEqual(before[log.sessions.indexOf(owner)], least)
      assert.strictEqual(Placement.whyUnplaced(log.members, config) === undefined, owner !== "-")
    }
  }, { arbitrary: { runs: 150 }, timeout: 60_000 })

  it.prop(
    "keep every item where it is when something is deleted",
    [cases(6, 4), Arbitrary.schema(upTo(5))],
    ([given, which]) => {
      const log = logFor(given)
      settle(log, [], 1000)
      const before = placed(log)
      const name = names(log)[which % names(log).length] ?? ""
      log.send(remove(name))
      log.confirmAll()
      assert.deepStrictEqual(placed(log), before.filter(({ item }) => item.connector !== name))
    },
    { arbitrary: { runs: 150 }, timeout: 60_000 }
  )
})
