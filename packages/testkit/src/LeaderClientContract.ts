/** What every `LeaderClient` has to keep. The leader on the other side is the test's: it says what to answer. */
import { LeaderClient } from "@kelpie/core/LeaderClient"
import { type Envelope, type LeaderCommand, LeaderError, type Outcome } from "@kelpie/core/LeaderCommand"
import type { Membership } from "@kelpie/core/Membership"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Contract from "./Contract.ts"
import { equal, isTrue } from "./internal/check.ts"
import { untilTrue } from "./internal/untilTrue.ts"

/** A leader that answers as it is told to, and a client that reaches it. */
export interface LeaderWorld {
  readonly layer: Layer.Layer<LeaderClient, unknown>
  /** Who leads. */
  readonly leader: Membership.Member
  /** A member that is not there: nobody answers. */
  readonly absent: Membership.Member
  /** What the leader received, oldest first. */
  readonly received: Effect.Effect<ReadonlyArray<Envelope>>
  /** What the leader answers from now on. */
  readonly answer: (answer: (envelope: Envelope) => Effect.Effect<Outcome, LeaderError>) => Effect.Effect<void>
}

const config = { "connector.class": "Generator", "text": "\"\\\n\u00E9\u{1F600}" }

/** A command of every kind, with every member. */
const commands: ReadonlyArray<LeaderCommand> = [
  { _tag: "PutConnector", name: "a/b \u00E9", config, expect: "absent", target: "PAUSED" },
  { _tag: "PutConnector", name: "a", config: {}, expect: { incarnation: "i", revision: 7 } },
  { _tag: "DeleteConnector", name: "__proto__" },
  { _tag: "SetTarget", name: "a", target: "STOPPED" },
  {
    _tag: "PublishTaskSet",
    name: "a",
    incarnation: "i",
    revision: 2,
    token: 2 ** 40,
    digest: "d",
    config,
    tasks: [{ config: { tables: ["x"], deep: { n: 1.5, none: null, yes: true } }, digest: "t" }]
  },
  { _tag: "Restart", name: "a", connector: true, tasks: [0, 11] },
  { _tag: "ConfirmRelease", items: [{ connector: "a", position: 12 }, { connector: "a", task: 0, position: 2 ** 40 }] },
  { _tag: "RetryReconfiguration", name: "a" },
  { _tag: "HoldReconfiguration", name: "a", held: true }
]
const envelope: Envelope = { id: "0123456789abcdef", command: { _tag: "RetryReconfiguration", name: "a" } }

const elsewhere = { workerId: "elsewhere:8083", session: "s3", address: "http://elsewhere:8083" }

/** What a leader may answer; the others are what a client says about a leader that does not. */
const refusals = [
  "NotFound",
  "Exists",
  "Stale",
  "Stopped",
  "Invalid",
  "NotLeader",
  "Throttled",
  "Store",
  "Unknown"
] as const

/** The laws of a `LeaderClient`. */
export const LeaderClientContract = (
  world: Effect.Effect<LeaderWorld, unknown, Scope.Scope>,
  options: Pick<Contract.Options, "limit"> = {}
): ReadonlyArray<Contract.Law> => {
  const law = (
    name: string,
    body: (client: LeaderClient["Service"], world: LeaderWorld) => Effect.Effect<unknown, unknown, Scope.Scope>
  ) =>
    Contract.law(
      name,
      Effect.gen(function*() {
        const one = yield* world
        const context = yield* Layer.build(one.layer)
        yield* body(Context.get(context, LeaderClient), one)
      }),
      options
    )
  return [
    law(
      "brings every command to the leader as it is, with its id",
      (client, { answer, leader, received }) =>
        Effect.gen(function*() {
          yield* answer(() => Effect.succeed({ position: 1 }))
          const all = commands.map((command, n): Envelope => ({ id: `${n}`, command }))
          for (const one of all) yield* client.send(leader, one)
          yield* equal("what the leader received", yield* received, all)
        })
    ),

    law("gives the outcome as the leader told it", (client, { answer, leader }) =>
      Effect.gen(function*() {
        for (
          const outcome of [{ position: 2 ** 40 }, { position: 1, created: true }, { position: 1, created: false }]
        ) {
          yield* answer(() => Effect.succeed(outcome))
          yield* equal<Outcome>("the outcome", yield* client.send(leader, envelope), outcome)
        }
      })),

    law(
      "gives a refusal as the leader told it: kind, message, how long to wait, and who leads instead",
      (client, { answer, leader }) =>
        Effect.gen(function*() {
          for (const kind of refusals) {
            const told = {
              kind,
              message: `because of ${kind}`,
              ...(kind === "Throttled" ? { retryAfterMillis: 1500 } : {}),
              ...(kind === "NotLeader" ? { leader: elsewhere } : {})
            }
            yield* answer(() => Effect.fail(new LeaderError(told)))
            const error = yield* Effect.flip(client.send(leader, envelope))
            const { kind: kindThere, leader: leaderThere, message, retryAfterMillis } = error
            yield* equal("the refusal", { kind: kindThere, message, retryAfterMillis, leader: leaderThere }, {
              retryAfterMillis: undefined,
              leader: undefined,
              ...told
            })
          }
        })
    ),

    law(
      "sends once: whether to send again is decided elsewhere (I10)",
      (client, { answer, leader, received }) =>
        Effect.gen(function*() {
          yield* answer(() => Effect.fail(new LeaderError({ kind: "Store", message: "the store does not answer" })))
          yield* Effect.flip(client.send(leader, envelope))
          yield* equal("how often it was received", (yield* received).length, 1)
        })
    ),

    law(
      "sends the same id again when it is told to (I10)",
      (client, { answer, leader, received }) =>
        Effect.gen(function*() {
          yield* answer(() => Effect.succeed({ position: 1 }))
          yield* client.send(leader, envelope)
          yield* client.send(leader, envelope)
          yield* equal("the ids that were received", (yield* received).map(({ id }) => id), [envelope.id, envelope.id])
        })
    ),

    law("says that a leader which is not there cannot be reached", (client, { absent }) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(client.send(absent, envelope))
        yield* equal("the kind", error.kind, "Unreachable")
        yield* isTrue("the message names the leader", error.message.includes(absent.workerId))
      })),

    law("waits no longer when it is interrupted", (client, { answer, leader, received }) =>
      Effect.gen(function*() {
        yield* answer(() => Effect.never)
        const sending = yield* Effect.forkChild(client.send(leader, envelope), { startImmediately: true })
        yield* untilTrue("the leader received it", Effect.map(received, (all) => all.length === 1))
        yield* Fiber.interrupt(sending)
      })),

    law("sends commands side by side", (client, { answer, leader }) =>
      Effect.gen(function*() {
        yield* answer(({ id }) => id === "hangs" ? Effect.never : Effect.succeed({ position: 1 }))
        yield* Effect.forkScoped(client.send(leader, { ...envelope, id: "hangs" }), { startImmediately: true })
        yield* equal<Outcome>("the outcome", yield* client.send(leader, envelope), { position: 1 })
      }))
  ]
}
