import { assert, describe, it } from "@effect/vitest"
import { SinkConnector, SourceConnector } from "@kelpie/core"
import { Herder } from "@kelpie/herder"
import { Deferred, Effect, Layer, Option, Schema, Stream } from "effect"
import { Auditor } from "../src/Audit.ts"
import * as Runtime from "../src/Runtime.ts"
import { folder } from "./folder.ts"

/** Three numbers, once: its offset says what was given already. */
const Numbers = SourceConnector.make("Numbers", {
  version: "1.0.0",
  config: {},
  offset: Schema.Int,
  task: ({ offsets }) =>
    Stream.unwrap(
      Effect.map(offsets.get(), (stored) =>
        Stream.map(Stream.range(Option.getOrElse(stored, () => 0) + 1, 3), (n) => ({
          records: [{ topic: "numbers", value: n }],
          offset: n
        })))
    )
})

/** A sink that fills a list, and somebody who waits for its length. */
const collector = (count: number) => {
  const values: Array<unknown> = []
  const full = Deferred.makeUnsafe<void>()
  const Collect = SinkConnector.make("Collect", {
    version: "1.0.0",
    config: {},
    task: () =>
      Effect.succeed({
        put: (records) =>
          Effect.suspend(() => {
            values.push(...records.map(({ value }) => value))
            return values.length >= count ? Effect.asVoid(Deferred.succeed(full, undefined)) : Effect.void
          })
      })
  })
  return { Collect, values, full: Deferred.await(full) }
}

/** One life of the runtime; gives the keys that the auditor was told of. */
const life = Effect.fnUntraced(function*<E>(
  directory: string,
  sink: ReturnType<typeof collector>["Collect"],
  use: (herder: Herder["Service"]) => Effect.Effect<unknown, E>
) {
  const keys = new Set<string>()
  const auditor = Layer.succeed(Auditor, {
    committed: (_, committed) => Effect.sync(() => committed.forEach((key) => keys.add(key)))
  })
  const runtime = Layer.provide(Runtime.layer(directory, [Numbers, sink]), auditor)
  yield* Effect.provide(Effect.flatMap(Herder, use), runtime)
  return [...keys]
})

describe("a runtime with a config store of its own", { timeout: 30_000 }, () => {
  it.live("keeps connectors in the file and data in SQLite, and tells the auditor of every commit", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const { Collect, full, values } = collector(3)
      const keys = yield* life(directory, Collect, (herder) =>
        Effect.gen(function*() {
          yield* herder.create("numbers", Numbers.config({}))
          yield* herder.create("collect", Collect.config({}, { topics: ["numbers"] }))
          yield* full
        }))
      assert.deepStrictEqual(values, [1, 2, 3])
      assert.includeMembers(keys, [
        "cluster",
        "connector/numbers",
        "connector/collect",
        "tasks/numbers",
        "placement/0/numbers"
      ])

      // the next life finds both connectors, and the records for a sink that is new
      const again = collector(3)
      yield* life(directory, again.Collect, (herder) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* herder.list, ["collect", "numbers"])
          yield* herder.create("another", again.Collect.config({}, { topics: ["numbers"] }))
          yield* again.full
        }))
      assert.deepStrictEqual(again.values, [1, 2, 3])
    }))

  it.live("is for one process at a time: a second one is told so", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const { Collect } = collector(0)
      yield* life(directory, Collect, () =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(life(directory, Collect, () => Effect.void))
          assert.include(error.message, "another process holds")
        }))
    }))
})
