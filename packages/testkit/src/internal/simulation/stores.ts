/** The stores of a simulation: they outlive workers, fail when told to, and tell the checker what they accept. */
import * as Backoff from "@kelpie/core/Backoff"
import type * as ConfigRecord from "@kelpie/core/ConfigRecord"
import { ConfigStore } from "@kelpie/core/ConfigStore"
import * as Newest from "@kelpie/core/Newest"
import { OffsetStore } from "@kelpie/core/OffsetStore"
import { StatusStore } from "@kelpie/core/StatusStore"
import { StoreError } from "@kelpie/core/StoreError"
import type { Stores } from "@kelpie/core/Stores"
import { TopicLog } from "@kelpie/core/TopicLog"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Checker } from "./checker.ts"
import { recordKey } from "./checker.ts"

/** A worker process, as far as stores see it: once it is dead nothing of it reaches them. */
export interface Life {
  dead: boolean
  /** It runs nothing at the moment. */
  frozen: boolean
  /** It takes its time with everything at the moment. */
  slow: boolean
  /** It reaches neither the group nor other workers at the moment. */
  cut: boolean
  readonly number: number
}

/** The stores of one run. */
export interface SimulatedStores {
  /** The stores as one life of a worker sees them. */
  readonly layer: (life: Life) => Layer.Layer<Stores, StoreError>
  /** The chance that a call goes wrong. */
  trouble: number
  readonly compact: () => void
  /** The kernel drops the lock of a dead process. */
  readonly release: (life: Life) => void
  readonly statuses: Effect.Effect<ReadonlyArray<unknown>>
}

const unavailable = (operation: string) => new StoreError({ kind: "Unavailable", operation, detail: "simulated" })

