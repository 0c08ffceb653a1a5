/** What `@kelpie/connectors` brings, by kind and in the order of its list. */
import { all } from "@kelpie/connectors"
import type { Plugin } from "@kelpie/core"

const of = (...kinds: ReadonlyArray<Plugin.Kind>): ReadonlyArray<Plugin.Any> => {
  const plugins: ReadonlyArray<Plugin.Any> = all
  return plugins.filter((plugin) => kinds.includes(plugin.kind))
}

export const Connectors = {
  sources: of("source"),
  sinks: of("sink"),
  transforms: of("transform"),
  predicates: of("predicate"),
  variables: of("variables")
}
