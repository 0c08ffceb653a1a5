/** What the worker tells about itself. */
import { Herder } from "@kelpie/herder/Herder"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as OpenApi from "effect/http-api/OpenApi"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Option from "effect/Option"
import { ConnectApi, connectVersion } from "../ConnectApi.ts"
import * as RestError from "../RestError.ts"
import { fromHerder } from "./failure.ts"
import { commit, version } from "./version.ts"

/** The contract, described. */
const openapi: Readonly<Record<string, unknown>> = { ...OpenApi.fromApi(ConnectApi) }

/** The handlers of the group `worker`. */
export const layer = HttpApiBuilder.group(
  ConnectApi,
  "worker",
  Effect.fnUntraced(function*(handlers) {
    const herder = yield* Herder
    return handlers.handleAll({
      info: () =>
        Effect.map(herder.clusterId, (id) => ({
          version: connectVersion,
          commit,
          kafka_cluster_id: id,
          kelpie_version: version
        })),
      health: () =>
        Effect.map(herder.health, ({ message, status }) =>
          status === "healthy"
            ? { status, message }
            : status === "starting"
            ? { status, message, error_code: 503 as const }
            : { status, message, error_code: 500 as const }),
      metrics: () => PrometheusMetrics.format(),
      openapi: () => Effect.succeed(openapi),
      workers: () =>
        Effect.map(herder.group, ({ leader, members, self }) => ({
          workers: members.map(({ draining = false, session, workerId }) => ({
            worker_id: workerId,
            session,
            leader: session === leader,
            draining,
            self: session === self?.session
          }))
        })),
      drain: () => Effect.mapError(herder.drain, fromHerder()),
      operation: ({ params: { operation } }) =>
        Effect.flatMap(herder.operation(operation), (outcome) =>
          Option.isSome(outcome)
            ? Effect.succeed({
              id: operation,
              position: outcome.value.position,
              ...(outcome.value.created === undefined ? {} : { created: outcome.value.created })
            })
            : Effect.fail(
              new RestError.NotFound({
                message: `Operation ${operation} has had no effect so far, or had it more than ten minutes ago`
              })
            ))
    })
  })
)
