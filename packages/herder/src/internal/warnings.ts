/** The keys of a stored config that nobody reads: its validation warned of them, and its status says so again. */
import type { ConnectorConfig } from "@kelpie/core/Plugin"
import type { Plugins } from "@kelpie/core/Plugins"
import * as Validation from "@kelpie/core/Validation"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

const none: ReadonlyArray<Validation.Warning> = []

/**
 * Finds the warnings of a config, once for each. Variables are not resolved here: what stands behind one is not known, so
 * nothing is said of the keys of a plugin that a variable names.
 */
export const make = (plugins: Plugins["Service"], defaults: ConnectorConfig) => {
  // a stored config is the same object until it is changed
  const known = new WeakMap<ConnectorConfig, ReadonlyArray<Validation.Warning>>()
  // an author's check may throw: that is for validation to tell
  const validate = Option.liftThrowable((config: ConnectorConfig) =>
    Validation.validate(plugins, defaults, { raw: config, resolved: config })
  )
  const find = (config: ConnectorConfig): ReadonlyArray<Validation.Warning> => {
    const validated = Option.getOrUndefined(validate(config))
    if (validated === undefined || Result.isFailure(validated)) return none
    const { warnings } = validated.success
    return warnings.length === 0 ? none : warnings
  }
  return (config: ConnectorConfig): ReadonlyArray<Validation.Warning> => {
    const found = known.get(config) ?? find(config)
    known.set(config, found)
    return found
  }
}
