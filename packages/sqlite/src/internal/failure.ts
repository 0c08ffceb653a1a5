/**
 * What a worker thread answers when it cannot do what it was asked: plain data that becomes a `StoreError` on the main
 * thread. Nothing here imports Effect: a worker starts in milliseconds.
 */

/** Why, in the words of `StoreError`, and what to do about it. Holds no stored value. */
export interface Failure {
  readonly kind: "Unavailable" | "Conflict" | "Fenced" | "Corrupt"
  readonly detail?: string | undefined
}

/** Thrown on a worker thread to answer with a failure; what the operation did is rolled back. */
export class Refusal extends Error {
  readonly failure: Failure
  constructor(kind: Failure["kind"], detail?: string) {
    super(detail ?? kind)
    this.failure = { kind, detail }
  }
}

/** SQLite's primary result codes that mean something to the caller. */
export const sqliteCode = {
  busy: 5,
  locked: 6,
  readonly: 8,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  tooBig: 18,
  notADb: 26
}

const isObject = (cause: unknown): cause is object => typeof cause === "object" && cause !== null

/** The primary result code of an error of `node:sqlite`; 0 for any other error. */
export const codeOf = (cause: unknown): number =>
  isObject(cause) && "errcode" in cause && typeof cause.errcode === "number" ? cause.errcode & 0xff : 0

const messageOf = (cause: unknown): string => cause instanceof Error ? cause.message : String(cause)

/** Turns what was thrown while working on a file into a failure that says what happened to which file. */
export const toFailure = (file: string, busyTimeoutMillis: number, cause: unknown): Failure => {
  if (cause instanceof Refusal) return cause.failure
  const unavailable = (detail: string): Failure => ({ kind: "Unavailable", detail })
  switch (codeOf(cause)) {
    case sqliteCode.busy:
    case sqliteCode.locked:
      return unavailable(`${file} was locked by another process for longer than ${busyTimeoutMillis} ms`)
    case sqliteCode.readonly:
      return unavailable(`${file} or its directory is read-only for this process`)
    case sqliteCode.full:
      return unavailable(`the disk is full: ${file} cannot grow; nothing of this write was stored`)
    case sqliteCode.cantOpen:
      return unavailable(`${file} cannot be opened: check that this process may write to its directory`)
    case sqliteCode.corrupt:
      return { kind: "Corrupt", detail: `${file} is damaged: restore it from a backup` }
    case sqliteCode.notADb:
      return { kind: "Corrupt", detail: `${file} is not a SQLite database: move it away, or choose another directory` }
    case sqliteCode.tooBig:
      return { kind: "Conflict", detail: `a record is larger than ${file} can hold` }
    default:
      return unavailable(`${file}: ${messageOf(cause)}`)
  }
}
