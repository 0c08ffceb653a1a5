import { assert, describe, it } from "@effect/vitest"
import { type ClusterState, type ConfigRecord, ConfigStore, Middleware, StoreError } from "@kelpie/core"
import { ConfigStoreContract, type ConfigStoreOptions, Contract, TestRuntime } from "@kelpie/testkit"
import { Effect, Layer, Queue, Stream } from "effect"
import { breaks, keeps, leaking } from "./brokenLaws.ts"

type Store = ConfigStore["Service"]
const memory = (layer: Layer.Layer<ConfigStore>) => ConfigStoreContract(Effect.succeed(layer), { durable: false })
const wrap = (members: (below: Store) => Partial<Store>) =>
  memory(Middleware.decorate(ConfigStore, members).pipe(Layer.provide(ConfigStore.layerMemory)))
/** Changes what is committed under a claim. */
const committing =
  (change: (claim: ConfigStore.Claim) => ConfigStore.Claim["commit"]) => (below: Store): Partial<Store> => ({
    claim: (session, confirm) =>
      Effect.map(below.claim(session, confirm), (claim) => ({ ...claim, commit: change(claim) }))
  })

/** The log of a world: it outlives the layers over it, and tells all of them of appends. */
const makeLog = () => {
  const records: Array<ConfigRecord.Encoded> = []
  const listeners = new Set<Queue.Queue<void>>()
  let claims = 0
  let held = false
  const fenced = new StoreError({ kind: "Fenced", operation: "append" })
  const engine: ConfigStore.Encoded = {
    claim: Effect.sync(() => ++claims),
    append: (claim, writes) =>
      Effect.suspend(() => {
        if (claim !== claims) return Effect.fail(fenced)
        const positions = writes.map(({ key, value }) => records.push({ key, value, position: records.length + 1 }))
        for (const listener of listeners) Queue.offerUnsafe(listener, undefined)
        return Effect.succeed(positions)
      }),
    read: (after) => Effect.sync(() => records.filter((record) => record.position > after)),
    changed: Stream.unwrap(Effect.map(
      Effect.acquireRelease(
        Effect.tap(Queue.unbounded<void>(), (queue) => Effect.sync(() => listeners.add(queue))),
        (queue) => Effect.sync(() => listeners.delete(queue))
      ),
      Stream.fromQueue
    )),
    exclusive: Effect.asVoid(Effect.acquireRelease(
      Effect.suspend(() => {
        if (held) {
          return Effect.fail(new StoreError({ kind: "Unavailable", operation: "exclusive", detail: "it is held" }))
        }
        held = true
        return Effect.void
      }),
      () =>
        Effect.sync(() => {
          held = false
        })
    ))
  }
  return { engine, records }
}
/** A store over an engine, changed for each world. */
const over = (
  change: (log: ReturnType<typeof makeLog>) => Partial<ConfigStore.Encoded>,
  options?: ConfigStoreOptions
) =>
  ConfigStoreContract(
    Effect.sync(() => {
      const log = makeLog()
      return Layer.effect(ConfigStore, ConfigStore.makeEncoded({ ...log.engine, ...change(log) }))
    }),
    options
  )

