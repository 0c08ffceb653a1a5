/** What every `ConfigStore` has to keep. */
import * as ClusterState from "@kelpie/core/ClusterState"
import * as ConfigRecord from "@kelpie/core/ConfigRecord"
import { ConfigStore } from "@kelpie/core/ConfigStore"
import * as Item from "@kelpie/core/Item"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HashMap from "effect/HashMap"
import * as Stream from "effect/Stream"
import * as Contract from "./Contract.ts"
import { equal, fails, isTrue } from "./internal/check.ts"
import { untilTrue } from "./internal/untilTrue.ts"

type Store = ConfigStore["Service"]

const entry = (revision: number, config: Readonly<Record<string, string>> = {}): ConfigRecord.ConnectorEntry => ({
  incarnation: "0123456789abcdef",
  revision,
  config,
  target: "STARTED",
  retries: 0,
  held: false
})
const put = (name: string, revision = 1, expect?: number): ConfigStore.GuardedWrite => ({
  write: ConfigRecord.connector(name, entry(revision)),
  expect
})
const remove = (name: string, expect?: number): ConfigStore.GuardedWrite => ({
  write: ConfigRecord.connector(name, undefined),
  expect
})

/** A commit that touches every kind of record. */
const everyKind: ReadonlyArray<ConfigStore.GuardedWrite> = [
  { write: { key: "cluster", entry: { id: "cluster" } } },
  {
    write: ConfigRecord.connector(
      "orders",
      entry(3, { "connector.class": "Generator", text: `"\\\n\u0000\u00E9\u{1F600}` })
    )
  },
  {
    write: ConfigRecord.taskSet("orders", {
      incarnation: "0123456789abcdef",
      revision: 3,
      digest: "digest",
      config: { "connector.class": "Generator" },
      tasks: [{ config: { tables: ["a", "b"], nested: { n: 1.5, yes: true, none: null } }, digest: "d" }]
    })
  },
  { write: ConfigRecord.placement(Item.connector("orders"), { _tag: "Owned", session: "s1" }) },
  { write: ConfigRecord.placement(Item.task("orders", 0), { _tag: "Releasing", session: "s1", reason: "moved" }) },
  { write: ConfigRecord.placement(Item.task("orders", 11), { _tag: "Released", reason: "changed" }) }
]

const names = ["a", "a/b", "0/a", "connector/a", "\u00E9\u{1F600}", "__proto__", "a'b", "%2F", "a b"]

const yes = Effect.succeed(true)
const claim = (store: Store, session = "s1") => store.claim(session, yes)

/** Everything that a state says, as plain data. */
const plain = (state: ClusterState.ClusterState) => ({
  position: state.position,
  cluster: state.cluster,
  leader: state.leader,
  connectors: sorted(HashMap.entries(state.connectors)),
  taskSets: sorted(HashMap.entries(state.taskSets)),
  placements: sorted(
    Array.from(HashMap.entries(state.placements), ([name, items]) => [name, [...items]] as const)
  ),
  unreadable: sorted(HashMap.entries(state.unreadable))
})
const sorted = <A>(entries: Iterable<readonly [string, A]>) => [...entries].sort(([a], [b]) => a < b ? -1 : 1)

const revisions = (store: Store, ...names: ReadonlyArray<string>) =>
  Effect.map(store.state, (state) => names.map((name) => ClusterState.connector(state, name)?.revision))

