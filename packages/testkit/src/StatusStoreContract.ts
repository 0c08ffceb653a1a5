/** What every `StatusStore` has to keep. */
import * as Item from "@kelpie/core/Item"
import type { StatusRecord } from "@kelpie/core/Status"
import { StatusStore } from "@kelpie/core/StatusStore"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Contract from "./Contract.ts"
import { equal, isTrue } from "./internal/check.ts"

type Store = StatusStore["Service"]

const status = (item: Item.Item, token: number, more: Partial<StatusRecord> = {}): StatusRecord => ({
  connector: item.connector,
  ...(item.task === undefined ? {} : { task: item.task }),
  token,
  state: "RUNNING",
  workerId: "worker-1:8083",
  version: "1.0.0",
  since: 1_700_000_000_000,
  ...more
})

/** A status with every member. */
const full: StatusRecord = status(Item.connector("full"), 2 ** 40, {
  state: "FAILED",
  version: null,
  trace: "Error: \u201Cno\u201D\n\tat line 1\u0000 \u{1F600}",
  revision: 7,
  generated: 3,
  reconfiguration: {
    state: "Waiting",
    attempt: 4,
    stage: "sending",
    since: 1,
    delayMillis: 0.5,
    nextAttemptAt: 1_700_000_000_250,
    parked: "operator",
    failure: { class: "transient", stage: "writing", message: "down", firstAt: 1, lastAt: 2, occurrences: 3 }
  }
})

const byItem = (records: ReadonlyArray<StatusRecord>) => [...records].sort((a, b) => Item.key(a) < Item.key(b) ? -1 : 1)

const holds = (store: Store, what: string, expected: ReadonlyArray<StatusRecord>) =>
  Effect.flatMap(store.load, (records) => equal(what, byItem(records), byItem(expected)))

const orders = Item.connector("orders")
const names = ["orders", "orders-0", "0/orders", "connector/orders", "\u00E9\u{1F600}", "__proto__", "a b", "%2F"]

