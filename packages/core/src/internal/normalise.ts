/** Turns the JSON of a configuration into texts. */
import * as Result from "effect/Result"
import type { KeyProblem } from "../ConfigKey.ts"

const kindOf = (json: unknown): string =>
  json === null
    ? "null"
    : json === undefined
    ? "nothing"
    : Array.isArray(json)
    ? "a list"
    : typeof json === "object"
    ? "an object"
    : typeof json === "boolean"
    ? "true or false"
    : `a ${typeof json}`

/** The text of a value, or what is wrong with it. */
const textOf = (key: string, json: unknown): Result.Result<string, string> => {
  if (typeof json === "string") return Result.succeed(json)
  if (typeof json === "boolean" || typeof json === "bigint") return Result.succeed(String(json))
  if (typeof json === "number") {
    return Number.isFinite(json) && (!Number.isInteger(json) || Number.isSafeInteger(json))
      ? Result.succeed(String(json))
      // JSON readers have rounded it by now: what would be stored is not what was sent
      : Result.fail(
        `Invalid value for configuration ${key}: the number is too large to be kept exactly, write it in quotes`
      )
  }
  return Result.fail(
    json === null
      ? `Null value can not be supplied as the configuration value: leave ${key} out instead`
      : `Invalid value for configuration ${key}: expected a text, a number, true or false, but got ${kindOf(json)}`
  )
}

/** The entries of a JSON object. */
export const entriesOf = (
  json: unknown
): Result.Result<ReadonlyArray<readonly [string, unknown]>, ReadonlyArray<KeyProblem>> =>
  typeof json === "object" && json !== null && !Array.isArray(json)
    ? Result.succeed(Object.entries(json).filter(([, value]) => value !== undefined))
    : Result.fail([{
      key: "config",
      errors: [`Expected a connector configuration, an object of texts by key, but got ${kindOf(json)}`]
    }])

/**
 * The texts of the entries. `onNull` says what becomes of a null: its own entry, nothing, or a refusal.
 *
 * `Object.fromEntries` defines own properties, so that a key may be called `__proto__`.
 */
export const textsOf = <A extends string | null>(
  entries: ReadonlyArray<readonly [string, unknown]>,
  onNull: (key: string) => "keep" | "drop" | "refuse"
): Result.Result<Readonly<Record<string, A>>, ReadonlyArray<KeyProblem>> => {
  const texts: Array<readonly [string, string | null]> = []
  const problems: Array<KeyProblem> = []
  for (const [key, json] of entries) {
    const rule = json === null ? onNull(key) : "refuse"
    if (rule === "keep") texts.push([key, null])
    if (rule !== "refuse") continue
    const text = textOf(key, json)
    if (Result.isSuccess(text)) texts.push([key, text.success])
    else problems.push({ key, errors: [text.failure] })
  }
  return problems.length > 0 ? Result.fail(problems) : Result.succeed(Object.fromEntries(texts) as Record<string, A>)
}
