import { assert, describe, it, vi } from "@effect/vitest"
import { ConfigStore, OffsetStore, StatusStore, TopicLog } from "@kelpie/core"
import { Faults } from "@kelpie/testkit"
import { Context, Effect, Layer } from "effect"
import * as Scene from "./fixtures/Scene.ts"
import * as TableSource from "./fixtures/TableSource.ts"
import * as Vault from "./fixtures/Vault.ts"

vi.setConfig({ testTimeout: 60_000 })

/** How many records each commit since an operation wrote. */
const commits = ({ operations }: Scene.Scene, from: number) =>
  operations.slice(from).flatMap((one) => one._tag === "CommitRecords" ? [one.records] : [])
/** The items that started since then, and those that stopped: `connector`, or the number of a task. */
const moved = ({ operations }: Scene.Scene, from: number) =>
  operations.slice(from).flatMap((one) =>
    one._tag === "StartTask" || one._tag === "StopTask" ? [`${one._tag} ${one.task}`] : []
  )
const letters = ["a", "b", "c", "d", "e", "f", "g", "h"]
const started = (tasks: ReadonlyArray<number>) => [
  ...tasks.map((task) => `StopTask ${task}`),
  ...tasks.map((task) => `StartTask ${task}`)
]

describe("a generation that gives what is published already", () => {
  it.effect("commits nothing and restarts nothing (law 9)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config({ tasks: 3 }))
      const { position } = yield* scene.configStore.state
      const from = scene.operations.length
      for (let n = 0; n < 3; n++) yield* scene.ask("orders")
      assert.strictEqual((yield* scene.source.calls("taskConfigs", "orders")).length, 4)
      assert.strictEqual((yield* scene.configStore.state).position, position)
      assert.deepStrictEqual(scene.operations.slice(from).map(({ _tag }) => _tag), [
        "GenerateTaskConfigs",
        "GenerateTaskConfigs",
        "GenerateTaskConfigs"
      ])
    }))

  it.effect("from a newer revision commits one record and restarts no task (law 9)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config({ tasks: 3 }))
      const from = scene.operations.length
      // keys that no task sees
      yield* scene.herder.patch("orders", { "reconfiguration.retry.max.attempts": "7", "placement.labels": "zone=a" })
      yield* scene.settle
      assert.deepStrictEqual(commits(scene, from), [1, 1])
      assert.deepStrictEqual(moved(scene, from), [])
      assert.deepStrictEqual(yield* scene.published("orders"), { revision: 2, parts: ["0", "1", "2"] })
      const { health, revision, tasks } = yield* scene.status("orders")
      assert.deepStrictEqual([health, revision], ["healthy", { stored: 2, applied: 2 }])
      assert.deepStrictEqual(tasks.map((task) => [task.state, task.revision]), [["RUNNING", 2], ["RUNNING", 2], [
        "RUNNING",
        2
      ]])
    }))

  it.effect("from a newer revision that resolves to the same values commits one record too (law 9)", () =>
    Effect.gen(function*() {
      const vault = Vault.make({ pause: "sleep:0" })
      const scene = yield* Scene.make({ plugins: [vault.plugin] })
      yield* scene.deploy("orders", scene.source.config({ tasks: 2, poll: "sleep:0" }))
      const from = scene.operations.length
      yield* scene.herder.patch("orders", { "scripted.poll": "${vault:pause}" })
      yield* scene.settle
      assert.deepStrictEqual(commits(scene, from), [1, 1])
      assert.deepStrictEqual(moved(scene, from), [])
      assert.strictEqual((yield* scene.published("orders")).revision, 2)
    }))

  it.effect("from an equal config that is put again does not even generate (law 9)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.deploy("orders", scene.source.config({ tasks: 3 }))
      const { position } = yield* scene.configStore.state
      yield* scene.herder.put("orders", scene.source.config({ tasks: 3 }))
      yield* scene.settle
      assert.strictEqual((yield* scene.configStore.state).position, position)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs"), [0])
    }))
})

