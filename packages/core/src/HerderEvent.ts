/** What happens in a runtime, as data: the one stream that events, metrics and listeners share. */
import type { Failure, Health, State } from "./Status.ts"

interface At {
  /** Epoch milliseconds. */
  readonly at: number
  readonly connector: string
}

/** A state word changed. */
export interface StatusChanged extends At {
  readonly _tag: "StatusChanged"
  readonly task?: number | undefined
  readonly from: State
  readonly to: State
  readonly trace?: string | undefined
}

/** A lane took an edge of its table. */
export interface LaneChanged extends At {
  readonly _tag: "LaneChanged"
  readonly from: "Idle" | "Queued" | "Running" | "Waiting" | "Parked"
  readonly event: string
  readonly to: LaneChanged["from"]
  /** The attempt that the edge is about. */
  readonly attempt: number
  readonly failure?: Failure | undefined
  readonly delayMillis?: number | undefined
  readonly nextAttemptAt?: number | undefined
}

/** The health of a connector changed. */
export interface HealthChanged extends At {
  readonly _tag: "HealthChanged"
  readonly from: Health
  readonly to: Health
  readonly reason: string
}

/** Code that did not return by its deadline (law 4), or did so later. */
export interface OrphanChanged extends At {
  readonly _tag: "OrphanChanged"
  readonly task?: number | undefined
  readonly label: string
  readonly ended: boolean
}

/** Every event. */
export type HerderEvent = StatusChanged | LaneChanged | HealthChanged | OrphanChanged