describe("ConfigStoreContract", () => {
  it("is kept by the store in memory", () => keeps(memory(ConfigStore.layerMemory)))

  it("is kept by an engine that outlives its stores", () => keeps(over(() => ({}))))

  it("is kept by an engine that keeps the last record of each key only", () =>
    keeps(over(({ records }) => ({
      read: (after) =>
        Effect.sync(() =>
          records.filter((record, index) =>
            record.position > after && !records.slice(index + 1).some((later) => later.key === record.key)
          )
        )
    }))))

  it("is kept by an engine that does not tell, when it does not have to", () =>
    keeps(over(() => ({ changed: undefined }), { notifies: false })))

  it("finds an engine that does not tell, when it has to", () =>
    breaks(over(() => ({ changed: undefined })), "learns by itself"))

  it("finds an engine that ignores the fence", () =>
    breaks(
      over(({ engine }) => ({
        append: (_, writes) => Effect.flatMap(engine.claim, (claim) => engine.append(claim, writes))
      })),
      "fences every earlier claim",
      "fences the claim of another worker"
    ))

  it("finds an engine that fences with a loss", () =>
    breaks(
      over(({ engine, records }) => ({
        append: (claim, writes) =>
          Effect.onError(engine.append(claim, writes), () =>
            Effect.sync(() => {
              const [first] = writes
              if (first !== undefined) records.push({ ...first, position: records.length + 1 })
            }))
      })),
      "fences every earlier claim"
    ))

  it("finds an engine that loses the last write of a commit", () =>
    breaks(
      over(({ engine, records }) => ({
        append: (claim, writes) =>
          Effect.map(engine.append(claim, writes), (positions) => {
            if (positions.length > 1) records.pop()
            return positions
          })
      })),
      "reads to the end of the log",
      "has the same state after it is opened again"
    ))

  it("finds an engine that reorders", () =>
    breaks(
      over(({ engine }) => ({ read: (after) => Effect.map(engine.read(after), (records) => records.toReversed()) })),
      "has the same state after it is opened again"
    ))

  it("finds an engine that uses positions again", () =>
    breaks(
      over(({ engine }) => ({
        append: (claim, writes) => Effect.map(engine.append(claim, writes), (positions) => positions.map(() => 7))
      })),
      "a position of its own"
    ))

  it("finds an engine that forgets what was stored", () =>
    breaks(
      ConfigStoreContract(
        Effect.succeed(Layer.effect(ConfigStore, Effect.suspend(() => ConfigStore.makeEncoded(makeLog().engine)))),
        { shared: false }
      ),
      "has the same state after it is opened again",
      "goes on with positions and terms"
    ))

  it("finds an engine that reads too little", () =>
    breaks(
      over(({ engine }) => ({ read: (after) => Effect.map(engine.read(after), (records) => records.slice(0, 3)) })),
      "reads to the end of the log"
    ))

  it("finds a store that ignores guards", () =>
    breaks(
      wrap(committing(({ commit }) => (writes) => commit(writes.map(({ write }) => ({ write }))))),
      "whose guard does not hold",
      "all of a batch or nothing",
      "lets one of several commits win"
    ))

  it("finds a store that commits the part of a batch that it can", () =>
    breaks(
      wrap(committing(({ commit }) => (writes) =>
        Effect.map(Effect.forEach(writes, (write) => commit([write])), (positions) => positions.at(-1) ?? 0)
      )),
      "all of a batch or nothing"
    ))

  it("finds a store that does not tell tombstones from records", () =>
    breaks(
      wrap((below) => {
        const removed = new Set<string>()
        return committing(({ commit }) => (writes) => {
          if (writes.some(({ expect, write }) => expect === 0 && removed.has(write.key))) {
            return Effect.fail(new StoreError({ kind: "Conflict", operation: "commit" }))
          }
          for (const { write } of writes) if (write.entry === undefined) removed.add(write.key)
          return commit(writes)
        })(below)
      }),
      "whose guard holds"
    ))

  it("finds a store that answers before it applied", () =>
    breaks(
      wrap((below) => {
        let last: Effect.Effect<unknown, StoreError> = Effect.void
        return committing(({ commit }) => (writes) =>
          Effect.suspend(() => {
            const before = last
            last = commit(writes)
            return Effect.as(before, 1)
          })
        )(below)
      }),
      "shows a commit that it answered"
    ))

  it("finds a store that does not ask who should lead", () =>
    breaks(
      wrap((below) => ({ claim: (session) => below.claim(session, Effect.succeed(true)) })),
      "claims nothing when"
    ))

  it("finds a store that decides before it has read", () =>
    breaks(
      over(({ engine }) => {
        let opened = 0
        return { read: (after) => opened++ < 3 ? engine.read(after) : Effect.succeed([]) }
      }),
      "has read every commit of earlier claims"
    ))

  it("finds a store that names too few changed keys, or too many", () => {
    const keys = (change: (keys: ReadonlyArray<string>) => ReadonlyArray<string>) =>
      wrap((below) => ({
        changedSince: (position) =>
          Effect.map(below.changedSince(position), ({ keys, state }) => ({ state, keys: change([...keys]) }))
      }))
    breaks(keys((all) => all.slice(1)), "names the keys that changed", "names every key since the beginning")
    breaks(keys((all) => [...all, "connector/a"]), "names the keys that changed")
  })

  it("finds a store that tells of every state, and one that tells of none", () => {
    const states: Array<Queue.Queue<ClusterState.ClusterState>> = []
    breaks(
      wrap((below) => ({
        ...committing(({ commit }) => (writes) =>
          Effect.tap(
            commit(writes),
            () =>
              Effect.flatMap(below.state, (state) =>
                Effect.sync(() => states.forEach((queue) => Queue.offerUnsafe(queue, state))))
          )
        )(below),
        changes: Stream.unwrap(Effect.map(
          Effect.tap(Queue.unbounded<ClusterState.ClusterState>(), (queue) => Effect.sync(() => states.push(queue))),
          Stream.fromQueue
        ))
      })),
      "tells a slow reader of the newest state only"
    )
    breaks(wrap(() => ({ changes: Stream.never })), "tells of commits")
  })

  it("finds a store that measures letters, not bytes", () =>
    breaks(
      memory(
        Middleware.decorate(ConfigStore, (below) => ({ maxRecordBytes: below.maxRecordBytes / 2 })).pipe(
          Layer.provide(ConfigStore.layerMemory)
        )
      ),
      "larger than it says"
    ))

  it("finds a store that two can hold, one that stays held, and one that waits", () => {
    const holding = (exclusive: Store["exclusive"]) => wrap(() => ({ exclusive }))
    breaks(holding(Effect.void), "is held by one at a time")
    breaks(
      wrap((below) => ({ exclusive: Effect.scoped(below.exclusive) })),
      "is held by one at a time"
    )
    breaks(holding(Effect.never), "is held by one at a time")
    const names = ConfigStoreContract(Effect.succeed(ConfigStore.layerMemory), { exclusive: false }).map(({ name }) =>
      name
    )
    assert.isFalse(names.some((name) => name.includes("held")))
  })

  it("finds a store that leaves a fiber running", () =>
    breaks(memory(leaking(ConfigStore.layerMemory)), "ends every fiber"))

  it("finds a store whose lock is lost with an interrupted commit", () =>
    breaks(
      wrap((below) => {
        let locked = false
        return committing(({ commit }) => (writes) =>
          Effect.suspend(() => {
            if (locked) return Effect.never
            locked = true
            return Effect.tap(Effect.andThen(Effect.yieldNow, commit(writes)), () =>
              Effect.sync(() => {
                locked = false
              }))
          })
        )(below)
      }),
      "is usable after a commit was interrupted"
    ))

  it("says that a store which hangs did not end, and goes on with the next law", () => {
    const laws = wrap(() => ({ refresh: Effect.never }))
    const messages = TestRuntime.runSync(Contract.broken(laws), { advance: "1 hour" })
    assert.isTrue(messages.some(({ message }) => message === "did not end within 30s"))
    assert.isTrue(messages.length < laws.length)
  })
})