describe("a changed task set", () => {
  it.effect("restarts only the one of eight tasks whose config changed (law 9)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.setTasks("orders", letters)
      yield* scene.deploy("orders", scene.source.config())
      const from = scene.operations.length
      yield* scene.source.setTasks("orders", letters.map((letter) => letter === "d" ? "D" : letter))
      yield* scene.ask("orders")
      yield* scene.settle
      assert.deepStrictEqual(moved(scene, from), started([3]))
      // the set with the release, then the release confirmed and the task placed again
      assert.deepStrictEqual(commits(scene, from), [2, 1])
      const starts = yield* scene.source.starts("orders")
      assert.deepStrictEqual(starts.slice(-1).map(({ part, task }) => [task, part]), [[3, "D"]])
      assert.strictEqual((yield* scene.status("orders")).health, "healthy")
    }))

  it.effect("starts what is added and stops what is removed; the others go on (law 9)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.setTasks("orders", ["a", "b"])
      yield* scene.deploy("orders", scene.source.config())
      let from = scene.operations.length
      yield* scene.source.setTasks("orders", ["a", "b", "c"])
      yield* scene.ask("orders")
      assert.deepStrictEqual(moved(scene, from), ["StartTask 2"])
      from = scene.operations.length
      yield* scene.source.setTasks("orders", ["a"])
      yield* scene.ask("orders")
      yield* scene.settle
      assert.deepStrictEqual(moved(scene, from), ["StopTask 1", "StopTask 2"])
      from = scene.operations.length
      yield* scene.source.setTasks("orders", [])
      yield* scene.ask("orders")
      yield* scene.settle
      assert.deepStrictEqual(moved(scene, from), ["StopTask 0"])
      const { health, taskCounts, tasks } = yield* scene.status("orders")
      assert.deepStrictEqual([health, taskCounts, tasks], ["healthy", { requested: 8, generated: 0, running: 0 }, []])
    }))

  it.effect("restarts all tasks once when only a converter changed (law 9)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.setTasks("orders", letters)
      yield* scene.deploy("orders", scene.source.config())
      const from = scene.operations.length
      yield* scene.herder.patch("orders", { "value.converter": "StringConverter" })
      yield* scene.settle
      assert.deepStrictEqual(moved(scene, from), started(letters.map((_, task) => task)))
      assert.deepStrictEqual(yield* scene.published("orders"), { revision: 2, parts: letters })
      assert.strictEqual((yield* scene.status("orders")).health, "healthy")
    }))

  it.effect("restarts the tasks when a secret rotated, with the same revision (law 9)", () =>
    Effect.gen(function*() {
      const vault = Vault.make({ pause: "sleep:0" })
      const scene = yield* Scene.make({ plugins: [vault.plugin] })
      yield* scene.deploy("orders", scene.source.config({ tasks: 2 }, { "scripted.poll": "${vault:pause}" }))
      const from = scene.operations.length
      yield* scene.ask("orders")
      assert.deepStrictEqual(moved(scene, from), [])
      vault.values.set("pause", "sleep:1")
      yield* scene.ask("orders")
      yield* scene.settle
      assert.deepStrictEqual(moved(scene, from), started([0, 1]))
      const starts = (yield* scene.source.starts("orders")).filter(({ task }) => task !== undefined)
      assert.deepStrictEqual(starts.map(({ config }) => config.poll), ["sleep:0", "sleep:0", "sleep:1", "sleep:1"])
      assert.strictEqual((yield* scene.published("orders")).revision, 1)
    }))

  it.effect("stays as it is while a new generation fails: nothing is half applied (I4)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.setTasks("orders", ["a", "b"])
      yield* scene.deploy("orders", scene.source.config())
      const from = scene.operations.length
      yield* scene.herder.put("orders", scene.source.config({ taskConfigs: "fail:3:transient:locked" }))
      yield* scene.settle
      assert.deepStrictEqual(moved(scene, from), [])
      const { health, revision, tasks } = yield* scene.status("orders")
      assert.deepStrictEqual([health, revision], ["recovering", { stored: 2, applied: 1 }])
      assert.deepStrictEqual(tasks.map((task) => [task.state, task.revision]), [["RUNNING", 1], ["RUNNING", 1]])
      yield* Scene.wakeFor(scene, 1750)
      assert.deepStrictEqual((yield* scene.status("orders")).revision, { stored: 2, applied: 2 })
    }))
})

