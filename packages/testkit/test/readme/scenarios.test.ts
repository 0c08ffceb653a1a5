import { assert, it } from "@effect/vitest"
import { Harness, ScriptedLeader, ScriptedSource } from "@kelpie/testkit"
import { Effect } from "effect"

it.effect("a connector that twice cannot say what its tasks are is asked again after 250 ms and 500 ms", () =>
  Effect.gen(function*() {
    const source = yield* ScriptedSource.make()
    const harness = yield* Harness.make({ plugins: [source] })
    yield* harness.deploy("orders", source.config({ taskConfigs: "fail:2:transient:database is locked" }))
    const { conditions, health } = yield* harness.status("orders")
    assert.deepStrictEqual([health, conditions[0]?.message], ["recovering", "database is locked"])

    const ticks = [yield* harness.tick, yield* harness.wake, yield* harness.wake]
    assert.deepStrictEqual(ticks.map((tick) => tick.nextWakeMillis), [250, 500, undefined])
    yield* harness.settle
    assert.deepStrictEqual(yield* source.calls("taskConfigs"), [0, 250, 750])
    assert.strictEqual((yield* harness.status("orders")).health, "healthy")
  }))

it.effect("tasks that twice do not reach the leader are sent again, each time as they are by then", () =>
  Effect.gen(function*() {
    const source = yield* ScriptedSource.make()
    const leader = yield* ScriptedLeader.make()
    const harness = yield* Harness.make({ plugins: [source], leader }) // this worker does not lead
    yield* harness.deploy("orders", source.config({ tasks: 2 }))
    yield* leader.script(ScriptedLeader.times(2, ScriptedLeader.unreachable))

    yield* source.setTasks("orders", 3)
    yield* source.requestReconfiguration("orders")
    const ticks = [yield* harness.tick, yield* harness.wake, yield* harness.wake]
    assert.deepStrictEqual(ticks.map((tick) => tick.nextWakeMillis), [250, 500, undefined])
    yield* harness.settle
    assert.strictEqual((yield* harness.status("orders")).tasks.length, 3)
    assert.strictEqual((yield* leader.received).filter(({ _tag }) => _tag === "PublishTaskSet").length, 4)
  }))

it.effect("more tasks than tasks.max fail the connector, and it is not asked again until its config changes", () =>
  Effect.gen(function*() {
    const source = yield* ScriptedSource.make()
    const harness = yield* Harness.make({ plugins: [source] })
    yield* harness.deploy("orders", source.config({ tasks: 3, tasksMax: 2 }))
    const { state, trace } = yield* harness.status("orders")
    assert.strictEqual(state, "FAILED")
    assert.include(trace, "generated 3 tasks, but tasks.max is 2")
    assert.strictEqual((yield* harness.tick).nextWakeMillis, undefined)

    yield* harness.herder.put("orders", source.config({ tasks: 3, tasksMax: 3 }))
    yield* harness.settle
    assert.strictEqual((yield* harness.status("orders")).tasks.length, 3)
  }))
