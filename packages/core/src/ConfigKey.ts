/**
 * Describes the keys of a configuration: name, type, default, documentation.
 *
 * One key is one line. The record of keys gives the decoded type, the validation answers in Connect's shape and the docs.
 * Source: the configuration engine of Connect (specification, section 2.7).
 */
import * as Duration from "effect/Duration"
import * as Redacted_ from "effect/Redacted"
import * as Result from "effect/Result"
import { weakMemo } from "./internal/weakMemo.ts"

/** The configuration type names that Connect's clients know; the list is closed. */
export type Kind = "STRING" | "SHORT" | "INT" | "LONG" | "DOUBLE" | "BOOLEAN" | "LIST" | "CLASS" | "PASSWORD"

/** A key of a configuration; `A` is what the connector sees. */
export interface ConfigKey<in out A, out Required extends boolean = boolean> {
  readonly name: string
  readonly kind: Kind
  /** Reads a text, or says why not (the reason only: the key and the value are added where it is reported). */
  readonly decode: (text: string) => Result.Result<A, string>
  readonly encode: (value: A) => string
  readonly options: Options<A>
  readonly required: Required
}

/** What may be said about a key. Without `default` and `optional` the key is required. */
export interface Options<in out A> {
  readonly default?: A | undefined
  readonly optional?: boolean | undefined
  readonly doc?: string | undefined
  readonly importance?: "high" | "medium" | "low" | undefined
  readonly group?: string | undefined
  /** Place within the group, from 1. Left out: the place in the record of keys. */
  readonly order?: number | undefined
  readonly width?: "short" | "medium" | "long" | "none" | undefined
  readonly displayName?: string | undefined
  readonly recommended?: ReadonlyArray<A> | undefined
  /** Names of the keys that mean something only together with this one. */
  readonly dependents?: ReadonlyArray<string> | undefined
  /** A check of the decoded value; a text is the reason why it is refused. */
  readonly check?: ((value: A) => string | undefined) | undefined
}

/** Bounds of a number, both included. */
export interface Bounds {
  readonly min?: number | undefined
  readonly max?: number | undefined
}

/** A record of keys: property name in code -> key. */
export type Fields = { readonly [property: string]: ConfigKey<any> }

/** The decoded configuration of a record of keys. */
export type Values<F extends Fields> = { readonly [P in keyof F]: F[P] extends ConfigKey<infer A> ? A : never }

/** A reference that a variable provider resolves on the way into the connector: `${provider:path:key}`. */
export type Variable = `\${${string}:${string}}`

type OptionalProps<F extends Fields> = {
  [P in keyof F]: F[P] extends ConfigKey<any, true> ? never : P
}[keyof F]

/** The configuration as a host writes it in code: keys with a default may be left out, any value may be a variable. */
export type Input<F extends Fields> =
  & { readonly [P in Exclude<keyof F, OptionalProps<F>>]: InputValue<F[P]> }
  & { readonly [P in OptionalProps<F>]?: InputValue<F[P]> | undefined }
type InputValue<K> = K extends ConfigKey<infer A> ? InputOf<Exclude<A, undefined>> | Variable : never
type InputOf<A> = A extends Duration.Duration ? Duration.Input : A extends Redacted_.Redacted<infer V> ? A | V : A

/** The type of a constructor of keys: the options decide whether the value may be absent. */
export type Make<A, More = unknown> = <const O extends Options<NoInfer<A>> & Partial<More> = {}>(
  name: string,
  // again beside `O`: a constraint with a default does not type the parameter of `check`
  options?: O & Pick<Options<NoInfer<A>>, "check">
) => ConfigKey<
  O extends { readonly optional: true } ? A | undefined : A,
  O extends { readonly optional: true } | { readonly default: {} | null } ? false : true
>

interface Codec<A, More = unknown> {
  readonly decode: (text: string, options: Options<A> & Partial<More>) => Result.Result<A, string>
  readonly encode: (value: A) => string
  readonly bound?: ((value: A) => number) | undefined
}

const outOfBounds = (n: number, { max, min }: Bounds): string | undefined =>
  min !== undefined && n < min
    ? `Value must be at least ${min}`
    : max !== undefined && n > max
    ? `Value must be no more than ${max}`
    : undefined

/** Runs an author's check; one that throws refuses the value, for validation never fails as a whole. */
const runCheck = <A>(check: Options<A>["check"], value: A): string | undefined =>
  Result.merge(Result.try({
    try: () => check?.(value),
    catch: (cause) => `The check of this key failed: ${cause instanceof Error ? cause.message : "it threw"}`
  }))

const make = <A, More = unknown>(kind: Kind, codec: Codec<A, More>): Make<A, More> =>
  ((name: string, options: Options<A> & Bounds & Partial<More> = {}) => ({
    name,
    kind,
    encode: codec.encode,
    options,
    required: options.default === undefined && options.optional !== true,
    decode: (text: string) =>
      Result.flatMap(codec.decode(text, options), (value) => {
        const reason = (codec.bound && outOfBounds(codec.bound(value), options)) ?? runCheck(options.check, value)
        return reason === undefined ? Result.succeed(value) : Result.fail(reason)
      })
  })) as unknown as Make<A, More>

