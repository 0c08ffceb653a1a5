/** Validates configs off the tick: the keys, then what the connector's own `validate` says, within its deadline. */
import type { ConfigInfos } from "@kelpie/core/ConfigInfos"
import type { KeyProblem } from "@kelpie/core/ConfigKey"
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { TransientError } from "@kelpie/core/ConnectorError"
import type { ConnectorConfig } from "@kelpie/core/Plugin"
import * as Validation from "@kelpie/core/Validation"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Semaphore from "effect/Semaphore"
import { contain } from "./contained.ts"
import * as Loggers from "./loggers.ts"
import * as Redaction from "./redaction.ts"
import { passwords } from "./resolved.ts"
import type { Runtime } from "./runtime.ts"
import { describe } from "./trace.ts"

/** The answer. */
export interface Validated {
  readonly infos: ConfigInfos
  readonly problems: ReadonlyArray<KeyProblem>
  readonly warnings: ReadonlyArray<Validation.Warning>
}

type Context = Pick<Runtime, "plugins" | "variables" | "defaults" | "middleware" | "stop">

/** Resolves the variables of a config one key at a time, so that each that fails is told with its key. */
const resolve = Effect.fnUntraced(function*(context: Context, raw: ConnectorConfig) {
  const whole = yield* Effect.result(context.variables(raw))
  if (whole._tag === "Success") {
    return { resolved: whole.success.config, secrets: whole.success.secrets, unresolved: new Map<string, string>() }
  }
  const resolved: Record<string, string> = Object.create(null)
  const unresolved = new Map<string, string>()
  const secrets: Array<string> = []
  for (const [key, text] of Object.entries(raw)) {
    const one = yield* Effect.result(context.variables({ [key]: text }))
    if (one._tag === "Failure") unresolved.set(key, one.failure.message)
    else {
      resolved[key] = one.success.config[key] ?? ""
      secrets.push(...one.success.secrets)
    }
  }
  return { resolved, secrets, unresolved }
})

/** Validates; fails only when the config names no connector that is known. */
export const validate = Effect.fnUntraced(function*(
  context: Context,
  slots: Semaphore.Semaphore,
  raw: ConnectorConfig
): Effect.fn.Return<Validated, Validation.UnknownConnector> {
  const { resolved, secrets, unresolved } = yield* resolve(context, raw)
  const checked = Validation.validate(context.plugins, context.defaults, { raw, resolved, unresolved })
  if (Result.isFailure(checked)) return yield* checked.failure
  // `infos` is made when it is asked for
  const { connector, problems, warnings } = checked.success
  const own = connector.kind === "source" ? connector["~source"].validate : connector["~sink"].validate
  if (problems.length > 0 || own === undefined) return checked.success
  const values = ConfigKey.decode(connector.fields, resolved, { raw, unresolved })
  if (Result.isFailure(values)) return checked.success
  const redact = Redaction.make(passwords(connector.fields, resolved), secrets)
  // a check that throws before it gives an effect is a defect of it too
  const check = Effect.suspend(() => own(values.success as never))
  const found = yield* ownProblems(context, slots, connector.name, raw["name"] ?? "", check, redact)
  const more = "problems" in found ? Validation.problemsOf(connector.fields, found.problems) : [found]
  const { infos } = checked.success
  return { infos: Validation.withProblems(infos, more), problems: more, warnings }
})

const ownProblems = Effect.fnUntraced(function*(
  { middleware, plugins, stop }: Context,
  slots: Semaphore.Semaphore,
  plugin: string,
  connector: string,
  own: Effect.Effect<ReadonlyArray<ConfigKey.Problem<any>>, unknown, any>,
  redact: Redaction.Redact
) {
  let problems: ReadonlyArray<ConfigKey.Problem<any>> = []
  const run = middleware(
    { _tag: "ValidateConfig", connector, plugin },
    Effect.map(contain(redact, plugins.provide(Loggers.about({ connector })(own))), (found) => {
      problems = found
      return found.length
    })
  )
  // in a fiber of its own: code that does not return must not hold up its caller
  const exit = yield* slots.withPermits(1)(Effect.gen(function*() {
    const fiber = yield* Effect.forkDetach(run, { startImmediately: true })
    const stopIt = Effect.sync(() => fiber.interruptUnsafe())
    const waited = yield* Effect.onInterrupt(Effect.timeoutOption(Fiber.await(fiber), stop.validate), () => stopIt)
    if (waited._tag === "Some") return waited.value
    yield* stopIt
    const seconds = Duration.toMillis(Duration.fromInputUnsafe(stop.validate)) / 1000
    return Exit.fail(new TransientError({ message: `the validation of ${plugin} did not return within ${seconds} s` }))
  }))
  if (exit._tag === "Success") return { problems: problems.map((one) => ({ ...one, message: redact(one.message) })) }
  return { key: "connector.class", errors: [describe(exit.cause, redact).message] } satisfies KeyProblem
})
