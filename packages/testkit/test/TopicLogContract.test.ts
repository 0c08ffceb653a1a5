import { describe, it } from "@effect/vitest"
import { type Item, Middleware, StoreError, TopicLog } from "@kelpie/core"
import { TopicLogContract } from "@kelpie/testkit"
import { Effect, Layer, Scope } from "effect"
import { breaks, keeps, leaking, surviving } from "./brokenLaws.ts"

type Log = TopicLog["Service"]
const memory = (layer: Layer.Layer<TopicLog>) => TopicLogContract(Effect.succeed(layer), { durable: false })
const wrap = (members: (below: Log) => Partial<Log>) =>
  memory(Middleware.decorate(TopicLog, members).pipe(Layer.provide(TopicLog.layerMemory)))
const reopened = (members: (below: Log) => Partial<Log>) =>
  TopicLogContract(
    Effect.map(surviving(TopicLog.layerMemory), (layer) =>
      Middleware.decorate(TopicLog, members).pipe(Layer.provide(layer)))
  )

/** Changes what writers append. */
const appending = (change: (append: TopicLog.Append) => TopicLog.Append) => (below: Log): Partial<Log> => ({
  open: (item, run) =>
    Effect.map(below.open(item, run), (writer) => ({
      append: (appends, offsets) => writer.append(appends.map(change), offsets)
    }))
})
const changingRecords = (change: (records: ReadonlyArray<TopicLog.LogRecord>) => ReadonlyArray<TopicLog.LogRecord>) =>
  appending(({ records, topic }) => ({ topic, records: change(records) }))
/** Changes subscriptions. */
const subscribing = (
  change: (subscription: TopicLog.Subscription, options: TopicLog.SubscribeOptions) => Partial<TopicLog.Subscription>
) =>
(below: Log): Partial<Log> => ({
  subscribe: (options) =>
    Effect.map(below.subscribe(options), (subscription) => ({ ...subscription, ...change(subscription, options) }))
})

