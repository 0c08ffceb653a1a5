/**
 * Which log lines of a runtime are written, by logger, changeable while it runs.
 *
 * A line belongs to the logger that its annotation `logger` names, else to `connector.<name>` of its annotation `connector`,
 * else to `kelpie`. Loggers form a tree by dots, below `root`; one without a level of its own has that of the next one
 * above it. The host's loggers write what passes; the host's minimum is the level that `root` begins with.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"
import type { Herder } from "../Herder.ts"
import { names } from "./loggers.ts"

/** The levels of one runtime. */
export interface LogLevels {
  /** Every logger that has a level of its own, is a part of Kelpie, or is above one of these; sorted. */
  readonly all: () => ReadonlyArray<Herder.Logger>
  /** A logger with the level that counts for it, whether it is known or not. */
  readonly effective: (name: string) => Herder.Logger
  /** Whether it is one of `all`. */
  readonly isKnown: (name: string) => boolean
  /** Gives a logger, and every known one below it, a level; tells which. */
  readonly set: (name: string, level: LogLevel.LogLevel, atMillis: number) => ReadonlyArray<string>
  /** Runs an effect, and all that it forks, with loggers that write only what passes. */
  readonly filter: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The top of the tree. */
const root = "root"

/** The loggers above one, nearest first. */
const above = function*(name: string): Generator<string> {
  for (let dot = name.lastIndexOf("."); dot > 0; dot = name.lastIndexOf(".", dot - 1)) yield name.slice(0, dot)
  if (name !== root) yield root
}

const isBelow = (name: string, parent: string): boolean =>
  name !== parent && (parent === root || name.startsWith(`${parent}.`))

/** Whose line it is. */
const loggerOf = (fiber: Fiber.Fiber<unknown, unknown>): string => {
  const annotations = fiber.getRef(References.CurrentLogAnnotations)
  const logger = annotations["logger"]
  if (typeof logger === "string") return logger
  const connector = annotations["connector"]
  return typeof connector === "string" ? `connector.${connector}` : "kelpie"
}

type Own = Omit<Herder.Logger, "name">
type Loggers = ReadonlySet<Logger.Logger<unknown, unknown>>

/** Levels that begin with one for all. */
export const make = (initial: LogLevel.LogLevel): LogLevels => {
  const own = new Map<string, Own>([[root, { level: initial, lastModified: undefined }]])
  const ownOf = (name: string): Own => {
    // what one line costs: most runtimes have no other level
    if (own.size > 1) {
      const mine = own.get(name)
      if (mine !== undefined) return mine
      for (const parent of above(name)) {
        const level = own.get(parent)
        if (level !== undefined) return level
      }
    }
    return own.get(root) ?? { level: initial, lastModified: undefined }
  }
  const known = (): ReadonlySet<string> => {
    const all = new Set([...own.keys(), ...names])
    for (const name of all) for (const parent of above(name)) all.add(parent)
    return all
  }
  const passes = (fiber: Fiber.Fiber<unknown, unknown>, level: LogLevel.LogLevel) =>
    !LogLevel.isGreaterThan(ownOf(loggerOf(fiber)).level, level)
  const filters = new WeakMap<Loggers, Loggers>()
  const filterOf = (loggers: Loggers): Loggers => {
    let filtered = filters.get(loggers)
    if (filtered === undefined) {
      const filter = Logger.make((options) => {
        if (passes(options.fiber, options.logLevel)) { for (const logger of loggers) logger.log(options) }
      })
      filtered = new Set([filter])
      filters.set(loggers, filtered)
      // what is filtered already stays as it is
      filters.set(filtered, filtered)
    }
    return filtered
  }
  let last: { readonly current: Context.Context<never>; readonly filtered: Context.Context<never> } | undefined
  /** The last answer is kept: fibers of one origin share theirs. */
  const filtering = <R>(current: Context.Context<R>): Context.Context<R> => {
    if (last?.current !== current) {
      const filtered = current.pipe(
        Context.add(Logger.CurrentLoggers, filterOf(Context.get(current, Logger.CurrentLoggers))),
        Context.add(References.MinimumLogLevel, "All")
      )
      last = { current, filtered }
    }
    return last.filtered as Context.Context<R> // of the same services
  }
  const effective = (name: string): Herder.Logger => ({ name, ...ownOf(name) })
  return {
    effective,
    all: () => [...known()].toSorted().map(effective),
    isKnown: (name) => known().has(name),
    set: (name, level, atMillis) => {
      const changed = [name, ...[...known()].filter((one) => isBelow(one, name))]
      for (const one of changed) own.set(one, { level, lastModified: atMillis })
      return changed.toSorted()
    },
    filter: (effect) => Effect.updateContext(effect, filtering)
  }
}

/** The levels of the runtime that is built; a runtime that is stepped by hand filters nothing. */
export const Current = Context.Reference<LogLevels | undefined>("@kelpie/herder/internal/LogLevels", {
  defaultValue: () => undefined
})

/** Builds a runtime whose log lines are filtered by levels of its own. */
export const filtered = <A, E, R>(runtime: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(References.MinimumLogLevel, (initial) => {
    const levels = make(initial)
    return levels.filter(Effect.provideService(runtime, Current, levels))
  })
