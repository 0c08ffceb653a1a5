/** The levels of log lines, of this worker or of all. */
import { Herder } from "@kelpie/herder/Herder"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { ConnectApi, type Logger } from "../ConnectApi.ts"
import * as RestError from "../RestError.ts"
import { fromHerder } from "./failure.ts"
import { JsonBody } from "./jsonBody.ts"
import * as LogLevels from "./logLevels.ts"

/** Clients take no other member. */
const answer = ({ lastModified, level }: Herder.Logger): Logger => ({
  level: LogLevels.word(level),
  last_modified: lastModified ?? null
})

/** The handlers of the group `loggers`. */
export const layer = HttpApiBuilder.group(
  ConnectApi,
  "loggers",
  Effect.fnUntraced(function*(handlers) {
    const herder = yield* Herder
    return handlers.handleAll({
      list: () =>
        Effect.map(
          herder.loggers,
          (loggers) => Object.fromEntries(loggers.map((logger) => [logger.name, answer(logger)]))
        ),
      get: ({ params: { logger } }) =>
        Effect.flatMap(herder.logger(logger), (found) =>
          found === undefined
            ? Effect.fail(new RestError.NotFound({ message: `Logger ${logger} not found.` }))
            : Effect.succeed(answer(found)))
    }).handleRaw(
      "set",
      Effect.fnUntraced(function*({ params: { logger }, query }) {
        const level = yield* LogLevels.read(yield* JsonBody)
        // any other word means this worker, as in Connect
        const scope = query.scope?.toLowerCase() === "cluster" ? "cluster" : "worker"
        const changed = yield* Effect.mapError(herder.setLogLevel(logger, level, { scope }), fromHerder())
        return scope === "cluster" ? undefined : changed
      })
    )
  })
)