describe("TopicLogContract", () => {
  it("is kept by the log in memory", () => keeps(memory(TopicLog.layerMemory)))

  it("is kept by a log that outlives its layer", () => keeps(reopened(() => ({}))))

  it("finds a log that loses the last record of an append", () =>
    breaks(wrap(changingRecords((records) => records.slice(0, -1))), "in their order", "every member of a record"))

  it("finds a log that reorders", () =>
    breaks(wrap(changingRecords((records) => records.toReversed())), "in their order", "every member of a record"))

  it("finds a log that appends twice", () =>
    breaks(wrap(changingRecords((records) => [...records, ...records])), "in their order", "gives each record once"))

  it("finds a log that changes records", () => {
    const changed = (change: (record: TopicLog.LogRecord) => TopicLog.LogRecord) =>
      breaks(wrap(changingRecords((records) => records.map(change))), "every member of a record")
    changed((record) => ({ ...record, headers: [] }))
    changed((record) => ({ ...record, key: record.key ?? new Uint8Array() }))
    changed((record) => ({ ...record, timestampMillis: record.timestampMillis + 1 }))
  })

  it("finds a log that ignores partitions, or keys", () => {
    breaks(
      wrap(changingRecords((records) => records.map((record) => ({ ...record, partition: undefined })))),
      "that it names"
    )
    breaks(
      wrap(
        changingRecords((records) =>
          records.map((record, index) => record.partition === undefined ? { ...record, partition: index } : record)
        )
      ),
      "records of one key into one partition"
    )
    breaks(
      wrap(changingRecords((records) => records.map((record) => ({ partition: 0, ...record })))),
      "deals records without a key in turn"
    )
  })

  it("finds a log that ignores the fence when it appends", () =>
    breaks(
      wrap((below) => ({
        open: (item, run) =>
          Effect.flatMap(below.open({ ...item, task: (item.task ?? 0) + 1e6 }, { token: 1, start: 1 }), (unfenced) =>
            Effect.as(below.open(item, run), unfenced))
      })),
      "only from the writer opened last",
      "fences older runs"
    ))

  it("finds a log that appends before it checks the fence", () =>
    breaks(
      wrap((below) => ({
        open: (item, run) =>
          Effect.gen(function*() {
            const writer = yield* below.open(item, run)
            const unfenced = yield* below.open({ ...item, task: (item.task ?? 0) + 1e6 }, { token: 1, start: 1 })
            return {
              append: (appends, offsets) => Effect.andThen(unfenced.append(appends), writer.append([], offsets))
            }
          })
      })),
      "only from the writer opened last"
    ))

  it("finds a log that stores offsets first, forgets them, or hides that they failed", () => {
    const offsets = (append: (writer: TopicLog.Writer) => TopicLog.Writer["append"]) =>
      wrap((below) => ({
        open: (item, run) => Effect.map(below.open(item, run), (writer) => ({ append: append(writer) }))
      }))
    breaks(
      offsets((writer) => (appends, offsets) => Effect.andThen(offsets?.commit ?? Effect.void, writer.append(appends))),
      "stores the offsets that stand for records after them"
    )
    breaks(offsets((writer) => (appends) => writer.append(appends)), "stores offsets without records too")
    breaks(
      offsets((writer) => (appends, offsets) =>
        Effect.andThen(writer.append(appends), Effect.ignore(offsets?.commit ?? Effect.void))
      ),
      "fails when the offsets cannot be stored"
    )
    breaks(
      offsets((writer) => (appends, offsets) => appends.length === 0 ? Effect.void : writer.append(appends, offsets)),
      "stores offsets without records too"
    )
  })

  it("finds a log that accepts positions from anybody", () =>
    breaks(
      wrap((below) => {
        const committed = new Map<string, ReadonlyArray<TopicLog.Position>>()
        return {
          subscribe: (options) =>
            Effect.map(below.subscribe(options), ({ read }) => ({
              read,
              commit: (positions) => Effect.sync(() => void committed.set(options.group, positions))
            })),
          positions: (group) => Effect.sync(() => committed.get(group) ?? [])
        }
      }),
      "positions only from the run opened last",
      "no positions of a run that was fenced",
      "goes on at the stored positions"
    ))

  it("finds a log that stores positions when it reads", () =>
    breaks(
      wrap(subscribing(({ commit, read }) => ({
        read: (max) =>
          Effect.tap(read(max), (batches) =>
            commit(batches.map(({ firstOffset, partition, records, topic }) => ({
              topic,
              partition,
              offset: firstOffset + records.length
            }))))
      }))),
      "stores positions only when they are committed"
    ))

  it("finds a log that always reads from the first record", () => {
    let subscribed = 0
    breaks(
      wrap((below) => ({
        subscribe: (options) => below.subscribe({ ...options, group: `${options.group} of ${++subscribed}` })
      })),
      "goes on at the stored positions"
    )
  })

  it("finds a log whose groups are one", () =>
    breaks(
      wrap((below) => ({ subscribe: (options) => below.subscribe({ ...options, group: "one" }) })),
      "every group every record"
    ))

  it("finds a log that loses what an interrupted read had taken", () =>
    breaks(
      wrap(subscribing(({ read }) => ({
        read: (max) => Effect.tap(Effect.uninterruptible(read(max)), () => Effect.yieldNow)
      }))),
      "takes nothing when a read is interrupted"
    ))

  it("finds a log whose reads do not wait", () =>
    breaks(
      wrap(subscribing(({ read }) => ({
        read: (max) =>
          Effect.map(Effect.timeoutOption(read(max), 1), (batches) => batches._tag === "Some" ? batches.value : [])
      }))),
      "waits until there is a record"
    ))

  it("finds a log that gives every member everything, or drops the second", () => {
    breaks(
      wrap((below) => ({ subscribe: (options) => below.subscribe({ ...options, member: 0, members: 1 }) })),
      "deals partition p"
    )
    breaks(
      wrap((below) => ({
        subscribe: (options) => below.subscribe({ ...options, member: (options.member + 1) % options.members })
      })),
      "deals partition p"
    )
  })

  it("finds a log that takes a part of a name for a match", () =>
    breaks(
      wrap((below) => ({
        subscribe: (options) =>
          below.subscribe({
            ...options,
            topics: "pattern" in options.topics
              ? { pattern: new RegExp(`.*(${options.topics.pattern.source}).*`) }
              : options.topics
          })
      })),
      "whole name matches"
    ))

  it("finds a log that starves", () =>
    breaks(
      wrap((below) => ({
        subscribe: (options) =>
          Effect.gen(function*() {
            // partition 0 first, and another one only when it has nothing
            const first = yield* below.subscribe(options)
            const held: Array<TopicLog.Batch> = []
            return {
              commit: first.commit,
              read: (max) =>
                Effect.map(first.read(1000), (batches) => {
                  held.push(...batches)
                  held.sort((a, b) => a.partition - b.partition)
                  const batch = held.shift()
                  if (batch === undefined) return []
                  const rest = batch.records.slice(max)
                  if (rest.length > 0) held.unshift({ ...batch, firstOffset: batch.firstOffset + max, records: rest })
                  return [{ ...batch, records: batch.records.slice(0, max) }]
                })
            }
          })
      })),
      "lets no partition wait for ever"
    ))

  it("finds a log whose writers outlive their scope", () =>
    breaks(
      wrap((below) => ({
        open: (item, run) => Effect.flatMap(Scope.make(), (scope) => Scope.provide(below.open(item, run), scope))
      })),
      "a writer or a subscription that is closed"
    ))

  it("finds a log that creates a topic for whoever reads it, or changes one", () => {
    breaks(
      wrap((below) => ({
        subscribe: (options) =>
          Effect.andThen(
            "list" in options.topics
              ? Effect.forEach(options.topics.list, (name) => below.create({ name, partitions: 1 }))
              : Effect.void,
            below.subscribe(options)
          )
      })),
      "without creating it"
    )
    breaks(
      wrap((below) => ({
        topics: Effect.map(below.topics, (topics) => topics.toSorted((a, b) => a.name < b.name ? -1 : 1))
      })),
      "in the order of their creation"
    )
  })

  it("finds a log that alters positions without fencing, or before it looks at the floors", () => {
    const unfenced = (below: Log, { group, positions }: TopicLog.Alteration) =>
      Effect.scoped(Effect.flatMap(
        below.subscribe({
          group,
          item: { connector: "unfenced", task: 0 },
          run: { token: 1, start: 1 },
          topics: { list: [] },
          member: 0,
          members: 1
        }),
        ({ commit }) => commit(positions.map((one) => ({ ...one, offset: one.offset ?? 0 })))
      ))
    breaks(
      wrap((below) => ({ alterPositions: (alteration) => unfenced(below, alteration) })),
      "alters and forgets positions",
      "fences every earlier owner",
      "alters nothing when a later owner has opened"
    )
    breaks(
      wrap((below) => ({
        alterPositions: (alteration) => Effect.andThen(unfenced(below, alteration), below.alterPositions(alteration))
      })),
      "alters nothing when a later owner has opened"
    )
  })

  it("finds a log that mixes up usages, remembers too much, or forgets what is used again", () => {
    breaks(
      wrap((below) => ({ open: (item, run) => below.open(item, run, { usage: "a" }) })),
      "that were appended to, by usage"
    )
    breaks(
      wrap((below) => ({ subscribe: ({ usage: _, ...options }) => below.subscribe(options) })),
      "whose positions were stored, by usage"
    )
    breaks(
      wrap((below) => ({
        open: (item, run, options) =>
          Effect.map(
            Effect.all([below.open(item, run, options), below.open(item, run)]),
            ([first, silent]) => {
              let told = false
              return {
                append: (appends, offsets) =>
                  Effect.suspend(() => {
                    const writer = told ? silent : first
                    told = true
                    return writer.append(appends, offsets)
                  })
              }
            }
          )
      })),
      "forgets topics until they are used again"
    )
    breaks(
      wrap((below) => ({ usedTopics: () => Effect.map(below.topics, (topics) => topics.map(({ name }) => name)) })),
      "that were appended to, by usage",
      "forgets topics until they are used again"
    )
  })

  it("finds a log that leaves a fiber running", () => breaks(memory(leaking(TopicLog.layerMemory)), "ends every fiber"))

  it("finds a log that is empty when it is opened again", () =>
    breaks(
      TopicLogContract(Effect.succeed(TopicLog.layerMemory), { shared: false }),
      "has topics, records and positions",
      "keeps floors when it is opened again"
    ))

  it("finds logs that do not fence each other", () => {
    let opened = 0
    breaks(
      reopened((below) => {
        const mine = ++opened
        const own = (item: Item.Item): Item.Item => ({ ...item, connector: `${item.connector} ${mine}` })
        return {
          open: (item, run) => below.open(own(item), run),
          subscribe: (options) => below.subscribe({ ...options, item: own(options.item) })
        }
      }),
      "fences the writer and the reader of another worker"
    )
  })

  it("tells what a failing log said", () =>
    breaks(
      wrap(() => ({ topics: Effect.fail(new StoreError({ kind: "Unavailable", operation: "topics" })) })),
      "lists topics"
    ))
})