/** The laws of a `StatusStore`. */
export const StatusStoreContract = (
  world: Contract.World<StatusStore>,
  options: Contract.Options = {}
): ReadonlyArray<Contract.Law> =>
  Contract.laws(StatusStore, world, options, ({ durable, ends, law, notified, shared }) => [
    law("is empty at first", (store) => holds(store, "the statuses", [])),

    law("gives every member of a status as it was stored", (store) =>
      Effect.gen(function*() {
        yield* store.put([full, status(Item.task("full", 0), 1)])
        yield* holds(store, "the statuses", [full, status(Item.task("full", 0), 1)])
      })),

    law("keeps the latest status of each item", (store) =>
      Effect.gen(function*() {
        yield* store.put([status(orders, 1), status(Item.task("orders", 0), 1)])
        yield* store.put([status(orders, 1, { state: "PAUSED" })])
        yield* holds(store, "the statuses", [status(orders, 1, { state: "PAUSED" }), status(Item.task("orders", 0), 1)])
      })),

    law("keeps the last of several statuses of an item in one put", (store) =>
      Effect.gen(function*() {
        yield* store.put([
          status(orders, 1),
          status(orders, 1, { state: "FAILED" }),
          status(orders, 1, { state: "PAUSED" })
        ])
        yield* holds(store, "the statuses", [status(orders, 1, { state: "PAUSED" })])
      })),

    law("replaces a status with one of a newer token (I8)", (store) =>
      Effect.gen(function*() {
        yield* store.put([status(orders, 9)])
        yield* store.put([status(orders, 10, { state: "FAILED" })])
        yield* holds(store, "the statuses", [status(orders, 10, { state: "FAILED" })])
      })),

    law(
      "drops a status with an older token than the stored one, and only that one (I8)",
      (store) =>
        Effect.gen(function*() {
          yield* store.put([status(orders, 10)])
          yield* store.put([status(orders, 9, { state: "FAILED" }), status(Item.task("orders", 0), 1)])
          yield* holds(store, "the statuses", [status(orders, 10), status(Item.task("orders", 0), 1)])
        })
    ),

    law("drops an older token that stands behind a newer one in the same put (I8)", (store) =>
      Effect.gen(function*() {
        yield* store.put([status(orders, 10), status(orders, 9, { state: "FAILED" })])
        yield* holds(store, "the statuses", [status(orders, 10)])
      })),

    law("tells items apart, whatever their connectors are called", (store) =>
      Effect.gen(function*() {
        const all = names.flatMap((name) => [
          status(Item.connector(name), 1),
          status(Item.task(name, 0), 2),
          status(Item.task(name, 10), 3)
        ])
        yield* store.put(all)
        yield* holds(store, "the statuses", all)
      })),

    law("forgets the items that it is told to, and no others", (store) =>
      Effect.gen(function*() {
        yield* store.put([status(orders, 1), status(Item.task("orders", 0), 1), status(Item.task("orders", 1), 1)])
        yield* store.remove([Item.task("orders", 1), orders, Item.connector("never seen")])
        yield* holds(store, "the statuses", [status(Item.task("orders", 0), 1)])
      })),

    law("takes a new status of an item that it forgot", (store) =>
      Effect.gen(function*() {
        yield* store.put([status(orders, 5)])
        yield* store.remove([orders])
        yield* store.put([status(orders, 6, { state: "PAUSED" })])
        yield* holds(store, "the statuses", [status(orders, 6, { state: "PAUSED" })])
      })),

    law("does nothing for nothing", (store) =>
      Effect.gen(function*() {
        yield* store.put([status(orders, 1)])
        yield* store.put([])
        yield* store.remove([])
        yield* holds(store, "the statuses", [status(orders, 1)])
      })),

    law("keeps all of many puts at the same time", (store) =>
      Effect.gen(function*() {
        const all = Array.from({ length: 50 }, (_, task) => status(Item.task("orders", task), 1))
        yield* Effect.forEach(all, (one) => store.put([one]), { concurrency: "unbounded" })
        yield* holds(store, "the statuses", all)
      })),

    durable("has every answered put, and no removed item, after it is opened again", (open) =>
      Effect.gen(function*() {
        const tasks = Array.from({ length: 20 }, (_, task) => status(Item.task("orders", task), 1))
        yield* Effect.scoped(Effect.gen(function*() {
          const store = yield* open
          yield* store.put([full, status(orders, 3), ...tasks])
          yield* store.remove([orders])
        }))
        yield* holds(yield* open, "the statuses after opening again", [full, ...tasks])
      })),

    durable("still drops an older token after it is opened again (I8)", (open) =>
      Effect.gen(function*() {
        yield* Effect.scoped(Effect.flatMap(open, (store) => store.put([status(orders, 10)])))
        const store = yield* open
        yield* store.put([status(orders, 9, { state: "FAILED" })])
        yield* holds(store, "the statuses", [status(orders, 10)])
      })),

    shared("shows what another worker stored", (one, other) =>
      Effect.gen(function*() {
        yield* one.put([status(orders, 1)])
        yield* holds(other, "the statuses of the other worker", [status(orders, 1)])
        yield* other.put([status(orders, 2, { state: "PAUSED" })])
        yield* one.put([status(orders, 1, { state: "FAILED" })])
        yield* holds(one, "the statuses", [status(orders, 2, { state: "PAUSED" })])
      })),

    notified("tells what other workers stored meanwhile", (one, other) =>
      Effect.gen(function*() {
        const told = yield* other.changes.pipe(
          Stream.flatMap(Stream.fromIterable),
          Stream.filter((record) => record.token === 4),
          Stream.take(1),
          Stream.runCollect,
          Effect.forkChild({ startImmediately: true })
        )
        // whoever subscribes may need a moment, so it is stored until it was told
        const repeated = yield* Effect.forkChild(
          Effect.forever(Effect.andThen(one.put([status(orders, 4)]), Effect.sleep("100 millis")))
        )
        const [record] = yield* Fiber.join(told)
        yield* Fiber.interrupt(repeated)
        yield* isTrue("the change names the item", record !== undefined && record.connector === "orders")
      })),

    ends((store) =>
      Effect.gen(function*() {
        yield* Effect.forkScoped(Stream.runDrain(store.changes))
        yield* store.put([full])
        yield* store.load
      })
    )
  ])
