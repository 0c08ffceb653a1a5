/**
 * What commands did, by their ids, for ten minutes (I10). The log holds the outcomes of commands that may be sent again to
 * another leader; the others are known to this one only, as is whoever sent them.
 */
import type * as ClusterState from "@kelpie/core/ClusterState"
import * as ConfigRecord from "@kelpie/core/ConfigRecord"
import * as Identity from "@kelpie/core/Identity"
import type { Outcome } from "@kelpie/core/LeaderCommand"
import * as HashMap from "effect/HashMap"

/** The outcomes that a leader knows. */
export interface Outcomes {
  readonly get: (id: string) => Outcome | undefined
  readonly set: (id: string, at: number, outcome: Outcome, logged: boolean) => void
  /** Takes in what the log holds, as a new leader. */
  readonly read: (state: ClusterState.ClusterState) => void
  /** Forgets what is too old; gives the writes that remove it from the log. */
  readonly forget: (now: number) => ReadonlyArray<ConfigRecord.Write>
}

const rememberMillis = 10 * 60_000

/** Whether the outcome of a command may be forgotten already. */
export const isForgotten = (id: string, now: number): boolean => {
  const at = Identity.drawnAt(id)
  return at !== undefined && now - at > rememberMillis
}

/** The outcome that a record tells of. */
export const of = ({ created, position }: ClusterState.At<ConfigRecord.OutcomeEntry>): Outcome => ({
  position,
  ...(created === undefined ? {} : { created })
})

/** The write of an outcome, in the commit of its command. */
export const write = (id: string, at: number, created: boolean | undefined): ConfigRecord.Write =>
  ConfigRecord.outcome(id, { at, ...(created === undefined ? {} : { created }) })

/** Nothing is known. */
export const make = (): Outcomes => {
  interface Known {
    readonly at: number
    readonly outcome: Outcome
    readonly logged: boolean
  }
  /** Oldest first. */
  const known = new Map<string, Known>()
  return {
    get: (id) => known.get(id)?.outcome,
    set: (id, at, outcome, logged) => known.set(id, { at, outcome, logged }),
    read: (state) => {
      const all = [...HashMap.entries(state.outcomes)].sort(([, a], [, b]) => a.at - b.at)
      for (const [id, entry] of all) {
        if (!known.has(id)) known.set(id, { at: entry.at, outcome: of(entry), logged: true })
      }
    },
    forget: (now) => {
      const writes: Array<ConfigRecord.Write> = []
      for (const [id, { at, logged }] of known) {
        if (now - at < rememberMillis) break
        known.delete(id)
        if (logged) writes.push(ConfigRecord.outcome(id, undefined))
      }
      return writes
    }
  }
}
