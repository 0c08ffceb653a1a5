/** Plays the scripts of a connector definition's hooks, and remembers the calls and what lives. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import type { ConnectorError } from "@kelpie/core/ConnectorError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Script from "../Script.ts"

/** How many calls are remembered; the oldest go first. */
const rememberedCalls = 100_000

/** A connector instance, or one of its tasks. */
export interface Instance {
  readonly connector: string
  readonly task?: number | undefined
}

/** One call of a hook. The connector is empty for `validate`, which is not told it. */
export interface HookCall<H extends string> extends Instance {
  readonly hook: H
  /** Virtual time in milliseconds. */
  readonly at: number
}

/** Scripts by hook. */
export type Scripts<H extends string> = { readonly [K in H]?: Script.Script | undefined }

/** The hooks of one definition. */
export interface Hooks<H extends string> {
  /** Notes a call and does what the script says: that of the connector, that of all, or the text of its config. */
  readonly call: (hook: H, instance: Instance, text: string | undefined) => Effect.Effect<void, ConnectorError>
  readonly script: {
    (scripts: Scripts<H>): Effect.Effect<void>
    (connector: string, scripts: Scripts<Exclude<H, "validate">>): Effect.Effect<void>
  }
  readonly calls: (hook: H, connector?: string) => Effect.Effect<ReadonlyArray<number>>
  readonly history: Effect.Effect<ReadonlyArray<HookCall<H>>>
  /** Counts an instance as alive until the scope is closed; then its stop hook is called. */
  readonly alive: (instance: Instance, stop: H, text: string | undefined) => Effect.Effect<void, never, Scope.Scope>
  readonly live: (connector?: string) => Effect.Effect<ReadonlyArray<Instance>>
}

/** The keys that script hooks in a configuration: `scripted.<hook>`. */
export const keys = <const H extends string>(hooks: ReadonlyArray<H>) =>
  // each hook has its key, which `fromEntries` cannot say
  Object.fromEntries(
    hooks.map((hook) => [
      hook,
      ConfigKey.String(`scripted.${hook}`, {
        optional: true,
        doc: `What each call of ${hook} does, for tests`,
        check: (text) => text === undefined ? undefined : Script.problem(text)
      })
    ])
  ) as { readonly [K in H]: ConfigKey.ConfigKey<string | undefined, false> }

const perform = (call: Script.Call | undefined): Effect.Effect<void, ConnectorError> => {
  switch (call?._tag) {
    case "Fail":
      return Effect.fail(call.error)
    case "Die":
      return Effect.die(call.defect)
    case "Hang":
      return call.interruptible ? Effect.interruptible(Effect.never) : Effect.uninterruptible(Effect.never)
    case "Sleep":
      return Effect.sleep(call.duration)
    default:
      return Effect.void
  }
}

interface Playing {
  readonly of: unknown
  readonly rest: Iterator<Script.Call>
}

/** Hooks without scripts. */
export const make = <H extends string>(): Hooks<H> => {
  /** By hook, for every connector; by hook and connector. */
  const scripts = new Map<string, Script.Script>()
  const playing = new Map<string, Playing>()
  const parsed = new Map<string, Script.Script>()
  let history: Array<HookCall<H>> = []
  const live = new Set<Instance>()

  const ofText = (text: string): Script.Script => {
    const known = parsed.get(text)
    if (known !== undefined) return known
    const script = Result.getOrElse(Script.parse(text), () => [])
    parsed.set(text, script)
    return script
  }
  const next = (hook: H, connector: string, text: string | undefined): Script.Call | undefined => {
    const key = `${hook}/${connector}`
    const script = scripts.get(key) ?? scripts.get(hook) ?? (text === undefined ? undefined : ofText(text))
    if (script === undefined) return undefined
    let current = playing.get(key)
    if (current === undefined || current.of !== script) {
      playing.set(key, current = { of: script, rest: script[Symbol.iterator]() })
    }
    const result = current.rest.next()
    return result.done === true ? undefined : result.value
  }
  const call: Hooks<H>["call"] = (hook, instance, text) =>
    Effect.flatMap(Clock.currentTimeMillis, (at) => {
      history.push({ hook, at, ...instance })
      if (history.length > 2 * rememberedCalls) history = history.slice(-rememberedCalls)
      return perform(next(hook, instance.connector, text))
    })
  function script(scripts: Scripts<H>): Effect.Effect<void>
  function script(connector: string, scripts: Scripts<Exclude<H, "validate">>): Effect.Effect<void>
  function script(first: string | Scripts<H>, named: Scripts<Exclude<H, "validate">> = {}): Effect.Effect<void> {
    return Effect.sync(() => {
      const [suffix, all] = typeof first === "string" ? [`/${first}`, named] : ["", first]
      for (const [hook, script] of Object.entries<Script.Script | undefined>(all)) {
        // a copy is another script, so that setting the same one again starts it again
        if (script === undefined) scripts.delete(`${hook}${suffix}`)
        else scripts.set(`${hook}${suffix}`, { [Symbol.iterator]: () => script[Symbol.iterator]() })
      }
    })
  }
  return {
    call,
    script,
    calls: (hook, connector) =>
      Effect.sync(() =>
        history.flatMap((call) =>
          call.hook === hook && (connector === undefined || call.connector === connector) ? [call.at] : []
        )
      ),
    history: Effect.sync(() => [...history]),
    alive: (instance, stop, text) =>
      Effect.acquireRelease(
        Effect.sync(() => void live.add(instance)),
        () =>
          // it lives until its stop hook has returned; a finalizer cannot fail, so an error is a defect
          Effect.andThen(Effect.orDie(call(stop, instance, text)), Effect.sync(() => live.delete(instance)))
      ),
    live: (connector) =>
      Effect.sync(() => [...live].filter((one) => connector === undefined || one.connector === connector))
  }
}
