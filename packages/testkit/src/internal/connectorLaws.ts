/** What sources and sinks have to keep alike: their keys, their validation, their secrets, and what they leave behind. */
import * as ConfigKey from "@kelpie/core/ConfigKey"
import { type ConnectorError, isConnectorError } from "@kelpie/core/ConnectorError"
import type { ConnectorConfig } from "@kelpie/core/Plugin"
import type { Connector } from "@kelpie/core/Plugins"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Contract from "../Contract.ts"
import * as Leaks from "../Leaks.ts"
import { equal, isTrue, Mismatch } from "./check.ts"
import * as Hosted from "./hosted.ts"
import { textsIn, textsOf } from "./texts.ts"

/** What the contracts of sources and of sinks are told alike. `W` is the world that is made for each law. */
export interface BaseOptions<W> {
  /** Makes what the connector talks to: run once per law; its scope cleans up. */
  readonly world: Effect.Effect<W, unknown, Scope.Scope>
  /** The configuration for a world, as the definition's `config` writes it. */
  readonly config: (world: W) => ConnectorConfig
  /** Takes the world down until the scope is closed. Left out: the laws about outages are too. */
  readonly outage?: ((world: W) => Effect.Effect<unknown, unknown, Scope.Scope>) | undefined
  /** Names what the world sees the connector hold: connections, subscriptions, open files. */
  readonly held?: ((world: W) => Effect.Effect<ReadonlyArray<string>>) | undefined
  /** Names what the platform holds open, such as `nodeHandles` of `@kelpie/testkit/vitest`. */
  readonly handles?: (() => ReadonlyArray<string>) | undefined
  /** How long a stop may take. Default 5 seconds. */
  readonly stopWithin?: Duration.Input | undefined
  /** How long anything else is waited for. Default 10 seconds. */
  readonly patience?: Duration.Input | undefined
  /** How long one law may take. Default 30 seconds. */
  readonly limit?: Duration.Input | undefined
}

/** What a connector needs from its host has to come from the world. */
export type Services<W, R> = [R] extends [never] ? { readonly services?: undefined }
  : { readonly services: (world: W) => Layer.Layer<R, unknown> }

/** A definition and its options, without their types. */
export interface Suite<W> {
  readonly definition: Connector
  readonly options: BaseOptions<W> & { readonly services?: ((world: W) => Layer.Layer<any, unknown>) | undefined }
}

/** Makes a law of a body that is given a fresh world, and of another configuration than the world's if it is told so. */
export const law = <W>(
  { definition, options }: Suite<W>,
  name: string,
  body: (hosted: Hosted.Hosted<W>) => Effect.Effect<unknown, unknown, Scope.Scope>,
  change: (config: ConnectorConfig) => ConnectorConfig = (config) => config
): Contract.Law =>
  Contract.law(
    name,
    Effect.gen(function*() {
      const world = yield* options.world
      yield* body(yield* Hosted.make(definition, world, change(options.config(world)), options.services?.(world)))
    }),
    options
  )

/** Every text here is something that a user may write by mistake. */
const oddTexts = [
  "",
  " ",
  "\u0000",
  "-1",
  "0",
  "99999999999999999999",
  "1e400",
  ",,a,,",
  "__proto__",
  "${a:b:c}",
  "100%",
  "(",
  "{\"a\":",
  "\u{1F600}\uD800",
  "a".repeat(10_000)
]

const fieldsOf = ({ fields }: Connector): ConfigKey.Fields => fields

type Validate = (values: never) => Effect.Effect<ReadonlyArray<ConfigKey.Problem<any>>, ConnectorError, any>

const validateOf = (definition: Connector): Validate | undefined =>
  definition.kind === "source" ? definition["~source"].validate : definition["~sink"].validate

