import { assert, describe, it } from "@effect/vitest"
import {
  ClusterState,
  ConfigRecord,
  ConfigStore,
  Identity,
  Item,
  type LeaderCommand,
  Membership,
  type Middleware,
  PlacementPolicy,
  StoreError,
  TransientError
} from "@kelpie/core"
import { Deferred, Effect, Fiber, HashMap } from "effect"
import { TestClock } from "effect/testing"
import * as Leader from "../src/internal/leader.ts"

const unavailable = new StoreError({ kind: "Unavailable", operation: "append", detail: "no answer" })
type Append = (store: Effect.Effect<ReadonlyArray<number>>) => Effect.Effect<ReadonlyArray<number>, StoreError>
const plainly: Append = (store) => store
const landsUnanswered: Append = (store) => Effect.andThen(store, Effect.fail(unavailable))
const isLost: Append = () => Effect.fail(unavailable)

/** A log in memory; how the next appends of commands end is scripted. */
const makeEngine = () => {
  const records: Array<ConfigRecord.Encoded> = []
  /** The keys of each append that is no claim. */
  const appends: Array<ReadonlyArray<string>> = []
  const script = { next: [] as Array<Append>, claims: 0, claimFails: 0 }
  const store = (writes: ReadonlyArray<ConfigRecord.EncodedWrite>) =>
    Effect.sync(() =>
      writes.map(({ key, value }) => {
        const position = (records.at(-1)?.position ?? 0) + 3
        records.push({ key, value, position })
        return position
      })
    )
  const engine: ConfigStore.Encoded = {
    claim: Effect.suspend(() => {
      if (script.claimFails > 0) {
        script.claimFails--
        return Effect.fail(unavailable)
      }
      return Effect.succeed(++script.claims)
    }),
    append: (claim, writes) =>
      Effect.suspend(() => {
        if (claim !== script.claims) return Effect.fail(new StoreError({ kind: "Fenced", operation: "append" }))
        if (writes.some((write) => write.key === "leader")) return store(writes)
        appends.push(writes.map((write) => write.key))
        return (script.next.shift() ?? plainly)(store(writes))
      }),
    read: (after) => Effect.sync(() => records.filter((record) => record.position > after))
  }
  return {
    engine,
    records,
    appends,
    script,
    /** Somebody else claims the log and writes. */
    elsewhere: (...writes: ReadonlyArray<ConfigRecord.EncodedWrite>) =>
      Effect.andThen(
        Effect.sync(() => script.claims++),
        store([{ key: "leader", value: `{"session":"b"}` }, ...writes])
      )
  }
}

const untouched: Middleware.Middleware = (_, next) => next
const member = (session: string): Membership.Member => ({ workerId: `${session}:8083`, session })

/** A leader that has claimed the log. */
const makeLeader = Effect.fnUntraced(function*(middleware: Middleware.Middleware = untouched) {
  const world = makeEngine()
  const store = yield* ConfigStore.makeEncoded(world.engine)
  const group = { members: [member("a"), member("b")].slice(0, 1), leader: "a" as string | undefined }
  const membership = Membership.given("a:8083", Effect.sync(() => ({ ...group, self: member("a") })))
  const leader = yield* Leader.make({ store, membership, middleware })
  yield* leader.claim
  world.appends.length = 0
  let ids = 0
  return {
    ...world,
    store,
    group,
    leader,
    execute: (command: LeaderCommand.LeaderCommand, id = `id-${++ids}`) => leader.execute({ id, command }),
    names: Effect.map(store.state, ClusterState.names)
  }
})
const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })
const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

const create = (name: string, config: Record<string, string> = {}): LeaderCommand.LeaderCommand => ({
  _tag: "PutConnector",
  name,
  config,
  expect: "absent"
})
const remove = (name: string): LeaderCommand.LeaderCommand => ({ _tag: "DeleteConnector", name })

/** Somebody is asked to let an item go, so that it moves; gives the position of that. */
const moving = Effect.fnUntraced(function*(store: ConfigStore["Service"], name: string) {
  const write = ConfigRecord.placement(Item.connector(name), { _tag: "Releasing", session: "a", reason: "moved" })
  return yield* (yield* store.claim("a", Effect.succeed(true))).commit([{ write }])
})

