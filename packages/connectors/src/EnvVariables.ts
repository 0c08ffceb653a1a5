/** Variables in the environment of the process: `${env:DB_PASSWORD}` (Connect's EnvVarConfigProvider). */
import { ConfigKey, PermanentError, VariableProvider } from "@kelpie/core"
import * as Effect from "effect/Effect"

const compile = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`)

const isPattern = (pattern: string): boolean => {
  try {
    return compile(pattern) instanceof RegExp
  } catch {
    return false
  }
}

const read = (allowed: RegExp): VariableProvider.Read =>
  Effect.fn("EnvVariables.read")(function*({ keys, path }) {
    if (path !== "") return yield* new PermanentError({ message: "An env variable has no path: write ${env:<name>}" })
    const entries = keys.flatMap((key): ReadonlyArray<readonly [string, string]> => {
      const value = allowed.test(key) && Object.hasOwn(process.env, key) ? process.env[key] : undefined
      return value === undefined ? [] : [[key, value]]
    })
    return { values: Object.fromEntries(entries) }
  })

/**
 * The provider `env`. A variable that is not set, or whose name the pattern does not match as a whole, is not given: nobody
 * can set it from outside while the process runs.
 */
export const EnvVariables = VariableProvider.make("env", {
  version: "0.1.0",
  aliases: ["org.apache.kafka.common.config.provider.EnvVarConfigProvider", "EnvVarConfigProvider"],
  doc: "Variables in the environment of the process.",
  config: {
    allowlistPattern: ConfigKey.String("allowlist.pattern", {
      default: ".*",
      doc: "A regular expression that the whole name of a variable must match to be given.",
      check: (pattern: string) => isPattern(pattern) ? undefined : "Not a regular expression"
    })
  },
  open: (config) => Effect.succeed(read(compile(config.allowlistPattern)))
})
