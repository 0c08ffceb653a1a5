/** What can be configured, and whether a configuration is right. */
import type * as Plugin from "@kelpie/core/Plugin"
import * as Validation from "@kelpie/core/Validation"
import { Herder } from "@kelpie/herder/Herder"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { ConnectApi } from "../ConnectApi.ts"
import * as RestError from "../RestError.ts"
import * as Answer from "./answer.ts"
import * as configBody from "./configBody.ts"
import { fromHerder } from "./failure.ts"
import { JsonBody } from "./jsonBody.ts"

/** Connect's words for kinds. Variable providers are not listed there. */
const types = {
  source: "source",
  sink: "sink",
  transform: "transformation",
  predicate: "predicate",
  converter: "converter",
  header_converter: "header_converter"
} as const
type Listed = keyof typeof types
const connectors: ReadonlyArray<Listed> = ["source", "sink"]
const all: ReadonlyArray<Listed> = ["source", "sink", "transform", "predicate", "converter", "header_converter"]

/** The plugins of some kinds, in the order of the kinds. */
const ofKinds = (plugins: ReadonlyArray<Plugin.Any>, kinds: ReadonlyArray<Listed>) =>
  kinds.flatMap((kind) =>
    plugins.filter((plugin) => plugin.kind === kind).map((plugin) => ({ plugin, type: types[kind] }))
  )

/** The plugin that a text names: by its name, else by an alias. */
const find = (
  plugins: ReadonlyArray<Plugin.Any>,
  kinds: ReadonlyArray<Listed>,
  name: string
): Plugin.Any | undefined => {
  const candidates = ofKinds(plugins, kinds).map(({ plugin }) => plugin)
  return candidates.find((plugin) => plugin.name === name) ??
    candidates.find((plugin) => plugin.aliases.includes(name))
}

/** The handlers of the group `plugins`. */
export const layer = HttpApiBuilder.group(
  ConnectApi,
  "plugins",
  Effect.fnUntraced(function*(handlers) {
    const herder = yield* Herder
    return handlers.handleAll({
      list: ({ query: { connectorsOnly = true } }) =>
        Effect.map(
          herder.plugins,
          (plugins) =>
            ofKinds(plugins, connectorsOnly ? connectors : all).map(({ plugin, type }) => ({
              class: plugin.name,
              type,
              version: plugin.version
            }))
        ),
      config: ({ params, query }) => definitions(herder, params.plugin, query.version)
    }).handleRaw(
      "validate",
      Effect.fnUntraced(function*({ params }) {
        const config = yield* configBody.config(yield* JsonBody)
        yield* sameClass(yield* herder.plugins, params.plugin, config["connector.class"] ?? "")
        const { infos, warnings } = yield* Effect.mapError(herder.validate(config), fromHerder())
        return { ...infos, ...Answer.warned(warnings) }
      })
    )
  })
)

const definitions = Effect.fnUntraced(function*(herder: Herder["Service"], name: string, version: string | undefined) {
  const plugin = find(yield* herder.plugins, all, name)
  if (plugin === undefined) return yield* new RestError.NotFound({ message: `Unknown plugin ${name}.` })
  const problem = version === undefined ? undefined : Validation.versionProblem(plugin, version)
  if (problem !== undefined) return yield* new RestError.BadRequest({ message: problem })
  return Validation.definitions(plugin)
})

/** The path and the body may name a class differently, but have to mean the same one. */
const sameClass = (plugins: ReadonlyArray<Plugin.Any>, path: string, body: string) => {
  const meant = find(plugins, connectors, body.trim())
  return path === body || (meant !== undefined && meant === find(plugins, connectors, path))
    ? Effect.void
    : Effect.fail(
      new RestError.BadRequest({ message: `Included connector type ${body} does not match request type ${path}` })
    )
}
