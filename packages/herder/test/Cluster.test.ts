import { assert, describe, it } from "@effect/vitest"
import { Plugins, SourceConnector } from "@kelpie/core"
import { Herder, MemoryCluster } from "@kelpie/herder"
import { Context, Effect, Exit, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { untilTrue } from "./fixtures/Running.ts"

/** A source that waits, and notes which of its tasks are alive. */
const makeSource = () => {
  const alive = new Map<string, number>()
  const change = (key: string, by: number) => alive.set(key, (alive.get(key) ?? 0) + by)
  const source = SourceConnector.make("Waiting", {
    version: "1",
    config: {},
    start: () =>
      Effect.succeed({ taskConfigs: (max: number) => Effect.succeed(Array.from({ length: max }, () => ({}))) }),
    task: ({ name, task }) =>
      Stream.scoped(Stream.unwrap(Effect.as(
        Effect.acquireRelease(
          Effect.sync(() => change(`${name}-${task}`, 1)),
          () => Effect.sync(() => change(`${name}-${task}`, -1))
        ),
        Stream.never
      )))
  })
  return { alive, source }
}

const makeCluster = Effect.gen(function*() {
  const cluster = yield* MemoryCluster.make
  const { alive, source } = makeSource()
  const join = Effect.fnUntraced(function*(workerId: string) {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const context = yield* Layer.buildWithScope(
      Layer.provide(cluster.layer({ workerId }), Plugins.layer([source])),
      scope
    )
    return { herder: Context.get(context, Herder), close: Scope.close(scope, Exit.void) }
  })
  return { alive, join }
})

const passing = TestClock.adjust("100 millis")

/** Who runs what of a connector, once all of it runs. */
const runs = (herder: Herder["Service"], name: string) =>
  Effect.map(
    untilTrue(
      herder.status(name),
      ({ health, state, tasks }) =>
        health === "healthy" && state === "RUNNING" && tasks.length > 0 &&
        tasks.every((task) => task.state === "RUNNING"),
      passing,
      600
    ),
    ({ tasks, workerId }) => [workerId, ...tasks.map((task) => task.workerId)]
  )

describe("several workers", () => {
  it.effect("share the work of connectors that are created on any of them", () =>
    Effect.gen(function*() {
      const { join } = yield* makeCluster
      const [a, b, c] = [yield* join("a:1"), yield* join("b:1"), yield* join("c:1")]
      for (const [n, { herder }] of [a, b, c].entries()) {
        yield* Effect.forkChild(herder.create(`orders-${n}`, { "connector.class": "Waiting", "tasks.max": "2" }))
      }
      const workers = new Set<string>()
      for (const { herder } of [a, b, c]) {
        yield* untilTrue(herder.list, (names) => names.length === 3, passing, 100)
        for (const name of yield* herder.list) for (const worker of yield* runs(herder, name)) workers.add(worker)
      }
      assert.deepStrictEqual([...workers].sort(), ["a:1", "b:1", "c:1"])
    }))

  it.effect("take over what a worker that leaves has run, each task once", () =>
    Effect.gen(function*() {
      const { alive, join } = yield* makeCluster
      const [a, b] = [yield* join("a:1"), yield* join("b:1")]
      yield* Effect.forkChild(a.herder.create("orders", { "connector.class": "Waiting", "tasks.max": "4" }))
      yield* untilTrue(b.herder.list, (names) => names.length === 1, passing, 100)
      assert.includeMembers([...yield* runs(b.herder, "orders")], ["a:1", "b:1"])
      yield* Effect.forkChild(a.close)
      yield* untilTrue(
        runs(b.herder, "orders"),
        (workers) => workers.every((worker) => worker === "b:1"),
        passing,
        600
      )
      assert.deepStrictEqual(
        Object.fromEntries(alive),
        { "orders-0": 1, "orders-1": 1, "orders-2": 1, "orders-3": 1 }
      )
    }))
})
