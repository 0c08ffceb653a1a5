/** Reads the body of `POST /admin/reconfigurations/retry`. */
import type { Herder } from "@kelpie/herder/Herder"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ConnectApi from "../ConnectApi.ts"
import * as RestError from "../RestError.ts"
import * as Issues from "./issues.ts"

const decode = Schema.decodeUnknownEffect(ConnectApi.RetryFilter, { errors: "all", onExcessProperty: "error" })

/** Which connectors are meant: without a body all. */
export const read = (
  json: unknown
): Effect.Effect<Parameters<Herder["Service"]["retryAll"]>[0], RestError.BadRequest> =>
  json === undefined ? Effect.succeed({}) : Effect.mapError(
    decode(json),
    // names and classes are no secrets
    (error) => new RestError.BadRequest({ message: Issues.describe("Body", error, json, shown) })
  )

const shown = (value: unknown): string => JSON.stringify(value ?? null).slice(0, 100)
