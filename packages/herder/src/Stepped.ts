/**
 * A herder that is stepped by hand: nothing runs until somebody ticks. For testkits; a host application uses `Herder`.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Herder } from "./Herder.ts"
import * as internal from "./internal/herder.ts"
import type { Leader } from "./internal/leader.ts"
import type { Tick } from "./Tick.ts"

/** The parts of a herder. */
export interface Stepped {
  readonly service: Herder["Service"]
  readonly tick: Tick
  /** This worker as the leader; `claim` comes before the first command. */
  readonly leader: Leader
}

/** What a herder stands on. */
export type Ports = internal.Ports

/** Assembles a herder on its ports. */
export const make: Effect.Effect<Stepped, never, Ports | Scope.Scope> = internal.assemble({ alone: true })

/** A leader alone, over a config log: for tests in which somebody else leads. */
export const makeLeader = internal.makeLeader
