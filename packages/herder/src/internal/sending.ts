/**
 * The way of a command to whoever leads: this worker, or another one through `LeaderClient` (one path for both).
 *
 * A lane sends once, for its own schedule decides what comes next (law 7). Whoever asked for a change waits within a
 * budget: for a leader, for another one, for an answer. The command keeps its id, so that it takes effect once (I10); one
 * whose budget ends before its commit begins has no effect (I15).
 */
import * as Backoff from "@kelpie/core/Backoff"
import type { ConfigStore } from "@kelpie/core/ConfigStore"
import * as Identity from "@kelpie/core/Identity"
import type { LeaderClient } from "@kelpie/core/LeaderClient"
import { type Envelope, type LeaderCommand, LeaderError, type Outcome } from "@kelpie/core/LeaderCommand"
import type { Membership } from "@kelpie/core/Membership"
import type * as Middleware from "@kelpie/core/Middleware"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Leader } from "./leader.ts"

/** What sending stands on. */
export interface Ways {
  readonly configStore: ConfigStore["Service"]
  readonly membership: Membership["Service"]
  readonly leader: Leader
  readonly leaderClient: LeaderClient["Service"]
  readonly middleware: Middleware.Middleware
}

/** Sends commands. */
export interface Sending {
  /** To the leader that is known now; fails at once when there is none. */
  readonly once: (connector: string, command: LeaderCommand) => Effect.Effect<Outcome, LeaderError>
  /** Within a budget; what it did is in the state of this worker then (I14). */
  readonly within: (
    connector: string,
    command: LeaderCommand,
    options: Options
  ) => Effect.Effect<Outcome, LeaderError>
  /** Waits until the state of this worker holds a position. */
  readonly reached: (position: number) => Effect.Effect<void>
}

/** How long, and under which id. */
export interface Options {
  readonly budgetMillis: number
  /** Of whoever may send the command again; left out: drawn. */
  readonly id?: string | undefined
}

/** The leader says within its budget what became of a command; its answer needs a moment to arrive. */
const answerMillis = 500

const delays = Backoff.exponential(250, 1000)

/** Whether it may be sent again: nobody decided on it, or its outcome is not known here. */
const mayRepeat = ({ kind }: LeaderError): boolean => {
  switch (kind) {
    case "NoLeader":
    case "NotLeader":
    case "Unreachable":
    case "Rebalancing":
    case "ExpiredKey":
    case "TimedOut":
    case "Unknown":
      return true
    default:
      return false
  }
}

const mayHaveHadEffect = ({ kind }: LeaderError): boolean => kind === "TimedOut" || kind === "Unknown"

/** Makes it. */
export const make = ({ configStore, leader, leaderClient, membership, middleware }: Ways): Sending => {
  const route = Effect.fnUntraced(function*(envelope: Envelope) {
    const { leader: hinted, members, self } = yield* membership.group
    if (hinted === undefined) {
      return yield* new LeaderError({ kind: "NoLeader", message: "no leader is known at present" })
    }
    if (hinted === self?.session) return yield* leader.execute(envelope)
    const member = members.find((one) => one.session === hinted)
    if (member === undefined) {
      return yield* new LeaderError({ kind: "NoLeader", message: "the leader is not a member of the group" })
    }
    return yield* leaderClient.send(member, envelope)
  })

  const send = Effect.fnUntraced(function*(connector: string, envelope: Envelope) {
    let outcome: Outcome = { position: 0 }
    yield* middleware(
      { _tag: "SendToLeader", connector, command: envelope.command },
      Effect.map(route(envelope), (told) => {
        outcome = told
      })
    ).pipe(
      Effect.mapError((error) =>
        error._tag === "LeaderError"
          ? error
          : new LeaderError({ kind: "Unreachable", message: error.message, cause: error })
      )
    )
    return outcome
  })

  const nowMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

  /** Until the group moves, at most so long. */
  const pause = (millis: number) =>
    Effect.raceFirst(Effect.sleep(millis), Effect.asVoid(Stream.runHead(membership.changes)))

  /** Reads until the state holds a position: an engine may show it a moment late. */
  const reached = (position: number): Effect.Effect<void> =>
    Effect.flatMap(configStore.state, (state) =>
      state.position >= position
        ? Effect.void
        : Effect.ignore(configStore.refresh).pipe(
          Effect.andThen(configStore.state),
          Effect.flatMap((read) =>
            read.position >= position ? Effect.void : Effect.andThen(Effect.sleep(50), reached(position))
          )
        ))

  const within = Effect.fnUntraced(function*(connector: string, command: LeaderCommand, options: Options) {
    const id = options.id ?? (yield* Identity.drawCommand)
    const end = (yield* nowMillis) + options.budgetMillis
    let unknown: LeaderError | undefined
    for (let failures = 1;; failures++) {
      const left = Math.max(0, end - (yield* nowMillis))
      const envelope: Envelope = {
        id,
        command,
        budgetMillis: left,
        ...(options.id === undefined ? {} : { remembered: true })
      }
      const result = yield* Effect.result(Effect.timeoutOrElse(send(connector, envelope), {
        duration: left + answerMillis,
        orElse: () =>
          Effect.fail(
            new LeaderError({
              kind: "TimedOut",
              message: `the leader did not answer within ${options.budgetMillis} ms`
            })
          )
      }))
      if (result._tag === "Success") {
        yield* Effect.timeoutOption(reached(result.success.position), Math.max(answerMillis, end - (yield* nowMillis)))
        return result.success
      }
      const error = result.failure
      if (mayHaveHadEffect(error)) unknown = error
      const rest = end - (yield* nowMillis)
      if (!mayRepeat(error) || rest <= 0) return yield* withId(unknown ?? error, id)
      yield* pause(Math.min(rest, delays(failures) ?? rest))
    }
  })

  return {
    once: (connector, command) => Effect.flatMap(Identity.drawCommand, (id) => send(connector, { id, command })),
    within,
    reached
  }
}

/** An outcome that is not known can be asked for by the command's id. */
const withId = (error: LeaderError, id: string): LeaderError =>
  mayHaveHadEffect(error) ? new LeaderError({ kind: "Unknown", message: error.message, commandId: id }) : error
