import { assert, describe, it } from "@effect/vitest"
import { Membership, MembershipPolicy, MemoryGroup, StoreError } from "@kelpie/core"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"

const unavailable = new StoreError({ kind: "Unavailable", operation: "renew", detail: "no answer" })

/** A group of workers with leases of ten seconds; each one's engine can be cut off. */
const makeWorld = Effect.gen(function*() {
  const group = yield* MemoryGroup.make
  const cut = new Set<string>()
  const join = Effect.fnUntraced(function*(workerId: string) {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const reach = <A>(effect: Effect.Effect<A, StoreError>): Effect.Effect<A, StoreError> =>
      Effect.suspend(() => cut.has(workerId) ? Effect.fail(unavailable) : effect)
    const engine: Membership.Encoded = {
      join: (worker, session) => reach(group.engine.join(worker, session)),
      renew: (session) => reach(group.engine.renew(session)),
      end: (session, counter) => reach(group.engine.end(session, counter)),
      leave: (session) => reach(group.engine.leave(session)),
      drain: (session) => reach(group.engine.drain(session)),
      read: reach(group.engine.read)
    }
    const membership = yield* Scope.provide(Membership.makeEncoded({ workerId }, engine), scope)
    const sessions = Effect.map(membership.group, ({ members }) => members.map((member) => member.workerId))
    return {
      membership,
      sessions,
      close: Scope.close(scope, Exit.void),
      self: Effect.map(membership.group, ({ self }) => self)
    }
  })
  return { group, cut, join }
})

const seconds = Effect.fnUntraced(function*(count: number) {
  for (let second = 0; second < count; second++) yield* TestClock.adjust("1 second")
})

describe("a member of a group", () => {
  it.effect("renews, and stays", () =>
    Effect.gen(function*() {
      const { join } = yield* makeWorld
      const a = yield* join("a:1")
      const before = yield* a.self
      yield* seconds(120)
      assert.isDefined(before)
      assert.strictEqual((yield* a.self)?.session, before?.session)
      assert.deepStrictEqual(yield* a.sessions, ["a:1"])
    }))

  it.effect("that cannot renew stops to act a margin before its lease ends, and joins anew when it can (I12)", () =>
    Effect.gen(function*() {
      const { cut, join } = yield* makeWorld
      const a = yield* join("a:1")
      const first = (yield* a.self)?.session
      cut.add("a:1")
      yield* seconds(8)
      assert.strictEqual((yield* a.self)?.session, first)
      yield* seconds(1)
      assert.isUndefined(yield* a.self)
      assert.isUndefined((yield* a.membership.group).leader)
      yield* seconds(30)
      assert.isUndefined(yield* a.self)
      cut.delete("a:1")
      yield* seconds(3)
      const second = (yield* a.self)?.session
      assert.isDefined(second)
      assert.notStrictEqual(second, first)
    }))

  it.effect("that is cut off is ended by the others a lease after they last saw it renew, not earlier (I13)", () =>
    Effect.gen(function*() {
      const { cut, join } = yield* makeWorld
      const a = yield* join("a:1")
      const b = yield* join("b:1")
      yield* seconds(3)
      assert.deepStrictEqual(yield* b.sessions, ["a:1", "b:1"])
      assert.strictEqual((yield* b.membership.group).leader, (yield* a.self)?.session)
      cut.add("a:1")
      yield* seconds(9)
      assert.isUndefined(yield* a.self)
      assert.deepStrictEqual(yield* b.sessions, ["a:1", "b:1"], "a lease of ten seconds has not run out")
      yield* seconds(6)
      assert.deepStrictEqual(yield* b.sessions, ["b:1"])
      assert.strictEqual((yield* b.membership.group).leader, (yield* b.self)?.session)
    }))

  it.effect("is not ended by one that was away itself (I13)", () =>
    Effect.gen(function*() {
      const { cut, join } = yield* makeWorld
      const a = yield* join("a:1")
      const b = yield* join("b:1")
      yield* seconds(3)
      // both are away for a long time; the observer comes back first
      cut.add("a:1").add("b:1")
      yield* seconds(60)
      cut.delete("b:1")
      yield* seconds(6)
      assert.isTrue((yield* b.sessions).includes("a:1"), "it has to watch for a whole lease first")
      yield* seconds(9)
      assert.isFalse((yield* b.sessions).includes("a:1"))
      assert.isUndefined(yield* a.self)
    }))

  it.effect("whose session was ended by others stops at its next renewal, and is another one then", () =>
    Effect.gen(function*() {
      const { group, join } = yield* makeWorld
      const a = yield* join("a:1")
      const first = (yield* a.self)?.session ?? ""
      yield* group.engine.leave(first)
      yield* seconds(6)
      const second = (yield* a.self)?.session
      assert.isDefined(second)
      assert.notStrictEqual(second, first)
    }))

  it.effect("that renewed in time is not ended by a late decision: ending compares the counter", () =>
    Effect.gen(function*() {
      const { group, join } = yield* makeWorld
      const a = yield* join("a:1")
      const session = (yield* a.self)?.session ?? ""
      const [row] = yield* group.engine.read
      yield* group.engine.renew(session)
      yield* group.engine.end(session, row?.counter ?? 0)
      assert.strictEqual((yield* group.engine.read).length, 1)
    }))

  it.effect("with the id of one that renews is refused, and told who holds it", () =>
    Effect.gen(function*() {
      const { join } = yield* makeWorld
      const a = yield* join("a:1")
      const second = yield* Effect.forkChild(Effect.flip(join("a:1")), { startImmediately: true })
      yield* seconds(12)
      const error = yield* Fiber.join(second)
      assert.strictEqual(error.kind, "Conflict")
      assert.include(error.message, `the worker id a:1 is in use by session ${(yield* a.self)?.session}`)
    }))

  it.effect("takes the place of a life of its own that ended without a word, after its lease", () =>
    Effect.gen(function*() {
      const { group, join } = yield* makeWorld
      yield* group.engine.join({ workerId: "a:1" }, "dead")
      const joining = yield* Effect.forkChild(join("a:1"), { startImmediately: true })
      yield* seconds(9)
      assert.isUndefined(joining.pollUnsafe())
      yield* seconds(2)
      const a = yield* Fiber.join(joining)
      assert.deepStrictEqual(yield* a.sessions, ["a:1"])
      assert.notStrictEqual((yield* a.self)?.session, "dead")
    }))

  it.effect("that leaves is gone at once", () =>
    Effect.gen(function*() {
      const { group, join } = yield* makeWorld
      const a = yield* join("a:1")
      yield* a.close
      assert.deepStrictEqual(yield* group.engine.read, [])
    }))

  it("has settings that fit together", () => {
    assert.throws(
      () => MembershipPolicy.layer({ lease: "5 seconds" }),
      "MembershipPolicy: two renewals (2 x 3000 ms) and the margin (1000 ms) must fit into the lease (5000 ms)"
    )
  })

  it.effect("of a group in one process is built as a layer", () =>
    Effect.gen(function*() {
      const group = yield* MemoryGroup.make
      const context = yield* Layer.build(group.layer({ workerId: "a:1", labels: { zone: "a" } }))
      const { self } = yield* Context.get(context, Membership).group
      assert.deepStrictEqual(self?.labels, { zone: "a" })
    }))
})
