import { describe, it } from "@effect/vitest"
import { Membership, Middleware } from "@kelpie/core"
import { MembershipContract } from "@kelpie/testkit"
import { Effect, Layer, Queue, Stream } from "effect"
import { breaks, keeps, leaking } from "./brokenLaws.ts"

type Service = Membership["Service"]
const alone = { durable: false }
const wrap = (members: (below: Service) => Partial<Service>) =>
  MembershipContract(
    Effect.succeed(Middleware.decorate(Membership, members).pipe(Layer.provide(Membership.layerSolo()))),
    alone
  )

/** A group in memory: whoever builds its layer joins, and the oldest leads. */
const group = (change: {
  readonly leader?: (member: Membership.Member, members: ReadonlyArray<Membership.Member>) => string | undefined
  readonly leaves?: boolean
  readonly tells?: boolean
  readonly drains?: boolean
} = {}) =>
  MembershipContract(Effect.sync(() => {
    let members: ReadonlyArray<Membership.Member> = []
    const listeners = new Set<() => void>()
    let lives = 0
    const set = (next: ReadonlyArray<Membership.Member>) =>
      Effect.sync(() => {
        members = next
        if (change.tells !== false) { for (const listener of listeners) listener() }
      })
    return Layer.effect(
      Membership,
      Effect.gen(function*() {
        const session = `life ${++lives}`
        const leader = change.leader ?? ((_, [oldest]) => oldest?.session)
        const others = () => members.filter((one) => one.session !== session)
        const now = Effect.sync(() => {
          const self = members.find((one) => one.session === session)
          return { self, members, leader: self === undefined ? undefined : leader(self, members) }
        })
        yield* Effect.acquireRelease(
          Effect.suspend(() => set([...members, { workerId: "worker:8083", session }])),
          () => change.leaves === false ? Effect.void : Effect.suspend(() => set(others()))
        )
        return {
          workerId: "worker:8083",
          group: now,
          refresh: now,
          drain: change.drains === false
            ? Effect.void
            : Effect.suspend(() => set([...others(), { workerId: "worker:8083", session, draining: true }])),
          changes: Stream.unwrap(Effect.gen(function*() {
            const queue = yield* Queue.sliding<void>(1)
            const listener = () => void Queue.offerUnsafe(queue, undefined)
            yield* Effect.acquireRelease(Effect.sync(() => listeners.add(listener)), () =>
              Effect.sync(() => listeners.delete(listener)))
            return Stream.mapEffect(Stream.fromQueue(queue), () =>
              now)
          }))
        }
      })
    )
  }))

describe("MembershipContract", () => {
  it("is kept by a worker that is alone", () =>
    keeps(MembershipContract(Effect.succeed(Membership.layerSolo()), alone)))

  it("is kept by a group", () => keeps(group()))

  it("finds a group without this worker, or with another name for it", () => {
    breaks(
      wrap(({ group }) => ({ group: Effect.map(group, (own) => ({ ...own, members: [], leader: undefined })) })),
      "has this worker in its group"
    )
    breaks(
      wrap(({ group }) => ({
        group: Effect.map(group, (own) => ({
          ...own,
          members: own.members.map((member) => ({ ...member, workerId: "somebody:1" }))
        }))
      })),
      "as it calls itself"
    )
  })

  it("finds a leader that is no member, and a group without one", () => {
    const led = (leader: string | undefined) =>
      wrap(({ group }) => ({ group: Effect.map(group, (own) => ({ ...own, leader })) }))
    breaks(led("nobody"), "names a member as the leader")
    breaks(led(undefined), "names a member as the leader")
  })

  it("finds a session that is used again", () =>
    breaks(
      MembershipContract(
        Effect.map(Layer.build(Membership.layerSolo()), (context) => Layer.succeedContext(context)),
        alone
      ),
      "draws a session for each life"
    ))

  it("finds workers that do not agree on the leader", () =>
    breaks(group({ leader: (self) => self.session }), "with one leader"))

  it("finds a group that keeps who has left", () => breaks(group({ leaves: false }), "shows who leaves"))

  it("finds a group that forgets who wants to be drained", () =>
    breaks(group({ drains: false }), "wants to be drained"))

  it("finds a group that does not tell of changes", () => breaks(group({ tells: false }), "tells of changes"))

  it("finds workers that do not meet", () =>
    breaks(
      MembershipContract(Effect.succeed(Membership.layerSolo())),
      "shows workers to each other",
      "shows who leaves"
    ))

  it("finds a membership that leaves a fiber running", () =>
    breaks(MembershipContract(Effect.succeed(leaking(Membership.layerSolo())), alone), "ends every fiber"))
})
