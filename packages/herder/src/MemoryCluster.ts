/**
 * Several runtimes in one process that are one cluster: stores, group and commands in memory. For tests of what happens
 * between workers, and for hosts that want to try it; nothing is kept.
 */
import { LeaderClient } from "@kelpie/core/LeaderClient"
import { LeaderError } from "@kelpie/core/LeaderCommand"
import type { Membership } from "@kelpie/core/Membership"
import * as MemoryGroup from "@kelpie/core/MemoryGroup"
import type { Plugins } from "@kelpie/core/Plugins"
import type { StoreError } from "@kelpie/core/StoreError"
import * as Stores from "@kelpie/core/Stores"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Herder } from "./Herder.ts"
import { LeaderReceiver } from "./LeaderReceiver.ts"

/** The cluster. */
export interface MemoryCluster {
  /** A worker of it. The end of its scope stops what it runs and leaves; its work goes to the others. */
  readonly layer: (worker: Membership.Worker) => Layer.Layer<Herder, StoreError, Plugins>
}

/** A cluster without workers. */
export const make: Effect.Effect<MemoryCluster, never, Scope.Scope> = Effect.gen(function*() {
  const group = yield* MemoryGroup.make
  const stores = yield* Stores.makeSharedMemory
  const receivers = new Map<string, LeaderReceiver["Service"]>()
  const client = Layer.succeed(LeaderClient, {
    send: (leader, envelope) =>
      Effect.suspend(() =>
        receivers.get(leader.workerId)?.execute(envelope) ??
          Effect.fail(
            new LeaderError({ kind: "Unreachable", message: `the leader ${leader.workerId} does not answer` })
          )
      )
  })
  /** What a worker receives while it is there. */
  const receiving = (workerId: string) =>
    Layer.effectDiscard(Effect.flatMap(LeaderReceiver, (receiver) =>
      Effect.acquireRelease(
        Effect.sync(() => receivers.set(workerId, receiver)),
        () => Effect.sync(() => receivers.delete(workerId))
      )))
  return {
    layer: (worker) =>
      receiving(worker.workerId).pipe(
        Layer.provideMerge(Herder.layer),
        Layer.provide([stores, group.layer(worker), client])
      )
  }
})