/** A validation may say anything about the values, but has to say it. */
const validates = Effect.fnUntraced(function*<W>(
  { definition, options }: Suite<W>,
  { provide }: Hosted.Hosted<W>,
  what: string,
  config: ConnectorConfig
) {
  const validate = validateOf(definition)
  const decoded = yield* Effect.try({
    try: () => ConfigKey.decode(definition.fields, config),
    catch: (error) => new Mismatch({ message: `reading the keys threw for ${what}: ${String(error)}` })
  })
  if (Result.isFailure(decoded) || validate === undefined) return
  const run = provide(Effect.suspend(() => validate(decoded.success as never)))
  const exit = yield* Effect.exit(Hosted.within(`validate for ${what}`, options.patience ?? "10 seconds", run))
  if (Exit.isFailure(exit)) {
    const error = Cause.squash(exit.cause)
    if (error instanceof Mismatch) return yield* error
    return yield* isTrue(
      `validate has to give problems for ${what}, but ${Cause.pretty(exit.cause)}`,
      isConnectorError(error)
    )
  }
  for (const { message, property } of exit.value) {
    yield* isTrue(
      `a problem of ${what} names ${String(property)}, which is no key`,
      Object.hasOwn(definition.fields, property)
    )
    yield* isTrue(`a problem of ${what} says nothing`, message !== "")
  }
})

/** The laws of keys and of validation. */
export const configLaws = <W>(suite: Suite<W>): ReadonlyArray<Contract.Law> => {
  const { definition } = suite
  const keys = Object.entries(fieldsOf(definition))
  return [
    law(suite, "documents every key", () =>
      Effect.gen(function*() {
        yield* equal(
          "the keys without documentation",
          keys.filter(([, { options }]) => !options.doc).map(([, { name }]) => name),
          []
        )
        yield* equal("the number of names", new Set(keys.map(([, { name }]) => name)).size, keys.length)
      })),

    law(suite, "reads a configuration as it was written in code", ({ config, values }) =>
      Effect.gen(function*() {
        yield* equal("the class", config["connector.class"], definition.name)
        const again = yield* Hosted.read(definition.fields, ConfigKey.encode(definition.fields, values))
        for (const [property, key] of keys) {
          yield* isTrue(
            `${key.name} is read as another value than it was written`,
            Equal.equals(again[property], values[property])
          )
          const { default: value, recommended = [] } = key.options
          for (const one of value === undefined ? recommended : [value, ...recommended]) {
            const read = key.decode(key.encode(one))
            yield* isTrue(
              `${key.name} refuses, or changes, a default or recommended value of its own: ${key.encode(one)}`,
              Result.isSuccess(read) && Equal.equals(read.success, one)
            )
          }
        }
      })),

    law(suite, "validates any configuration without throwing", (hosted) =>
      Effect.gen(function*() {
        yield* validates(suite, hosted, "the configuration of the world", hosted.config)
        for (const [, { name }] of keys) {
          const { [name]: _, ...without } = hosted.config
          yield* validates(suite, hosted, `a configuration without ${name}`, without)
          for (const text of oddTexts) {
            yield* validates(suite, hosted, `${name}=${JSON.stringify(text.slice(0, 40))}`, {
              ...hosted.config,
              [name]: text
            })
          }
        }
      }))
  ]
}

/** The law that nothing is left after `use`, which starts and stops the connector. */
export const leavesNothing = <W>(
  suite: Suite<W>,
  name: string,
  use: (hosted: Hosted.Hosted<W>) => Effect.Effect<unknown, unknown>
): Contract.Law => {
  const { handles, held = () => Effect.succeed<ReadonlyArray<string>>([]) } = suite.options
  const found = law(suite, name, (hosted) =>
    Effect.gen(function*() {
      // what is made once and kept, such as a pool of threads, is made here
      yield* use(hosted)
      const before = yield* held(hosted.world)
      const { exit, leaks } = yield* Leaks.watch(Effect.forEach([1, 2], () => use(hosted)), {
        handles,
        // what is left stays; what only takes its time on a busy machine goes
        grace: "5 seconds"
      })
      yield* exit
      yield* isTrue(`after the stop there is left: ${Leaks.describe(leaks)}`, leaks.length === 0)
      yield* equal("what the world sees held after the stop", yield* held(hosted.world), before)
    }))
  return handles === undefined ? found : { ...found, alone: true }
}

