import { describe, it } from "@effect/vitest"
import { LeaderClient, LeaderCommand, Middleware } from "@kelpie/core"
import { LeaderClientContract, type LeaderWorld } from "@kelpie/testkit"
import { Effect, Layer, Semaphore } from "effect"
import { breaks, keeps } from "./brokenLaws.ts"

const { LeaderError } = LeaderCommand
type Client = LeaderClient["Service"]

/** A leader in the same process. */
const world = (wrap: (below: Client) => Partial<Client> | Effect.Effect<Partial<Client>> = () => ({})) =>
  LeaderClientContract(Effect.sync((): LeaderWorld => {
    const leader = { workerId: "leader:8083", session: "s1" }
    const received: Array<LeaderCommand.Envelope> = []
    let answer: (envelope: LeaderCommand.Envelope) => Effect.Effect<LeaderCommand.Outcome, LeaderCommand.LeaderError> =
      () => Effect.die("not told what to answer")
    const direct = Layer.succeed(LeaderClient, {
      send: (to, envelope) =>
        Effect.suspend(() => {
          if (to.session !== leader.session) {
            return Effect.fail(new LeaderError({ kind: "Unreachable", message: `${to.workerId} is not there` }))
          }
          received.push(envelope)
          return answer(envelope)
        })
    })
    return {
      leader,
      absent: { workerId: "absent:8083", session: "s2" },
      layer: Middleware.decorate(LeaderClient, wrap).pipe(Layer.provide(direct)),
      received: Effect.sync(() => [...received]),
      answer: (next) =>
        Effect.sync(() => {
          answer = next
        })
    }
  }))

describe("LeaderClientContract", () => {
  it("is kept by a client in the same process", () => keeps(world()))

  it("finds a client that sends under an id of its own", () =>
    breaks(
      world(({ send }) => {
        let sent = 0
        return { send: (leader, envelope) => send(leader, { ...envelope, id: `${++sent}` }) }
      }),
      "with its id",
      "sends the same id again"
    ))

  it("finds a client that loses members of a command", () =>
    breaks(
      world(({ send }) => ({
        send: (leader, { command, id }) => {
          const { _tag, ...rest } = command
          return send(leader, {
            id,
            command: _tag === "PutConnector" ? { ...command, target: "STARTED" } : { _tag, ...rest } as typeof command
          })
        }
      })),
      "brings every command"
    ))

  it("finds a client that makes up outcomes", () =>
    breaks(
      world(({ send }) => ({
        send: (leader, envelope) => Effect.map(send(leader, envelope), ({ position }) => ({ position, created: true }))
      })),
      "gives the outcome"
    ))

  it("finds a client that loses what a refusal said", () => {
    const changed = (change: (error: LeaderCommand.LeaderError) => LeaderCommand.LeaderError) =>
      breaks(
        world(({ send }) => ({ send: (leader, envelope) => Effect.mapError(send(leader, envelope), change) })),
        "gives a refusal"
      )
    changed(({ message }) => new LeaderError({ kind: "Unknown", message }))
    changed(({ kind }) => new LeaderError({ kind, message: "failed" }))
    changed(({ kind, leader, message }) =>
      new LeaderError(leader === undefined ? { kind, message } : { kind, message, leader })
    )
    changed(({ kind, message, retryAfterMillis }) =>
      new LeaderError(retryAfterMillis === undefined ? { kind, message } : { kind, message, retryAfterMillis })
    )
  })

  it("finds a client that retries by itself", () =>
    breaks(
      world(({ send }) => ({ send: (leader, envelope) => Effect.retry(send(leader, envelope), { times: 2 }) })),
      "sends once"
    ))

  it("finds a client that remembers answers", () =>
    breaks(
      world(({ send }) => {
        const known = new Set<string>()
        return {
          send: (leader, envelope) =>
            known.has(envelope.id)
              ? Effect.succeed({ position: 1 })
              : Effect.tap(send(leader, envelope), () => Effect.sync(() => known.add(envelope.id)))
        }
      }),
      "sends the same id again",
      "gives the outcome"
    ))

  it("finds a client that hangs, or dies, when nobody is there", () => {
    const absent = (effect: Effect.Effect<never>) =>
      breaks(
        world(({ send }) => ({
          send: (leader, envelope) => leader.workerId.startsWith("absent") ? effect : send(leader, envelope)
        })),
        "cannot be reached"
      )
    absent(Effect.never)
    absent(Effect.die(new Error("connection refused")))
  })

  it("finds a client that cannot be interrupted", () =>
    breaks(
      world(({ send }) => ({ send: (leader, envelope) => Effect.uninterruptible(send(leader, envelope)) })),
      "waits no longer when it is interrupted"
    ))

  it("finds a client that sends one command at a time", () =>
    breaks(
      world(({ send }) =>
        Effect.map(Semaphore.make(1), (line) => ({
          send: (leader, envelope) => line.withPermits(1)(send(leader, envelope))
        }))
      ),
      "side by side"
    ))
})
