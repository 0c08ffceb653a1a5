/** Reads the body of `POST /connectors`, as leniently as Connect where that does no harm. */
import type * as Plugin from "@kelpie/core/Plugin"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as RestError from "../RestError.ts"
import * as configBody from "./configBody.ts"
import * as Issues from "./issues.ts"

const states = ["RUNNING", "PAUSED", "STOPPED"] as const

/** `initial_state` in any case. */
const InitialState = Schema.String.check(
  Schema.isPattern(/^(?:running|paused|stopped)$/i, { expected: states.join(", ") })
)

const Body = Schema.Struct({
  name: Schema.optionalKey(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])),
  config: Schema.Record(Schema.String, Schema.Unknown),
  initial_state: Schema.optionalKey(Schema.NullOr(InitialState))
})
const decode = Schema.decodeUnknownEffect(Body, { errors: "all", onExcessProperty: "error" })

/** What is to be created. */
export interface Create {
  readonly name: string
  readonly config: Plugin.ConnectorConfig
  readonly initialState: typeof states[number] | undefined
}

/** The name is trimmed; one that is missing is empty, and refused where names are checked. */
export const read = Effect.fnUntraced(function*(json: unknown): Effect.fn.Return<Create, RestError.BadRequest> {
  const body = yield* Effect.mapError(
    decode(json),
    (error) => new RestError.BadRequest({ message: Issues.describe("Body", error, json) })
  )
  const name = `${body.name ?? ""}`.trim()
  const texts = yield* configBody.config(body.config)
  const wanted = body.initial_state?.toUpperCase()
  return {
    name,
    config: yield* configBody.named(name, texts),
    initialState: states.find((state) => state === wanted)
  }
})