/** What a connector's code said while it ran. */
export interface Heard {
  /** Runs code, and hears what it fails with and what it logs. */
  readonly hear: (what: string, code: Effect.Effect<unknown, unknown>) => Effect.Effect<void>
  /** Hears a text that is stored or shown. */
  readonly text: (what: string, text: string) => void
}

/** Secrets that are shorter may stand in a text by chance. */
const shortest = 8

/** The law that no secret is in what `use` makes the connector say. Left out for connectors without secrets. */
export const secretLaws = <W>(
  suite: Suite<W>,
  use: (hosted: Hosted.Hosted<W>, heard: Heard) => Effect.Effect<unknown, unknown, Scope.Scope>
): ReadonlyArray<Contract.Law> => {
  const secretKeys = Object.values(fieldsOf(suite.definition)).filter(({ kind }) => kind === "PASSWORD")
  if (secretKeys.length === 0) return []
  const markers = Object.fromEntries(secretKeys.map(({ name }, index) => [name, `Kelpie-secret-${index}`]))
  const { outage } = suite.options
  const silent = (
    name: string,
    isMarked: boolean,
    during: (world: W) => Effect.Effect<unknown, unknown, Scope.Scope>
  ) =>
    law(
      suite,
      name,
      (hosted) =>
        Effect.gen(function*() {
          const said: Array<readonly [what: string, text: string]> = []
          yield* during(hosted.world)
          yield* use(hosted, listener(said))
          for (const { name } of secretKeys) {
            const secret = ConfigKey.textOf(hosted.config, name) ?? ""
            if (secret.length < shortest) continue
            const [what] = said.find(([, text]) => text.includes(secret)) ?? []
            yield* isTrue(`the value of ${name} is in ${what}`, what === undefined)
          }
        }),
      (config) => isMarked ? { ...config, ...markers } : config
    )
  return [
    silent("shows no secret that is wrong", true, () => Effect.void),
    silent("shows no secret that is right", false, () => Effect.void),
    ...(outage === undefined ? [] : [silent("shows no secret in an outage", false, outage)])
  ]
}

const listener = (said: Array<readonly [what: string, text: string]>): Heard => {
  const add = (what: string, texts: ReadonlyArray<string>) => {
    for (const text of texts) said.push([what, text])
  }
  return {
    text: (what, text) => add(what, [text]),
    hear: (what, code) => {
      const logger = Logger.make<unknown, void>(({ cause, fiber, message }) =>
        add(`a log line of ${what}`, [
          ...textsIn(message),
          ...textsOf(cause),
          ...textsIn(fiber.getRef(References.CurrentLogAnnotations))
        ])
      )
      return Effect.onExit(code, (exit) =>
        Effect.sync(() => {
          if (Exit.isFailure(exit)) add(`an error of ${what}`, textsOf(exit.cause))
        })).pipe(
          Effect.exit,
          Effect.provideService(References.CurrentLoggers, new Set([logger])),
          Effect.provideService(References.MinimumLogLevel, "All"),
          Effect.asVoid
        )
    }
  }
}

/** Fails unless an effect fails with one of the three classes, or succeeds. */
export const failsByClass = (what: string, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void, Mismatch> => {
  if (Exit.isSuccess(exit)) return Effect.void
  const error = Cause.squash(exit.cause)
  if (error instanceof Mismatch) return Effect.fail(error)
  return isTrue(
    `${what} has to fail with one of the three error classes, but ${Cause.pretty(exit.cause)}`,
    !Cause.hasDies(exit.cause) && isConnectorError(error)
  )
}
