import { describe, it } from "@effect/vitest"
import { ConfigKey, PermanentError, SinkConnector, type SinkRecord, TransientError } from "@kelpie/core"
import { SinkContract } from "@kelpie/testkit"
import { Effect, Layer, Redacted } from "effect"
import { breaks, keeps } from "./brokenLaws.ts"
import * as Feed from "./feed.ts"

type Numbers = ReadonlyArray<SinkRecord<number>>
type Task = SinkConnector.Task<number>

/** The good sink, changed in one respect. */
const changed = (change: Partial<typeof Feed.sink>, options?: Parameters<typeof Feed.sinkLaws>[1]) =>
  Feed.sinkLaws(SinkConnector.make("Shelf", { ...Feed.sink, ...change }), options)
/** Its tasks, made different by a function that is given the shelf. */
const tasks = (wrap: (task: Task, world: Feed.World, context: Feed.SinkContext) => Task) =>
  changed({
    task: (context) =>
      Effect.flatMap(Feed.Outside, (world) => Effect.map(Feed.sink.task(context), (task) => wrap(task, world, context)))
  })

describe("SinkContract", () => {
  it("is kept by a sink that does as it should", () => keeps(changed({})))

  it("finds a sink that loses the last record of a batch", () =>
    breaks(
      tasks((task) => ({ put: (records) => task.put(records.slice(0, -1)) })),
      "writes what it is given",
      "keeps what it flushed"
    ))

  it("finds a sink that writes a batch in another order", () =>
    breaks(tasks((task) => ({ put: (records) => task.put(records.toReversed()) })), "in the order of its partition"))

  it("finds a sink that cannot take an empty list", () =>
    breaks(
      tasks((task) => ({
        put: (records) => records.length === 0 ? Effect.die(new RangeError("no rows")) : task.put(records)
      })),
      "nothing for an empty list"
    ))

  it("finds a flush that writes what it has written", () =>
    breaks(
      tasks((_, { shelf }) => {
        const buffer: Array<SinkRecord<number>> = []
        return {
          put: (records) => Effect.sync(() => void buffer.push(...records)),
          flush: Effect.suspend(() => Effect.sync(() => void shelf.push(...buffer.map(({ value }) => value))))
        }
      }),
      "may be flushed twice",
      "each record once"
    ))

  it("finds a sink that forgets what it buffered when it fails", () =>
    breaks(
      tasks((task) => {
        let buffer: Numbers = []
        return {
          put: (records) =>
            Effect.sync(() => {
              buffer = [...buffer, ...records]
            }),
          flush: Effect.suspend(() => {
            const all = buffer
            buffer = []
            return task.put(all)
          }).pipe(Effect.catch(() => Effect.void))
        }
      }),
      "fails in an outage"
    ))

  it("finds a sink that refuses what it wrote already", () =>
    breaks(
      tasks((task, { shelf }) => ({
        put: (records) =>
          records.some(({ value }) => shelf.includes(value))
            ? Effect.fail(new PermanentError({ message: "twice" }))
            : task.put(records)
      })),
      "takes a batch that comes again"
    ))

  it("finds a sink that says it writes once, and does not", () =>
    breaks(changed({}, { once: true }), "its records are there once"))

  it("finds a sink that begins anew when it starts", () =>
    breaks(
      tasks((task, { shelf }) => {
        shelf.splice(0)
        return task
      }),
      "goes on behind it"
    ))

  it("finds a target that is for one task alone", () =>
    breaks(
      tasks((task, { connections }) => ({
        put: (records) =>
          connections.size > 1
            ? Effect.fail(new TransientError({ message: "locked" }))
            : Effect.andThen(Effect.sleep("1 second"), task.put(records))
      })),
      "as several tasks"
    ))

  it("finds an outage that is a defect, and one that nobody is told of", () => {
    const down = (put: Effect.Effect<void>) =>
      tasks((task, world) => ({ put: (records) => Effect.suspend(() => world.isDown ? put : task.put(records)) }))
    breaks(down(Effect.die(new Error("ECONNREFUSED"))), "in an outage")
    breaks(down(Effect.void), "in an outage")
  })

  it("finds a sink that fails a batch for one record, or drops it without a word", () => {
    const bad = (refuse: (record: SinkRecord<number>) => Effect.Effect<void, PermanentError>) =>
      tasks((task) => ({
        put: (records) =>
          Effect.andThen(
            Effect.forEach(records.filter(({ value }) => value < 0), refuse),
            task.put(records.filter(({ value }) => value >= 0))
          )
      }))
    breaks(bad(() => Effect.fail(new PermanentError({ message: "below zero" }))), "reports a record")
    breaks(bad(() => Effect.void), "reports a record", "what the report of a record fails with")
  })

  it("finds a put that cannot be interrupted, and a fiber and a connection that are left", () => {
    breaks(tasks(() => ({ put: () => Effect.uninterruptible(Effect.sleep("20 seconds")) })), "in the middle of a put")
    breaks(
      tasks((task) => ({ put: (records) => Effect.andThen(Effect.forkDetach(Effect.never), task.put(records)) })),
      "leaves nothing"
    )
    breaks(
      tasks((task, { connections }) => {
        connections.add(`pool ${connections.size}`)
        return task
      }),
      "leaves nothing"
    )
  })

  it("finds a secret in what a put says", () => {
    const saying = (say: (token: string) => Effect.Effect<void, TransientError>) =>
      tasks((task, _, { config }) => ({
        put: (records) => Effect.andThen(say(Redacted.value(config.token)), task.put(records))
      }))
    breaks(saying((token) => Effect.logDebug(`PUT /shelf?token=${token}`)), "shows no secret that is right")
    breaks(
      saying((token) => Effect.fail(new TransientError({ message: "no", cause: { headers: { token } } }))),
      "shows no secret"
    )
  })

  it("finds a validation that throws, and keys without documentation", () => {
    const validate = (url: string) =>
      Effect.succeed(
        new URL(url).protocol === "http:" ? [] : [{ property: "url" as const, message: "is not http" }]
      )
    const keys = { ...Feed.config, url: ConfigKey.String("url", { default: "http://shelf" }) }
    const sink = SinkConnector.make("Shelf", { ...Feed.sink, config: keys, validate: ({ url }) => validate(url) })
    breaks(
      SinkContract(sink, {
        world: Feed.world,
        config: () => sink.config({ token: Feed.token }, {}),
        services: (world) => Layer.succeed(Feed.Outside, world),
        value: (n) => n
      }),
      "documents every key",
      "without throwing"
    )
  })
})
