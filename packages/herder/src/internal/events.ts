/** The stream of events: for consumers, for listeners and for metrics. Nobody who is slow or fails holds it up. */
import type { HerderEvent } from "@kelpie/core/HerderEvent"
import { type Listener, StatusListener } from "@kelpie/core/StatusListener"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

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
  const context = yield* Effect.context<never>()
  const stream = Stream.fromPubSub(pubsub)
  for (const listener of yield* StatusListener) yield* Effect.forkScoped(listen(stream, listener), { startImmediately: true })
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

const listen = (stream: Stream.Stream<HerderEvent>, listener: Listener) =>
  Stream.runForEach(stream, (event) =>
    Effect.catchCause(listener(event), (cause) => Effect.logWarning("a status listener failed", cause)))

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

/** Counts an event; attributes hold no connector name, so that the number of series is bounded. */
const counted = (event: HerderEvent): Metric.Counter<number> | undefined => {
  switch (event._tag) {
    case "LaneChanged":
      return Metric.withAttributes(transitions, { from: event.from, to: event.to })
    case "StatusChanged":
      return Metric.withAttributes(statusChanges, { from: event.from, to: event.to })
    case "HealthChanged":
      return Metric.withAttributes(healthChanges, { from: event.from, to: event.to })
    default:
      return undefined
  }
}
