import { assert, describe, it } from "@effect/vitest"
import * as Harness from "@kelpie/testkit/Harness"
import { Effect } from "effect"
import { ArchiveSink } from "../src/ArchiveSink.ts"
import { FeedError } from "../src/Feed.ts"
import { FeedSource } from "../src/FeedSource.ts"
import * as Fakes from "./Fakes.ts"

/** A stepped herder with both connectors, over fakes. */
const setUp = Effect.gen(function*() {
  const fakes = yield* Fakes.fakes
  const harness = yield* Effect.provide(Harness.make({ plugins: [FeedSource, ArchiveSink] }), Fakes.layer(fakes))
  const deployFeed = (tasksMax: number) =>
    harness.deploy("feed", FeedSource.config({ url: Fakes.url, token: Fakes.token }, { tasksMax }))
  return { deployFeed, fakes, harness }
})

describe("the feed, in a herder that is stepped", () => {
  it.effect("comes back by itself when the feed does: after 250 ms, then after 500 ms", () =>
    Effect.gen(function*() {
      const { deployFeed, fakes, harness } = yield* setUp
      fakes.answer = new FeedError({ status: 503 })
      yield* deployFeed(1)
      const { conditions, health } = yield* harness.status("feed")
      assert.deepStrictEqual([health, conditions[0]?.message], ["recovering", `${Fakes.url} answered 503`])
      assert.strictEqual((yield* harness.tick).nextWakeMillis, 250)
      assert.strictEqual((yield* harness.wake).nextWakeMillis, 500)
      fakes.answer = undefined
      yield* harness.wake
      yield* harness.settle
      assert.strictEqual((yield* harness.status("feed")).health, "healthy")
    }))

  it.effect("waits as long as a busy feed asks for", () =>
    Effect.gen(function*() {
      const { deployFeed, fakes, harness } = yield* setUp
      fakes.answer = new FeedError({ status: 429, retryAfterSeconds: 30 })
      yield* deployFeed(1)
      assert.strictEqual((yield* harness.tick).nextWakeMillis, 30_000)
    }))

  it.effect("stops trying when its token is refused", () =>
    Effect.gen(function*() {
      const { harness } = yield* setUp
      yield* harness.deploy("feed", FeedSource.config({ url: Fakes.url, token: "wrong" }))
      const { state, trace } = yield* harness.status("feed")
      assert.strictEqual(state, "FAILED")
      assert.include(trace, "look at feed.url and feed.token")
      assert.strictEqual((yield* harness.tick).nextWakeMillis, undefined)
    }))

  it.effect("notices a new channel, and gives it to a task of its own", () =>
    Effect.gen(function*() {
      const { deployFeed, fakes, harness } = yield* setUp
      yield* deployFeed(5)
      assert.strictEqual((yield* harness.status("feed")).tasks.length, 2)
      fakes.channels.set("sports", [])
      yield* harness.advance("1 minute")
      yield* harness.settle
      assert.strictEqual((yield* harness.status("feed")).tasks.length, 3)
    }))

  it.effect("carries entries to the archive, also those of an outage", () =>
    Effect.gen(function*() {
      const { deployFeed, fakes, harness } = yield* setUp
      yield* harness.deploy("archive", ArchiveSink.config({ folder: "news" }, { topics: ["news"] }))
      yield* deployFeed(2)
      yield* Fakes.publish(fakes, 4)
      yield* harness.advance("5 seconds")
      assert.strictEqual(fakes.documents.size, 4)
      fakes.isArchiveDown = true
      yield* Fakes.publish(fakes, 2)
      yield* harness.advance("5 seconds")
      yield* harness.settle
      assert.strictEqual(
        (yield* harness.status("archive")).conditions[0]?.message,
        "task 0: the archive does not answer"
      )
      fakes.isArchiveDown = false
      yield* harness.advance("1 minute")
      yield* harness.settle
      assert.strictEqual(fakes.documents.size, 6)
      assert.strictEqual((yield* harness.status("archive")).health, "healthy")
    }))
})
