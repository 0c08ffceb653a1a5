import { describe, it } from "@effect/vitest"
import { type Item, Middleware, OffsetStore, StoreError } from "@kelpie/core"
import { OffsetStoreContract } from "@kelpie/testkit"
import { Effect, Exit, Layer, Scope } from "effect"
import { breaks, keeps, leaking, surviving } from "./brokenLaws.ts"

type Store = OffsetStore["Service"]
const memory = (layer: Layer.Layer<OffsetStore>) => OffsetStoreContract(Effect.succeed(layer), { durable: false })
const wrap = (members: (below: Store) => Partial<Store>) =>
  memory(Middleware.decorate(OffsetStore, members).pipe(Layer.provide(OffsetStore.layerMemory)))
const reopened = (members: (below: Store) => Partial<Store>) =>
  OffsetStoreContract(
    Effect.map(surviving(OffsetStore.layerMemory), (layer) =>
      Middleware.decorate(OffsetStore, members).pipe(Layer.provide(layer)))
  )
/** Changes what writers commit. */
const committing = (
  change: (prepared: OffsetStore.Prepared, below: Store) => Effect.Effect<void, StoreError>
) =>
(below: Store): Partial<Store> => ({
  open: (item, run) =>
    Effect.map(below.open(item, run), (writer) => ({
      prepare: (entries) => {
        const prepared = writer.prepare(entries)
        return { ...prepared, commit: change(prepared, below) }
      }
    }))
})
/** Stores entries whoever asks. */
let forced = 0
const force = (below: Store, item: Item.Item, entries: ReadonlyArray<OffsetStore.Entry>) =>
  Effect.scoped(
    Effect.flatMap(below.open({ connector: item.connector, task: 1e6 }, { token: 1, start: ++forced }), (writer) =>
      writer.prepare(entries).commit)
  )

