/** Levels of log lines in Connect's words, and the body that sets one. */
import * as Effect from "effect/Effect"
import type { LogLevel } from "effect/LogLevel"
import type * as ConnectApi from "../ConnectApi.ts"
import * as RestError from "../RestError.ts"
import { typeName } from "./typeName.ts"

type Level = ConnectApi.Logger["level"]

const words: Readonly<Record<LogLevel, Level>> = {
  None: "OFF",
  Fatal: "FATAL",
  Error: "ERROR",
  Warn: "WARN",
  Info: "INFO",
  Debug: "DEBUG",
  Trace: "TRACE",
  All: "ALL"
}
const levels = new Map<string, LogLevel>([
  ["OFF", "None"],
  ["FATAL", "Fatal"],
  ["ERROR", "Error"],
  ["WARN", "Warn"],
  ["INFO", "Info"],
  ["DEBUG", "Debug"],
  ["TRACE", "Trace"],
  ["ALL", "All"]
])

/** A level in Connect's word. */
export const word = (level: LogLevel): Level => words[level]

const missing = new RestError.BadRequest({ message: "Desired 'level' parameter was not specified in request." })

/** The level that a body asks for, in any case; other members are ignored, as in Connect. */
export const read = (json: unknown): Effect.Effect<LogLevel, RestError.RestError> =>
  Effect.suspend((): Effect.Effect<LogLevel, RestError.RestError> => {
    if (typeof json !== "object" || json === null || Array.isArray(json)) {
      return Effect.fail(new RestError.BadRequest({ message: `Body: expected an object, got ${typeName(json)}` }))
    }
    const given: unknown = Object.hasOwn(json, "level") ? Reflect.get(json, "level") : undefined
    if (given === undefined || given === null || given === "") return Effect.fail(missing)
    const text = typeof given === "string" ? given : JSON.stringify(given)
    const level = levels.get(text.toUpperCase())
    return level === undefined
      ? Effect.fail(new RestError.NotFound({ message: `invalid log level '${text.slice(0, 100)}'.` }))
      : Effect.succeed(level)
  })
