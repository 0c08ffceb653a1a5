/**
 * Stops a process, between two transactions. One that is stopped within a transaction keeps SQLite's lock, and everybody who
 * wants to write to the directory waits until it goes on: that is what sharing a file means.
 */
import * as Effect from "effect/Effect"
import { DatabaseSync } from "node:sqlite"

const isFree = (file: string): boolean => {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    database.exec("BEGIN IMMEDIATE; ROLLBACK")
    return true
  } catch {
    return false
  } finally {
    database.close()
  }
}

/** Sends SIGSTOP, again and again until nobody is left who holds a lock. */
export const standStill = (pid: number, directory: string): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (;;) {
      yield* Effect.sync(() => process.kill(pid, "SIGSTOP"))
      // whoever else writes is through within this time
      for (let look = 0; look < 20; look++) {
        if (yield* Effect.sync(() => ["control.db", "data.db"].every((name) => isFree(`${directory}/${name}`)))) return
        yield* Effect.sleep(10)
      }
      yield* Effect.sync(() => process.kill(pid, "SIGCONT"))
      yield* Effect.sleep(20)
    }
  })