const commits: (words: Contract.Words<Store>) => ReadonlyArray<Contract.Law> = ({ law }) => [
  law("has no connector at first", (store) =>
    Effect.gen(function*() {
      yield* equal("the names", ClusterState.names(yield* store.refresh), [])
      yield* equal("the leader", (yield* store.state).leader, undefined)
    })),

  law(
    "shows a commit that it answered, whole, at the position that it answered (I14)",
    (store) =>
      Effect.gen(function*() {
        const position = yield* (yield* claim(store)).commit(everyKind)
        const state = yield* store.state
        yield* equal("the position of the state", state.position, position)
        yield* isTrue("no record is unreadable", HashMap.isEmpty(state.unreadable))
        const [, connector, tasks, ...placements] = everyKind.map(({ write }) => write.entry)
        const without = (found: ClusterState.At<object> | undefined) => ({ ...found, position: undefined })
        yield* equal("the cluster", state.cluster?.id, "cluster")
        yield* equal<unknown>("the connector", without(ClusterState.connector(state, "orders")), connector)
        yield* equal<unknown>("the task set", without(ClusterState.taskSet(state, "orders")), tasks)
        const items = [Item.connector("orders"), Item.task("orders", 0), Item.task("orders", 11)]
        yield* equal<unknown>(
          "the placements",
          items.map((item) => without(ClusterState.placement(state, item))),
          placements
        )
      })
  ),

  law("reads what it committed as it applied it (I2)", (store) =>
    Effect.gen(function*() {
      yield* (yield* claim(store)).commit(everyKind)
      const applied = plain(yield* store.state)
      yield* equal("the state after reading to the end", plain(yield* store.refresh), applied)
    })),

  law(
    "gives each record a position of its own, growing, the last of a commit being its position",
    (store) =>
      Effect.gen(function*() {
        const { commit, term } = yield* claim(store)
        const first = yield* commit([put("a"), put("b"), put("c")])
        const second = yield* commit([put("a", 2)])
        const state = yield* store.state
        const at = ["b", "c", "a"].map((name) => ClusterState.connector(state, name)?.position ?? 0)
        yield* isTrue(
          `positions grow: ${[term, ...at].join(", ")}`,
          [term, ...at].every((p, i, all) => i === 0 || p > (all[i - 1] ?? 0))
        )
        yield* equal("the positions of the commits", [first, second], [at[1] ?? 0, at[2] ?? 0])
      })
  ),

  law("keeps the last of several writes of a key in one commit (I2)", (store) =>
    Effect.gen(function*() {
      const position = yield* (yield* claim(store)).commit([put("a", 1), put("a", 2)])
      yield* equal("the revision", yield* revisions(store, "a"), [2])
      yield* equal("the position", ClusterState.connector(yield* store.state, "a")?.position, position)
    })),

  law("removes what is written as `undefined`, and takes it again", (store) =>
    Effect.gen(function*() {
      const { commit } = yield* claim(store)
      const first = yield* commit([put("a"), put("b")])
      yield* commit([remove("a"), remove("never there")])
      yield* equal("the names", ClusterState.names(yield* store.state), ["b"])
      const again = yield* commit([put("a", 1, 0)])
      yield* isTrue("the new record has a new position", again > first)
    })),

  law("tells keys apart, whatever connectors are called", (store) =>
    Effect.gen(function*() {
      const { commit } = yield* claim(store)
      yield* commit(names.map((name, index) => put(name, index)))
      yield* commit(names.map((name, task) => ({
        write: ConfigRecord.placement(Item.task(name, task), { _tag: "Owned", session: name })
      })))
      const state = yield* store.refresh
      yield* equal("the names", ClusterState.names(state), [...names].sort())
      for (const [index, name] of names.entries()) {
        yield* equal(`the revision of ${name}`, ClusterState.connector(state, name)?.revision, index)
        const placement = ClusterState.placement(state, Item.task(name, index))
        yield* equal(`the owner of ${name}-${index}`, placement?._tag === "Owned" ? placement.session : "", name)
      }
    })),

  law(
    "refuses a record larger than it says, with its whole commit, and takes a smaller one",
    (store) =>
      Effect.gen(function*() {
        const { commit } = yield* claim(store)
        // two bytes of UTF-8 a letter
        const letters = Math.ceil(Math.min(store.maxRecordBytes, 2 ** 24) / 2)
        const of = (length: number): ConfigStore.GuardedWrite => ({
          write: ConfigRecord.connector("large", entry(1, { text: "\u00E9".repeat(length) }))
        })
        if (store.maxRecordBytes <= 2 ** 24) {
          yield* fails("the commit", "Conflict", commit([put("a"), of(letters)]))
          yield* equal("the names", ClusterState.names(yield* store.refresh), [])
        }
        yield* commit([put("a"), of(letters - 200)])
        yield* equal("the names", ClusterState.names(yield* store.refresh), ["a", "large"])
      })
  ),

  law(
    "is usable after a commit was interrupted, which is there whole or not at all (I3)",
    (store) =>
      Effect.gen(function*() {
        const { commit } = yield* claim(store)
        const fiber = yield* Effect.forkChild(commit([put("a"), put("b")]), { startImmediately: true })
        yield* Fiber.interrupt(fiber)
        const again = yield* claim(store)
        const found = yield* revisions(store, "a", "b")
        yield* isTrue(`both or none are there: ${found.join(", ")}`, found[0] === found[1])
        yield* again.commit([put("c")])
        yield* equal("the state after reading to the end", plain(yield* store.refresh), plain(yield* store.state))
      })
  )
]

