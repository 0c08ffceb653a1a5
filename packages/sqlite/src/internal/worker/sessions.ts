/**
 * The group of the workers that share a directory: a row for each session that has not ended, and the lock by which the
 * operating system proves that a session's process lives.
 *
 * A session holds an exclusive transaction on a file of its own, which the kernel drops with the process. Who can take that
 * lock has proved the process gone; a process that is only stopped keeps it. A member also holds a shared lock on the
 * directory's `lock.db`, which a process that wants the directory alone takes exclusively.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { ControlCalls, StoredSession } from "../calls.ts"
import { codeOf, Refusal, sqliteCode, toFailure } from "../failure.ts"
import type { Handlers } from "./serve.ts"

/** Opens a lock file and takes its lock; `undefined` when somebody else has it. */
const take = (file: string, sql: string): DatabaseSync | undefined => {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { timeout: 0 })
    database.exec(sql)
    return database
  } catch (cause) {
    database?.close()
    if (codeOf(cause) === sqliteCode.busy) return undefined
    const { detail, kind } = toFailure(file, 0, cause)
    throw new Refusal(kind, detail)
  }
}

const exclusively = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"
const shared = "BEGIN; SELECT count(*) FROM sqlite_schema"

type Calls = "joinGroup" | "renewSession" | "endSession" | "leaveGroup" | "drainSession" | "sessions" | "isGone"

/** The operations of the group. */
export const sessions = (
  database: DatabaseSync,
  directory: string
): Pick<Handlers<ControlCalls>, Calls> & { readonly release: () => void } => {
  const folder = path.join(directory, "sessions")
  const fileOf = (session: string) => path.join(folder, `${session}.lock`)
  const insert = database.prepare("INSERT INTO sessions (session, worker_id, worker, counter) VALUES (?, ?, ?, 0)")
  const holder = database.prepare("SELECT session FROM sessions WHERE worker_id = ?")
  const renew = database.prepare("UPDATE sessions SET counter = counter + 1 WHERE session = ?")
  const end = database.prepare("DELETE FROM sessions WHERE session = ? AND counter = ?")
  const leave = database.prepare("DELETE FROM sessions WHERE session = ?")
  const drain = database.prepare("UPDATE sessions SET draining = 1 WHERE session = ?")
  const all = database.prepare("SELECT session, worker, counter, draining FROM sessions ORDER BY joined")
  /** Lives of this process, with their locks. */
  const held = new Map<string, DatabaseSync>()
  let member: DatabaseSync | undefined

  /** No other process may take the directory for itself alone. */
  const enter = () => {
    member ??= take(path.join(directory, "lock.db"), shared)
    if (member === undefined) {
      throw new Refusal("Unavailable", `the data directory ${directory} is in use by a process that holds it alone`)
    }
  }
  const letGo = (session: string) => {
    held.get(session)?.close()
    if (held.delete(session)) rmSync(fileOf(session), { force: true })
  }

  return {
    release: () => {
      for (const session of held.keys()) letGo(session)
      member?.close()
      member = undefined
    },
    joinGroup: {
      kind: "write",
      run: ({ session, worker, workerId }) => {
        enter()
        const other = holder.get(workerId)
        if (other !== undefined) {
          throw new Refusal("Conflict", `the worker id ${workerId} is in use by session ${String(other.session)}`)
        }
        mkdirSync(folder, { recursive: true })
        // before the row is there: whoever sees the row finds the lock held
        const lock = take(fileOf(session), exclusively)
        if (lock === undefined) throw new Refusal("Conflict", `the session ${session} exists`)
        held.set(session, lock)
        insert.run(session, workerId, worker)
        return null
      }
    },
    renewSession: { kind: "write", run: ({ session }) => renew.run(session).changes > 0 },
    endSession: {
      kind: "write",
      run: ({ counter, session }) => {
        end.run(session, counter)
        return null
      }
    },
    leaveGroup: {
      kind: "write",
      run: ({ session }) => {
        leave.run(session)
        letGo(session)
        return null
      }
    },
    drainSession: {
      kind: "write",
      run: ({ session }) => {
        drain.run(session)
        return null
      }
    },
    sessions: {
      kind: "read",
      run: () =>
        all.all().map((row): StoredSession => ({
          session: String(row.session),
          worker: String(row.worker),
          counter: Number(row.counter),
          draining: Number(row.draining) !== 0
        }))
    },
    isGone: {
      kind: "read",
      run: ({ session }) => {
        // a file that is not there proves nothing
        if (held.has(session) || !existsSync(fileOf(session))) return false
        const lock = take(fileOf(session), exclusively)
        if (lock === undefined) return false
        lock.close()
        return true
      }
    }
  }
}
