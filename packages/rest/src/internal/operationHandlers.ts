/** What operators do with connectors. */
import { Herder } from "@kelpie/herder/Herder"
import type { HerderError } from "@kelpie/herder/HerderError"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { ConnectApi } from "../ConnectApi.ts"
import * as Answer from "./answer.ts"
import { fromHerder } from "./failure.ts"
import { JsonBody } from "./jsonBody.ts"
import * as offsetsBody from "./offsetsBody.ts"
import { started } from "./restarting.ts"
import * as retryBody from "./retryBody.ts"

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
          // without an option Connect tells whether it has started; with one at once what is restarted
          Effect.flatMap((status) =>
            includeTasks || onlyFailed
              ? Effect.succeed(Answer.status(status))
              : Effect.as(started(herder, status), undefined)
          ),
          Effect.catchTag("HerderError", (error) => Effect.fail(unknownToRestart(error)))
        ),
      restartTask: ({ params }) => Effect.mapError(herder.restartTask(params.connector, params.task), unknownToRestart),
      resetOffsets: ({ params }) =>
        herder.resetOffsets(params.connector).pipe(
          Effect.map((changed) => offsetsBody.answer("reset", changed)),
          Effect.mapError(fromHerder())
        ),
      resetTopics: ({ params }) => Effect.mapError(herder.resetTopics(params.connector), fromHerder()),
      reconfiguration: ({ params }) =>
        herder.status(params.connector).pipe(
          Effect.map((status) => status.reconfiguration),
          Effect.mapError(fromHerder())
        ),
      retry: ({ params }) => changeLane(herder, params.connector, herder.retry),
      park: ({ params }) => changeLane(herder, params.connector, herder.park),
      unpark: ({ params }) => changeLane(herder, params.connector, herder.unpark)
    }).handleRaw(
      "alterOffsets",
      Effect.fnUntraced(function*({ params: { connector } }) {
        const entries = yield* offsetsBody.read(yield* JsonBody)
        const changed = yield* Effect.mapError(herder.alterOffsets(connector, entries), fromHerder())
        return offsetsBody.answer("altered", changed)
      })
    ).handleRaw(
      "retryAll",
      Effect.fnUntraced(function*() {
        const filter = yield* retryBody.read(yield* JsonBody)
        return { retried: yield* Effect.mapError(herder.retryAll(filter), fromHerder()) }
      })
    )
  })
)

/** The answer to a change of a lane is the lane; the leader refuses it for a connector that is not meant to run. */
const changeLane = (
  herder: Herder["Service"],
  name: string,
  change: (name: string) => Effect.Effect<void, HerderError>
) =>
  change(name).pipe(
    Effect.andThen(herder.status(name)),
    Effect.map((status) => status.reconfiguration),
    Effect.mapError(fromHerder())
  )
