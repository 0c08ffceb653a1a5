/** What every `OffsetStore` has to keep. */
import * as Item from "@kelpie/core/Item"
import { OffsetStore } from "@kelpie/core/OffsetStore"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Contract from "./Contract.ts"
import { equal, fails } from "./internal/check.ts"

type Store = OffsetStore["Service"]
type Entry = OffsetStore.Entry

const task = Item.task("orders", 0)
const run = (token: number, start = 1): Item.Run => ({ token, start })
const entry = (partition: string, offset: string | null): Entry => ({ partition, offset })

const write = (writer: OffsetStore.Writer, ...entries: ReadonlyArray<Entry>) => writer.prepare(entries).commit

const holds = (store: Store, what: string, connector: string, expected: ReadonlyArray<Entry>) =>
  Effect.flatMap(store.list(connector), (entries) => {
    const sorted = (all: ReadonlyArray<Entry>) => [...all].sort((a, b) => a.partition < b.partition ? -1 : 1)
    return equal(what, sorted(entries), sorted(expected))
  })

/** Texts that an engine may mistake. */
const texts = ["{}", `{"a":"\\"\\n\\\\"}`, "null", `"\u00E9\u{1F600}"`, `{"x'":"%_;--"}`, " ", `{"n":9007199254740993}`]
const names = ["orders", "orders-0", "0/orders", "\u00E9\u{1F600}", "__proto__", "a'b", "%2F"]

const reading: (words: Contract.Words<Store>) => ReadonlyArray<Contract.Law> = ({ law }) => [
  law("has no offsets at first", (store) =>
    Effect.gen(function*() {
      yield* equal("the offsets", yield* store.read("orders", ["a", "b"]), [undefined, undefined])
      yield* holds(store, "the list", "orders", [])
    })),

  law("gives the offsets of partitions in their order, `undefined` for none", (store) =>
    Effect.gen(function*() {
      const writer = yield* store.open(task, run(1))
      yield* write(writer, entry("a", "1"), entry("b", "2"))
      yield* equal("the offsets", yield* store.read("orders", ["b", "none", "a", "b"]), ["2", undefined, "1", "2"])
      yield* equal("the offsets of no partition", yield* store.read("orders", []), [])
    })),

  law("lists every partition of a connector with its last offset", (store) =>
    Effect.gen(function*() {
      const writer = yield* store.open(task, run(1))
      yield* write(writer, entry("a", "1"), entry("b", "2"))
      yield* write(writer, entry("a", "3"))
      yield* holds(store, "the list", "orders", [entry("a", "3"), entry("b", "2")])
    })),

  law("removes a partition whose offset is null", (store) =>
    Effect.gen(function*() {
      const writer = yield* store.open(task, run(1))
      yield* write(writer, entry("a", "1"), entry("b", "2"))
      yield* write(writer, entry("a", null), entry("never seen", null))
      yield* holds(store, "the list", "orders", [entry("b", "2")])
      yield* equal("the offset", yield* store.read("orders", ["a"]), [undefined])
    })),

  law("gives texts back as they are", (store) =>
    Effect.gen(function*() {
      const writer = yield* store.open(task, run(1))
      const all = texts.map((text, index) => entry(text, texts[texts.length - 1 - index] ?? ""))
      yield* write(writer, ...all)
      yield* holds(store, "the list", "orders", all)
      yield* equal("the offsets", yield* store.read("orders", texts), all.map((one) => one.offset ?? undefined))
    })),

  law("keeps connectors apart, whatever they are called", (store) =>
    Effect.gen(function*() {
      for (const name of names) {
        yield* write(yield* store.open(Item.task(name, 0), run(1)), entry("a", JSON.stringify(name)))
      }
      for (const name of names) yield* holds(store, `the list of ${name}`, name, [entry("a", JSON.stringify(name))])
    })),

  law("keeps the offsets of all tasks of a connector together", (store) =>
    Effect.gen(function*() {
      yield* write(yield* store.open(task, run(1)), entry("a", "1"))
      yield* write(yield* store.open(Item.task("orders", 1), run(2)), entry("b", "2"))
      yield* holds(store, "the list", "orders", [entry("a", "1"), entry("b", "2")])
    })),

  law("keeps all of many writes at the same time", (store) =>
    Effect.gen(function*() {
      const writer = yield* store.open(task, run(1))
      const all = Array.from({ length: 50 }, (_, n) => entry(`p${n}`, `${n}`))
      yield* Effect.forEach(all, (one) => write(writer, one), { concurrency: "unbounded" })
      yield* holds(store, "the list", "orders", all)
    }))
]