describe("a command", () => {
  it.effect("is decided, committed and answered with the position of its effect", () =>
    Effect.gen(function*() {
      const { appends, execute, store } = yield* makeLeader()
      const outcome = yield* execute(create("orders"))
      const state = yield* store.state
      assert.deepStrictEqual(outcome, { position: state.position, created: true })
      assert.isDefined(ClusterState.connector(state, "orders"))
      assert.strictEqual(ClusterState.token(state, Item.connector("orders")), state.position)
      assert.deepStrictEqual(appends, [["connector/orders", "placement/connector/orders"]])
    }))

  it.effect("that changes nothing is answered without a commit", () =>
    Effect.gen(function*() {
      const { appends, execute } = yield* makeLeader()
      const { position } = yield* execute(create("orders"))
      const again = yield* execute({ _tag: "PutConnector", name: "orders", config: {}, expect: "any" })
      assert.deepStrictEqual(again, { position })
      assert.strictEqual(appends.length, 1)
    }))

  it.effect("that is refused says why, and the others of its group take effect", () =>
    Effect.gen(function*() {
      const { appends, execute, names } = yield* makeLeader()
      const results = yield* Effect.forEach(
        [create("a"), remove("nothing"), create("a"), remove("a"), create("a"), create("b")],
        (command) => Effect.result(execute(command)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        results.map((result) => result._tag === "Success" ? result.success.created ?? "done" : result.failure.kind),
        [true, "NotFound", "Exists", "done", true, true],
        "each is decided on what the ones before it write"
      )
      assert.deepStrictEqual(yield* names, ["a", "b"])
      assert.strictEqual(appends.length, 1)
    }))

  it.effect("is not executed by a worker that should not lead", () =>
    Effect.gen(function*() {
      const { appends, execute, group } = yield* makeLeader()
      for (const leader of ["b", undefined]) {
        group.leader = leader
        assert.strictEqual((yield* Effect.flip(execute(create("orders")))).kind, "NotLeader")
      }
      assert.deepStrictEqual(appends, [])
    }))
})

describe("group commit", () => {
  it.effect("gathers what comes while a commit is under way, and writes it in one", () =>
    Effect.gen(function*() {
      const { appends, execute, script, store } = yield* makeLeader()
      const gate = yield* Deferred.make<void>()
      script.next = [(store) => Effect.andThen(Deferred.await(gate), store)]
      const first = yield* fork(execute(create("first")))
      yield* settle
      const others = yield* Effect.forEach(Array.from({ length: 200 }), (_, n) => fork(execute(create(`c${n}`))))
      yield* settle
      assert.strictEqual(appends.length, 1)
      yield* Deferred.succeed(gate, undefined)
      const { position } = yield* Fiber.join(first)
      const outcomes = yield* Fiber.joinAll(others)
      assert.deepStrictEqual(appends.map((keys) => keys.length), [2, 400])
      const after = (yield* store.state).position
      assert.isTrue(
        outcomes.every((outcome) => outcome.created === true && outcome.position === after && after > position)
      )
    }))

  it.effect("keeps a commit bounded, and loses none of those behind it", () =>
    Effect.gen(function*() {
      const { appends, execute, store } = yield* makeLeader()
      yield* Effect.forEach(Array.from({ length: 5000 }), (_, n) => execute(create(`c${n}`)), {
        concurrency: "unbounded",
        discard: true
      })
      assert.strictEqual(HashMap.size((yield* store.state).connectors), 5000)
      assert.isTrue(appends.every((keys) => keys.length <= 4098))
      assert.isAtMost(appends.length, 5)
    }), 60_000)

  it.effect("answers the others when somebody who waits for his answer is interrupted", () =>
    Effect.gen(function*() {
      const { execute, names, script } = yield* makeLeader()
      const gate = yield* Deferred.make<void>()
      script.next = [(store) => Effect.andThen(Deferred.await(gate), store)]
      const impatient = yield* fork(execute(create("a")))
      const patient = yield* fork(execute(create("b")))
      yield* settle
      yield* Fiber.interrupt(impatient)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(patient)
      assert.deepStrictEqual(yield* names, ["a", "b"])
    }))
})

describe("a command that is sent again (I10)", () => {
  it.effect("takes effect once, and gets its first outcome for ten minutes", () =>
    Effect.gen(function*() {
      const { appends, execute } = yield* makeLeader()
      const outcome = yield* execute(create("orders"), "one")
      yield* execute(create("users"), "two")
      yield* TestClock.adjust("9 minutes")
      assert.deepStrictEqual(yield* execute(create("orders"), "one"), outcome)
      assert.strictEqual(appends.length, 2)
    }))

  it.effect("waits for the outcome of the one that is under way", () =>
    Effect.gen(function*() {
      const { appends, execute, script } = yield* makeLeader()
      const gate = yield* Deferred.make<void>()
      script.next = [(store) => Effect.andThen(Deferred.await(gate), store)]
      const first = yield* fork(execute(create("orders"), "one"))
      yield* settle
      const underWay = yield* fork(execute(create("orders"), "one"))
      const waiting = yield* fork(execute(create("users"), "two"))
      const alsoWaiting = yield* fork(execute(create("users"), "two"))
      yield* settle
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Fiber.join(underWay), yield* Fiber.join(first))
      assert.deepStrictEqual(yield* Fiber.join(alsoWaiting), yield* Fiber.join(waiting))
      assert.deepStrictEqual(appends.map((keys) => keys.length), [2, 2])
    }))

  it.effect("is decided anew when it was refused, or could not be written", () =>
    Effect.gen(function*() {
      const { execute, script } = yield* makeLeader()
      assert.strictEqual((yield* Effect.flip(execute(remove("orders"), "one"))).kind, "NotFound")
      script.next = [isLost]
      assert.strictEqual((yield* Effect.flip(execute(create("orders"), "two"))).kind, "Store")
      assert.isTrue((yield* execute(create("orders"), "two")).created)
      yield* execute(remove("orders"), "one")
    }))
})

