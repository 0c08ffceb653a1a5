/** Failures as people read them: a message, the stack and the causes, without secrets. */
import { isConnectorError } from "@kelpie/core/ConnectorError"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import type { Redact } from "./redaction.ts"

/** How a failure of an author's code is treated. */
export type Class = "transient" | "throttled" | "permanent" | "defect"

/** What failed, for people and for the policies. */
export interface Described {
  readonly class: Class
  readonly message: string
  /** Made when it is asked for: that costs more than most failures do otherwise. */
  readonly trace: string
  readonly retryAfterMillis?: number | undefined
}

const maxLength = 16_384

const text = (error: unknown): string => error instanceof Error ? error.message : String(error)

/** Causes that are told, at most: they may lead in a circle. */
const maxCauses = 10

/** The message, the frames and the causes of an error. */
export const stackOf = (error: unknown): string => stack(error, maxCauses)

const stack = (error: unknown, causes: number): string => {
  if (!(error instanceof Error)) return String(error)
  const name = "_tag" in error && typeof error._tag === "string" ? error._tag : error.name
  const head = `${name}: ${error.message}`
  const frames = (error.stack ?? "").split("\n").filter((line) => line.trimStart().startsWith("at ")).slice(0, 20)
  const cause = error.cause === undefined || causes === 0 ? [] : [`Caused by: ${stack(error.cause, causes - 1)}`]
  return [head, ...frames, ...cause].join("\n")
}

/** Describes a cause: the typed error if there is one, else the defect. */
export const describe = (cause: Cause.Cause<unknown>, redact: Redact): Described => {
  const error = Cause.squash(cause)
  const isDefect = cause.reasons.some((reason) => reason._tag === "Die")
  const throttled = !isDefect && isConnectorError(error) && error._tag === "ThrottledError"
  return {
    class: isDefect ? "defect" : isConnectorError(error) ? classes[error._tag] : "transient",
    message: redact(text(error)).slice(0, maxLength),
    get trace() {
      return redact(stackOf(error)).slice(0, maxLength)
    },
    ...(throttled ? { retryAfterMillis: Duration.toMillis(error.retryAfter) } : {})
  }
}

const classes = { TransientError: "transient", PermanentError: "permanent", ThrottledError: "throttled" } as const
