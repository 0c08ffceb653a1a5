import { assert, describe, it, vi } from "@effect/vitest"
import { type ConfigRecord, ConfigStore, OffsetStore, StatusStore, type Stores, TopicLog } from "@kelpie/core"
import type { HerderError } from "@kelpie/herder"
import { Sqlite } from "@kelpie/sqlite"
import { ScriptedSource } from "@kelpie/testkit"
import { Effect, Layer, type Scope } from "effect"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { folder } from "./fixtures/folder.ts"
import * as Running from "./fixtures/Running.ts"

vi.setConfig({ testTimeout: 60_000 })

/** Stores that survive a restart, and how their records are spoiled while nobody runs. */
interface Kept {
  readonly stores: Layer.Layer<Stores.Stores, unknown>
  readonly spoil: (key: string, value: string) => Effect.Effect<void>
  readonly add: (key: string, value: string) => Effect.Effect<void>
  readonly value: (key: string) => Effect.Effect<unknown>
}

/** A config log in memory over strings, which outlives its runtimes. */
const inMemory: Effect.Effect<Kept> = Effect.sync(() => {
  let records: ReadonlyArray<ConfigRecord.Encoded> = []
  let claims = 0
  let position = 0
  const write = (key: string, value: string | null) => {
    records = [...records.filter((record) => record.key !== key), { key, value, position: ++position }]
    return position
  }
  const engine: ConfigStore.Encoded = {
    claim: Effect.sync(() => ++claims),
    append: (_, writes) => Effect.sync(() => writes.map(({ key, value }) => write(key, value))),
    read: (after) => Effect.sync(() => records.filter((record) => record.position > after))
  }
  return {
    stores: Layer.mergeAll(
      Layer.effect(ConfigStore, ConfigStore.makeEncoded(engine)),
      StatusStore.layerMemory,
      OffsetStore.layerMemory,
      TopicLog.layerMemory
    ),
    spoil: (key, value) =>
      Effect.sync(() => {
        assert.isTrue(records.some((record) => record.key === key), key)
        write(key, value)
      }),
    add: (key, value) => Effect.sync(() => void write(key, value)),
    value: (key) => Effect.sync(() => records.find((record) => record.key === key)?.value)
  }
})

/** A folder whose files are changed by another program. */
const onDisk = Effect.gen(function*() {
  const directory = yield* folder
  const update = (file: string, sql: string, ...params: ReadonlyArray<string>) =>
    Effect.sync(() => {
      const database = new DatabaseSync(path.join(directory, file))
      const { changes } = database.prepare(sql).run(...params)
      database.close()
      assert.strictEqual(changes, 1, sql)
    })
  return {
    update,
    stores: Sqlite.layer({ directory, synchronous: "normal" }),
    spoil: (key: string, value: string) =>
      update("control.db", "UPDATE records SET value = ? WHERE key = ?", value, key),
    add: (key: string, value: string) =>
      update("control.db", "INSERT INTO records (position, key, value) VALUES (1000, ?, ?)", key, value),
    value: (key: string) =>
      Effect.sync(() => {
        const database = new DatabaseSync(path.join(directory, "control.db"))
        const row = database.prepare("SELECT value FROM records WHERE key = ?").get(key)
        database.close()
        return row?.value
      })
  }
})

/** Two connectors run; then one is spoiled, and all are started anew. */
const restarted = Effect.fnUntraced(function*<K extends Kept>(kept: K, spoil: (kept: K) => Effect.Effect<void>) {
  const source = yield* ScriptedSource.make()
  yield* Effect.scoped(Effect.gen(function*() {
    const { herder, runs } = yield* Running.live({ plugins: [source], stores: kept.stores })
    yield* herder.create("bad", source.config())
    yield* herder.create("good", source.config())
    yield* source.emit("bad", 0, [{ topic: "t", value: 1 }])
    yield* Running.eventually(source.acknowledged("bad", 0), (count) => count === 1)
    yield* runs("bad")
    yield* runs("good")
  }))
  yield* spoil(kept)
  const running = yield* Running.live({ plugins: [source], stores: kept.stores })
  yield* running.runs("good")
  return { ...running, source }
})

/** What stands where a record should; the disk is slow, and nothing of it depends on what stands there. */
const values = {
  "in memory": ["", "nonsense", "null", "{}", "[]", "{\"_tag\":\"Lost\"}"],
  "in SQLite": ["nonsense", "{}"]
}
const reason = "the stored record \"connector/bad\" cannot be read"

