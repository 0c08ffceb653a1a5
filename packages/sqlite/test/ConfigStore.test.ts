import { assert, describe, it } from "@effect/vitest"
import { ClusterState, ConfigRecord, ConfigStore, Item } from "@kelpie/core"
import { Sqlite, SqliteConfigStore } from "@kelpie/sqlite"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Fixtures from "./fixtures.ts"

const { patience } = Fixtures

const lead = Effect.flatMap(ConfigStore, (store) => store.claim("me", Effect.succeed(true)))
const on = (directory: string) => SqliteConfigStore.layer({ directory })
const released = (name: string) => ({
  write: ConfigRecord.placement(Item.connector(name), { _tag: "Released", reason: "moved" as const })
})
const removed = (name: string) => ({ write: ConfigRecord.placement(Item.connector(name), undefined) })
const isThere = (state: ClusterState.ClusterState, name: string) =>
  ClusterState.placement(state, Item.connector(name)) !== undefined

describe("SqliteConfigStore", () => {
  it.effect("keeps what was committed, and goes on above it after a restart", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const first = yield* Effect.gen(function*() {
        const claim = yield* lead
        const position = yield* claim.commit([released("a"), released("b")])
        return { term: claim.term, position }
      }).pipe(Effect.provide(on(directory)))
      yield* Effect.gen(function*() {
        const store = yield* ConfigStore
        const state = yield* store.state
        assert.strictEqual(state.position, first.position)
        assert.isTrue(isThere(state, "a") && isThere(state, "b"))
        assert.strictEqual(state.leader?.position, first.term)
        assert.isAbove((yield* lead).term, first.position)
      }).pipe(Effect.provide(on(directory)))
    }), patience)

  it.effect(
    "never uses a position again, not even of the last record when it is removed",
    () =>
      Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        const last = yield* Effect.gen(function*() {
          const claim = yield* lead
          yield* claim.commit([released("a")])
          return yield* claim.commit([removed("a")])
        }).pipe(Effect.provide(on(directory)))
        yield* TestClock.adjust("3 days")
        yield* Effect.gen(function*() {
          const store = yield* ConfigStore
          assert.strictEqual((yield* store.state).position, last)
          assert.isAbove((yield* lead).term, last)
        }).pipe(Effect.provide(on(directory)))
      }),
    patience
  )

  it.effect("refuses an older claim, also one of before a restart, without effect", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.gen(function*() {
        const store = yield* ConfigStore
        const older = yield* lead
        const newer = yield* lead
        const error = yield* Effect.flip(older.commit([released("a")]))
        assert.strictEqual(error.kind, "Fenced")
        assert.isFalse(isThere(yield* store.refresh, "a"))
        yield* newer.commit([released("b")])
        assert.isTrue(isThere(yield* store.state, "b"))
      }).pipe(Effect.provide(on(directory)))
    }), patience)

  it.effect("a commit is all or nothing", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const error = yield* Effect.gen(function*() {
        const claim = yield* lead
        yield* claim.commit([{ write: { key: "cluster", entry: { id: "one" } } }])
        return yield* Effect.flip(claim.commit([released("a"), { write: { key: "cluster", entry: { id: "two" } } }]))
      }).pipe(Effect.provide(on(directory)))
      assert.strictEqual(error.kind, "Conflict")
      assert.include(error.detail, `"one"`)
      const state = yield* ConfigStore.use((store) => store.state).pipe(Effect.provide(on(directory)))
      assert.isFalse(isThere(state, "a"))
      assert.strictEqual(state.cluster?.id, "one")
    }), patience)

  it.effect("reads logs of many records", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const names = Array.from({ length: 12_000 }, (_, n) => `c${n}`)
      yield* Effect.flatMap(lead, (claim) => claim.commit(names.map(released))).pipe(Effect.provide(on(directory)))
      const state = yield* ConfigStore.use((store) => store.state).pipe(Effect.provide(on(directory)))
      assert.isTrue(names.every((name) => isThere(state, name)))
    }), patience)

  it.effect("keeps tombstones for a day, and forgets them when it is opened later", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const tombstones = Effect.sync(() => {
        const database = new DatabaseSync(path.join(directory, "control.db"), { readOnly: true })
        const count = database.prepare("SELECT count(*) AS n FROM records WHERE value IS NULL").get()?.n
        database.close()
        return count
      })
      const open = Effect.provide(Effect.void, on(directory))
      yield* Effect.gen(function*() {
        const claim = yield* lead
        yield* claim.commit([released("a")])
        yield* claim.commit([removed("a")])
        yield* claim.commit([released("b")])
      }).pipe(Effect.provide(on(directory)))
      yield* TestClock.adjust("24 hours")
      yield* open
      assert.strictEqual(yield* tombstones, 1)
      yield* TestClock.adjust("1 second")
      yield* open
      assert.strictEqual(yield* tombstones, 0)
    }), patience)

  it.effect(
    "sees the commits of another process: at once when it reads, by itself after five seconds",
    () =>
      Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        yield* Effect.gen(function*() {
          const store = yield* ConfigStore
          yield* (yield* Fixtures.start("appender", [directory, "1"])).rest
          assert.isFalse(ClusterState.placement(yield* store.state, Item.task("job-1", 0)) !== undefined)
          yield* Fixtures.until(Effect.gen(function*() {
            yield* TestClock.adjust("5 seconds")
            return ClusterState.placement(yield* store.state, Item.task("job-1", 0)) !== undefined
          }))
          yield* (yield* Fixtures.start("appender", [directory, "2"])).rest
          assert.isDefined(ClusterState.placement(yield* store.refresh, Item.task("job-2", 0)))
        }).pipe(Effect.scoped, Effect.provide(on(directory)))
      }),
    patience
  )
})

