/** Reads configurations that came as JSON. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import type * as Plugin from "@kelpie/core/Plugin"
import * as Validation from "@kelpie/core/Validation"
import * as Effect from "effect/Effect"
import * as RestError from "../RestError.ts"

const refused = (problems: ReadonlyArray<ConfigKey.KeyProblem>) =>
  new RestError.BadRequest({ message: Validation.message(problems) })

/** A configuration whose class is told; numbers and booleans have become texts. */
export const config = (json: unknown): Effect.Effect<Plugin.ConnectorConfig, RestError.BadRequest> =>
  Effect.fromResult(Validation.normalise(json)).pipe(
    Effect.mapError(refused),
    Effect.filterOrFail(
      (texts) => ConfigKey.textOf(texts, "connector.class") !== undefined,
      () => new RestError.BadRequest({ message: "Connector config contains no connector type" })
    )
  )

/** Changes of the configuration of the connector of that name; null removes a key, but for `name`. */
export const patch = Effect.fnUntraced(function*(json: unknown, name: string) {
  const changes = yield* Effect.mapError(Effect.fromResult(Validation.normalisePatch(json)), refused)
  if (!Object.hasOwn(changes, "name") || changes["name"] === name) return changes
  return yield* typeof changes["name"] === "string"
    ? otherName(changes["name"], name)
    : refused([{ key: "name", errors: ["Missing required configuration \"name\" which has no default value."] }])
})

/** The configuration of the connector of that name: `name` is filled in, and must not be another. */
export const named = (
  name: string,
  texts: Plugin.ConnectorConfig
): Effect.Effect<Plugin.ConnectorConfig, RestError.BadRequest> => {
  const told = ConfigKey.textOf(texts, "name")
  return told === undefined || told === name
    ? Effect.succeed({ ...texts, name })
    : Effect.fail(otherName(told, name))
}

const otherName = (told: string, name: string) =>
  new RestError.BadRequest({
    message: `Connector name configuration (${told}) doesn't match connector name in the URL (${name})`
  })
