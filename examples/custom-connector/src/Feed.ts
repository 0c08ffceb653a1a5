/** The news feed that the source reads, as a service of the host: a real one makes HTTP requests, a test has a fake. */
import { type ConnectorError, PermanentError, ThrottledError, TransientError } from "@kelpie/core"
import { Context, Duration, type Effect, type Redacted, Schema } from "effect"

/** An entry of a channel; ids count from 1 within it. */
export const Entry = Schema.Struct({ id: Schema.Int, title: Schema.String })
export type Entry = typeof Entry.Type

/** The answer of the feed when it is not the one that was asked for. */
export class FeedError extends Schema.TaggedError<FeedError>()("FeedError", {
  status: Schema.Int,
  /** Of a 429. */
  retryAfterSeconds: Schema.optionalKey(Schema.Finite)
}) {}

/** Where the feed is, and what opens it. */
export interface Access {
  readonly url: string
  readonly token: Redacted.Redacted
}

export class Feed extends Context.Service<Feed, {
  readonly channels: (access: Access) => Effect.Effect<ReadonlyArray<string>, FeedError>
  /** The next entries, at most `limit`; an empty answer when there are none yet. */
  readonly entriesAfter: (
    access: Access,
    channel: string,
    id: number,
    limit: number
  ) => Effect.Effect<ReadonlyArray<Entry>, FeedError>
}>()("example/Feed") {}

/** What an answer means for a connector: wait, wait as long as asked, or give up until somebody changes something. */
export const toConnectorError = ({ url }: Access) => ({ retryAfterSeconds = 1, status }: FeedError): ConnectorError => {
  const message = `${url} answered ${status}`
  if (status === 429) return new ThrottledError({ message, retryAfter: Duration.seconds(retryAfterSeconds) })
  return status >= 400 && status < 500
    ? new PermanentError({ message: `${message}: look at feed.url and feed.token` })
    : new TransientError({ message })
}
