/**
 * A leader elsewhere: a script says what becomes of each command before it is carried out, and what it received is kept.
 */
import { type Envelope, type LeaderCommand, LeaderError } from "@kelpie/core/LeaderCommand"
import * as Effect from "effect/Effect"

/** What happens to one command. */
export type Answer =
  | { readonly _tag: "Execute" }
  /** It fails before the leader has seen it. */
  | { readonly _tag: "Refuse"; readonly error: LeaderError }
  /** It is carried out, and then fails for whoever sent it: the answer was lost. */
  | { readonly _tag: "Lose"; readonly error: LeaderError }
  | { readonly _tag: "Hang" }

/** A scripted leader. */
export interface ScriptedLeader {
  /** Every command that was sent, in order. */
  readonly received: Effect.Effect<ReadonlyArray<LeaderCommand>>
  /** Replaces what is left of the script; after it every command is carried out. */
  readonly script: (answers: ReadonlyArray<Answer>) => Effect.Effect<void>
  /** Takes a command through the script; `execute` carries it out. */
  readonly receive: <A>(envelope: Envelope, execute: Effect.Effect<A, LeaderError>) => Effect.Effect<A, LeaderError>
}

/** Carried out. */
export const execute: Answer = { _tag: "Execute" }
/** Never answered. */
export const hang: Answer = { _tag: "Hang" }
/** Refused with an error, without effect. */
export const refuse = (error: LeaderError): Answer => ({ _tag: "Refuse", error })
/** Carried out, but the answer is lost. */
export const lose = (error: LeaderError): Answer => ({ _tag: "Lose", error })
/** Nobody listens there. */
export const unreachable: Answer = refuse(
  new LeaderError({ kind: "Unreachable", message: "connection refused" })
)

/** The same answer some times. */
export const times = (count: number, answer: Answer): ReadonlyArray<Answer> =>
  Array.from({ length: count }, () => answer)

/** Makes a leader that follows a script. */
export const make = (answers: ReadonlyArray<Answer> = []): Effect.Effect<ScriptedLeader> =>
  Effect.sync(() => {
    let rest = [...answers]
    const received: Array<LeaderCommand> = []
    return {
      received: Effect.sync(() => [...received]),
      script: (next) =>
        Effect.sync(() => {
          rest = [...next]
        }),
      receive: (envelope, carryOut) =>
        Effect.suspend(() => {
          received.push(envelope.command)
          const answer = rest.shift() ?? execute
          switch (answer._tag) {
            case "Execute":
              return carryOut
            case "Refuse":
              return Effect.fail(answer.error)
            case "Lose":
              return Effect.andThen(carryOut, Effect.fail(answer.error))
            case "Hang":
              return Effect.never
          }
        })
    }
  })
