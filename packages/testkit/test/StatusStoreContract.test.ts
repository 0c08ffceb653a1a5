import { describe, it } from "@effect/vitest"
import { Item, Middleware, type Status, StatusStore } from "@kelpie/core"
import { StatusStoreContract } from "@kelpie/testkit"
import { Effect, Layer, Queue, Stream } from "effect"
import { breaks, keeps, leaking, surviving } from "./brokenLaws.ts"

type Store = StatusStore["Service"]
const memory = (layer: Layer.Layer<StatusStore>) => StatusStoreContract(Effect.succeed(layer), { durable: false })
const wrap = (members: (below: Store) => Partial<Store>) =>
  memory(Middleware.decorate(StatusStore, members).pipe(Layer.provide(StatusStore.layerMemory)))
/** A store that outlives its layers, changed at every opening. */
const reopened = (members: (below: Store, opened: number) => Partial<Store>) => {
  const world = Effect.map(surviving(StatusStore.layerMemory), (layer) => {
    let opened = 0
    return Middleware.decorate(StatusStore, (below) => members(below, ++opened)).pipe(Layer.provide(layer))
  })
  return StatusStoreContract(world, { notifies: false })
}

describe("StatusStoreContract", () => {
  it("is kept by the store in memory", () => keeps(memory(StatusStore.layerMemory)))

  it("is kept by a store that outlives its layer", () => keeps(reopened(() => ({}))))

  it("is kept by a store that tells other workers", () => {
    const world = Effect.gen(function*() {
      const layer = yield* surviving(StatusStore.layerMemory)
      const told: Array<Queue.Queue<ReadonlyArray<Status.StatusRecord>>> = []
      return Middleware.decorate(StatusStore, (below) =>
        Effect.gen(function*() {
          const mine = yield* Queue.unbounded<ReadonlyArray<Status.StatusRecord>>()
          told.push(mine)
          return {
            changes: Stream.fromQueue(mine),
            put: (records) => {
              const others = told.filter((queue) => queue !== mine)
              return Effect.andThen(below.put(records), Effect.forEach(others, Queue.offer(records), { discard: true }))
            }
          }
        })).pipe(Layer.provide(layer))
    })
    keeps(StatusStoreContract(world))
  })

  it("finds a store that loses the last write of a put", () =>
    breaks(wrap((below) => ({ put: (records) => below.put(records.slice(0, -1)) })), "every member", "latest status"))

  it("finds a store that ignores tokens", () =>
    breaks(
      wrap((below) => ({
        put: (records) =>
          Effect.forEach(records, (record) => Effect.andThen(below.remove([record]), below.put([record])), {
            discard: true
          })
      })),
      "drops a status with an older token",
      "stands behind a newer one"
    ))

  it("finds a store that refuses a whole put for one old token", () =>
    breaks(
      wrap((below) => ({
        put: (records) =>
          Effect.flatMap(below.load, (stored) => {
            const isOld = records.some((record) =>
              stored.some((one) => Item.key(one) === Item.key(record) && one.token > record.token)
            )
            return isOld ? Effect.void : below.put(records)
          })
      })),
      "drops a status with an older token than the stored one, and only that one"
    ))

  it("finds a store that keeps the first of a put", () =>
    breaks(wrap((below) => ({ put: (records) => below.put(records.toReversed()) })), "keeps the last of several"))

  it("finds a store that takes `orders-0` for task 0 of `orders`", () =>
    breaks(
      wrap((below) => {
        const byText = new Map<string, Status.StatusRecord>()
        return {
          put: (records) =>
            Effect.andThen(
              below.put(records),
              Effect.sync(() => {
                for (const record of records) byText.set(Item.format(record), record)
              })
            ),
          load: Effect.map(below.load, (records) =>
            records.filter((record) => byText.get(Item.format(record)) === record))
        }
      }),
      "tells items apart"
    ))

  it("finds a store that forgets all of a connector", () =>
    breaks(
      wrap((below) => ({
        remove: (items) =>
          Effect.flatMap(below.load, (records) =>
            below.remove(records.filter((record) =>
              items.some((item) => item.connector === record.connector)
            )))
      })),
      "and no others"
    ))

  it("finds a store that changes a member", () =>
    breaks(
      wrap((below) => ({
        load: Effect.map(below.load, (records) => records.map((record) => ({ ...record, trace: "" })))
      })),
      "every member"
    ))

  it("finds a store that leaves a fiber running", () =>
    breaks(memory(leaking(StatusStore.layerMemory)), "ends every fiber"))

  it("finds a store that does not write at once", () =>
    breaks(
      reopened((below) => {
        let waiting: ReadonlyArray<Status.StatusRecord> = []
        const written = Effect.suspend(() => below.put(waiting))
        return {
          put: (records) =>
            Effect.andThen(
              written,
              Effect.sync(() => {
                waiting = records
              })
            ),
          load: Effect.andThen(written, below.load)
        }
      }),
      "has every answered put"
    ))

  it("finds a store that serves other workers from a cache", () =>
    breaks(
      reopened((below) => {
        let cached: ReadonlyArray<Status.StatusRecord> = []
        return {
          put: (records) => Effect.andThen(below.put(records), Effect.map(below.load, (all) => void (cached = all))),
          load: Effect.sync(() => cached)
        }
      }),
      "shows what another worker stored"
    ))
})
