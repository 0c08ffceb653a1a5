/**
 * The tick: rounds of observe, plan, act until the inbox is empty, at most 64; what is left wakes the next tick at once.
 *
 * One fiber owns the world. Everybody else puts messages into the inbox and reads snapshots.
 */
import type { ConfigStore } from "@kelpie/core/ConfigStore"
import type { HerderEvent } from "@kelpie/core/HerderEvent"
import type { Membership } from "@kelpie/core/Membership"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Loggers from "./internal/loggers.ts"
import * as Plan from "./Plan.ts"
import * as World from "./World.ts"

/** What a tick did, as data. */
export interface Outcome {
  readonly consumed: ReadonlyArray<Plan.Message>
  readonly commands: ReadonlyArray<Plan.Command>
  readonly statusChanges: Plan.Plan["statusChanges"]
  readonly transitions: ReadonlyArray<Plan.Transition>
  readonly events: ReadonlyArray<HerderEvent>
  /** Milliseconds until something is due; `undefined` for nothing. */
  readonly nextWakeMillis: number | undefined
}

/** What a tick needs of the world outside. */
export interface Surroundings {
  readonly configStore: ConfigStore["Service"]
  readonly membership: Membership["Service"]
  readonly act: (plan: Plan.Plan) => Effect.Effect<void>
}

/** The tick of one herder. */
export interface Tick {
  /** Puts a message into the inbox and wakes the loop. */
  readonly post: (message: Plan.Message) => void
  /** Wakes the loop: something outside may have changed. */
  readonly wake: () => void
  /** The newest world. */
  readonly world: () => World.World
  /** Whether the last tick of the loop died: a bug, told in the log. */
  readonly failing: () => boolean
  readonly tick: Effect.Effect<Outcome>
  /** Ticks whenever something comes in or is due. */
  readonly loop: Effect.Effect<never>
}

const maxRounds = 64

/** Makes the tick; `surroundings` may post, so it is given the tick. */
export const make = (settings: World.Settings, surroundings: (tick: Tick) => Surroundings): Tick => {
  let world = World.make(settings)
  let inbox: Array<Plan.Message> = []
  let nextWakeAt = Infinity
  let failing = false
  const awake = Latch.makeUnsafe(true)

  /** What moved outside, as messages. */
  const observe = Effect.fnUntraced(function*({ configStore, membership }: Surroundings) {
    const messages = inbox
    inbox = []
    const { leader, self } = yield* membership.group
    const session = self?.session
    if (leader !== world.leader || session !== world.session) messages.push({ _tag: "GroupChanged", session, leader })
    const change = yield* configStore.changedSince(world.state.position)
    if (change.state.position !== world.state.position) {
      // first: whether a result still counts depends on what the log says now (law 3)
      messages.unshift({ _tag: "StateChanged", state: change.state, keys: [...change.keys] })
    }
    return messages
  })

  const tick: Effect.Effect<Outcome> = Effect.gen(function*() {
    const consumed: Array<Plan.Message> = []
    const plans: Array<Plan.Plan> = []
    for (let round = 0; round < maxRounds; round++) {
      const messages = yield* observe(outside)
      const now = yield* Clock.currentTimeMillis
      if (messages.length === 0 && nextWakeAt > now) break
      const plan = Plan.plan(world, messages, now)
      world = plan.world
      nextWakeAt = plan.nextWakeAt
      for (const message of messages) consumed.push(message)
      plans.push(plan)
      yield* outside.act(plan)
    }
    if (inbox.length > 0) awake.openUnsafe()
    const now = yield* Clock.currentTimeMillis
    return {
      consumed,
      commands: plans.flatMap((plan) => plan.commands),
      statusChanges: plans.flatMap((plan) => plan.statusChanges),
      transitions: plans.flatMap((plan) => plan.transitions),
      events: plans.flatMap((plan) => plan.events),
      nextWakeMillis: nextWakeAt === Infinity ? undefined : Math.max(0, nextWakeAt - now)
    }
  })

  /** Who wakes the loop at the next deadline; kept while that stays the same. */
  let alarm: { readonly at: number; readonly fiber: Fiber.Fiber<void> } | undefined

  const ring = (millis: number) =>
    Effect.andThen(
      Effect.sleep(millis),
      Effect.sync(() => {
        alarm = undefined
        awake.openUnsafe()
      })
    )

  const setAlarm = Effect.gen(function*() {
    alarm?.fiber.interruptUnsafe()
    alarm = undefined
    if (nextWakeAt === Infinity) return
    const now = yield* Clock.currentTimeMillis
    alarm = { at: nextWakeAt, fiber: yield* Effect.forkChild(ring(Math.max(0, nextWakeAt - now))) }
  })

  const wait = Effect.gen(function*() {
    if ((alarm?.at ?? Infinity) !== nextWakeAt) yield* setAlarm
    yield* awake.await
    // whoever else has something to tell at this moment tells it first: one tick for all of it
    yield* Effect.yieldNow
    awake.closeUnsafe()
  })

  const recover = (cause: Cause.Cause<never>) =>
    Effect.andThen(
      Loggers.as("tick")(Effect.logError("the tick failed; every connector is looked at again", cause)),
      Effect.sync(() => {
        failing = true
        self.post({ _tag: "Resync" })
      })
    )

  const self: Tick = {
    post: (message) => {
      inbox.push(message)
      awake.openUnsafe()
    },
    wake: () => void awake.openUnsafe(),
    world: () => world,
    tick,
    failing: () => failing,
    // a defect in a plan is a bug: it is told, and everything is looked at anew
    loop: Effect.forever(
      Effect.matchCauseEffect(Effect.andThen(wait, tick), {
        onSuccess: () =>
          Effect.sync(() => {
            failing = false
          }),
        onFailure: (cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.failCause(cause)
            : Effect.andThen(recover(cause), Effect.sleep("1 second"))
      })
    )
  }
  const outside = surroundings(self)
  return self
}
