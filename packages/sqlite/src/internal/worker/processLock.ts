/**
 * The lock by which one process holds a data directory: an exclusive transaction on `lock.db` that stays open. The
 * kernel drops it with the process, however that ends, so nobody waits after a crash. `lock.json` says who holds it, for
 * people and errors only.
 *
 * SQLite keeps its own account of locks within a process, so a second runtime in the same process is refused as well.
 * Nothing else may open `lock.db`: a process loses its POSIX locks on a file with any descriptor of it that it closes.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { ControlCalls } from "../calls.ts"
import { codeOf, Refusal, sqliteCode, toFailure } from "../failure.ts"
import type { Handlers } from "./serve.ts"

const holderOf = (file: string): string => {
  try {
    const { pid }: { readonly pid?: unknown } = JSON.parse(readFileSync(file, "utf8"))
    return typeof pid === "number" ? `process ${pid}` : "another process"
  } catch {
    return "another process" // it is about to say so, or the file is gone
  }
}

/** Renamed into place, so that nobody reads half of it. The lock holds without it, on a full disk for example. */
const sign = (file: string, nowMillis: number) => {
  try {
    writeFileSync(`${file}.new`, JSON.stringify({ pid: process.pid, since: new Date(nowMillis).toISOString() }))
    renameSync(`${file}.new`, file)
  } catch {
    rub(file) // better nobody than the last holder
  }
}

const rub = (file: string) => {
  try {
    rmSync(file, { force: true })
  } catch {
    // the next holder writes over it
  }
}

/** Takes the lock; `undefined` when another connection has it. */
const acquire = (file: string): DatabaseSync | undefined => {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { timeout: 0 })
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
    return database
  } catch (cause) {
    database?.close()
    if (codeOf(cause) === sqliteCode.busy) return undefined
    const { detail, kind } = toFailure(file, 0, cause)
    throw new Refusal(kind, detail)
  }
}

/** The lock of a directory, not held yet. */
export const processLock = (
  directory: string
): Pick<Handlers<ControlCalls>, "lock" | "unlock"> & { readonly release: () => void } => {
  const file = path.join(directory, "lock.db")
  const holder = path.join(directory, "lock.json")
  let held: DatabaseSync | undefined
  const inUse = () => new Refusal("Unavailable", `the data directory ${directory} is in use by ${holderOf(holder)}`)
  const release = () => {
    if (held === undefined) return
    rub(holder) // before the lock goes, or it might be the next holder's
    held.close()
    held = undefined
  }
  return {
    release,
    lock: {
      kind: "read",
      run: ({ nowMillis }) => {
        const lock = held === undefined ? acquire(file) : undefined
        if (lock === undefined) throw inUse()
        held = lock
        sign(holder, nowMillis)
        return null
      }
    },
    unlock: {
      kind: "read",
      run: () => {
        release()
        return null
      }
    }
  }
}
