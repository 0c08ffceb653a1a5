/** The stream of events: for consumers, for listeners and for metrics. Nobody who is slow or fails holds it up. */
import type { HerderEvent } from "@kelpie/core/HerderEvent"
import { type Listener, StatusListener } from "@kelpie/core/StatusListener"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Loggers from "./loggers.ts"

/** The events of one herder. */
export interface Events {
  readonly publish: (events: ReadonlyArray<HerderEvent>) => void
  readonly stream: Stream.Stream<HerderEvent>
}

/** A consumer that falls behind loses the oldest. */
const capacity = 4096

/** Makes the stream, and a fiber for each listener. */
export const make: Effect.Effect<Events, never, Scope.Scope> = Effect.gen(function*() {
  const pubsub = yield* PubSub.sliding<HerderEvent>(capacity)
  const context = yield* Effect.context()
  const stream = Stream.fromPubSub(pubsub)
  for (const listener of yield* StatusListener) {
    const fiber = yield* Effect.forkDetach(listen(stream, listener), { startImmediately: true })
    yield* Effect.addFinalizer(() => letGo(fiber))
  }
  return {
    stream,
    publish: (events) => {
      for (const event of events) {
        PubSub.publishUnsafe(pubsub, event)
        counted(event)?.updateUnsafe(1, context)
      }
    }
  }
})

/** One that listens to its interruption is waited for, one that does not is left behind: it must not hold up a shutdown. */
const letGo = Effect.fnUntraced(function*(fiber: Fiber.Fiber<void>) {
  fiber.interruptUnsafe()
  for (let turn = 0; turn < 8 && fiber.pollUnsafe() === undefined; turn++) yield* Effect.yieldNow
})

const listen = (stream: Stream.Stream<HerderEvent>, listener: Listener) =>
  Stream.runForEach(
    stream,
    (event) =>
      // suspended: one that throws before it gives an effect is told of the next event too
      Effect.catchCause(
        Effect.suspend(() => listener(event)),
        (cause) => Loggers.as("listeners")(Effect.logWarning("a status listener failed", cause))
      )
  )

const transitions = Metric.counter("kelpie_reconfiguration_transitions_total", {
  description: "Edges that reconfiguration lanes took",
  incremental: true
})
const statusChanges = Metric.counter("kelpie_status_changes_total", {
  description: "Changes of state words of connectors and tasks",
  incremental: true
})
const healthChanges = Metric.counter("kelpie_health_changes_total", {
  description: "Changes of the health of connectors",
  incremental: true
})

/** The series of a counter by from and to, each made once: they are few, and making one costs more than counting. */
const series = (counter: Metric.Counter<number>) => {
  const known = new Map<string, Map<string, Metric.Counter<number>>>()
  return ({ from, to }: { readonly from: string; readonly to: string }): Metric.Counter<number> => {
    let ofFrom = known.get(from)
    if (ofFrom === undefined) known.set(from, ofFrom = new Map())
    let one = ofFrom.get(to)
    if (one === undefined) ofFrom.set(to, one = Metric.withAttributes(counter, { from, to }))
    return one
  }
}

const of = { transitions: series(transitions), statuses: series(statusChanges), healths: series(healthChanges) }

/** Counts an event; attributes hold no connector name, so that the number of series is bounded. */
const counted = (event: HerderEvent): Metric.Counter<number> | undefined => {
  switch (event._tag) {
    case "LaneChanged":
      return of.transitions(event)
    case "StatusChanged":
      return of.statuses(event)
    case "HealthChanged":
      return of.healths(event)
    default:
      return undefined
  }
}
