import { describe, it } from "@effect/vitest"
import type { HerderEvent } from "@kelpie/core"
import { StatusListenerContract, type Teller } from "@kelpie/testkit"
import { Cause, Effect, Queue } from "effect"
import { breaks, keeps } from "./brokenLaws.ts"

/** A queue and a fiber for each listener. */
const teller: Teller = (listeners) =>
  Effect.gen(function*() {
    const queues = yield* Effect.forEach(listeners, (listener) =>
      Effect.gen(function*() {
        const queue = yield* Queue.unbounded<HerderEvent.HerderEvent>()
        const tell = Effect.flatMap(Queue.take(queue), (event) =>
          Effect.catchCause(Effect.suspend(() => listener(event)), (cause) =>
            Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.void))
        yield* Effect.forkScoped(Effect.forever(tell))
        return queue
      }))
    return (event) =>
      Effect.forEach(queues, (queue) => Queue.offer(queue, event), { discard: true })
  })

describe("StatusListenerContract", () => {
  it("is kept by a queue and a fiber for each listener", () => keeps(StatusListenerContract(teller)))

  it("finds one who tells on the caller's fiber", () =>
    breaks(
      StatusListenerContract((listeners) =>
        Effect.succeed((event) =>
          Effect.forEach(listeners, (listener) => Effect.ignore(listener(event)), { discard: true })
        )
      ),
      "harms nobody when a listener hangs",
      "failed or died"
    ))

  it("finds one who tells every event on a fiber of its own", () =>
    breaks(
      StatusListenerContract((listeners) =>
        Effect.map(Effect.scope, (scope) => (event) =>
          Effect.forEach(listeners, (listener) =>
            Effect.forkIn(Effect.suspend(() => listener(event)), scope), { discard: true }))
      ),
      "one event after the other"
    ))

  it("finds one who leaves listeners running", () =>
    breaks(
      StatusListenerContract((listeners) =>
        Effect.succeed((event) =>
          Effect.forEach(listeners, (listener) => Effect.forkDetach(Effect.suspend(() => listener(event))), {
            discard: true
          })
        )
      ),
      "ends a listener that hangs"
    ))

  it("finds one who gives up on a listener that failed", () =>
    breaks(
      StatusListenerContract((listeners) => {
        const failed = new Set<unknown>()
        return teller(listeners.map((listener) => (event) =>
          failed.has(listener)
            ? Effect.void
            : Effect.onError(Effect.suspend(() => listener(event)), () => Effect.sync(() => failed.add(listener)))
        ))
      }),
      "failed or died"
    ))

  it("finds one who forgets the second listener, or drops, changes or reorders events", () => {
    breaks(StatusListenerContract((listeners) => teller(listeners.slice(0, 1))), "tells every listener every event")
    const changed = (change: (event: HerderEvent.HerderEvent) => HerderEvent.HerderEvent | undefined) =>
      breaks(
        StatusListenerContract((listeners) =>
          Effect.map(teller(listeners), (tell) => (event) => {
            const next = change(event)
            return next === undefined ? Effect.void : tell(next)
          })
        ),
        "tells every listener every event"
      )
    changed((event) => event.at === 3 ? undefined : event)
    changed((event) => ({ ...event, at: 0 }))
    changed((event) => ({ ...event, at: event.at ^ 1 }))
  })
})
