/** Options with their defaults, checked. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as path from "node:path"
import type { Options } from "../Sqlite.ts"
import type { Opening, Retention } from "./calls.ts"

/** The most pages that a file may have: stands for a full disk in tests. */
export const MaxPages = Context.Reference<number | undefined>("@kelpie/sqlite/internal/MaxPages", {
  defaultValue: () => undefined
})

/** What the options come to. */
export interface Settings {
  readonly opening: Omit<Opening, "nowMillis" | "storeId">
  readonly retention: Retention
  /** Of a topic that its first append creates. */
  readonly partitions: number
}

const positive = (name: string, value: number): number => {
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new RangeError(`the option "${name}" has to be a whole number above 0, but is ${value}`)
}

/** Fills in defaults. A wrong option is a mistake in code, so a defect that names it. */
export const make = (options: Options): Effect.Effect<Settings> =>
  Effect.map(MaxPages, (maxPages) => {
    if (options.directory === "") throw new RangeError("the option \"directory\" is empty: name a directory")
    const { bytes, millis = Duration.toMillis("7 days") } = options.retention ?? {}
    return {
      opening: {
        // a later change of the working directory does not move the store
        directory: path.resolve(options.directory),
        synchronous: options.synchronous ?? "full",
        busyTimeoutMillis: Duration.toMillis(options.busyTimeout ?? "5 seconds"),
        maxPages,
        clusterId: options.clusterId
      },
      retention: {
        millis: positive("retention.millis", millis),
        bytes: bytes === undefined ? undefined : positive("retention.bytes", bytes)
      },
      partitions: positive("partitions", options.partitions ?? 1)
    }
  })

/** What a worker opens its file with. */
export const opening = (settings: Settings, storeId: string | undefined): Effect.Effect<Opening> =>
  Effect.map(Clock.currentTimeMillis, (nowMillis) => ({ ...settings.opening, nowMillis, storeId }))
