/** Reads the body of `PATCH /connectors/{connector}/offsets`, and says what was done. */
import type { Herder } from "@kelpie/herder/Herder"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as RestError from "../RestError.ts"
import * as Issues from "./issues.ts"

const Body = Schema.Struct({
  offsets: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({
    // one that is missing is told by who knows what it should look like
    partition: Schema.optionalKey(Schema.Json),
    offset: Schema.optionalKey(Schema.Json)
  }))))
})
const decode = Schema.decodeUnknownEffect(Body, { errors: "all", onExcessProperty: "error" })

/** What is to be changed; an offset that is left out is removed, as one of null. */
export const read = Effect.fnUntraced(function*(
  json: unknown
): Effect.fn.Return<ReadonlyArray<Herder.OffsetEntry>, RestError.BadRequest> {
  const { offsets } = yield* Effect.mapError(
    decode(json),
    (error) => new RestError.BadRequest({ message: Issues.describe("Body", error, json) })
  )
  if (offsets === undefined || offsets === null || offsets.length === 0) {
    const message = "Partitions / offsets need to be provided for an alter offsets request"
    return yield* new RestError.BadRequest({ message })
  }
  return offsets.map(({ offset = null, partition = null }) => ({ partition, offset }))
})

/** Connect's sentences. */
export const answer = (
  done: "altered" | "reset",
  { checked }: Herder.OffsetsChanged
): { readonly message: string } => ({
  message: checked
    ? `The offsets for this connector have been ${done} successfully`
    : `The Connect framework-managed offsets for this connector have been ${done} successfully. However, if this ` +
      `connector manages offsets externally, they will need to be manually ${done} in the system that the connector uses.`
})