const fencing: (words: Contract.Words<Store>) => ReadonlyArray<Contract.Law> = ({ law }) => [
  law("stores nothing before the commit of what was prepared (I9)", (store) =>
    Effect.gen(function*() {
      const prepared = (yield* store.open(task, run(1))).prepare([entry("a", "1")])
      yield* holds(store, "the list before the commit", "orders", [])
      yield* equal("what was prepared", prepared.entries, [entry("a", "1")])
      yield* equal("whose it is", [prepared.item, prepared.run], [task, run(1)])
      yield* prepared.commit
      yield* holds(store, "the list after the commit", "orders", [entry("a", "1")])
    })),

  law("accepts a write only from the writer opened last for its item (I7)", (store) =>
    Effect.gen(function*() {
      const older = yield* store.open(task, run(5))
      yield* write(older, entry("a", "1"))
      const newer = yield* store.open(task, run(6))
      yield* fails("a write of the older run", "Fenced", write(older, entry("a", "2"), entry("b", "2")))
      yield* holds(store, "the list, without effect of the older run", "orders", [entry("a", "1")])
      yield* write(newer, entry("a", "3"))
      yield* holds(store, "the list", "orders", [entry("a", "3")])
    })),

  law("refuses what was prepared before a newer run opened (I7)", (store) =>
    Effect.gen(function*() {
      const prepared = (yield* store.open(task, run(5))).prepare([entry("a", "1")])
      yield* store.open(task, run(6))
      yield* fails("the commit", "Fenced", prepared.commit)
      yield* holds(store, "the list", "orders", [])
    })),

  law("refuses to open for an older run (I7)", (store) =>
    Effect.gen(function*() {
      const writer = yield* store.open(task, run(6))
      yield* fails("opening for an older run", "Fenced", store.open(task, run(5, 9)))
      yield* write(writer, entry("a", "1"))
    })),

  law("orders runs by token, then by start, as numbers (I7)", (store) =>
    Effect.gen(function*() {
      const runs = [run(9, 2), run(9, 10), run(10, 1), run(2 ** 31 + 5), run(2 ** 40, 3)]
      for (const next of runs) yield* store.open(task, next)
      for (const older of runs.slice(0, -1)) {
        yield* fails(`opening for ${older.token}/${older.start}`, "Fenced", store.open(task, older))
      }
    })),

  law("opens again for the same run", (store) =>
    Effect.gen(function*() {
      yield* Effect.scoped(store.open(task, run(6)))
      yield* write(yield* store.open(task, run(6)), entry("a", "1"))
      yield* holds(store, "the list", "orders", [entry("a", "1")])
    })),

  law("fences older runs without opening, and not the run itself (I7)", (store) =>
    Effect.gen(function*() {
      const older = yield* store.open(task, run(5))
      yield* store.fence([{ item: task, run: run(6) }])
      yield* fails("a write of the older run", "Fenced", write(older, entry("a", "1")))
      yield* fails("opening for the older run", "Fenced", store.open(task, run(5)))
      yield* write(yield* store.open(task, run(6)), entry("a", "2"))
      yield* holds(store, "the list", "orders", [entry("a", "2")])
    })),

  law("does not lower a floor by fencing with an older run (I7)", (store) =>
    Effect.gen(function*() {
      const writer = yield* store.open(task, run(6))
      yield* store.fence([{ item: task, run: run(5) }])
      yield* write(writer, entry("a", "1"))
      yield* fails("opening between the two", "Fenced", store.open(task, run(5, 2)))
    })),

  law("fences every item that it is told to, and no other", (store) =>
    Effect.gen(function*() {
      const other = yield* store.open(Item.task("orders", 1), run(1))
      const namesake = yield* store.open(Item.connector("orders"), run(1))
      const fenced = yield* store.open(Item.task("users", 0), run(1))
      yield* store.fence([{ item: task, run: run(9) }, { item: Item.task("users", 0), run: run(9) }])
      yield* write(other, entry("a", "1"))
      yield* write(namesake, entry("b", "2"))
      yield* fails("a write of a fenced item", "Fenced", write(fenced, entry("a", "1")))
      yield* holds(store, "the list", "orders", [entry("a", "1"), entry("b", "2")])
    })),

  law("accepts nothing from a writer that is closed (I7, I12)", (store) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const writer = yield* Scope.provide(store.open(task, run(1)), scope)
      const prepared = writer.prepare([entry("a", "1")])
      yield* Scope.close(scope, Exit.void)
      yield* fails("a commit prepared before", "Fenced", prepared.commit)
      yield* fails("a later write", "Fenced", write(writer, entry("a", "2")))
      yield* holds(store, "the list", "orders", [])
    }))
]