describe("exclusive", () => {
  it.effect(
    "a second process is told at once who holds the directory, and nobody waits after a SIGKILL",
    () =>
      Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        const holder = yield* Fixtures.start("holder", [directory])
        assert.strictEqual(yield* holder.line, "held")
        yield* Effect.gen(function*() {
          const store = yield* ConfigStore
          const error = yield* Effect.flip(Effect.scoped(store.exclusive))
          assert.strictEqual(error.kind, "Unavailable")
          assert.strictEqual(
            error.detail,
            `the data directory ${directory} is in use by process ${holder.process.pid}`
          )
          yield* holder.kill
          yield* Effect.scoped(store.exclusive)
        }).pipe(Effect.provide(on(directory)))
      }),
    patience
  )

  it.effect(
    "holds against other processes and other runtimes of this one, and ends with its scope",
    () =>
      Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        const inUse = `exclusive: Unavailable: the data directory ${directory} is in use by process ${process.pid}`
        yield* Effect.gen(function*() {
          const store = yield* ConfigStore
          yield* Effect.gen(function*() {
            yield* store.exclusive
            const other = yield* Fixtures.start("holder", [directory])
            assert.strictEqual(yield* other.line, inUse)
            const here = yield* Effect.flip(
              ConfigStore.use((other) => other.exclusive).pipe(
                Effect.scoped,
                Effect.provide(on(directory), { local: true })
              )
            )
            assert.strictEqual(here.message, inUse)
          }).pipe(Effect.scoped)
          const next = yield* Fixtures.start("holder", [directory])
          assert.strictEqual(yield* next.line, "held")
        }).pipe(Effect.scoped, Effect.provide(on(directory)))
      }),
    patience
  )

  it.effect("ends with the layer", () =>
    Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      // the lock's scope outlives the layer here
      yield* ConfigStore.use((store) => store.exclusive).pipe(Effect.provide(Sqlite.layer({ directory })))
      const next = yield* Fixtures.start("holder", [directory])
      assert.strictEqual(yield* next.line, "held")
    }), patience)
})
