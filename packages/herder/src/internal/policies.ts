/** Reads the policies of one connector: the runtime's, changed by the keys of its config (law 8). */
import * as Backoff from "@kelpie/core/Backoff"
import type { ReconfigurationSettings, RestartSettings } from "@kelpie/core/Policies"
import * as Duration from "effect/Duration"
import type * as Lane from "../Lane.ts"
import type * as World from "../World.ts"

type Config = Readonly<Record<string, string>>

const millis = (duration: Duration.Input): number => Duration.toMillis(Duration.fromInputUnsafe(duration))

/** A number of the config; what is not one was refused by validation, or came from a variable and is left out. */
const numberOf = (config: Config, key: string): number | undefined => {
  const n = Object.hasOwn(config, key) ? Number(config[key]) : NaN
  return Number.isFinite(n) && n > 0 ? n : undefined
}

/** The cap, then jitter, which only shortens; then what a throttled failure asked for, which may exceed the cap (law 6). */
const lanePolicy = (
  settings: ReconfigurationSettings,
  seed: string,
  name: string,
  incarnation: string,
  config: Config
): Lane.Policy => {
  const first = numberOf(config, "reconfiguration.retry.backoff.ms")
  const cap = numberOf(config, "reconfiguration.retry.backoff.max.ms") ?? millis(settings.cap)
  const delay = first === undefined ? settings.delay : Backoff.exponential(first, Infinity)
  const jitter = config["reconfiguration.retry.jitter"] ?? settings.jitter
  const maxAttempts = numberOf(config, "reconfiguration.retry.max.attempts") ?? settings.maxAttempts
  const maxElapsed = numberOf(config, "reconfiguration.retry.timeout.ms") ?? millis(settings.maxElapsed)
  const exhausted = config["reconfiguration.retry.exhausted"] ?? settings.onExhausted
  return {
    maxDefects: settings.maxDefects,
    failsWhenExhausted: exhausted === "fail",
    delayMillis: ({ failures, firstAt = 0, last, lastAt = 0 }) => {
      if (failures >= maxAttempts || lastAt - firstAt >= maxElapsed) return undefined
      const wanted = last === undefined ? undefined : delay(failures, lastAt - firstAt, last)
      // a delay that is no time is taken as none
      if (wanted === undefined || !(wanted >= 0)) return undefined
      const capped = Math.min(wanted, cap)
      const drawn = jitter === "equal"
        ? capped * (0.5 + Backoff.draw(seed, "reconfiguration", name, incarnation, failures) / 2)
        : capped
      return Math.max(Math.round(drawn), last?.retryAfterMillis ?? 0)
    }
  }
}

const restartPolicy = (settings: RestartSettings, config: Config): World.ConnectorPolicies["restart"] => {
  const policy = config["restart.policy"] ?? (settings.enabled ? "on-failure" : "none")
  const first = numberOf(config, "restart.backoff.ms")
  const cap = numberOf(config, "restart.backoff.max.ms") ?? millis(settings.cap)
  const delay = first === undefined ? settings.delay : Backoff.exponential(first, Infinity)
  return {
    budget: numberOf(config, "restart.max.attempts") ?? settings.budget,
    windowMillis: numberOf(config, "restart.window.ms") ?? millis(settings.window),
    delayMillis: (restarts) => {
      const wanted = policy === "on-failure" ? delay(restarts) : undefined
      return wanted === undefined ? undefined : Math.min(wanted, cap)
    }
  }
}

/** The reader of a runtime. */
export const make = (
  reconfiguration: ReconfigurationSettings,
  restart: RestartSettings,
  seed: string
): World.Settings["policies"] =>
(name, incarnation, config) => ({
  lane: lanePolicy(reconfiguration, seed, name, incarnation, config),
  restart: restartPolicy(restart, config)
})
