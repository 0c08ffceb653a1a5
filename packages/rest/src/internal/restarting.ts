/** The answer to a plain restart: as Connect's, it comes when the instance has been started anew, or could not be. */
import type { Herder } from "@kelpie/herder/Herder"
import type { HerderError } from "@kelpie/herder/HerderError"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as RestError from "../RestError.ts"

/** Some clients give up after five seconds; what takes longer is told by the status. */
const patience = "3 seconds"

const isUnderWay = ({ state }: Herder.ConnectorStatus): boolean => state === "RESTARTING" || state === "UNASSIGNED"

/** Waits for the start that a restart has asked for; fails when the connector could not be started. */
export const started = (
  herder: Herder["Service"],
  restarted: Herder.ConnectorStatus
): Effect.Effect<void, HerderError | RestError.InternalError> => {
  const { name } = restarted
  const settled = Effect.repeat(herder.status(name), {
    schedule: Schedule.spaced("20 millis"),
    while: isUnderWay
  })
  return Effect.flatMap(
    Effect.timeoutOption(settled, patience),
    (status) =>
      status._tag === "Some" && status.value.state === "FAILED"
        ? Effect.fail(new RestError.InternalError({ message: `Failed to start connector: ${name}` }))
        : Effect.void
  )
}
