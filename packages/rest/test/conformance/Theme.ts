/** Cases of the API as data: requests in order, and what their answers have to be. */
import type { Request } from "../http.ts"

export interface Step {
  readonly name: string
  readonly request: Request
  readonly status: number
  /** The text of an error, whole or by pattern. Every error has the one shape, without saying so here. */
  readonly message?: string | RegExp | undefined
  /** What the body has at least; `exactly` for all of it. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | RegExp>> | undefined
  /** Repeated until it holds: for what a runtime does after it answered. */
  readonly eventually?: true | undefined
  /** In which way this is better than Connect's answer. */
  readonly differs?: string | undefined
}

/** Steps that build on each other; nothing outside a theme uses its connectors. */
export interface Theme {
  readonly title: string
  /** Made by the steps, and deleted after them. */
  readonly connectors: ReadonlyArray<string>
  readonly steps: ReadonlyArray<Step>
}

/** A body that has nothing else. */
export class Exactly {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}
export const exactly = (value: unknown) => new Exactly(value)

/** A member that must not be there. */
export const absent = Symbol("absent")

export const aString = (value: unknown): boolean => typeof value === "string"
export const aList = (value: unknown): boolean => Array.isArray(value)
export const matching = (pattern: RegExp) => (value: unknown): boolean =>
  typeof value === "string" && pattern.test(value)
export const including = (...members: ReadonlyArray<unknown>) => (value: unknown): boolean =>
  Array.isArray(value) && members.every((member) => value.includes(member))

const request =
  (method: string) => (path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Request => ({
    method,
    path,
    body,
    headers
  })
export const get = request("GET")
export const post = request("POST")
export const put = request("PUT")
export const patch = request("PATCH")
export const del = request("DELETE")

/** A configuration of the scripted source. */
export const scripted = (more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> => ({
  "connector.class": "Scripted",
  "tasks.max": "1",
  topic: "lines",
  ...more
})
