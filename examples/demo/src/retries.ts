/** Follows the failing attempts of a connector, as its status shows them. */
import type { ConnectClient } from "@kelpie/rest"
import * as Effect from "effect/Effect"
import { until } from "./until.ts"

/** An attempt that failed. */
export interface Retry {
  readonly attempt: number
  readonly cause: string
  /** Until the next attempt. */
  readonly delayMillis: number
}

/** Waits for so many failed attempts, and tells of each. */
export const follow = Effect.fnUntraced(function*<E, R>(
  client: ConnectClient["Service"],
  connector: string,
  count: number,
  onRetry: (retry: Retry) => Effect.Effect<void, E, R>
) {
  const retries: Array<Retry> = []
  const look = Effect.gen(function*() {
    const { reconfiguration: { delayMillis, failure, state } } = yield* client.connectors.status({
      params: { connector }
    })
    if (state !== "Waiting" || failure === undefined || delayMillis === undefined) return
    if (failure.occurrences <= (retries.at(-1)?.attempt ?? 0)) return
    const retry = { attempt: failure.occurrences, cause: failure.message, delayMillis }
    retries.push(retry)
    yield* onRetry(retry)
  })
  yield* until(`${count} attempts of ${connector} fail`, look, () => retries.length >= count)
  return retries
})
