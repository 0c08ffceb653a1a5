/** Takes the commands that other workers send to this one. */
import type { Envelope, LeaderError, Outcome } from "@kelpie/core/LeaderCommand"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** The port: what stands between workers and the leader's decisions. Who calls it has made sure that a worker speaks. */
export class LeaderReceiver extends Context.Service<LeaderReceiver, {
  /** Executes a command as the leader; fails with `NotLeader`, and the one who is if that is known, when this worker is not. */
  readonly execute: (envelope: Envelope) => Effect.Effect<Outcome, LeaderError>
}>()("@kelpie/herder/LeaderReceiver") {}
