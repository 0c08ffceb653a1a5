/**
 * The behaviour of a scripted hook: what each of its calls does, in order. After the last one, calls succeed.
 *
 * A configuration writes it as a text:
 *
 * | text                               | what the calls do                                                      |
 * | ---------------------------------- | ---------------------------------------------------------------------- |
 * | `ok`                               | succeed                                                                |
 * | `fail:2:transient:message`         | fail two times, then succeed; `always` instead of the number: for ever |
 * | `fail:2:permanent:message`         | the same, with an error that is not retried                            |
 * | `fail:2:throttled:5000:message`    | the same, with an error that asks to wait so many milliseconds         |
 * | `die:message`                      | die, each of them                                                      |
 * | `hang`, `hang:uninterruptible`     | never return, each of them                                             |
 * | `sleep:500`                        | take so many milliseconds, each of them                                |
 */
import { type ConnectorError, PermanentError, ThrottledError, TransientError } from "@kelpie/core/ConnectorError"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"

/** What one call does. */
export type Call =
  | { readonly _tag: "Ok" }
  | { readonly _tag: "Fail"; readonly error: ConnectorError }
  | { readonly _tag: "Die"; readonly defect: unknown }
  | { readonly _tag: "Hang"; readonly interruptible: boolean }
  | { readonly _tag: "Sleep"; readonly duration: Duration.Input }

/** What the calls do, in order; read as far as there are calls, so it may have no end. */
export type Script = Iterable<Call>

/** Succeeds. */
export const ok: Call = { _tag: "Ok" }

/** Fails. */
export const fail = (error: ConnectorError): Call => ({ _tag: "Fail", error })

/** Dies. */
export const die = (defect: unknown): Call => ({ _tag: "Die", defect })

/** Never returns. With `interruptible: false` not even when it is interrupted: an orphan. */
export const hang = (options?: { readonly interruptible?: boolean | undefined }): Call => ({
  _tag: "Hang",
  interruptible: options?.interruptible ?? true
})

/** Takes a time, then succeeds. */
export const sleep = (duration: Duration.Input): Call => ({ _tag: "Sleep", duration })

/** The same call some times. */
export const times = (count: number, call: Call): Script => Array.from({ length: count }, () => call)

/** Fails some times. */
export const failTimes = (count: number, error: ConnectorError): Script => times(count, fail(error))

/** The same call every time. */
export const always = (call: Call): Script => ({
  *[Symbol.iterator]() {
    while (true) yield call
  }
})

const words = "ok, fail:<times>:<transient|permanent|throttled:<ms>>:<message>, die:<message>, hang, " +
  "hang:uninterruptible or sleep:<ms>"

/** Reads the text of a configuration, or says what is wrong with it. */
export const parse = (text: string): Result.Result<Script, string> => {
  const [, verb = "", rest = ""] = /^([a-z]+)(?::([^]*))?$/.exec(text.trim()) ?? []
  switch (verb) {
    case "ok":
      return Result.succeed([])
    case "die":
      return Result.succeed(always(die(new Error(rest))))
    case "hang":
      if (rest === "" || rest === "uninterruptible") return Result.succeed(always(hang({ interruptible: rest === "" })))
      break
    case "sleep":
      if (/^\d+$/.test(rest)) return Result.succeed(always(sleep(Number(rest))))
      break
    case "fail":
      return parseFail(rest)
  }
  return Result.fail(`Expected ${words}`)
}

const parseFail = (text: string): Result.Result<Script, string> => {
  const match = /^(\d+|always):(?:(transient|permanent)|throttled:(\d+)):([^]*)$/.exec(text)
  if (match === null) return Result.fail(`Expected ${words}`)
  const [, count = "", kind, retryAfter, message = ""] = match
  const error = retryAfter !== undefined
    ? new ThrottledError({ message, retryAfter: Duration.millis(Number(retryAfter)) })
    : kind === "permanent"
    ? new PermanentError({ message })
    : new TransientError({ message })
  return Result.succeed(count === "always" ? always(fail(error)) : failTimes(Number(count), error))
}

/** Why the text of a configuration is refused. */
export const problem = (text: string): string | undefined =>
  Result.match(parse(text), { onFailure: (reason) => reason, onSuccess: () => undefined })