const guards: (words: Contract.Words<Store>) => ReadonlyArray<Contract.Law> = ({ law }) => [
  law("refuses a write whose guard does not hold, without effect (I3)", (store) =>
    Effect.gen(function*() {
      const { commit } = yield* claim(store)
      const position = yield* commit([put("a")])
      yield* fails("a guard for an absent key", "Conflict", commit([put("a", 2, 0)]))
      yield* fails("a guard for another position", "Conflict", commit([put("a", 2, position + 1)]))
      yield* fails("a guard for a key that is not there", "Conflict", commit([put("b", 2, position)]))
      yield* equal("the revisions", yield* revisions(store, "a", "b"), [1, undefined])
      yield* equal("the position", (yield* store.refresh).position, position)
    })),

  law(
    "accepts a write whose guard holds: the position of the last record, 0 for none (I3)",
    (store) =>
      Effect.gen(function*() {
        const { commit } = yield* claim(store)
        const position = yield* commit([put("a", 1, 0)])
        yield* commit([put("b", 1, 0)])
        const removed = yield* commit([remove("a", position)])
        yield* commit([put("a", 2, 0)])
        yield* fails("a guard for the tombstone", "Conflict", commit([put("a", 3, removed)]))
        yield* equal("the revisions", yield* revisions(store, "a", "b"), [2, 1])
      })
  ),

  law("guards records of every kind (I3)", (store) =>
    Effect.gen(function*() {
      const { commit } = yield* claim(store)
      yield* commit(everyKind.map(({ write }) => ({ write, expect: 0 })))
      for (const { write } of everyKind) {
        yield* fails(`creating "${write.key}" twice`, "Conflict", commit([{ write, expect: 0 }]))
      }
    })),

  law("commits all of a batch or nothing (I3)", (store) =>
    Effect.gen(function*() {
      const { commit } = yield* claim(store)
      const position = yield* commit([put("a")])
      yield* fails(
        "a batch with one guard that does not hold",
        "Conflict",
        commit([put("b"), put("a", 2, 0), put("c")])
      )
      const state = yield* store.refresh
      yield* equal("the names", ClusterState.names(state), ["a"])
      yield* equal("the position", state.position, position)
    })),

  law("lets one of several commits win that were decided on the same state (I3)", (store) =>
    Effect.gen(function*() {
      const { commit } = yield* claim(store)
      const exits = yield* Effect.forEach(
        Array.from({ length: 10 }, (_, n) => n),
        (n) => Effect.exit(commit([put("a", n, 0), put(`b${n}`, n)])),
        { concurrency: "unbounded" }
      )
      const winners = exits.flatMap((exit, n) => exit._tag === "Success" ? [n] : [])
      yield* equal("how many won", winners.length, 1)
      yield* equal("the names", ClusterState.names(yield* store.refresh), ["a", `b${winners[0]}`])
      yield* equal("the revision", yield* revisions(store, "a"), winners)
    }))
]

