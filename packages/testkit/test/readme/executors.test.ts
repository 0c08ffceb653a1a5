import { assert, it } from "@effect/vitest"
import { Harness, ScriptedSource, TestExecutor } from "@kelpie/testkit"
import { Effect } from "effect"

it.effect("a connector that is deleted before it was asked for its tasks is not asked", () =>
  Effect.gen(function*() {
    const source = yield* ScriptedSource.make()
    const executor = yield* TestExecutor.manual
    const harness = yield* Harness.make({ plugins: [source], executor: executor.make })
    yield* harness.deploy("orders", source.config())
    yield* executor.release("start orders")
    yield* harness.settle
    assert.deepStrictEqual(yield* executor.waiting, ["generate the task configs of orders"])

    yield* harness.herder.delete("orders")
    yield* harness.settle
    yield* executor.releaseAll
    assert.deepStrictEqual(yield* source.calls("taskConfigs"), [])
    assert.deepStrictEqual(yield* source.live(), [])
  }))