const whole = /^[+-]?\d+$/
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

const number = (kind: Kind, low: number, high: number, form: RegExp): Codec<number> => ({
  decode: (text) => {
    const trimmed = text.trim()
    const n = form.test(trimmed) ? Number(trimmed) : NaN
    if (Number.isFinite(n) && n >= low && n <= high) return Result.succeed(n)
    // a LONG of Connect may be larger than what JavaScript holds exactly: say the limit, for it is a number
    const beyond = kind === "LONG" ? outOfBounds(n, { min: low, max: high }) : undefined
    return Result.fail(beyond ?? `Not a number of type ${kind}`)
  },
  encode: String_,
  bound: (n) => n
})
function String_(value: string | number | boolean): string {
  return `${value}`
}

/** A text, as it stands. */
export const String: Make<string> = make("STRING", {
  decode: (text) => Result.succeed(text.trim()),
  encode: (text) => text
})

/** A whole number of 16 bits. */
export const Short: Make<number, Bounds> = make("SHORT", number("SHORT", -(2 ** 15), 2 ** 15 - 1, whole))

/** A whole number of 32 bits. */
export const Int: Make<number, Bounds> = make("INT", number("INT", -(2 ** 31), 2 ** 31 - 1, whole))

/** A whole number within what JavaScript holds exactly. */
export const Long: Make<number, Bounds> = make(
  "LONG",
  number("LONG", Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, whole)
)

/** A finite number. */
export const Double: Make<number, Bounds> = make("DOUBLE", number("DOUBLE", -Infinity, Infinity, decimal))

/** `true` or `false`, in any case. */
export const Boolean: Make<boolean> = make("BOOLEAN", {
  decode: (text) => {
    const word = text.trim().toLowerCase()
    return word === "true" || word === "false"
      ? Result.succeed(word === "true")
      : Result.fail("Expected value to be either true or false")
  },
  encode: String_
})

// not one pattern that takes the spaces too: it would look at a long run of them again from each of its places
const items = (text: string): ReadonlyArray<string> => text.split(",").map((item) => item.trim())

/** Values separated by commas. */
export const List: Make<ReadonlyArray<string>> = make<ReadonlyArray<string>>("LIST", {
  decode: (text) => Result.succeed(text.trim() === "" ? [] : items(text)),
  encode: (values) => values.join(",")
})

/** The name of a plugin. */
export const Class: Make<string> = make("CLASS", {
  decode: (text) => Result.succeed(text.trim()),
  encode: (text) => text
})

const redacted: Make<Redacted_.Redacted> = make("PASSWORD", {
  decode: (text) => Result.succeed(Redacted_.make(text)),
  encode: (secret) => Redacted_.isRedacted(secret) ? Redacted_.value(secret) : String_(secret)
})
export {
  /** A secret: hidden in every answer, log and error. */
  redacted as Redacted
}

const millis = number("LONG", Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, whole)

/** A duration in whole milliseconds, for keys that end in `.ms`. `min` and `max` are milliseconds. */
export const Millis: Make<Duration.Duration, Bounds> = make("LONG", {
  decode: (text) => Result.map(millis.decode(text, {}), (n) => Duration.millis(n)),
  encode: (duration) => String_(Duration.toMillis(Duration.fromInputUnsafe(duration))),
  bound: (duration) => Duration.toMillis(duration)
})

/** One of a few words, which are the recommended values too. */
export const Literals = <const L extends ReadonlyArray<string>>(
  literals: L
): Make<L[number], { readonly ignoreCase: boolean }> => {
  const of = make<L[number], { readonly ignoreCase: boolean }>("STRING", {
    decode: (text, { ignoreCase = false }) => {
      const wanted = ignoreCase ? text.trim().toLowerCase() : text.trim()
      const word = literals.find((literal) => (ignoreCase ? literal.toLowerCase() : literal) === wanted)
      const rule = ignoreCase ? " (case insensitive)" : ""
      return word === undefined
        ? Result.fail(`String must be one of${rule}: ${literals.join(", ")}`)
        : Result.succeed(word)
    },
    encode: (word) => word
  })
  return (name, options) => of(name, { recommended: literals, ...options } as NonNullable<typeof options>)
}

/**
 * The same key under a longer name: what a plugin calls `size` is `transforms.<alias>.size` for a connector. People see it
 * under the short one.
 */
export const prefixed = <A, R extends boolean>(prefix: string, key: ConfigKey<A, R>): ConfigKey<A, R> => ({
  ...key,
  name: `${prefix}${key.name}`,
  options: {
    ...key.options,
    displayName: key.options.displayName ?? key.name,
    dependents: key.options.dependents?.map((name) => `${prefix}${name}`)
  }
})