describe("a table that moves from one task to another", () => {
  it.effect("is read by its new task only after the last offset of the old one is stored (I6, I9)", () =>
    Effect.gen(function*() {
      const tables = TableSource.make()
      const memory = yield* Layer.build(
        Layer.mergeAll(ConfigStore.layerMemory, StatusStore.layerMemory, OffsetStore.layerMemory)
      )
      const scene = yield* Scene.make({
        plugins: [tables.plugin],
        stores: Layer.mergeAll(
          Layer.succeedContext(memory),
          // every append takes two seconds: task 0 is slow to stop
          Faults.layer(TopicLog, { "open.append": [Faults.delay(Faults.always, "2 seconds")] }).pipe(
            Layer.provide(TopicLog.layerMemory)
          )
        )
      })
      tables.tables = [["users", "events"], ["orders"]]
      yield* scene.deploy("db", tables.plugin.config({}, { tasksMax: 2 }))
      tables.insert("users")
      yield* scene.advance(1000)
      // the row is under way when its table moves
      tables.tables = [["events"], ["orders", "users"]]
      yield* tables.request
      yield* scene.settle
      yield* scene.advance(999)
      yield* scene.settle
      const status = yield* scene.status("db")
      assert.deepStrictEqual(status.tasks.map((task) => task.state), ["UNASSIGNED", "UNASSIGNED"])
      assert.strictEqual(tables.reads.length, 3)
      yield* scene.advance(1)
      yield* scene.settle
      assert.deepStrictEqual(tables.reads.slice(3), [
        { at: 2000, task: 0, table: "events", rows: 0 },
        { at: 2000, task: 1, table: "orders", rows: 0 },
        { at: 2000, task: 1, table: "users", rows: 1 }
      ])
      const offsets = yield* Context.get(memory, OffsetStore).list("db")
      assert.deepStrictEqual(offsets, [{ partition: "{\"table\":\"users\"}", offset: "{\"rows\":1}" }])
      assert.strictEqual((yield* scene.status("db")).health, "healthy")
    }))

  it.effect("is read by its new task after the old one was given up at its deadline (I6, I7)", () =>
    Effect.gen(function*() {
      const tables = TableSource.make()
      const scene = yield* Scene.make({
        plugins: [tables.plugin],
        stores: Layer.mergeAll(
          ConfigStore.layerMemory,
          StatusStore.layerMemory,
          OffsetStore.layerMemory,
          Faults.layer(TopicLog, { "open.append": [Faults.hang(Faults.first(1))] }).pipe(
            Layer.provide(TopicLog.layerMemory)
          )
        )
      })
      tables.tables = [["users"], ["orders"]]
      yield* scene.deploy("db", tables.plugin.config({}, { tasksMax: 2 }))
      tables.insert("users")
      yield* scene.advance(1000)
      tables.tables = [[], ["orders", "users"]]
      yield* tables.request
      yield* scene.settle
      yield* scene.advance(5000)
      yield* scene.settle
      // what the old task did not store is read again
      assert.deepStrictEqual(tables.reads.slice(2), [
        { at: 6000, task: 1, table: "orders", rows: 0 },
        { at: 6000, task: 1, table: "users", rows: 0 }
      ])
    }))
})