describe("OffsetStoreContract", () => {
  it("is kept by the store in memory", () => keeps(memory(OffsetStore.layerMemory)))

  it("is kept by a store that outlives its layer", () => keeps(reopened(() => ({}))))

  it("finds a store that loses the last entry of a commit", () =>
    breaks(
      wrap((below) => ({
        open: (item, run) =>
          Effect.map(below.open(item, run), (writer) => ({
            prepare: (entries) => ({ ...writer.prepare(entries.slice(0, -1)), entries })
          }))
      })),
      "in their order",
      "removes a partition"
    ))

  it("finds a store that gives offsets in an order of its own", () =>
    breaks(
      wrap((below) => ({
        read: (connector, partitions) => below.read(connector, partitions.toSorted())
      })),
      "in their order"
    ))

  it("finds a store that ignores the fence when it writes", () =>
    breaks(
      wrap(committing(({ entries, item }, below) => force(below, item, entries))),
      "only from the writer opened last",
      "prepared before a newer run opened",
      "fences older runs without opening",
      "a writer that is closed"
    ))

  it("finds a store that tells of the fence, but writes before it does", () =>
    breaks(
      wrap(committing(({ commit, entries, item }, below) => Effect.andThen(force(below, item, entries), commit))),
      "only from the writer opened last"
    ))

  it("finds a store that checks the fence when a write is prepared", () =>
    breaks(
      wrap((below) => {
        const newest = new Map<unknown, number>()
        return {
          open: (item, run) =>
            Effect.map(below.open(item, run), (writer) => {
              newest.set(item, run.token)
              return {
                prepare: (entries) => {
                  const stands = newest.get(item) === run.token
                  const prepared = writer.prepare(entries)
                  return stands ? { ...prepared, commit: force(below, item, entries) } : prepared
                }
              }
            })
        }
      }),
      "prepared before a newer run opened"
    ))

  it("finds a store that stores when it prepares", () =>
    breaks(
      wrap((below) => ({
        open: (item, run) =>
          Effect.map(below.open(item, run), (writer) => ({
            prepare: (entries) => {
              const prepared = writer.prepare(entries)
              Effect.runSync(Effect.ignore(prepared.commit))
              return prepared
            }
          }))
      })),
      "stores nothing before the commit"
    ))

  it("finds a store that opens for older runs", () =>
    breaks(
      wrap((below) => ({
        open: (item, run) =>
          Effect.catch(below.open(item, run), () =>
            Effect.succeed({ prepare: () => Effect.runSync(Effect.die("unused")) }))
      })),
      "refuses to open for an older run",
      "orders runs"
    ))

  it("finds a store that orders runs as texts", () =>
    breaks(
      wrap((below) => {
        const newest = new Map<string, string>()
        const text = (run: Item.Run) => `${run.token}/${run.start}`
        const key = (item: Item.Item) => `${item.task}/${item.connector}`
        let opened = 0
        return {
          open: (item, run) =>
            text(run) < (newest.get(key(item)) ?? "")
              ? Effect.fail(new StoreError({ kind: "Fenced", operation: "open" }))
              : Effect.suspend(() => {
                newest.set(key(item), text(run))
                return below.open(item, { token: ++opened, start: 1 })
              })
        }
      }),
      "orders runs by token, then by start, as numbers"
    ))

  it("finds a store whose fence does nothing", () =>
    breaks(
      wrap(() => ({ fence: () => Effect.void })),
      "fences older runs without opening",
      "every item that it is told to"
    ))

  it("finds a store whose fence takes the first item only", () =>
    breaks(wrap((below) => ({ fence: (runs) => below.fence(runs.slice(0, 1)) })), "every item that it is told to"))

  it("finds a store whose writers outlive their scope", () =>
    breaks(
      wrap((below) => ({
        open: (item, run) => Effect.flatMap(Scope.make(), (scope) => Scope.provide(below.open(item, run), scope))
      })),
      "a writer that is closed"
    ))

  it("finds a store that keeps what is removed", () =>
    breaks(
      wrap((below) => ({
        open: (item, run) =>
          Effect.map(below.open(item, run), (writer) => ({
            prepare: (entries) => ({ ...writer.prepare(entries.filter((one) => one.offset !== null)), entries })
          }))
      })),
      "removes a partition"
    ))

  it("finds a store that mixes up connectors", () =>
    breaks(
      wrap((below) => {
        const plain = (name: string) => name.split("-")[0] ?? ""
        return {
          open: (item, run) => below.open({ ...item, connector: plain(item.connector) }, run),
          list: (connector) => below.list(plain(connector))
        }
      }),
      "keeps connectors apart"
    ))

  it("finds a store that alters without fencing", () =>
    breaks(
      wrap((below) => ({ alter: ({ connector, entries }) => force(below, { connector }, entries) })),
      "fences every earlier owner",
      "alters nothing when a later owner has opened"
    ))

  it("finds a store that alters before it looks at the floors", () =>
    breaks(
      wrap((below) => ({
        alter: (alteration) =>
          Effect.andThen(force(below, { connector: alteration.connector }, alteration.entries), below.alter(alteration))
      })),
      "alters nothing when a later owner has opened"
    ))

  it("finds a store that raises floors although it refuses", () =>
    breaks(
      wrap((below) => ({
        alter: (alteration) =>
          Effect.andThen(
            below.fence([{ item: { connector: alteration.connector, task: 0 }, run: { token: 9, start: 9 } }]),
            below.alter(alteration)
          )
      })),
      "alters nothing when a later owner has opened"
    ))

  it("finds a store that fences more connectors than it alters, or only stores what is not null", () => {
    breaks(
      wrap((below) => ({
        alter: (alteration) =>
          Effect.andThen(
            below.fence([{ item: { connector: "orders-0", task: 0 }, run: { token: 100, start: 1 } }]),
            below.alter(alteration)
          )
      })),
      "alters one connector"
    )
    breaks(
      wrap((below) => ({
        alter: ({ entries, ...rest }) =>
          below.alter({ ...rest, entries: entries.filter(({ offset }) => offset !== null) })
      })),
      "alters and removes offsets"
    )
  })

  it("finds a store that leaves a fiber running", () =>
    breaks(memory(leaking(OffsetStore.layerMemory)), "ends every fiber"))

  it("finds a store that forgets floors when it is closed", () =>
    breaks(
      OffsetStoreContract(
        Effect.gen(function*() {
          const offsets = new Map<string, ReadonlyArray<OffsetStore.Entry>>()
          return Middleware.decorate(OffsetStore, (below) =>
            Effect.gen(function*() {
              const scope = yield* Scope.make()
              for (const [name, entries] of offsets) yield* force(below, { connector: name }, entries)
              yield* Scope.close(scope, Exit.void)
              yield* Effect.addFinalizer(() =>
                Effect.map(Effect.orDie(below.list("orders")), (entries) => offsets.set("orders", entries))
              )
              return {}
            })).pipe(Layer.provide(OffsetStore.layerMemory))
        }),
        { shared: false }
      ),
      "keeps floors when it is opened again"
    ))

  it("finds a store that loses the last commit when it is closed", () =>
    breaks(
      reopened((below) => {
        let late: Effect.Effect<void, StoreError> = Effect.void
        const later = committing(({ commit }) =>
          Effect.suspend(() => {
            const before = late
            late = commit
            return before
          })
        )
        return later(below)
      }),
      "has every answered write"
    ))
})
