/** What the worker tells about itself. */
import { Herder } from "@kelpie/herder/Herder"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { ConnectApi, connectVersion } from "../ConnectApi.ts"
import { commit, version } from "./version.ts"

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
      metrics: () => PrometheusMetrics.format()
    })
  })
)
