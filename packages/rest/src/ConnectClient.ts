/** The typed client of the API, made from the same contract as the server. Works against Kafka Connect where both agree. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import { ConnectApi } from "./ConnectApi.ts"

/**
 * Calls a worker: `client.connectors.create({ payload })`, `client.operations.pause({ params: { connector } })`. Calls fail
 * with the errors of `RestError`, with `HttpClientError` when there is no answer, and with `SchemaError` when it is none of
 * this API.
 */
export class ConnectClient extends Context.Service<ConnectClient, HttpApiClient.ForApi<typeof ConnectApi>>()(
  "@kelpie/rest/ConnectClient"
) {
  /** A client of one worker; the prefix belongs to `baseUrl`. */
  static readonly make = (options: ConnectClient.Options): Effect.Effect<
    ConnectClient["Service"],
    never,
    HttpClient.HttpClient
  > => HttpApiClient.make(ConnectApi, options)

  /** The same as a layer. */
  static readonly layer = (options: ConnectClient.Options): Layer.Layer<
    ConnectClient,
    never,
    HttpClient.HttpClient
  > => Layer.effect(this, this.make(options))
}

export declare namespace ConnectClient {
  /** Which worker, and what is done with every call: authentication, retries, time-outs. */
  export interface Options {
    readonly baseUrl: URL | string
    readonly transformClient?: (client: HttpClient.HttpClient) => HttpClient.HttpClient
  }
}
