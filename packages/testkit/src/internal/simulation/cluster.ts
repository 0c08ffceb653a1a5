/** What is between the workers of a simulation: the group with its leases, and a network that loses messages. */
import * as Backoff from "@kelpie/core/Backoff"
import { LeaderClient } from "@kelpie/core/LeaderClient"
import { LeaderError } from "@kelpie/core/LeaderCommand"
import { Membership } from "@kelpie/core/Membership"
import * as MemoryGroup from "@kelpie/core/MemoryGroup"
import { StoreError } from "@kelpie/core/StoreError"
import { LeaderReceiver } from "@kelpie/herder/LeaderReceiver"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type { Checker } from "./checker.ts"
import type { Life } from "./stores.ts"

/** The group and the network of one run. */
export interface Cluster {
  readonly membership: (life: Life, workerId: string) => Layer.Layer<Membership, StoreError>
  readonly client: (life: Life) => Layer.Layer<LeaderClient>
  /** Lets others reach a worker. */
  readonly receiving: (life: Life, workerId: string) => Layer.Layer<never, never, LeaderReceiver>
  /** The chance that a message or its answer is lost. */
  loss: number
}

type Receive = LeaderReceiver["Service"]["execute"]

const cutOff = new StoreError({ kind: "Unavailable", operation: "group", detail: "simulated: cut off" })
const lost = new LeaderError({ kind: "TimedOut", message: "simulated: no answer" })

/** How far a clock may run ahead or behind, per unit of time. */
const maxDrift = 0.03

/** A worker's own clock: it drifts, and shows another time of day. */
export const drifting = (base: Clock.Clock, seed: number, worker: number): Clock.Clock => {
  const rate = 1 + (Backoff.draw("drift", seed, worker) * 2 - 1) * maxDrift
  const offset = Math.floor((Backoff.draw("offset", seed, worker) * 2 - 1) * 60_000)
  const millis = () => Math.floor(base.currentTimeMillisUnsafe() * rate) + offset
  const nanos = () => BigInt(Math.floor(Number(base.monotonicTimeNanosUnsafe()) * rate))
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: () => BigInt(millis()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(millis()) * 1_000_000n),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => base.sleep(Duration.millis(Duration.toMillis(duration) / rate))
  }
}

/** Builds it. In runs of odd seeds the death of a process is proved at once; in others only its lease ends it. */
export const make = Effect.fnUntraced(function*(seed: number, checker: Checker): Effect.fn.Return<Cluster> {
  const group = yield* MemoryGroup.make
  const receivers = new Map<string, { readonly life: Life; readonly receive: Receive }>()
  const sessions = new Map<string, Life>()
  let messages = 0

  /** Nothing of a dead life reaches the group, and nothing of the group a worker that is cut off. */
  const reach = <A>(life: Life, effect: Effect.Effect<A, StoreError>): Effect.Effect<A, StoreError> =>
    Effect.suspend(() => life.dead ? Effect.never : life.cut ? Effect.fail(cutOff) : effect)

  /** Whoever is not listed any more has ended, for everybody. */
  const noteEnded = Effect.map(group.engine.read, (rows) => {
    for (const session of sessions.keys()) {
      if (rows.some((row) => row.session === session)) continue
      sessions.delete(session)
      checker.ended(session)
    }
  })

  const engine = (life: Life): Membership.Encoded => ({
    join: (worker, session) =>
      reach(
        life,
        Effect.tap(group.engine.join(worker, session), () => Effect.sync(() => void sessions.set(session, life)))
      ),
    renew: (session) => reach(life, group.engine.renew(session)),
    end: (session, counter) => reach(life, Effect.andThen(group.engine.end(session, counter), noteEnded)),
    leave: (session) => reach(life, Effect.andThen(group.engine.leave(session), noteEnded)),
    drain: (session) => reach(life, group.engine.drain(session)),
    read: reach(life, group.engine.read),
    changed: group.engine.changed,
    gone: seed % 2 === 0 ? undefined : (session) => reach(life, Effect.sync(() => sessions.get(session)?.dead === true))
  })

  const self: Cluster = {
    loss: 0,
    membership: (life, workerId) =>
      Layer.fresh(Layer.effect(Membership, Membership.makeEncoded({ workerId }, engine(life)))),
    client: (life) =>
      Layer.succeed(LeaderClient, {
        send: (leader, envelope) =>
          Effect.suspend(() => {
            if (life.dead) return Effect.never
            const to = receivers.get(leader.workerId)
            const drawn = Backoff.draw("message", seed, messages++)
            if (life.cut || to === undefined || to.life.cut || to.life.dead) {
              return Effect.fail(new LeaderError({ kind: "Unreachable", message: "simulated: cut off" }))
            }
            if (drawn < self.loss / 2) return Effect.andThen(Effect.sleep(500), Effect.fail(lost))
            const answer = to.receive(envelope)
            return drawn < self.loss
              ? Effect.andThen(Effect.exit(answer), Effect.fail(lost))
              : Effect.andThen(Effect.sleep(1), answer)
          })
      }),
    receiving: (life, workerId) =>
      Layer.effectDiscard(Effect.gen(function*() {
        const { execute } = yield* LeaderReceiver
        // on the run queue and by the clock of the worker that receives
        const fork = Effect.runForkWith(yield* Effect.context())
        const receive: Receive = (envelope) => Effect.suspend(() => Fiber.join(fork(execute(envelope))))
        yield* Effect.acquireRelease(
          Effect.sync(() => receivers.set(workerId, { life, receive })),
          () => Effect.sync(() => receivers.get(workerId)?.life === life && receivers.delete(workerId))
        )
      }))
  }
  return self
})
