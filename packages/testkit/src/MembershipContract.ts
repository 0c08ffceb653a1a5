/** What every `Membership` has to keep. */
import { Membership } from "@kelpie/core/Membership"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Contract from "./Contract.ts"
import { equal, isTrue, type Mismatch } from "./internal/check.ts"
import { untilTrue } from "./internal/untilTrue.ts"

type Service = Membership["Service"]

const sessionsOf = (members: ReadonlyArray<Membership.Member>) =>
  members.map(({ session }) => session).sort((a, b) => a < b ? -1 : 1).join(" ")

/** The worker's present life; waits until it has one. */
const self = (membership: Service): Effect.Effect<Membership.Member, Contract.Broken | Mismatch> =>
  Effect.gen(function*() {
    yield* untilTrue(
      "the worker has a session",
      Effect.map(membership.group, (group) => group.self !== undefined)
    )
    const group = yield* membership.group
    return group.self ?? (yield* self(membership))
  })

/** Whether a worker's group has exactly these workers in it. */
const knows = (membership: Service, members: ReadonlyArray<Service>) =>
  Effect.gen(function*() {
    const group = yield* membership.group
    const selves = yield* Effect.forEach(members, (member) => Effect.map(member.group, (own) => own.self))
    const present = selves.filter((one) => one !== undefined)
    return present.length === members.length && sessionsOf(present) === sessionsOf(group.members)
  })

/** The laws of a `Membership`. `durable` does not matter; `shared` says whether two workers can meet in it. */
export const MembershipContract = (
  world: Contract.World<Membership>,
  options: Contract.Options = {}
): ReadonlyArray<Contract.Law> =>
  Contract.laws(Membership, world, options, ({ ends, law, opening, shared, sharing }) => [
    law("has this worker in its group, as it calls itself", (membership) =>
      Effect.gen(function*() {
        yield* untilTrue("this worker is a member", knows(membership, [membership]))
        const me = yield* self(membership)
        const { members } = yield* membership.group
        yield* equal("this worker", members.find(({ session }) => session === me.session), me)
        yield* equal("its name", me.workerId, membership.workerId)
        yield* isTrue("it has a name", me.workerId !== "" && me.session !== "")
      })),

    law("names a member as the leader, in the end this worker when it is alone", (membership) =>
      untilTrue(
        "this worker leads",
        Effect.flatMap(membership.group, ({ leader, members, self }) =>
          Effect.as(
            isTrue("the leader is a member", leader === undefined || members.some(({ session }) => session === leader)),
            leader !== undefined && leader === self?.session
          ))
      )),

    opening("draws a session for each life (I12)", (open) =>
      Effect.gen(function*() {
        const lives = []
        for (let life = 0; life < 3; life++) {
          lives.push((yield* Effect.scoped(Effect.flatMap(open, self))).session)
        }
        yield* equal("how many sessions there were", new Set(lives).size, 3)
      })),

    shared("shows workers to each other, each once, with one leader", (one, other) =>
      Effect.gen(function*() {
        for (const membership of [one, other]) {
          yield* untilTrue("both are members", knows(membership, [one, other]))
          const { members } = yield* membership.group
          for (const member of [yield* self(one), yield* self(other)]) {
            yield* equal("a member", members.find(({ session }) => session === member.session), member)
          }
        }
        yield* untilTrue(
          "both name the same leader",
          Effect.map(Effect.all([one.group, other.group]), ([a, b]) => a.leader !== undefined && a.leader === b.leader)
        )
      })),

    sharing("has everybody who joined before in the group that it is asked for", (open) =>
      Effect.gen(function*() {
        const membership = yield* open
        const joined = yield* Effect.flatMap(open, self)
        const { members } = yield* membership.refresh
        yield* isTrue("who joined before is in it", members.some(({ session }) => session === joined.session))
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
          Effect.map(stays.group, ({ leader, self }) => leader !== undefined && leader === self?.session),
          "60 seconds"
        )
      })),

    sharing("shows who wants to be drained", (open) =>
      Effect.gen(function*() {
        const stays = yield* open
        const leaving = yield* open
        const { session } = yield* self(leaving)
        yield* leaving.drain
        yield* untilTrue(
          "the other knows",
          Effect.map(stays.group, ({ members }) =>
            members.some((one) => one.session === session && one.draining === true))
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
        const joined = yield* Effect.flatMap(open, self)
        yield* untilTrue(
          "the new member was told of",
          Effect.sync(() => told.some(({ session }) => session === joined.session))
        )
      })),

    ends((membership) =>
      Effect.gen(function*() {
        yield* Effect.forkScoped(Stream.runDrain(membership.changes))
        yield* membership.group
      })
    )
  ])