const claims: (words: Contract.Words<Store>) => ReadonlyArray<Contract.Law> = ({ law, notified, shared }) => [
  law("appends the leader's record with a claim: its position is the term (I1)", (store) =>
    Effect.gen(function*() {
      const { term } = yield* claim(store, "s1")
      yield* equal("the leader", (yield* store.state).leader, { session: "s1", position: term })
      const second = yield* claim(store, "s2")
      yield* isTrue("the term grows", second.term > term)
      yield* equal("the leader", (yield* store.refresh).leader, { session: "s2", position: second.term })
    })),

  law("fences every earlier claim (I1)", (store) =>
    Effect.gen(function*() {
      const first = yield* claim(store, "s1")
      const second = yield* claim(store, "s2")
      const third = yield* claim(store, "s1")
      yield* fails("a commit under the first claim", "Fenced", first.commit([put("a")]))
      yield* fails("a commit under the second claim", "Fenced", second.commit([put("a")]))
      yield* equal("the names", ClusterState.names(yield* store.refresh), [])
      yield* third.commit([put("a")])
    })),

  law("claims nothing when the session should not lead (I1)", (store) =>
    Effect.gen(function*() {
      const { term } = yield* claim(store, "s1")
      yield* fails("the claim", "Fenced", store.claim("s2", Effect.succeed(false)))
      const state = yield* store.refresh
      yield* equal("the leader", state.leader, { session: "s1", position: term })
      yield* equal("the position", state.position, term)
      yield* (yield* claim(store, "s1")).commit([put("a")])
    })),

  shared(
    "has read every commit of earlier claims before the first decision (I1)",
    (one, other) =>
      Effect.gen(function*() {
        const first = yield* claim(one, "s1")
        yield* first.commit([put("a")])
        yield* claim(other, "s2")
        yield* equal("the revision", yield* revisions(other, "a"), [1])
      })
  ),

  shared(
    "fences the claim of another worker, before it asks who should lead (I1)",
    (one, other) =>
      Effect.gen(function*() {
        const first = yield* claim(one, "s1")
        yield* first.commit([put("a")])
        const second = yield* other.claim(
          "s2",
          Effect.as(Effect.orDie(fails("a commit under the first claim", "Fenced", first.commit([put("late")]))), true)
        )
        yield* second.commit([put("b")])
        yield* equal("the names", ClusterState.names(yield* one.refresh), ["a", "b"])
      })
  ),

  shared("reads to the end of the log, whole commits only", (one, other) =>
    Effect.gen(function*() {
      const { commit } = yield* claim(one)
      yield* commit(everyKind)
      const position = yield* commit([put("b"), put("c")])
      const state = yield* other.refresh
      yield* equal("the position", state.position, position)
      yield* equal("the state", plain(state), plain(yield* one.state))
    })),

  notified("learns by itself of what another worker committed", (one, other) =>
    Effect.gen(function*() {
      yield* (yield* claim(one)).commit([put("a")])
      yield* untilTrue(
        "the other worker knows of the connector",
        Effect.map(revisions(other, "a"), ([revision]) => revision === 1)
      )
    }))
]

const following: (words: Contract.Words<Store>) => ReadonlyArray<Contract.Law> = ({ ends, law }) => [
  law("names the keys that changed after a position, and no others", (store) =>
    Effect.gen(function*() {
      const { commit } = yield* claim(store)
      const first = yield* commit([put("a"), put("b")])
      const second = yield* commit([put("b", 2), remove("a")])
      const third = yield* commit([put("c")])
      const keys = (position: number) => Effect.map(store.changedSince(position), (change) => [...change.keys].sort())
      yield* equal("the keys since the second commit", yield* keys(second), ["connector/c"])
      yield* equal("the keys since the first commit", yield* keys(first), ["connector/a", "connector/b", "connector/c"])
      yield* equal("the keys since the third commit", yield* keys(third), [])
      const change = yield* store.changedSince(first)
      yield* equal("the state that comes with the keys", plain(change.state), plain(yield* store.state))
    })),

  law("names every key since the beginning", (store) =>
    Effect.gen(function*() {
      yield* (yield* claim(store)).commit(everyKind)
      const keys = new Set((yield* store.changedSince(0)).keys)
      const missing = ["leader", ...everyKind.map(({ write }) => write.key)].filter((key) => !keys.has(key))
      yield* equal("the keys that are missing", missing, [])
    })),

  law("tells of commits: a state with the commit in it", (store) =>
    Effect.gen(function*() {
      const { commit } = yield* claim(store)
      const told = yield* store.changes.pipe(
        Stream.filter((state) => ClusterState.connector(state, "a") !== undefined),
        Stream.take(1),
        Stream.runCollect,
        Effect.forkChild({ startImmediately: true })
      )
      yield* commit([put("a")])
      yield* equal("how many states were told", (yield* Fiber.join(told)).length, 1)
    })),

  law("tells a slow reader of the newest state only", (store) =>
    Effect.gen(function*() {
      const { commit } = yield* claim(store)
      const seen: Array<number> = []
      const told = yield* store.changes.pipe(
        Stream.tap((state) =>
          Effect.gen(function*() {
            const { position } = state
            seen.push(position)
            if (seen.length > 1) return
            // while it is busy with the first one, much happens
            yield* Effect.forEach([2, 3, 4], (revision) => commit([put("a", revision)]))
          })
        ),
        Stream.take(2),
        Stream.runCollect,
        Effect.forkChild({ startImmediately: true })
      )
      yield* commit([put("a", 1)])
      const [, second] = yield* Fiber.join(told)
      yield* equal("the revision that it sees next", second && ClusterState.connector(second, "a")?.revision, 4)
    })),

  ends((store) =>
    Effect.gen(function*() {
      yield* Effect.forkScoped(Stream.runDrain(store.changes))
      yield* (yield* claim(store)).commit(everyKind)
      yield* store.refresh
    })
  )
]

