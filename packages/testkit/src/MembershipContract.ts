/** What every `Membership` has to keep. */
import { Membership } from "@kelpie/core/Membership"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Contract from "./Contract.ts"
import { equal, isTrue } from "./internal/check.ts"
import { untilTrue } from "./internal/untilTrue.ts"

type Service = Membership["Service"]

const sessions = (membership: Service) =>
  Effect.map(membership.group, (group) => group.members.map((member) => member.session).sort())

const knows = (membership: Service, members: ReadonlyArray<Service>) => {
  const expected = members.map(({ self }) => self.session).sort().join(" ")
  return Effect.map(sessions(membership), (all) => all.join(" ") === expected)
}

/** The laws of a `Membership`. `durable` does not matter; `shared` says whether two workers can meet in it. */
export const MembershipContract = (
  world: Contract.World<Membership>,
  options: Contract.Options = {}
): ReadonlyArray<Contract.Law> =>
  Contract.laws(Membership, world, options, ({ ends, law, opening, shared, sharing }) => [
    law("has this worker in its group, as it calls itself", (membership) =>
      Effect.gen(function*() {
        yield* untilTrue("this worker is a member", knows(membership, [membership]))
        const { members } = yield* membership.group
        yield* equal("this worker", members.find(({ session }) => session === membership.self.session), membership.self)
        yield* isTrue("it has a name", membership.self.workerId !== "" && membership.self.session !== "")
      })),

    law("names a member as the leader, in the end this worker when it is alone", (membership) =>
      untilTrue(
        "this worker leads",
        Effect.flatMap(membership.group, ({ leader, members }) =>
          Effect.as(
            isTrue("the leader is a member", leader === undefined || members.some(({ session }) => session === leader)),
            leader === membership.self.session
          ))
      )),

    opening("draws a session for each life (I12)", (open) =>
      Effect.gen(function*() {
        const lives = []
        for (let life = 0; life < 3; life++) {
          lives.push(yield* Effect.scoped(Effect.map(open, ({ self }) => self.session)))
        }
        yield* equal("how many sessions there were", new Set(lives).size, 3)
      })),

    shared("shows workers to each other, each once, with one leader", (one, other) =>
      Effect.gen(function*() {
        for (const membership of [one, other]) {
          yield* untilTrue("both are members", knows(membership, [one, other]))
          const { members } = yield* membership.group
          for (const { self } of [one, other]) {
            yield* equal("a member", members.find(({ session }) => session === self.session), self)
          }
        }
        yield* untilTrue(
          "both name the same leader",
          Effect.map(Effect.all([one.group, other.group]), ([a, b]) => a.leader !== undefined && a.leader === b.leader)
        )
      })),

    sharing("shows who leaves, and who leads then", (open) =>
      Effect.gen(function*() {
        const stays = yield* open
        const scope = yield* Scope.make()
        const leaves = yield* Scope.provide(open, scope)
        yield* untilTrue("both are members", knows(stays, [stays, leaves]))
        yield* Scope.close(scope, Exit.void)
        yield* untilTrue("one is gone", knows(stays, [stays]), "60 seconds")
        yield* untilTrue(
          "the other leads",
          Effect.map(stays.group, ({ leader }) => leader === stays.self.session),
          "60 seconds"
        )
      })),

    sharing("tells of changes: a group with the new member in it", (open) =>
      Effect.gen(function*() {
        const membership = yield* open
        let told: ReadonlyArray<Membership.Member> = []
        yield* membership.changes.pipe(
          Stream.runForEach((group) =>
            Effect.sync(() => {
              told = group.members
            })
          ),
          Effect.forkScoped({ startImmediately: true })
        )
        const { self } = yield* open
        yield* untilTrue(
          "the new member was told of",
          Effect.sync(() => told.some(({ session }) => session === self.session))
        )
      })),

    ends((membership) =>
      Effect.gen(function*() {
        yield* Effect.forkScoped(Stream.runDrain(membership.changes))
        yield* membership.group
      })
    )
  ])
