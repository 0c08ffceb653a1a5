import { describe, it } from "@effect/vitest"
import { ConfigKey, SourceConnector, TransientError } from "@kelpie/core"
import { Leaks, SourceContract } from "@kelpie/testkit"
import { Effect, Latch, Layer, Redacted, Schema, Scope, Stream } from "effect"
import { breaks, keeps } from "./brokenLaws.ts"
import * as Feed from "./feed.ts"

/** The good source, changed in one respect. */
const changed = (change: Partial<typeof Feed.source>) =>
  Feed.sourceLaws(SourceConnector.make("Feed", { ...Feed.source, ...change }))
/** Its tasks, their shards read in another way. */
const reading = (read: typeof Feed.readShard) => changed({ task: (context) => Feed.readShards(context, read) })
/** Its instance, with something done at the start. */
const starting = (more: (config: Feed.Config) => Effect.Effect<unknown, TransientError, Feed.Outside | Scope.Scope>) =>
  changed({ start: (context) => Effect.andThen(more(context.config), Feed.source.start(context)) })

const batchesOf = Feed.readShard

describe("SourceContract", () => {
  it("is kept by a source that does as it should", () => keeps(changed({})))

  it("finds an offset that is ahead of its batch, or behind it", () => {
    const off = (by: number): typeof Feed.readShard => (...args) =>
      Stream.map(batchesOf(...args), (batch) => ({ ...batch, offset: { next: batch.offset.next + by } }))
    breaks(reading(off(1)), "goes on from the offset of every batch", "while it was stopped")
    breaks(reading(off(-1)), "goes on from the offset of every batch", "while it was stopped")
  })

  it("finds a source that remembers where it was instead of asking for its offsets", () => {
    const places = new Map<string, number>()
    const read: typeof Feed.readShard = (world, config, shard) =>
      Stream.tap(
        batchesOf(world, config, shard, places.get(shard) ?? 0),
        (batch) => Effect.sync(() => places.set(shard, batch.offset.next))
      )
    breaks(reading(read), "goes on from the offset of every batch", "same source partition")
  })

  it("finds an order that is another one every time", () => {
    let runs = 0
    const read: typeof Feed.readShard = (...args) => {
      const reversed = runs++ % 4 >= 2
      return Stream.map(
        batchesOf(...args),
        (batch) => reversed ? { ...batch, records: batch.records.toReversed() } : batch
      )
    }
    breaks(reading(read), "the order stays")
  })

  it("finds a source that looks once", () =>
    breaks(
      reading((world, ...rest) => Stream.concat(Stream.take(batchesOf(world, ...rest), 2), Stream.never)),
      "while it waits"
    ))

  it("finds a source that fails when there is nothing", () =>
    breaks(
      changed({
        task: (context) =>
          Stream.unwrap(Effect.map(Feed.Outside, ({ made }) =>
            made === 0 ? Stream.fail(new TransientError({ message: "nothing" })) : Feed.readShards(context)))
      }),
      "while it waits for the first data"
    ))

  it("finds a fiber, a connection and a scope that are left", () => {
    breaks(starting(() => Effect.forkDetach(Effect.never)), "leaves nothing behind")
    breaks(
      starting(() => Effect.map(Feed.Outside, ({ connections }) => connections.add(`another ${connections.size}`))),
      "leaves nothing behind"
    )
    breaks(
      starting(() => Effect.flatMap(Scope.make(), (scope) => Scope.provide(Leaks.probe("subscription"), scope))),
      "leaves nothing behind"
    )
  })

  it("finds a handle that is left, by what the platform names", () => {
    const open: Array<string> = []
    const source = SourceConnector.make("Feed", {
      ...Feed.source,
      start: (context) => Effect.andThen(Effect.sync(() => open.push("Timeout")), Feed.source.start(context))
    })
    breaks(
      SourceContract(source, {
        world: Feed.world,
        config: () => source.config({ token: Feed.token }),
        services: (world) => Layer.succeed(Feed.Outside, world),
        produce: Feed.produce,
        handles: () => open
      }),
      "leaves nothing behind"
    )
  })

  it("finds a wait that cannot be interrupted", () => {
    const deaf = Latch.makeUnsafe(false)
    const waits = Stream.fromEffectDrain(Effect.uninterruptible(deaf.await))
    breaks(
      reading((...args) => Stream.merge(batchesOf(...args), waits)),
      "while it waits for the first data",
      "while it waits for more data"
    )
  })

  it("finds a secret in an error, in its cause, in a defect and in a log line", () => {
    const shown = (config: Feed.Config) => `token=${Redacted.value(config.token)}`
    const failing = (fail: (config: Feed.Config) => Effect.Effect<unknown, TransientError>) =>
      starting((config) => Redacted.value(config.token) === Feed.token ? Effect.void : fail(config))
    breaks(
      failing((config) => Effect.fail(new TransientError({ message: shown(config) }))),
      "shows no secret that is wrong"
    )
    breaks(
      failing((config) =>
        Effect.fail(new TransientError({ message: "no", cause: new Error("no", { cause: shown(config) }) }))
      ),
      "shows no secret that is wrong"
    )
    breaks(failing((config) => Effect.die(new Error(shown(config)))), "shows no secret that is wrong")
    breaks(
      starting((config) => Effect.logDebug("connecting", { with: shown(config) })),
      "shows no secret that is right"
    )
    breaks(
      changed({
        task: (context) =>
          Stream.unwrap(
            Effect.map(Feed.Outside, ({ isDown }) =>
              isDown ? Stream.fail(new TransientError({ message: shown(context.config) })) : Feed.readShards(context))
          ),
        start: () => Effect.succeed({ taskConfigs: () => Effect.succeed([{ shards: ["even", "odd"] }]) })
      }),
      "shows no secret in an outage"
    )
  })

  it("finds a secret in a task config", () =>
    breaks(
      changed({
        start: (context) =>
          Effect.map(Feed.source.start(context), ({ taskConfigs }) => ({
            taskConfigs: (max) =>
              Effect.map(
                taskConfigs(max),
                (configs) =>
                  configs.map(({ shards }) => ({ shards: [...shards, Redacted.value(context.config.token)] }))
              )
          }))
      }),
      "shows no secret that is right"
    ))

  it("finds more task configs than were asked for, and others every time", () => {
    const giving = (configs: (max: number) => ReadonlyArray<{ readonly shards: ReadonlyArray<string> }>) =>
      changed({ start: () => Effect.succeed({ taskConfigs: (max: number) => Effect.sync(() => [...configs(max)]) }) })
    breaks(giving(() => [{ shards: ["even"] }, { shards: ["odd"] }]), "at most as many task configs")
    let runs = 0
    breaks(giving(() => [{ shards: runs++ % 2 === 0 ? ["even", "odd"] : ["odd", "even"] }]), "the same task configs")
  })

  it("finds a source partition that is another one in every run", () => {
    let runs = 0
    const read: typeof Feed.readShard = (...args) => {
      const run = runs++
      return Stream.map(
        batchesOf(...args),
        (batch) => ({ ...batch, partition: { shard: `${batch.partition.shard}@${run}` } })
      )
    }
    breaks(reading(read), "the same source partition", "goes on from the offset of every batch")
  })

  it("finds an offset that JSON changes", () => {
    const source = SourceConnector.make("Feed", {
      ...Feed.source,
      offset: Schema.Struct({ next: Schema.Int, at: Schema.Any }),
      task: (context) =>
        Stream.map(
          Feed.readShards({ ...context, offsets: { get: (shard) => context.offsets.get(shard) } }),
          (batch) => ({ ...batch, offset: { ...batch.offset, at: new Map([["a", 1]]) } })
        )
    })
    breaks(Feed.sourceLaws(source), "offsets that are read from JSON as they were")
  })

  it("finds an outage that is a defect", () =>
    breaks(
      starting(() =>
        Effect.flatMap(Feed.Outside, ({ isDown }) => isDown ? Effect.die(new Error("ECONNREFUSED")) : Effect.void)
      ),
      "in an outage"
    ))

  it("finds a validation that throws, or names no key", () => {
    breaks(
      changed({ validate: ({ topic }) => Effect.sync(() => [...decodeURIComponent(topic)].slice(0, 0) as []) }),
      "without throwing"
    )
    breaks(
      changed({ validate: () => Effect.succeed([{ property: "nobody" as "topic", message: "no" }]) }),
      "without throwing"
    )
  })

  it("finds keys without documentation, and a default that is refused", () => {
    const keys = (topic: ConfigKey.ConfigKey<string, false>) => changed({ config: { ...Feed.config, topic } })
    breaks(keys(ConfigKey.String("topic", { default: "feed" })), "documents every key")
    breaks(
      keys(
        ConfigKey.String("topic", {
          default: "",
          doc: "Topic",
          check: (topic) => topic === "" ? "is empty" : undefined
        })
      ),
      "as it was written in code"
    )
  })
})