describe("a command that comes from elsewhere (I10, I15)", () => {
  const leading = (store: ConfigStore["Service"], fence?: Leader.Ports["fence"]) =>
    Leader.make({
      store,
      fence,
      membership: Membership.given(
        "a:8083",
        Effect.succeed({ self: member("a"), members: [member("a")], leader: "a" })
      ),
      middleware: untouched
    })

  it.effect("gets its first outcome from a new leader too, for ten minutes; then its id is refused", () =>
    Effect.gen(function*() {
      const { leader, store } = yield* makeLeader()
      const id = yield* Identity.drawCommand
      const envelope = { id, command: create("orders"), remembered: true }
      const outcome = yield* leader.execute(envelope)
      const next = yield* leading(store)
      yield* next.attend
      assert.deepStrictEqual(yield* next.execute(envelope), { ...outcome, position: outcome.position })
      assert.deepStrictEqual(yield* next.outcome(id), outcome)
      yield* TestClock.adjust("11 minutes")
      yield* next.execute({ id: "another", command: create("users"), remembered: true })
      assert.strictEqual(HashMap.has((yield* store.state).outcomes, id), false, "its record is gone")
      assert.strictEqual((yield* Effect.flip(next.execute(envelope))).kind, "Stale")
    }))

  it.effect("has no effect when its time ended before its commit began", () =>
    Effect.gen(function*() {
      const { execute, leader, names, script } = yield* makeLeader()
      const gate = yield* Deferred.make<void>()
      script.next = [(store) => Effect.andThen(Deferred.await(gate), store)]
      const first = yield* fork(execute(create("a")))
      yield* settle
      const late = yield* fork(leader.execute({ id: "late", command: create("b"), budgetMillis: 1000 }))
      const patient = yield* fork(leader.execute({ id: "patient", command: create("c"), budgetMillis: 3000 }))
      yield* settle
      yield* TestClock.adjust("2 seconds")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      assert.strictEqual((yield* Effect.flip(Fiber.join(late))).kind, "Expired")
      yield* Fiber.join(patient)
      assert.deepStrictEqual(yield* names, ["a", "c"])
    }))

  it.effect("finds what an ended session owned with others, once the stores refuse its writes", () =>
    Effect.gen(function*() {
      const { leader, store } = yield* makeLeader()
      yield* leader.execute({ id: "1", command: create("orders") })
      const token = ClusterState.token(yield* store.state, Item.connector("orders"))
      const fenced: Array<unknown> = []
      const next = yield* Leader.make({
        store,
        membership: Membership.given(
          "b:8083",
          Effect.succeed({ self: member("b"), members: [member("b")], leader: "b" })
        ),
        middleware: untouched,
        fence: (runs) =>
          Effect.map(
            store.state,
            (state) =>
              void fenced.push(runs.map(({ item, run }) => [Item.format(item), run.token]), {
                stillTheirs: ClusterState.token(state, Item.connector("orders")) === token
              })
          )
      })
      yield* next.attend
      assert.deepStrictEqual(fenced, [[["orders", token]], { stillTheirs: true }])
      const placed = ClusterState.placement(yield* store.state, Item.connector("orders"))
      assert.deepInclude(placed, { _tag: "Owned", session: "b" })
    }))
})

