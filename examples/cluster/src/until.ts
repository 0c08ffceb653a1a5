/** Waits for something outside to become so. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"

/** It did not become so in time. */
export class NeverHappened extends Schema.TaggedError<NeverHappened>("@kelpie-examples/cluster/NeverHappened")(
  "NeverHappened",
  { what: Schema.String, last: Schema.String }
) {
  override get message() {
    return `this did not happen in time: ${this.what}; at last: ${this.last}`
  }
}

const show = (seen: unknown): string => JSON.stringify(seen instanceof Map ? [...seen] : seen) ?? "nothing was seen"

const spacing = "50 millis"
const limit = "90 seconds"

/** Looks again and again until what is seen will do; gives it. */
export const until = <A, E, R>(
  what: string,
  look: Effect.Effect<A, E, R>,
  willDo: (seen: A) => boolean
): Effect.Effect<A, E | NeverHappened, R> => {
  let last: A | undefined
  return look.pipe(
    Effect.tap((seen) => Effect.sync(() => last = seen)),
    Effect.repeat({ until: willDo, schedule: Schedule.spaced(spacing) }),
    Effect.timeoutOrElse({
      duration: limit,
      orElse: () => Effect.fail(new NeverHappened({ what, last: show(last) }))
    })
  )
}
