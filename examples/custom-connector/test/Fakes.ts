/** A feed and an archive in memory, with what a test wants to see and to break. */
import { Context, Effect, Layer, Redacted } from "effect"
import { Archive, ArchiveDown } from "../src/ArchiveSink.ts"
import { type Entry, Feed, FeedError } from "../src/Feed.ts"

export const url = "https://feed.example/news"
export const token = "open sesame, please"

export interface Fakes {
  readonly channels: Map<string, Array<Entry>>
  /** By key, in the order in which they came first. */
  readonly documents: Map<string, Entry>
  /** What the feed answers instead of entries. */
  answer: FeedError | undefined
  isArchiveDown: boolean
  requests: number
}

export const fakes = Effect.sync((): Fakes => ({
  channels: new Map([["local", []], ["world", []]]),
  documents: new Map(),
  answer: undefined,
  isArchiveDown: false,
  requests: 0
}))

/** Publishes entries, in turn to the channels. */
export const publish = ({ channels }: Fakes, count: number) =>
  Effect.sync(() => {
    const lists = [...channels.values()]
    for (let n = 0; n < count; n++) {
      const list = lists[n % lists.length] ?? []
      list.push({ id: list.length + 1, title: `entry ${list.length + 1}` })
    }
  })

export const feedDown = (fakes: Fakes) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      fakes.answer = new FeedError({ status: 503 })
    }),
    () =>
      Effect.sync(() => {
        fakes.answer = undefined
      })
  )

export const archiveDown = (fakes: Fakes) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      fakes.isArchiveDown = true
    }),
    () =>
      Effect.sync(() => {
        fakes.isArchiveDown = false
      })
  )

export const layer = (fakes: Fakes) => {
  const answer = <A>(given: Redacted.Redacted, value: () => A) =>
    Effect.suspend(() => {
      fakes.requests++
      if (fakes.answer !== undefined) return Effect.fail(fakes.answer)
      return Redacted.value(given) === token ? Effect.sync(value) : Effect.fail(new FeedError({ status: 401 }))
    })
  return Layer.succeedContext(
    Context.make(Feed, {
      channels: (access) => answer(access.token, () => [...fakes.channels.keys()]),
      entriesAfter: (access, channel, id, limit) =>
        answer(access.token, () => fakes.channels.get(channel)?.slice(id, id + limit) ?? [])
    }).pipe(Context.add(Archive, {
      save: (_, documents) =>
        Effect.suspend(() => {
          if (fakes.isArchiveDown) return Effect.fail(new ArchiveDown())
          const [good, bad] = [
            documents.filter(({ entry }) => entry.title !== ""),
            documents.filter(({ entry }) => entry.title === "")
          ]
          for (const { entry, key } of good) fakes.documents.set(key, entry)
          return Effect.succeed(bad.map(({ key }) => key))
        })
    }))
  )
}
