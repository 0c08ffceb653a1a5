/** Sends commands to the leader when it is somebody else. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Envelope, LeaderError, type Outcome } from "./LeaderCommand.ts"
import type { Membership } from "./Membership.ts"

/** The port. A worker that leads executes its own commands and does not come here. */
export class LeaderClient extends Context.Service<LeaderClient, {
  /** Sends one command; the same id may be sent again and takes effect at most once (I10). */
  readonly send: (leader: Membership.Member, envelope: Envelope) => Effect.Effect<Outcome, LeaderError>
}>()("@kelpie/core/LeaderClient") {
  /** For a worker that is alone: there is nobody to send to. */
  static readonly layerSolo: Layer.Layer<LeaderClient> = Layer.succeed(this, {
    send: (leader) =>
      Effect.fail(new LeaderError({ kind: "Unreachable", message: `no way to reach the leader ${leader.workerId}` }))
  })
}