const lasting: (words: Contract.Words<Store>) => ReadonlyArray<Contract.Law> = ({ durable }) => [
  durable("has the same state after it is opened again (I2)", (open) =>
    Effect.gen(function*() {
      const before = yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* open
        const { commit } = yield* claim(store)
        yield* commit(everyKind)
        yield* commit([put("a"), put("b")])
        yield* commit([remove("a"), put("b", 2)])
        return plain(yield* store.state)
      }))
      const store = yield* open
      yield* equal("the state after opening again", plain(yield* store.refresh), before)
      yield* equal("the state without reading again", plain(yield* store.state), before)
    })),

  durable("goes on with positions and terms after it is opened again", (open) =>
    Effect.gen(function*() {
      const last = yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* open
        const { commit } = yield* claim(store)
        yield* commit([put("a"), put("b")])
        return yield* commit([remove("b"), remove("a")])
      }))
      const { commit, term } = yield* claim(yield* open)
      yield* isTrue("the term is a new position", term > last)
      yield* isTrue("positions go on", (yield* commit([put("a", 1, 0)])) > term)
    })),

  durable("names every key since the beginning after it is opened again", (open) =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        yield* (yield* claim(yield* open)).commit(everyKind)
      }))
      const keys = new Set((yield* (yield* open).changedSince(0)).keys)
      const missing = ["leader", ...everyKind.map(({ write }) => write.key)].filter((key) => !keys.has(key))
      yield* equal("the keys that are missing", missing, [])
    }))
]

const holding: (words: Contract.Words<Store>) => ReadonlyArray<Contract.Law> = ({ law, shared }) => [
  law("is held by one at a time, and the second is told so at once", (store) =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        yield* store.exclusive
        yield* fails("the second holder", "Unavailable", Effect.scoped(store.exclusive))
        const error = yield* Effect.flip(Effect.scoped(store.exclusive))
        yield* isTrue("the refusal says why", (error.detail ?? "") !== "")
      }))
      yield* Effect.scoped(store.exclusive)
    })),

  shared("is held by one worker at a time", (one, other) =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        yield* one.exclusive
        yield* fails("the second holder", "Unavailable", Effect.scoped(other.exclusive))
      }))
      yield* Effect.scoped(other.exclusive)
    }))
]

/** Options of the contract. */
export interface ConfigStoreOptions extends Contract.Options {
  /** Whether the engine has something that one process can hold. Default true. */
  readonly exclusive?: boolean | undefined
}

/** The laws of a `ConfigStore`. */
export const ConfigStoreContract = (
  world: Contract.World<ConfigStore>,
  options: ConfigStoreOptions = {}
): ReadonlyArray<Contract.Law> =>
  Contract.laws(ConfigStore, world, options, (words) => [
    ...commits(words),
    ...guards(words),
    ...claims(words),
    ...following(words),
    ...lasting(words),
    ...(options.exclusive === false ? [] : holding(words))
  ])