/** Builds the stores. */
export const make = Effect.fnUntraced(function*(
  seed: number,
  checker: Checker
): Effect.fn.Return<SimulatedStores, never, Scope.Scope> {
  const memory = yield* Layer.build(
    Layer.mergeAll(StatusStore.layerMemory, OffsetStore.layerMemory, TopicLog.layerMemory)
  )
  const statusStore = Context.get(memory, StatusStore)
  const offsetStore = Context.get(memory, OffsetStore)
  const topicLog = Context.get(memory, TopicLog)
  /** Told whenever somebody appended, or stored statuses. */
  const appended = Newest.make(0)
  const stored = Newest.make(0)
  let calls = 0
  let records: Array<ConfigRecord.Encoded> = []
  let position = 0
  let claims = 0
  let holder: Life | undefined

  /** A call of a life: it never answers a dead one, and may fail before or after its effect, or be late. */
  const call = <A, E>(life: Life, operation: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E | StoreError> =>
    Effect.suspend(() => {
      if (life.dead) return Effect.never
      const drawn = Backoff.draw("trouble", seed, operation, calls++)
      const alive = <B, F>(then: Effect.Effect<B, F>) => Effect.suspend(() => life.dead ? Effect.never : then)
      if (drawn >= self.trouble) return Effect.flatMap(effect, (value) => alive(Effect.succeed(value)))
      const kind = Math.floor(Backoff.draw("kind", seed, operation, calls) * 3)
      if (kind === 0) return Effect.fail(unavailable(operation))
      if (kind === 1) return Effect.andThen(effect, alive(Effect.fail(unavailable(operation))))
      return Effect.andThen(Effect.sleep(50), alive(effect))
    })

  const engine = (life: Life): ConfigStore.Encoded => ({
    claim: call(life, "claim", Effect.sync(() => ++claims)),
    append: (claim, writes) =>
      call(
        life,
        "append",
        Effect.suspend(() => {
          if (claim !== claims) return Effect.fail(new StoreError({ kind: "Fenced", operation: "append" }))
          const added = writes.map(({ key, value }) => ({ key, value, position: ++position }))
          records = [...records, ...added]
          appended.set(life.number)
          checker.committed(claim, claims, added)
          return Effect.succeed(added.map((one) => one.position))
        })
      ),
    changed: Stream.map(appended.changes, () => undefined),
    read: (after) => call(life, "read", Effect.sync(() => records.filter((one) => one.position > after))),
    exclusive: Effect.asVoid(Effect.acquireRelease(
      Effect.suspend(() => {
        if (holder !== undefined && holder !== life) return Effect.fail(unavailable("exclusive: somebody holds it"))
        holder = life
        return Effect.void
      }),
      () => Effect.sync(() => self.release(life))
    ))
  })

  /** What a leader fences counts as opened by somebody else. */
  const fence =
    (life: Life, store: string, below: OffsetStore["Service"]["fence"]): OffsetStore["Service"]["fence"] => (runs) =>
      call(
        life,
        `fence ${store}`,
        Effect.andThen(
          below(runs),
          Effect.sync(() => runs.forEach(({ item, run }) => checker.opened(store, item, run)))
        )
      )

  const offsets = (life: Life): OffsetStore["Service"] => ({
    ...offsetStore,
    fence: fence(life, "offsets", offsetStore.fence),
    read: (connector, partitions) => call(life, "read offsets", offsetStore.read(connector, partitions)),
    open: (item, run) =>
      Effect.suspend(() => life.dead ? Effect.never : offsetStore.open(item, run)).pipe(
        Effect.tap(() => Effect.sync(() => checker.opened("offsets", item, run))),
        Effect.map((writer) => ({
          prepare: (entries) => {
            const prepared = writer.prepare(entries)
            const accepted = Effect.sync(() => {
              checker.wrote("offsets", item, run)
              for (const { offset, partition } of entries) {
                const { task } = JSON.parse(partition) as { readonly task: number }
                const { position: at } = JSON.parse(offset ?? "{\"position\":0}") as { readonly position: number }
                checker.offsetStored(item.connector, task, at)
              }
            })
            return { ...prepared, commit: call(life, "store offsets", Effect.andThen(prepared.commit, accepted)) }
          }
        }))
      )
  })

  const topics = (life: Life): TopicLog["Service"] => ({
    ...topicLog,
    fence: fence(life, "topics", topicLog.fence),
    open: (item, run, options) =>
      Effect.suspend(() => life.dead ? Effect.never : topicLog.open(item, run, options)).pipe(
        Effect.tap(() => Effect.sync(() => checker.opened("topics", item, run))),
        Effect.map((writer) => ({
          append: (appends, prepared) =>
            call(
              life,
              "append records",
              Effect.suspend(() => {
                const note = Effect.sync(() => {
                  checker.wrote("topics", item, run)
                  for (const { records: added } of appends) for (const one of added) noteRecord(checker, one)
                })
                // the records are in the log before the offsets that stand for them are stored
                const commit = prepared === undefined ? note : Effect.andThen(note, prepared.commit)
                return writer.append(appends, { item, run, engine: undefined, entries: [], commit })
              })
            )
        }))
      ),
    subscribe: (options) =>
      Effect.suspend(() => life.dead ? Effect.never : topicLog.subscribe(options)).pipe(
        Effect.tap(() => Effect.sync(() => checker.opened("positions", options.item, options.run))),
        Effect.map((subscription) => ({
          read: (max) =>
            Effect.flatMap(subscription.read(max), (batches) => life.dead ? Effect.never : Effect.succeed(batches)),
          commit: (positions) => {
            const accepted = Effect.sync(() => {
              checker.wrote("positions", options.item, options.run)
              for (const { offset, partition, topic } of positions) {
                checker.positionStored(options.item.connector, topic, partition, offset)
              }
            })
            return call(life, "store positions", Effect.andThen(subscription.commit(positions), accepted))
          }
        }))
      )
  })

  const statuses = (life: Life): StatusStore["Service"] => ({
    ...statusStore,
    put: (all) =>
      call(
        life,
        "put statuses",
        Effect.andThen(statusStore.put(all), Effect.sync(() => stored.set(life.number)))
      ),
    remove: (items) => call(life, "remove statuses", statusStore.remove(items)),
    changes: stored.changes.pipe(
      Stream.mapEffect(() =>
        Effect.orDie(Effect.retry(call(life, "load statuses", statusStore.load), { schedule: Schedule.spaced(250) }))
      )
    )
  })

  const self: SimulatedStores = {
    trouble: 0,
    layer: (life) =>
      Layer.mergeAll(
        Layer.effect(ConfigStore, ConfigStore.makeEncoded(engine(life))),
        Layer.succeed(OffsetStore, offsets(life)),
        Layer.succeed(TopicLog, topics(life)),
        Layer.succeed(StatusStore, statuses(life))
      ),
    compact: () => {
      const last = new Map(records.map((one) => [one.key, one.position]))
      records = records.filter((one) => last.get(one.key) === one.position)
    },
    release: (life) => {
      if (holder === life) holder = undefined
    },
    statuses: Effect.orDie(statusStore.load)
  }
  return self
})

const decoder = new TextDecoder()

const noteRecord = (checker: Checker, { value }: TopicLog.LogRecord): void => {
  if (value === null) return
  const { connector, sequence, task } = JSON.parse(decoder.decode(value)) as {
    readonly connector: string
    readonly task: number
    readonly sequence: number
  }
  checker.appended(recordKey(connector, task, sequence))
}
