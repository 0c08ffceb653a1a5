import { assert, describe, it } from "@effect/vitest"
import {
  ClusterState,
  ConfigStore,
  type ConnectorError,
  Item,
  LeaderClient,
  LeaderCommand,
  Membership,
  OffsetStore,
  Plugins,
  SourceConnector,
  StatusStore,
  TopicLog
} from "@kelpie/core"
import { type HerderError, Stepped } from "@kelpie/herder"
import { Effect, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"

const LeaderError = LeaderCommand.LeaderError
type Kind = LeaderCommand.LeaderError["kind"]

const source = SourceConnector.make("Tables", {
  version: "1",
  config: {},
  taskConfig: Schema.Struct({ n: Schema.Int }),
  start: () =>
    Effect.succeed({
      taskConfigs: (): Effect.Effect<ReadonlyArray<{ readonly n: number }>, ConnectorError> =>
        Effect.succeed([{ n: 1 }])
    }),
  task: () => Stream.never
})

/** A worker whose leader is another one: what it sends is answered as scripted, or executed by a real leader. */
const makeWorker = Effect.gen(function*() {
  const script: { failure: LeaderCommand.LeaderError | undefined; sent: Array<string> } = {
    failure: undefined,
    sent: []
  }
  const store = yield* ConfigStore
  const worker = { workerId: "worker:8083", session: "worker" }
  const other = { workerId: "leader:8083", session: "leader" }
  const group = { members: [worker, other], leader: "leader" as string | undefined }
  const current = Effect.sync(() => ({ ...group, self: worker }))
  const elsewhere = yield* Stepped.makeLeader({
    store,
    // only the worker may own items
    membership: Membership.given(
      other.workerId,
      Effect.map(current, (group) => ({ ...group, self: other, members: [worker] }))
    ),
    middleware: (_, next) => next
  })
  const stepped = yield* Stepped.make.pipe(
    Effect.provideService(Membership, Membership.given(worker.workerId, current)),
    Effect.provideService(LeaderClient, {
      send: (_, envelope) =>
        Effect.suspend(() => {
          script.sent.push(envelope.command._tag)
          return script.failure === undefined ? elsewhere.execute(envelope) : Effect.fail(script.failure)
        })
    })
  )
  /** Ticks until nothing comes in any more. */
  const settle = Effect.repeat(Effect.andThen(stepped.tick.tick, TestClock.adjust(0)), { times: 12 })
  return { ...stepped, script, group, store, settle }
})
const ports = Layer.mergeAll(
  ConfigStore.layerMemory,
  StatusStore.layerMemory,
  OffsetStore.layerMemory,
  TopicLog.layerMemory,
  Plugins.layer([source])
)

const describeReason = ({ reason }: HerderError) => {
  switch (reason._tag) {
    case "Unavailable":
      return `${reason._tag} ${reason.outcome} ${reason.retryAfterMillis ?? "-"}`
    default:
      return `${reason._tag} ${reason.message}`
  }
}

/** What it fails with once its budget has ended. */
const atLast = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<E, A> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(Effect.flip(effect), { startImmediately: true })
    for (let second = 0; second < 5; second++) yield* TestClock.adjust("1 second")
    return yield* Fiber.join(fiber)
  })

describe("an operation that the leader does not carry out", () => {
  const expected: Record<Kind, string> = {
    NotFound: "ConnectorNotFound Connector orders not found",
    Exists: "ConnectorExists Connector orders already exists",
    Stale: "StateConflict because",
    Stopped: "StateConflict because",
    Invalid: "InvalidConfig because",
    NoLeader: "Unavailable none -",
    NotLeader: "Unavailable none -",
    Unreachable: "Unavailable none -",
    TimedOut: "Unavailable unknown -",
    Rebalancing: "Unavailable none -",
    ExpiredKey: "Unavailable none -",
    ClockSkew: "Unavailable none -",
    Throttled: "Unavailable none 700",
    Expired: "Unavailable none -",
    Store: "Unavailable none -",
    Unknown: "Unavailable unknown -"
  }

  it.effect("fails with the reason, and says whether it may have had an effect", () =>
    Effect.gen(function*() {
      const { script, service } = yield* makeWorker
      const found: Record<string, string> = {}
      for (const kind of LeaderError.fields.kind.literals) {
        script.failure = new LeaderError({
          kind,
          message: "because",
          ...(kind === "Throttled" ? { retryAfterMillis: 700 } : {})
        })
        found[kind] = describeReason(yield* atLast(service.delete("orders")))
      }
      assert.deepStrictEqual(found, expected)
    }).pipe(Effect.provide(ports)))

  it.effect("is not sent while no leader is known, or one that is no member", () =>
    Effect.gen(function*() {
      const { group, script, service } = yield* makeWorker
      for (const leader of [undefined, "stranger"]) {
        group.leader = leader
        assert.strictEqual(describeReason(yield* atLast(service.delete("orders"))), "Unavailable none -")
      }
      assert.deepStrictEqual(script.sent, [])
    }).pipe(Effect.provide(ports)))
})

describe("a reconfiguration that the leader does not carry out (law 7)", () => {
  const expected: Record<Kind, string> = {
    NotFound: "transient",
    Exists: "transient",
    Stale: "transient",
    Stopped: "transient",
    Invalid: "permanent",
    NoLeader: "no-leader",
    NotLeader: "not-leader",
    Unreachable: "transient",
    TimedOut: "transient",
    Rebalancing: "transient",
    ExpiredKey: "expired-key",
    ClockSkew: "clock-skew",
    Throttled: "throttled",
    Expired: "transient",
    Store: "transient",
    Unknown: "transient"
  }

  it.effect("waits under the class of the refusal, or parks", () =>
    Effect.gen(function*() {
      const { script, service, settle, store } = yield* makeWorker
      const found: Record<string, string | undefined> = {}
      for (const kind of LeaderError.fields.kind.literals) {
        script.failure = undefined
        yield* service.create(kind, { "connector.class": "Tables" })
        // from now on the leader answers nothing else: the instance starts, and its first task set is refused
        script.failure = new LeaderError({ kind, message: "because" })
        yield* settle
        const { reconfiguration } = yield* service.status(kind)
        found[kind] = reconfiguration.failure?.class
        assert.strictEqual(reconfiguration.state, kind === "Invalid" ? "Parked" : "Waiting", kind)
        assert.strictEqual(reconfiguration.failure?.stage, "sending")
        assert.strictEqual(reconfiguration.failure?.message, "because")
      }
      assert.deepStrictEqual(found, expected)
      script.failure = undefined
      for (let round = 0; round < 4; round++) {
        yield* TestClock.adjust("1 minute")
        yield* settle
      }
      const state = yield* store.state
      const published = ClusterState.names(state).filter((name) => ClusterState.taskSet(state, name) !== undefined)
      assert.deepStrictEqual(published, Object.keys(expected).filter((kind) => kind !== "Invalid").sort())
      assert.isDefined(ClusterState.token(state, Item.task("Stale", 0)))
    }).pipe(Effect.provide(ports)))
})