describe("a commit with an unknown outcome (I1)", () => {
  it.effect("that landed is a success: it claims again and reads", () =>
    Effect.gen(function*() {
      const { appends, execute, script, store } = yield* makeLeader()
      script.next = [landsUnanswered]
      const claims = script.claims
      const outcome = yield* execute(create("orders"), "one")
      assert.isTrue(outcome.created)
      assert.isAtLeast(outcome.position, ClusterState.connector(yield* store.state, "orders")?.position ?? Infinity)
      assert.strictEqual(script.claims, claims + 1)
      assert.deepStrictEqual(yield* execute(create("orders"), "one"), outcome, "its outcome is remembered")
      yield* execute(create("users"))
      assert.deepStrictEqual(
        appends.map((keys) => keys[0]),
        ["connector/orders", "connector/users"],
        "nothing is sent twice"
      )
    }))

  it.effect("that did not land is a failure without effect, for every command of its group", () =>
    Effect.gen(function*() {
      const { execute, names, script } = yield* makeLeader()
      script.next = [isLost]
      const errors = yield* Effect.forEach([create("a"), create("b")], (command) => Effect.flip(execute(command)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(errors.map((error) => error.kind), ["Store", "Store"])
      assert.include(errors[0]?.message, "no answer")
      assert.deepStrictEqual(yield* names, [])
      yield* execute(create("a"))
      assert.deepStrictEqual(yield* names, ["a"])
    }))

  it.effect("that never ends is given up, and looked up, so that later commands go on", () =>
    Effect.gen(function*() {
      const { execute, names, script } = yield* makeLeader()
      script.next = [(store) => Effect.andThen(store, Effect.never)]
      const fiber = yield* Effect.forkChild(execute(create("orders")), { startImmediately: true })
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.isTrue((yield* Fiber.join(fiber)).created)
      yield* execute(create("users"))
      assert.deepStrictEqual(yield* names, ["orders", "users"])
    }))

  it.effect("is told to be unknown when the log cannot be claimed and read again", () =>
    Effect.gen(function*() {
      const { execute, names, script } = yield* makeLeader()
      script.next = [landsUnanswered]
      script.claimFails = 1
      assert.strictEqual((yield* Effect.flip(execute(create("orders")))).kind, "Unknown")
      // the next command claims and reads what is there
      assert.strictEqual((yield* Effect.flip(execute(create("orders")))).kind, "Exists")
      assert.deepStrictEqual(yield* names, ["orders"])
    }))

  it.effect("is looked up too when a middleware fails, around the commit or instead of it", () =>
    Effect.gen(function*() {
      const fails = { before: false, after: false, dies: false }
      const { execute, names } = yield* makeLeader((operation, next) => {
        if (operation._tag !== "CommitRecords") return next
        const error = new TransientError({ message: "from a middleware" })
        if (fails.dies) return Effect.die(new Error("a bug in a middleware"))
        if (fails.before) return Effect.fail(error)
        return fails.after ? Effect.andThen(next, Effect.fail(error)) : next
      })
      fails.before = true
      assert.strictEqual((yield* Effect.flip(execute(create("a")))).kind, "Store")
      fails.before = false
      fails.after = true
      assert.isTrue((yield* execute(create("b"))).created)
      fails.dies = true
      assert.strictEqual((yield* Effect.flip(execute(create("c")))).kind, "Store")
      fails.dies = false
      yield* execute(create("d"))
      assert.deepStrictEqual(yield* names, ["b", "d"])
    }))
})

describe("a leader that is fenced", () => {
  const theirs: ConfigRecord.EncodedWrite = {
    key: "connector/theirs",
    value: JSON.stringify({ incarnation: "x", revision: 1, config: {}, target: "STARTED", retries: 0, held: false })
  }

  it.effect("has written nothing: what the other one wrote is not taken for its own", () =>
    Effect.gen(function*() {
      const { elsewhere, execute, names } = yield* makeLeader()
      yield* elsewhere(theirs)
      assert.strictEqual((yield* Effect.flip(execute(create("orders")))).kind, "NotLeader")
      // it should still lead, so it claims the log again, and has read what is there before it decides
      assert.strictEqual((yield* Effect.flip(execute(create("theirs")))).kind, "Exists")
      yield* execute(create("orders"))
      assert.deepStrictEqual(yield* names, ["orders", "theirs"])
    }))

  it.effect("does not claim again when it should not lead any more", () =>
    Effect.gen(function*() {
      const { elsewhere, execute, group, script } = yield* makeLeader()
      yield* elsewhere(theirs)
      const claims = script.claims
      const waiting = yield* fork(Effect.flip(execute(create("orders"))))
      group.leader = "b"
      assert.strictEqual((yield* Fiber.join(waiting)).kind, "NotLeader")
      assert.isAtMost(script.claims, claims + 1)
    }))
})

describe("placement", () => {
  it.effect("counts what every group before has placed, and what the same group places", () =>
    Effect.gen(function*() {
      const { execute, group, store } = yield* makeLeader()
      group.members = [member("a"), member("b")]
      const owners = Effect.map(store.state, (state) =>
        ["1", "2", "3", "4", "5", "6"].map((name) => {
          const record = ClusterState.placement(state, Item.connector(name))
          return record?._tag === "Owned" ? record.session : "-"
        }))
      yield* execute(create("1"))
      yield* execute(create("2"))
      yield* execute(create("3"))
      yield* Effect.forEach(["4", "5", "6"], (name) => execute(create(name)), { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* owners, ["a", "b", "a", "b", "a", "b"])
    }))

  it.effect("balances by the runtime's policy", () =>
    Effect.gen(function*() {
      const { execute, group, leader, store } = yield* makeLeader()
      for (const name of ["1", "2", "3", "4", "5", "6"]) yield* execute(create(name))
      const position = yield* moving(store, "1")
      yield* leader.claim
      group.members = [member("a"), member("b")]
      yield* execute({ _tag: "ConfirmRelease", items: [{ connector: "1", position }] })
      const records = [...(yield* store.state).placements].flatMap(([, items]) => [...items.values()])
      assert.strictEqual(records.filter((record) => record._tag === "Releasing").length, 2)
    }).pipe(Effect.provide(PlacementPolicy.layer({ rebalanceMoves: 0.5 }))))
})

describe("a claim", () => {
  it.effect("that fails answers everybody who waits, and the next one tries again", () =>
    Effect.gen(function*() {
      const { elsewhere, execute, names, script } = yield* makeLeader()
      yield* elsewhere()
      yield* Effect.flip(execute(create("fenced")))
      script.claimFails = 1
      const errors = yield* Effect.forEach([create("a"), create("b")], (command) => Effect.flip(execute(command)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(errors.map((error) => error.kind), ["Store", "Store"])
      yield* execute(create("a"))
      assert.deepStrictEqual(yield* names, ["a"])
    }))

  it.effect("gives what ended sessions owned to the members, before the first command", () =>
    Effect.gen(function*() {
      const { execute, group, leader, store } = yield* makeLeader()
      yield* execute(create("orders"))
      const before = ClusterState.token(yield* store.state, Item.connector("orders")) ?? 0
      group.members = [member("b")]
      yield* leader.claim
      const record = ClusterState.placement(yield* store.state, Item.connector("orders"))
      assert.isTrue(record?._tag === "Owned" && record.session === "b" && record.position > before)
    }))

  it.effect("writes the cluster's identity once", () =>
    Effect.gen(function*() {
      const { leader, store } = yield* makeLeader()
      const { cluster } = yield* store.state
      yield* leader.claim
      assert.isDefined(cluster)
      assert.deepStrictEqual((yield* store.state).cluster, cluster)
    }))

  it.effect("leaves a record that is too large unwritten, and goes on", () =>
    Effect.gen(function*() {
      const { appends, execute, names } = yield* makeLeader()
      const error = yield* Effect.flip(execute(create("large", { text: "x".repeat(2 ** 20) })))
      assert.strictEqual(error.kind, "Store")
      assert.include(error.message, `"connector/large" is larger than`)
      yield* execute(create("small"))
      assert.deepStrictEqual([yield* names, appends.length], [["small"], 1])
    }))
})
