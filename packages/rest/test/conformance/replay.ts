/** Plays a theme against a server. */
import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { type Answer, send } from "../http.ts"
import { absent, Exactly, type Step, type Theme } from "./Theme.ts"

/** Deletes what an earlier run left, plays the steps, deletes what they made. */
export const replay = (theme: Theme, baseUrl: string): Effect.Effect<void> => {
  const cleanUp = Effect.forEach(
    theme.connectors,
    (name) => send(baseUrl, { method: "DELETE", path: `/connectors/${encodeURIComponent(name)}` }),
    { discard: true }
  )
  return cleanUp.pipe(
    Effect.andThen(Effect.forEach(theme.steps, (step) => play(step, baseUrl), { discard: true })),
    Effect.ensuring(cleanUp)
  )
}

const play = Effect.fnUntraced(function*(step: Step, baseUrl: string) {
  const attempt = Effect.flatMap(send(baseUrl, step.request), (answer) => {
    const wrong = differences(step, answer)
    return wrong.length === 0 ? Effect.void : Effect.fail({ answer, wrong })
  })
  const patient = step.eventually === true
    ? Effect.retry(attempt, { schedule: Schedule.spaced("20 millis"), times: 500 })
    : attempt
  yield* Effect.catch(patient, ({ answer, wrong }) =>
    Effect.sync(() =>
      assert.fail(
        `${step.name}: ${step.request.method} ${step.request.path} gave ${answer.status} ${answer.text}\n${
          wrong.join("\n")
        }`
      )
    ))
})

const differences = (step: Step, answer: Answer): ReadonlyArray<string> => [
  ...(answer.status === step.status ? [] : [`status: expected ${step.status}, got ${answer.status}`]),
  ...shape(step, answer),
  ...Object.entries(step.headers ?? {}).flatMap(([name, expected]) => {
    const actual = String(answer.headers[name] ?? "")
    const holds = typeof expected === "string" ? actual === expected : expected.test(actual)
    return holds ? [] : [`header ${name}: expected ${String(expected)}, got ${actual}`]
  }),
  ...(step.body === undefined ? [] : compare("body", answer.json, step.body))
]

/** What holds for every answer: JSON says so, and errors have the one shape. */
const shape = ({ message, request }: Step, { headers, json, status, text }: Answer): ReadonlyArray<string> => {
  if (text === "") return []
  const wrong: Array<string> = []
  if (request.path !== "/metrics" && headers["content-type"] !== "application/json") {
    wrong.push(`content-type: ${headers["content-type"]}`)
  }
  if (status < 400) return wrong
  wrong.push(
    ...compare("error", json, { error_code: status, message: message instanceof RegExp ? undefined : message })
  )
  if (message instanceof RegExp) {
    wrong.push(...compare("error", json, { message: (value: unknown) => message.test(String(value)) }))
  }
  return wrong
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const compare = (path: string, actual: unknown, expected: unknown): ReadonlyArray<string> => {
  const wrong = [`${path}: expected ${show(expected)}, got ${show(actual)}`]
  if (expected === undefined) return []
  if (expected instanceof Exactly) return sorted(actual) === sorted(expected.value) ? [] : wrong
  if (typeof expected === "function") return expected(actual) === true ? [] : wrong
  if (Array.isArray(expected)) {
    return !Array.isArray(actual) || actual.length !== expected.length
      ? wrong
      : expected.flatMap((item, i) => compare(`${path}[${i}]`, actual[i], item))
  }
  if (!isObject(expected)) return actual === expected ? [] : wrong
  if (!isObject(actual)) return wrong
  return Object.entries(expected).flatMap(([key, value]) =>
    value === absent
      ? Object.hasOwn(actual, key) ? [`${path}.${key}: must not be there`] : []
      : compare(`${path}.${key}`, Object.hasOwn(actual, key) ? actual[key] : undefined, value)
  )
}

const show = (value: unknown): string =>
  value instanceof Exactly
    ? `exactly ${JSON.stringify(value.value)}`
    : typeof value === "function"
    ? "what its check takes"
    : JSON.stringify(value) ?? "nothing"

/** Members in any order. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    isObject(member) && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => a < b ? -1 : 1))
      : member) ?? ""
