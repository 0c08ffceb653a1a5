import { assert, describe, it } from "@effect/vitest"
import {
  ConfigRecord,
  ConfigStore,
  Item,
  Membership,
  MembershipPolicy,
  SessionKeys,
  StatusStore,
  TopicLog
} from "@kelpie/core"
import { Sqlite, SqliteConfigStore, SqliteMembership } from "@kelpie/sqlite"
import { type Contract, MembershipContract } from "@kelpie/testkit"
import { describeContract } from "@kelpie/testkit/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Fixtures from "./fixtures.ts"

const quick = MembershipPolicy.layer({ lease: "2 seconds", renewal: "200 millis", margin: "200 millis" })
const patient: Contract.Options = { limit: Fixtures.patience }

describeContract(
  "SqliteMembership",
  MembershipContract(
    Effect.map(Fixtures.temporary, (directory) => {
      let workers = 0
      return Layer.unwrap(
        Effect.sync(() => SqliteMembership.layer({ directory, worker: { workerId: `worker-${++workers}:8083` } }))
      ).pipe(Layer.provide(quick))
    }),
    patient
  )
)

/** One of the processes that share a directory, here in this one. */
const open = Effect.fnUntraced(function*(directory: string, workerId: string) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const context = yield* Layer.buildWithScope(
    Layer.provide(Sqlite.layerShared({ directory, worker: { workerId } }), quick),
    scope
  )
  return { context, close: Scope.close(scope, Exit.void) }
})

/** The workers that a member knows, once that holds. */
const untilGroup = (membership: Membership["Service"], holds: (group: Membership.Group) => boolean) =>
  Fixtures.until(Effect.map(membership.group, holds))

describe("a directory that processes share", () => {
  it.live("shows a commit, a status and records of one to the others", () =>
    Effect.scoped(Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const a = yield* open(directory, "a:1")
      const b = yield* open(directory, "b:1")
      const other = Context.get(b.context, ConfigStore)
      const claim = yield* Context.get(a.context, ConfigStore).claim("a", Effect.succeed(true))
      const position = yield* claim.commit([{ write: ConfigRecord.taskSet("orders", undefined) }])
      yield* Fixtures.until(Effect.map(other.state, (state) => state.position >= position))

      const told = yield* Effect.forkChild(Stream.runHead(Context.get(b.context, StatusStore).changes), {
        startImmediately: true
      })
      const status = Context.get(a.context, StatusStore)
      const record = {
        connector: "orders",
        token: 1,
        state: "RUNNING",
        workerId: "a:1",
        version: null,
        since: 0
      } as const
      // the first look marks the place
      yield* Effect.forkChild(Effect.forever(Effect.andThen(status.put([record]), Effect.sleep(50))))
      assert.deepStrictEqual((yield* Fiber.join(told)).pipe((head) => head._tag), "Some")

      const item = { connector: "sink", task: 0 }
      const reader = yield* Context.get(b.context, TopicLog).subscribe({
        group: "connect-sink",
        item,
        run: { token: 1, start: 1 },
        topics: { list: ["t"] },
        member: 0,
        members: 1
      })
      const read = yield* Effect.forkChild(reader.read(10), { startImmediately: true })
      const writer = yield* Context.get(a.context, TopicLog).open(Item.task("orders", 0), { token: 1, start: 1 })
      const value = new TextEncoder().encode("one")
      yield* writer.append([{ topic: "t", records: [{ key: null, value, headers: [], timestampMillis: 1 }] }])
      const batches = yield* Fiber.join(read)
      assert.deepStrictEqual(batches.map(({ records }) => records.length), [1])
    })), Fixtures.patience)

  it.live("shares the keys by which workers know each other", () =>
    Effect.scoped(Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const a = yield* open(directory, "a:1")
      const b = yield* open(directory, "b:1")
      const key = yield* Context.get(a.context, SessionKeys).current
      const found = yield* Context.get(b.context, SessionKeys).find(key.id)
      assert.deepStrictEqual(found._tag, "Some")
    })), Fixtures.patience)

  it.live(
    "is refused to who wants it alone, and refuses to be shared with one who has it",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        const a = yield* open(directory, "a:1")
        const alone = Effect.scoped(
          Effect.provide(
            Effect.flatMap(ConfigStore, (store) => store.exclusive),
            SqliteConfigStore.layer({ directory })
          )
        )
        assert.include((yield* Effect.flip(alone)).message, `the data directory ${directory} is in use`)
        yield* a.close
        yield* alone
        const holder = yield* Fixtures.start("holder", [directory])
        assert.strictEqual(yield* holder.line, "held")
        const error = yield* Effect.flip(Effect.scoped(open(directory, "a:1")))
        assert.include(error.message, `the data directory ${directory} is in use by a process that holds it alone`)
      })),
    Fixtures.patience
  )

  it.live("is brought up to date when it is of an older version", () =>
    Effect.scoped(Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      yield* Effect.scoped(Layer.build(Sqlite.layer({ directory })))
      const database = new DatabaseSync(path.join(directory, "control.db"))
      database.exec("DROP TABLE sessions; DROP TABLE session_keys; PRAGMA user_version = 1")
      database.close()
      const a = yield* open(directory, "a:1")
      const { self } = yield* Context.get(a.context, Membership).group
      assert.strictEqual(self?.workerId, "a:1")
    })), Fixtures.patience)

  it.live("knows at once that a process was killed, before its lease ends", () =>
    Effect.scoped(Effect.gen(function*() {
      const directory = yield* Fixtures.temporary
      const long = MembershipPolicy.layer({ lease: "1 hour", renewal: "200 millis", margin: "200 millis" })
      const context = yield* Layer.build(
        Layer.provide(SqliteMembership.layer({ directory, worker: { workerId: "a:1" } }), long)
      )
      const membership = Context.get(context, Membership)
      const child = yield* Fixtures.start("member", [directory, "b:1"])
      const session = (yield* child.line).split(" ")[1]
      yield* untilGroup(membership, ({ members }) => members.some((member) => member.session === session))
      yield* child.kill
      yield* untilGroup(membership, ({ members }) => members.every((member) => member.session !== session))
    })), Fixtures.patience)

  it.live(
    "ends one that was stopped by its lease; continued, it is another life",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        const a = yield* open(directory, "a:1")
        const membership = Context.get(a.context, Membership)
        const child = yield* Fixtures.start("member", [directory, "b:1"])
        const first = (yield* child.line).split(" ")[1]
        yield* untilGroup(membership, ({ members }) => members.some((member) => member.session === first))
        child.process.kill("SIGSTOP")
        yield* untilGroup(membership, ({ members }) => members.every((member) => member.session !== first))
        child.process.kill("SIGCONT")
        yield* untilGroup(
          membership,
          ({ members }) => members.some(({ session, workerId }) => workerId === "b:1" && session !== first)
        )
      })),
    Fixtures.patience
  )

  it.live(
    "refuses a second process with the id of one that renews, and says so",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const directory = yield* Fixtures.temporary
        const a = yield* open(directory, "a:1")
        const { self } = yield* Context.get(a.context, Membership).group
        const child = yield* Fixtures.start("member", [directory, "a:1"])
        assert.include(yield* child.line, `the worker id a:1 is in use by session ${self?.session}, which renews`)
      })),
    Fixtures.patience
  )
})