for (const [where, make] of [["in memory", inMemory], ["in SQLite", onDisk]] as const) {
  const spoiled = values[where]
  const kept: Effect.Effect<Kept, never, Scope.Scope> = make
  describe(`a record that cannot be read, ${where}`, () => {
    it.live.each(spoiled)(
      "of a connector (%s): it has failed and says why, and the others run",
      (value) =>
        Effect.gen(function*() {
          const { herder } = yield* restarted(yield* kept, ({ spoil }) => spoil("connector/bad", value))
          const status = yield* herder.status("bad")
          assert.deepInclude(status, {
            type: "unknown",
            state: "FAILED",
            health: "failed",
            trace: `${reason}; put its config again, or delete it`,
            tasks: [],
            conditions: [{ reason: "Unreadable", message: reason }]
          })
          assert.deepStrictEqual(yield* herder.list, ["bad", "good"])
          assert.deepInclude(yield* herder.info("bad"), { name: "bad", config: {}, type: "unknown", tasks: [] })
          assert.deepStrictEqual(yield* herder.tasks("bad"), [])
          assert.strictEqual((yield* herder.health).status, "healthy")
        })
    )

    it.live("of a connector: nothing but a new config or a delete is taken, and the refusal says so", () =>
      Effect.gen(function*() {
        const { herder, source } = yield* restarted(yield* kept, ({ spoil }) => spoil("connector/bad", "{}"))
        const { pause, park, restart, resume, retry, stop, unpark } = herder
        const patch = (name: string) => herder.patch(name, { "tasks.max": "2" })
        for (const change of [pause, resume, stop, restart, retry, park, unpark, patch]) {
          const error = yield* Effect.flip<unknown, HerderError, never>(change("bad"))
          assert.strictEqual(error.reason._tag, "StateConflict")
          assert.strictEqual(error.message, `${reason}; put its config again, or delete it`)
        }
        const exists = yield* Effect.flip(herder.create("bad", source.config()))
        assert.strictEqual(exists.reason._tag, "ConnectorExists")
        assert.deepStrictEqual(yield* herder.retryAll({}), [])
      }))

    it.live("of a connector: a put mends it, and it goes on at its stored offset", () =>
      Effect.gen(function*() {
        const { herder, runs, source } = yield* restarted(
          yield* kept,
          ({ spoil }) => spoil("connector/bad", "nonsense")
        )
        const { created, info } = yield* herder.put("bad", source.config())
        assert.deepStrictEqual([created, info.revision], [true, 1])
        yield* runs("bad")
        const starts = Effect.map(source.starts("bad"), (all) => all.filter(({ task }) => task === 0))
        const [, again] = yield* Running.eventually(starts, ({ length }) => length === 2)
        assert.strictEqual(again?.position, where === "in memory" ? 0 : 1)
        yield* runs("good")
      }))

    it.live("of a connector: a delete removes it, and the name can be used again", () =>
      Effect.gen(function*() {
        const { herder, runs, source } = yield* restarted(yield* kept, ({ spoil }) => spoil("connector/bad", "[]"))
        yield* herder.delete("bad")
        assert.deepStrictEqual(yield* herder.list, ["good"])
        assert.strictEqual((yield* Effect.flip(herder.status("bad"))).reason._tag, "ConnectorNotFound")
        yield* herder.create("bad", source.config())
        yield* runs("bad")
      }))

    it.live.each(
      ["tasks/bad", "placement/connector/bad", "placement/0/bad"].flatMap((key) =>
        spoiled.slice(-2).map((value) => [key, value] as const)
      )
    )("%s (%s): is made anew, and everything runs", ([key, value]) =>
      Effect.gen(function*() {
        const { runs } = yield* restarted(yield* kept, ({ spoil }) => spoil(key, value))
        const { revision, tasks } = yield* runs("bad")
        assert.deepStrictEqual(revision, { stored: 1, applied: 1 })
        assert.deepStrictEqual(tasks.map(({ state }) => state), ["RUNNING"])
      }))

    it.live("of a newer version of Kelpie: it is left alone", () =>
      Effect.gen(function*() {
        const stores = yield* kept
        yield* restarted(stores, () => stores.add("novelty/bad", "{\"a\":1}"))
        assert.strictEqual(yield* stores.value("novelty/bad"), "{\"a\":1}")
      }))
  })
}

describe("data that cannot be read, in SQLite", () => {
  it.live("a status: it is told anew", () =>
    Effect.gen(function*() {
      const { runs } = yield* restarted(yield* onDisk, ({ update }) =>
        update("data.db", "UPDATE statuses SET record = 'nonsense' WHERE item LIKE 'connector/%bad'"))
      yield* runs("bad")
    }))

  it.live.each(["nonsense", "{}", "{\"position\":\"1\"}"])(
    "an offset (%s): its task has failed and says why, and the others run",
    (offset) =>
      Effect.gen(function*() {
        const { herder, until } = yield* restarted(yield* onDisk, ({ update }) =>
          update("data.db", "UPDATE offsets SET source_offset = ? WHERE connector = 'bad'", offset))
        const { tasks } = yield* until("bad", ({ health }) =>
          health === "failed")
        assert.include(tasks[0]?.trace ?? "", "the stored offset does not fit the connector")
        assert.strictEqual((yield* herder.status("good")).health, "healthy")
      })
  )
})
