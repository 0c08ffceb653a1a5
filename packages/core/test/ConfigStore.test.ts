import { assert, describe, it } from "@effect/vitest"
import { ClusterState, ConfigRecord, ConfigStore, StoreError } from "@kelpie/core"
import { Deferred, Effect, Exit, Fiber, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"

const connector = (
  revision: number,
  config: ConfigRecord.ConnectorEntry["config"] = {}
): ConfigRecord.ConnectorEntry => ({
  incarnation: "i1",
  revision,
  config,
  target: "STARTED",
  retries: 0,
  held: false
})
const put = (name: string, revision = 1, expect?: number): ConfigStore.GuardedWrite => ({
  write: ConfigRecord.connector(name, connector(revision)),
  expect
})
const unavailable = new StoreError({ kind: "Unavailable", operation: "append" })

/** An engine in memory whose positions have gaps, and whose append can be made to fail or to wait. */
const makeEngine = Effect.gen(function*() {
  const calls: Array<string> = []
  const records: Array<ConfigRecord.Encoded> = []
  const changed = yield* Queue.unbounded<void>()
  let claims = 0
  let append: (store: Effect.Effect<ReadonlyArray<number>, StoreError>) => Effect.Effect<
    ReadonlyArray<number>,
    StoreError
  > = (store) => store
  const store = (writes: ReadonlyArray<ConfigRecord.EncodedWrite>) =>
    Effect.sync(() =>
      writes.map(({ key, value }) => {
        const position = (records.at(-1)?.position ?? 0) + 10
        records.push({ key, value, position })
        return position
      })
    )
  const engine: ConfigStore.Encoded = {
    claim: Effect.sync(() => {
      calls.push("claim")
      return ++claims
    }),
    append: (claim, writes) =>
      Effect.suspend(() => {
        calls.push(`append ${writes.map((write) => write.key).join(", ")}`)
        return claim === claims
          ? append(store(writes))
          : Effect.fail(new StoreError({ kind: "Fenced", operation: "append" }))
      }),
    read: (after) =>
      Effect.sync(() => {
        calls.push(`read after ${after}`)
        return records.filter((record) => record.position > after)
      }),
    changed: Stream.fromQueue(changed)
  }
  return {
    engine,
    calls,
    records,
    /** Somebody else appends; tells of it when asked to. */
    elsewhere: (write: ConfigRecord.Write, tell: boolean) =>
      Effect.andThen(store([ConfigRecord.encode(write)]), tell ? Queue.offer(changed, undefined) : Effect.void),
    onAppend: (next: typeof append) => {
      append = next
    }
  }
})
const claimed = Effect.fnUntraced(function*() {
  const world = yield* makeEngine
  const store = yield* ConfigStore.makeEncoded(world.engine)
  return { ...world, store, claim: yield* store.claim("a", Effect.succeed(true)) }
})

describe("ConfigStore.makeEncoded", () => {
  it.effect("claims, asks, reads to the end, and then appends the leader's record (I1)", () =>
    Effect.gen(function*() {
      const { calls, engine } = yield* makeEngine
      const store = yield* ConfigStore.makeEncoded(engine)
      calls.length = 0
      yield* store.claim("a", Effect.sync(() => calls.push("confirm") > 0))
      assert.deepStrictEqual(calls, ["claim", "confirm", "read after 0", "append leader"])
    }))

  it.effect("decides on the state that it has read, also where positions have gaps", () =>
    Effect.gen(function*() {
      const { claim, store } = yield* claimed()
      assert.strictEqual(claim.term, 10)
      assert.strictEqual(yield* claim.commit([put("a"), put("b")]), 30)
      const state = yield* store.state
      assert.strictEqual(ClusterState.connector(state, "a")?.position, 20)
      assert.strictEqual(ClusterState.connector(state, "b")?.position, 30)
    }))

  it.effect("reads on where its own commit ended", () =>
    Effect.gen(function*() {
      const { calls, claim, store } = yield* claimed()
      yield* claim.commit([put("a")])
      calls.length = 0
      yield* store.refresh
      assert.deepStrictEqual(calls, ["read after 20"])
    }))

  it.effect("asks the engine for nothing when a guard does not hold", () =>
    Effect.gen(function*() {
      const { calls, claim } = yield* claimed()
      yield* claim.commit([put("a")])
      calls.length = 0
      const error = yield* Effect.flip(claim.commit([put("b", 1, 0), put("a", 2, 0)]))
      assert.strictEqual(error.kind, "Conflict")
      assert.include(error.message, `"connector/a"`)
      assert.deepStrictEqual(calls, [])
    }))

  it.effect("guards the cluster's record and records that cannot be read like all others", () =>
    Effect.gen(function*() {
      const { claim, records, store } = yield* claimed()
      const cluster: ConfigStore.GuardedWrite = { write: { key: "cluster", entry: { id: "c1" } }, expect: 0 }
      assert.strictEqual(yield* claim.commit([cluster]), 20)
      assert.strictEqual((yield* Effect.flip(claim.commit([cluster]))).kind, "Conflict")
      records.push({ key: "connector/broken", value: "no JSON", position: 30 })
      yield* store.refresh
      assert.strictEqual((yield* Effect.flip(claim.commit([put("broken", 1, 0)]))).kind, "Conflict")
      assert.strictEqual(yield* claim.commit([put("broken", 1, 30)]), 40)
    }))

  it.effect("learns of commits of others when the engine tells", () =>
    Effect.gen(function*() {
      const { elsewhere, store } = yield* claimed()
      const next = yield* store.changes.pipe(
        Stream.take(1),
        Stream.runCollect,
        Effect.forkChild({ startImmediately: true })
      )
      yield* elsewhere(ConfigRecord.connector("theirs", connector(1)), true)
      const [state] = yield* Fiber.join(next)
      assert.strictEqual(state && ClusterState.connector(state, "theirs")?.position, 20)
    }))

  it.effect("reads what it was told of once it can, though nobody tells of it again", () =>
    Effect.gen(function*() {
      const { elsewhere, engine } = yield* makeEngine
      let failures = 0
      const store = yield* ConfigStore.makeEncoded({
        ...engine,
        read: (after) => Effect.suspend(() => failures-- > 0 ? Effect.fail(unavailable) : engine.read(after))
      })
      failures = 3
      yield* elsewhere(ConfigRecord.connector("a", connector(1)), true)
      yield* TestClock.adjust("299 millis")
      assert.deepStrictEqual(ClusterState.names(yield* store.state), [])
      // 100, 200 and 400 ms after each failure
      yield* TestClock.adjust("401 millis")
      assert.deepStrictEqual(ClusterState.names(yield* store.state), ["a"])
      yield* elsewhere(ConfigRecord.connector("b", connector(1)), true)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(ClusterState.names(yield* store.state), ["a", "b"])
    }))

  it.effect("appends nothing more under a claim whose commit has an unknown outcome (I1)", () =>
    Effect.gen(function*() {
      const { claim, onAppend, store } = yield* claimed()
      onAppend((store) => Effect.andThen(store, Effect.fail(unavailable))) // done, but the answer is lost
      assert.strictEqual((yield* Effect.flip(claim.commit([put("a")]))).kind, "Unavailable")
      onAppend((store) => store)
      const refused = yield* Effect.flip(claim.commit([put("b")]))
      assert.strictEqual(refused.kind, "Fenced")
      assert.include(refused.message, "claim again")
      const again = yield* store.claim("a", Effect.succeed(true))
      const state = yield* store.state
      assert.deepStrictEqual(ClusterState.names(state), ["a"])
      assert.strictEqual((yield* Effect.flip(again.commit([put("a", 1, 0)]))).kind, "Conflict")
    }))

  it.effect("takes an interrupted commit for one with an unknown outcome", () =>
    Effect.gen(function*() {
      const { claim, onAppend, store } = yield* claimed()
      const started = yield* Deferred.make<void>()
      onAppend((store) => Effect.andThen(store, Effect.andThen(Deferred.succeed(started, undefined), Effect.never)))
      const commit = yield* Effect.forkChild(claim.commit([put("a")]))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(commit)
      onAppend((store) => store)
      assert.strictEqual((yield* Effect.flip(claim.commit([put("b")]))).kind, "Fenced")
      yield* store.claim("a", Effect.succeed(true))
      assert.deepStrictEqual(ClusterState.names(yield* store.state), ["a"])
    }))

  it.effect("keeps a claim whose commit was refused without effect", () =>
    Effect.gen(function*() {
      const { claim, onAppend } = yield* claimed()
      onAppend(() => Effect.fail(new StoreError({ kind: "Conflict", operation: "append" })))
      assert.strictEqual((yield* Effect.flip(claim.commit([put("a")]))).kind, "Conflict")
      onAppend((store) => store)
      assert.strictEqual(yield* claim.commit([put("a")]), 20)
    }))

  it.effect("measures records in bytes, names the one that is too large and appends none of its batch", () =>
    Effect.gen(function*() {
      const { engine, records } = yield* makeEngine
      const write = (value: string) => ConfigRecord.connector("a", connector(1, { key: value }))
      const bytes = (value: string) => new TextEncoder().encode(ConfigRecord.encode(write(value)).value ?? "").length
      const maxRecordBytes = bytes("ä".repeat(50))
      const store = yield* ConfigStore.makeEncoded({ ...engine, maxRecordBytes })
      const claim = yield* store.claim("a", Effect.succeed(true))
      yield* claim.commit([{ write: write("ä".repeat(50)) }])
      const before = records.length
      const error = yield* Effect.flip(claim.commit([put("b"), { write: write("ä".repeat(51)) }]))
      assert.strictEqual(error.kind, "Conflict")
      assert.include(error.message, `"connector/a"`)
      assert.notInclude(error.message, "ä")
      assert.strictEqual(records.length, before)
      assert.strictEqual(store.maxRecordBytes, maxRecordBytes)
    }))

  it.effect("names every key when it is asked for changes that it has forgotten", () =>
    Effect.gen(function*() {
      const { claim, store } = yield* claimed()
      const first = yield* claim.commit([put("first")])
      const many = Array.from({ length: 70_000 }, () => put("busy"))
      yield* claim.commit(many)
      yield* claim.commit(many)
      const last = yield* claim.commit([put("last")])
      const forgotten = new Set((yield* store.changedSince(first)).keys)
      assert.deepStrictEqual(
        ["connector/first", "connector/busy", "connector/last", "leader"].filter((key) => !forgotten.has(key)),
        []
      )
      assert.deepStrictEqual([...(yield* store.changedSince(last - 10)).keys], ["connector/last"])
      assert.deepStrictEqual([...(yield* store.changedSince(last)).keys], [])
    }))

  it.effect("fails to open when the engine cannot be read", () =>
    Effect.gen(function*() {
      const { engine } = yield* makeEngine
      const exit = yield* Effect.exit(ConfigStore.makeEncoded({ ...engine, read: () => Effect.fail(unavailable) }))
      assert.isTrue(Exit.isFailure(exit))
    }))
})