const altering: (words: Contract.Words<Store>) => ReadonlyArray<Contract.Law> = ({ law, shared }) => [
  law("alters and removes offsets of a connector that nobody runs", (store) =>
    Effect.gen(function*() {
      yield* Effect.scoped(
        Effect.flatMap(store.open(task, run(5)), (writer) => write(writer, entry("a", "1"), entry("b", "2")))
      )
      yield* store.alter({
        connector: "orders",
        position: 9,
        entries: [entry("a", null), entry("b", "0"), entry("c", "3"), entry("never seen", null)]
      })
      yield* holds(store, "the list", "orders", [entry("b", "0"), entry("c", "3")])
      yield* store.alter({ connector: "new", position: 9, entries: [entry("a", "1")] })
      yield* holds(store, "the list of a connector that never ran", "new", [entry("a", "1")])
    })),

  law("fences every earlier owner of the connector's items when it alters (I7)", (store) =>
    Effect.gen(function*() {
      const late = yield* store.open(task, run(9, 7))
      const other = yield* store.open(Item.task("orders", 11), run(5))
      yield* store.alter({ connector: "orders", position: 9, entries: [entry("a", "altered")] })
      yield* fails("a write of a late task", "Fenced", write(late, entry("a", "late")))
      yield* fails("a write of another late task", "Fenced", write(other, entry("a", "late")))
      yield* fails("opening for an earlier owner", "Fenced", store.open(task, run(9, 8)))
      yield* holds(store, "the list", "orders", [entry("a", "altered")])
      yield* write(yield* store.open(task, run(10)), entry("a", "later"))
    })),

  law(
    "alters nothing when a later owner has opened any of the connector's items (I7)",
    (store) =>
      Effect.gen(function*() {
        const older = yield* store.open(task, run(5))
        yield* write(older, entry("a", "1"))
        const later = yield* store.open(Item.task("orders", 1), run(10))
        const altered = store.alter({ connector: "orders", position: 9, entries: [entry("a", "2"), entry("b", "2")] })
        yield* fails("altering", "Fenced", altered)
        yield* holds(store, "the list", "orders", [entry("a", "1")])
        yield* write(older, entry("a", "3"))
        yield* write(later, entry("b", "3"))
      })
  ),

  law("alters one connector, whatever the others are called", (store) =>
    Effect.gen(function*() {
      const others = names.filter((name) => name !== "orders")
      const writers = yield* Effect.forEach(others, (name) => store.open(Item.task(name, 0), run(99)))
      yield* store.alter({ connector: "orders", position: 9, entries: [entry("a", "1")] })
      yield* Effect.forEach(writers, (writer) => write(writer, entry("a", "2")))
      for (const name of others) yield* holds(store, `the list of ${name}`, name, [entry("a", "2")])
    })),

  shared("fences the writer of another worker when it alters (I7)", (one, other) =>
    Effect.gen(function*() {
      const late = yield* one.open(task, run(5))
      yield* other.alter({ connector: "orders", position: 9, entries: [entry("a", "altered")] })
      yield* fails("a write of a late task", "Fenced", write(late, entry("a", "late")))
      yield* holds(one, "the list", "orders", [entry("a", "altered")])
    }))
]

const lasting: (words: Contract.Words<Store>) => ReadonlyArray<Contract.Law> = ({ durable, ends, shared }) => [
  durable("has every answered write after it is opened again (I9)", (open) =>
    Effect.gen(function*() {
      const all = Array.from({ length: 20 }, (_, n) => entry(`p${n}`, `${n}`))
      yield* Effect.scoped(Effect.gen(function*() {
        const writer = yield* (yield* open).open(task, run(1))
        yield* write(writer, ...all, entry("gone", "1"))
        yield* write(writer, entry("gone", null), entry("p0", "100"))
      }))
      yield* holds(yield* open, "the list after opening again", "orders", [entry("p0", "100"), ...all.slice(1)])
    })),

  durable("keeps floors when it is opened again (I7)", (open) =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* open
        yield* store.open(task, run(6))
        yield* store.fence([{ item: Item.task("orders", 1), run: run(6) }])
      }))
      const store = yield* open
      yield* fails("opening for an older run", "Fenced", store.open(task, run(5)))
      yield* fails("opening for a run that was fenced", "Fenced", store.open(Item.task("orders", 1), run(5)))
      yield* write(yield* store.open(task, run(6, 2)), entry("a", "1"))
    })),

  shared("fences the writer of another worker (I7)", (one, other) =>
    Effect.gen(function*() {
      const older = yield* one.open(task, run(5))
      yield* write(older, entry("a", "1"))
      const newer = yield* other.open(task, run(6))
      yield* fails("a write of the older run", "Fenced", write(older, entry("a", "2")))
      yield* equal("the offset that the newer run reads", yield* other.read("orders", ["a"]), ["1"])
      yield* write(newer, entry("a", "3"))
      yield* equal("the offset", yield* one.read("orders", ["a"]), ["3"])
    })),

  ends((store) =>
    Effect.gen(function*() {
      yield* write(yield* store.open(task, run(1)), entry("a", "1"))
      yield* store.fence([{ item: task, run: run(2) }])
      yield* store.list("orders")
    })
  )
]

/** The laws of an `OffsetStore`. */
export const OffsetStoreContract = (
  world: Contract.World<OffsetStore>,
  options: Contract.Options = {}
): ReadonlyArray<Contract.Law> =>
  Contract.laws(OffsetStore, world, options, (words) => [
    ...reading(words),
    ...fencing(words),
    ...altering(words),
    ...lasting(words)
  ])
