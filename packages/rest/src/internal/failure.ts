/** Which error of the API a failure of the herder is. */
import type { HerderError } from "@kelpie/herder/HerderError"
import * as Match from "effect/Match"
import * as RestError from "../RestError.ts"

const connectorNotFound = (name: string): string => `Connector ${name} not found`

/** The texts for an unknown connector depend on the endpoint, as in Connect. */
export const fromHerder =
  (notFound: (name: string) => string = connectorNotFound) => ({ reason }: HerderError): RestError.RestError =>
    Match.valueTags(reason, {
      ConnectorNotFound: ({ name }) => new RestError.NotFound({ message: notFound(name) }),
      TaskNotFound: ({ message }) => new RestError.NotFound({ message }),
      ConnectorExists: ({ message }) => new RestError.Conflict({ message }),
      NotStopped: ({ name }) => new RestError.BadRequest({ message: notStopped(name) }),
      InvalidOffsets: ({ message }) => new RestError.BadRequest({ message }),
      StateConflict: ({ message }) => new RestError.Conflict({ message }),
      InvalidConfig: ({ message }) => new RestError.BadRequest({ message }),
      PluginNotFound: ({ name, near }) => new RestError.BadRequest({ message: unknownClass(name, near) }),
      Unavailable: ({ message, operationId, outcome, retryAfterMillis = 1000 }) =>
        outcome === "unknown"
          ? new RestError.TimedOut({ message, ...(operationId === undefined ? {} : { operation_id: operationId }) })
          : new RestError.Unavailable({
            message: retriable(message),
            retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMillis / 1000))
          })
    })

const notStopped = (name: string): string =>
  "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified " +
  `connector by issuing a 'PUT' request to the '/connectors/${name}/stop' endpoint`

const unknownClass = (name: string, near: ReadonlyArray<string>): string =>
  `Failed to find any class that implements Connector and which name matches ${name}` +
  (near.length === 0 ? "" : `, near matches are: ${near.join(", ")}`)

/** Clients decide by this word whether they ask again. */
const retriable = (message: string): string =>
  message.includes("rebalance") ? message : `${message} (nothing was changed; ask again, as after a rebalance)`
