/** Reads the channels of a news feed, and notices new ones. */
import { ConfigKey, SourceConnector, TaskSplit } from "@kelpie/core"
import { Duration, Effect, Option, Schedule, Schema, Stream } from "effect"
import { Feed, toConnectorError } from "./Feed.ts"

const config = {
  url: ConfigKey.String("feed.url", {
    doc: "Where the feed is.",
    importance: "high",
    check: (url: string) => URL.canParse(url) ? undefined : "this is no URL"
  }),
  token: ConfigKey.Redacted("feed.token", { doc: "Opens the feed.", importance: "high" }),
  topic: ConfigKey.String("topic", { default: "news", doc: "Topic that the entries are written to." }),
  batchSize: ConfigKey.Int("batch.size", { default: 500, min: 1, max: 10_000, doc: "The most entries in one batch." }),
  pollInterval: ConfigKey.Millis("poll.interval.ms", {
    default: Duration.seconds(5),
    min: 1,
    doc: "How long a task waits until it asks again, when there was nothing new."
  }),
  rescanInterval: ConfigKey.Millis("rescan.interval.ms", {
    default: Duration.minutes(1),
    min: 1,
    doc: "How often new channels are looked for."
  })
}

/**
 * One task reads some of the channels. The source partition is `{ channel }`, the offset `{ id }`: the last entry read.
 * A record's key is the channel.
 */
export const FeedSource = SourceConnector.make("FeedSource", {
  version: "1.0.0",
  doc: "Reads the channels of a news feed.",
  config,
  taskConfig: Schema.Struct({ channels: Schema.Array(Schema.String) }),
  partition: Schema.Struct({ channel: Schema.String }),
  offset: Schema.Struct({ id: Schema.Int }),

  start: Effect.fnUntraced(function*({ config, requestReconfiguration }) {
    const feed = yield* Feed
    const channels = Effect.mapError(feed.channels(config), toConnectorError(config))
    let known: string | undefined
    const rescan = Effect.gen(function*() {
      const found = (yield* channels).join()
      if (known !== undefined && found !== known) yield* requestReconfiguration
    })
    // ends with the scope; a feed that is down tells nothing of its channels
    yield* Effect.ignore(rescan).pipe(Effect.repeat(Schedule.spaced(config.rescanInterval)), Effect.forkScoped)
    return {
      taskConfigs: (maxTasks) =>
        Effect.map(channels, (channels) => {
          known = channels.join()
          return TaskSplit.evenly(channels, maxTasks).map((channels) => ({ channels }))
        })
    }
  }),

  task: ({ config, offsets, taskConfig }) => {
    const channelStream = Effect.fnUntraced(function*(channel: string) {
      const feed = yield* Feed
      const stored = yield* offsets.get({ channel })
      const first = Option.match(stored, { onNone: () => 0, onSome: ({ id }) => id })
      return Stream.unfold(first, (last) =>
        feed.entriesAfter(config, channel, last, config.batchSize).pipe(
          Effect.mapError(toConnectorError(config)),
          Effect.repeat({ until: (entries) => entries.length > 0, schedule: Schedule.spaced(config.pollInterval) }),
          Effect.map((entries) => {
            const id = entries.at(-1)?.id ?? last
            return [{
              records: entries.map((entry) => ({ topic: config.topic, key: channel, value: entry })),
              partition: { channel },
              offset: { id }
            }, id] as const
          })
        ))
    })
    return Stream.fromIterable(taskConfig.channels).pipe(
      Stream.flatMap((channel) => Stream.unwrap(channelStream(channel)), { concurrency: "unbounded" })
    )
  }
})
