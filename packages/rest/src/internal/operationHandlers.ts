/** What operators do with connectors. */
import { Herder } from "@kelpie/herder/Herder"
import type { HerderError } from "@kelpie/herder/HerderError"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { ConnectApi } from "../ConnectApi.ts"
import * as RestError from "../RestError.ts"
import * as Answer from "./answer.ts"
import { fromHerder } from "./failure.ts"

/** Connect's text for pause, resume and stop. */
const unknownConnector = fromHerder((name) => `Unknown connector ${name}`)
/** Connect's text for restarts. */
const unknownToRestart = fromHerder((name) => `Unknown connector: ${name}`)

/** The handlers of the group `operations`. */
export const layer = HttpApiBuilder.group(
  ConnectApi,
  "operations",
  Effect.fnUntraced(function*(handlers) {
    const herder = yield* Herder
    return handlers.handleAll({
      pause: ({ params }) => Effect.mapError(herder.pause(params.connector), unknownConnector),
      resume: ({ params }) => Effect.mapError(herder.resume(params.connector), unknownConnector),
      stop: ({ params }) => Effect.mapError(herder.stop(params.connector), unknownConnector),
      restart: ({ params, query: { includeTasks = false, onlyFailed = false } }) =>
        herder.restart(params.connector, { includeTasks, onlyFailed }).pipe(
          // without an option Connect tells nothing; with one it tells what is restarted
          Effect.map((status) => includeTasks || onlyFailed ? Answer.status(status) : undefined),
          Effect.mapError(unknownToRestart)
        ),
      restartTask: ({ params }) => Effect.mapError(herder.restartTask(params.connector, params.task), unknownToRestart),
      reconfiguration: ({ params }) =>
        herder.status(params.connector).pipe(
          Effect.map((status) => status.reconfiguration),
          Effect.mapError(fromHerder())
        ),
      retry: ({ params }) => changeLane(herder, params.connector, herder.retry),
      park: ({ params }) => changeLane(herder, params.connector, herder.park),
      unpark: ({ params }) => changeLane(herder, params.connector, herder.unpark)
    })
  })
)

/** Only a connector that is meant to run has a lane to change. */
const changeLane = Effect.fnUntraced(function*(
  herder: Herder["Service"],
  name: string,
  change: (name: string) => Effect.Effect<void, HerderError>
) {
  const { target } = yield* Effect.mapError(herder.info(name), fromHerder())
  if (target !== "STARTED") {
    return yield* new RestError.Conflict({
      message: `Connector ${name} is ${target}: it has no reconfiguration to change until it is resumed`
    })
  }
  yield* Effect.mapError(change(name), fromHerder())
  return (yield* Effect.mapError(herder.status(name), fromHerder())).reconfiguration
})
