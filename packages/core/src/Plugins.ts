/** The definitions that a runtime knows, and the host's services that they need. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type { Converter } from "./Converter.ts"
import * as Converters from "./Converters.ts"
import { nearest } from "./internal/nearest.ts"
import type * as Plugin from "./Plugin.ts"
import type { RecordPredicate } from "./RecordPredicate.ts"
import type { SinkConnector } from "./SinkConnector.ts"
import type { SourceConnector } from "./SourceConnector.ts"
import type { Transform } from "./Transform.ts"
import type { VariableProvider } from "./VariableProvider.ts"

/** Kind -> what its definitions are. */
export interface Definitions {
  readonly source: SourceConnector<any, any>
  readonly sink: SinkConnector<any, any>
  readonly transform: Transform
  readonly predicate: RecordPredicate
  readonly converter: Converter
  readonly header_converter: Converter
  readonly variables: VariableProvider<any, any>
}

/** A connector definition. */
export type Connector = Definitions["source"] | Definitions["sink"]

/** The registry. Names are case-sensitive; aliases answer like names; the last part of a Java name is enough. */
export class Plugins extends Context.Service<Plugins, {
  readonly all: ReadonlyArray<Plugin.Any>
  readonly find: <K extends Plugin.Kind>(kind: K, name: string) => Option.Option<Definitions[K]>
  /** A source or a sink. */
  readonly connector: (name: string) => Option.Option<Connector>
  /** Names of that kind that look like this one, best first. */
  readonly near: (kinds: ReadonlyArray<Plugin.Kind>, name: string) => ReadonlyArray<string>
  /** Gives a definition's effect what the host provided when the layer was built. */
  readonly provide: <A, E>(effect: Effect.Effect<A, E, any>) => Effect.Effect<A, E>
  /** The services of the host. */
  readonly context: Context.Context<any>
}>()("@kelpie/core/Plugins") {
  /** One list. The converters of Connect are always there; a definition of the same kind and name replaces them. */
  static readonly layer = <const P extends ReadonlyArray<Plugin.Any>>(
    plugins: P
  ): Layer.Layer<Plugins, never, Plugin.Services<P[number]>> =>
    Layer.effect(
      this,
      Effect.map(Effect.context<Plugin.Services<P[number]>>(), (context) => make(plugins, ofHost(context)))
    )
}

/**
 * What belongs to the fiber that builds the layer, not to the host: whoever runs a definition has its own. Else what a
 * connector acquires would live as long as the layer, and its logs and spans would stand in the wrong place.
 */
const ofHost = Context.omit(
  Scope.Scope,
  Scheduler.Scheduler,
  Clock.Clock,
  Layer.CurrentMemoMap,
  Tracer.ParentSpan,
  References.CurrentLogAnnotations,
  References.CurrentLogSpans
)

/** Adds the host's services to a context. The last answer is kept: fibers of one origin share theirs. */
const provided = (context: Context.Context<any>): (current: Context.Context<never>) => Context.Context<any> => {
  let last: { readonly current: Context.Context<never>; readonly merged: Context.Context<any> } | undefined
  return (current) => {
    if (last?.current !== current) last = { current, merged: Context.merge(current, context) }
    return last.merged
  }
}

const make = (plugins: ReadonlyArray<Plugin.Any>, context: Context.Context<any>): Plugins["Service"] => {
  const all: ReadonlyArray<Plugin.Any> = [...Converters.all, ...plugins]
  const byName = new Map<string, Plugin.Any>()
  for (const plugin of all) {
    for (const alias of plugin.aliases) byName.set(`${plugin.kind}/${alias}`, plugin)
  }
  for (const plugin of all) byName.set(`${plugin.kind}/${plugin.name}`, plugin)
  const find = <K extends Plugin.Kind>(kind: K, name: string): Option.Option<Definitions[K]> =>
    Option.fromUndefinedOr(byName.get(`${kind}/${name}`) as Definitions[K] | undefined)
  const withHost = provided(context)
  return {
    all: [...new Set(byName.values())],
    find,
    connector: (name) => Option.orElse<Connector, Connector>(find("source", name), () => find("sink", name)),
    near: (kinds, name) =>
      nearest(name, all.filter((plugin) => kinds.includes(plugin.kind)).map((plugin) => plugin.name)),
    provide: (effect) => Effect.updateContext(effect, withHost),
    context
  }
}