/** The same keys under longer names. */
export const under = <F extends Fields>(prefix: string, fields: F): F =>
  Object.fromEntries(Object.entries(fields).map(([property, key]) => [property, prefixed(prefix, key)])) as F

/** What is wrong with one key. */
export interface KeyProblem {
  readonly key: string
  readonly errors: ReadonlyArray<string>
}

/** What is wrong with one key, found by a definition's own `validate`. */
export interface Problem<F extends Fields> {
  readonly property: keyof F
  readonly message: string
}

/** The text of a refused value, in Connect's words; a secret is never shown. */
export const invalid = (key: Pick<ConfigKey<any>, "name" | "kind">, text: string, reason: string): string =>
  `Invalid value ${shownText(key.kind, text)} for configuration ${key.name}: ${reason}`

const shownText = (kind: Kind, text: string): string =>
  kind === "PASSWORD" ? "[hidden]" : kind === "LIST" ? `[${items(text).join(", ")}]` : text

/** What errors may show of a configuration whose variables are resolved. */
export interface Shown {
  /** The configuration as it was written. Its texts are shown, never those that a variable stands for. */
  readonly raw?: Readonly<Record<string, string>> | undefined
  /** Key -> why its variables cannot be resolved; such a key is not decoded. */
  readonly unresolved?: ReadonlyMap<string, string> | undefined
}

/** The text of a key that is the configuration's own, so that a key may be called `constructor` or `__proto__`. */
export const textOf = (config: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(config, name) ? config[name] : undefined

/** A reason that quotes nothing, not even four characters, of what the reader must not see. */
const discreet = (reason: string, hidden: string, shown: string): string => {
  const quotes = (piece: string) => hidden.includes(piece) && !shown.includes(piece)
  for (let i = 0; i + 4 <= reason.length; i++) {
    if (quotes(reason.slice(i, i + 4))) return withheld
  }
  return hidden !== "" && reason.includes(hidden) ? withheld : reason
}
const withheld = "The value is not accepted"

/** Reads one key of a flat configuration: its value, or what is wrong with it. */
export const decodeKey = <A>(
  key: ConfigKey<A>,
  config: Readonly<Record<string, string>>,
  { raw = config, unresolved }: Shown = {}
): Result.Result<A, string> => {
  const text = textOf(config, key.name)
  const shown = textOf(raw, key.name) ?? text
  const why = unresolved?.get(key.name)
  if (why !== undefined) return Result.fail(invalid(key, shown ?? "", why))
  if (text === undefined) {
    if (shown !== undefined) return Result.fail(invalid(key, shown, "Its variable cannot be resolved"))
    return key.required
      ? Result.fail(`Missing required configuration "${key.name}" which has no default value.`)
      : Result.succeed(key.options.default as A)
  }
  return Result.mapError(key.decode(text), (reason) => {
    const visible = key.kind === "PASSWORD" ? "" : shown ?? ""
    return invalid(key, shown ?? "", visible === text ? reason : discreet(reason, text, visible))
  })
}

/** A record of keys is decoded again and again, and never changes. */
const entriesOf = weakMemo((fields: Fields): ReadonlyArray<readonly [string, ConfigKey<any>]> => Object.entries(fields))

/** Decodes what can be decoded: the values of the right keys, and every key's errors, not the first. */
export const decodePartial = <F extends Fields>(
  fields: F,
  config: Readonly<Record<string, string>>,
  shown?: Shown
): { readonly values: Partial<Values<F>>; readonly problems: ReadonlyArray<KeyProblem> } => {
  const values: Record<string, unknown> = {}
  const problems: Array<KeyProblem> = []
  for (const [property, key] of entriesOf(fields)) {
    const result = decodeKey<unknown>(key, config, shown)
    if (Result.isFailure(result)) problems.push({ key: key.name, errors: [result.failure] })
    else values[property] = result.success
  }
  return { values: values as Partial<Values<F>>, problems }
}

/** Decodes a flat configuration; gives every key's errors, not the first. */
export const decode = <F extends Fields>(
  fields: F,
  config: Readonly<Record<string, string>>,
  shown?: Shown
): Result.Result<Values<F>, ReadonlyArray<KeyProblem>> => {
  const { problems, values } = decodePartial(fields, config, shown)
  return problems.length > 0 ? Result.fail(problems) : Result.succeed(values as Values<F>)
}

/** Writes a configuration from values in code; a variable stays as it stands. */
export const encode = <F extends Fields>(fields: F, values: Input<F>): Record<string, string> => {
  const config: Record<string, string> = {}
  for (const [property, key] of Object.entries(fields)) {
    const value: unknown = (values as Record<string, unknown>)[property]
    if (value === undefined) continue
    config[key.name] = typeof value === "string" && /^\$\{[^}]*\}$/.test(value) ? value : key.encode(value)
  }
  return config
}
