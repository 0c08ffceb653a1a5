/** Reads what a leader answered to a command. */
import { LeaderError, type Outcome } from "@kelpie/core/LeaderCommand"
import * as Effect from "effect/Effect"
import type { HttpClientError } from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as LeaderWire from "./leaderWire.ts"

/** Answers are some lines; whoever says more is no leader. */
const maxAnswerBytes = 64 * 1024

const decodeOutcome = Schema.decodeUnknownEffect(Schema.fromJsonString(LeaderWire.Outcome))
const decodeFailure = Schema.decodeUnknownEffect(Schema.fromJsonString(LeaderWire.Failure))

/** The beginning of a body, as long as an answer may be. */
const textOf = (response: HttpClientResponse): Effect.Effect<string, HttpClientError> =>
  Effect.suspend(() => {
    const decoder = new TextDecoder()
    let text = ""
    return response.stream.pipe(
      Stream.takeWhile(() => text.length <= maxAnswerBytes),
      Stream.runForEach((bytes) =>
        Effect.sync(() => {
          text += decoder.decode(bytes, { stream: true })
        })
      ),
      Effect.catchReason("HttpClientError", "EmptyBodyError", () => Effect.void),
      Effect.map(() => text)
    )
  })

/**
 * The outcome, or the failure as the leader told it. `where` names the leader in the message about an answer that is none of
 * a leader; the answer itself is not quoted.
 */
export const read = Effect.fnUntraced(function*(
  response: HttpClientResponse,
  where: string
): Effect.fn.Return<Outcome, LeaderError | HttpClientError> {
  const { status } = response
  const text = yield* textOf(response)
  const noLeader = () =>
    new LeaderError({
      // behind a proxy that gave up the leader may still be at work; 503 is what a worker answers that is not running
      kind: status >= 500 && status !== 503 ? "Unknown" : "Unreachable",
      message: `${where} answered ${status}, and not as a leader does`
    })
  if (status === 200) return yield* Effect.mapError(decodeOutcome(text), noLeader)
  const { kind, leader, message, retryAfterMillis } = yield* Effect.mapError(decodeFailure(text), noLeader)
  return yield* new LeaderError({
    kind,
    message,
    ...(retryAfterMillis === undefined ? {} : { retryAfterMillis }),
    ...(leader === undefined ? {} : { leader })
  })
})
