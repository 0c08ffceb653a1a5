import { assert, describe, it, vi } from "@effect/vitest"
import { ConfigRecord, Item, type Operation } from "@kelpie/core"
import { Script, TestExecutor } from "@kelpie/testkit"
import { Effect } from "effect"
import * as Scene from "./fixtures/Scene.ts"

vi.setConfig({ testTimeout: 60_000 })

/** The item is somebody else's now: what a leader writes once the owner's session has ended. */
const move = (scene: Scene.Scene, name: string) =>
  Effect.gen(function*() {
    const claim = yield* scene.configStore.claim("session-9", Effect.succeed(true))
    const write = ConfigRecord.placement(Item.connector(name), { _tag: "Owned", session: "session-2" })
    yield* claim.commit([{ write }])
  })

/** What happens half a second into an attempt that makes five tasks from the first config, and what is published then. */
const changes: Record<string, {
  readonly act: (scene: Scene.Scene) => Effect.Effect<unknown, unknown>
  readonly published: { readonly revision: number; readonly parts: ReadonlyArray<string> }
}> = {
  "its config changed": {
    act: ({ herder, source }) => herder.put("orders", source.config({ tasks: 2 })),
    published: { revision: 2, parts: ["0", "1"] }
  },
  "it was deleted": {
    act: ({ herder }) => herder.delete("orders"),
    published: { revision: 0, parts: [] }
  },
  "it was created again under its name": {
    act: ({ herder, settle, source }) =>
      herder.delete("orders").pipe(
        Effect.andThen(settle),
        Effect.andThen(herder.create("orders", source.config({ tasks: 3 })))
      ),
    published: { revision: 1, parts: ["0", "1", "2"] }
  },
  "it was created again before anybody saw that it was deleted": {
    act: ({ herder, source }) =>
      Effect.andThen(herder.delete("orders"), herder.create("orders", source.config({ tasks: 3 }))),
    published: { revision: 1, parts: ["0", "1", "2"] }
  },
  "its item went to another worker": {
    act: (scene) => move(scene, "orders"),
    published: { revision: 0, parts: [] }
  },
  "it was paused": {
    act: ({ herder }) => herder.pause("orders"),
    published: { revision: 0, parts: [] }
  },
  "it was stopped": {
    act: ({ herder }) => herder.stop("orders"),
    published: { revision: 0, parts: [] }
  }
}

/** The first such operation takes a second and cannot be interrupted. */
const slowOnce = (concerns: (operation: Operation.Operation) => boolean) => {
  let done = false
  const isFirst = (operation: Operation.Operation) => {
    if (done || !concerns(operation)) return false
    done = true
    return true
  }
  return <A, E>(operation: Operation.Operation, next: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      if (!isFirst(operation)) return next
      const wait = Effect.sleep(1000)
      return Effect.uninterruptible(
        operation._tag === "GenerateTaskConfigs" ? Effect.tap(next, () => wait) : Effect.andThen(wait, next)
      )
    })
}

const stages = {
  "a generation": (operation: Operation.Operation) => operation._tag === "GenerateTaskConfigs",
  "a command that is under way": (operation: Operation.Operation) =>
    operation._tag === "SendToLeader" && operation.command._tag === "PublishTaskSet"
}

for (const [what, concerns] of Object.entries(stages)) {
  describe(`the result of ${what} that comes too late`, () => {
    for (const [when, { act, published }] of Object.entries(changes)) {
      it.effect(`is dropped and never written when ${when} (law 3, I3, I11)`, () =>
        Effect.gen(function*() {
          const scene = yield* Scene.make({ middleware: slowOnce(concerns) })
          yield* scene.deploy("orders", scene.source.config({ tasks: 5 }))
          yield* scene.advance(500)
          yield* act(scene)
          yield* scene.settle
          assert.deepStrictEqual(yield* scene.published("orders"), published)
          const { position } = yield* scene.configStore.state
          yield* scene.advance(500)
          yield* scene.settle
          yield* scene.advance("1 hour")
          yield* scene.settle
          assert.deepStrictEqual(yield* scene.published("orders"), published)
          assert.strictEqual((yield* scene.configStore.state).position, position)
          const stale = (yield* scene.sent).filter((one) => one._tag === "PublishTaskSet" && one.tasks.length === 5)
          assert.strictEqual(stale.length, what === "a generation" ? 0 : 1)
        }))
    }
  })
}

describe("an attempt that waits for its turn on the executor", () => {
  const waiting = Effect.gen(function*() {
    const manual = yield* TestExecutor.manual
    const scene = yield* Scene.make({ executor: manual.make })
    yield* scene.deploy("orders", scene.source.config({ tasks: 2 }))
    yield* manual.release("start orders")
    yield* scene.settle
    assert.deepStrictEqual(yield* manual.waiting, ["generate the task configs of orders"])
    return { ...scene, manual }
  })

  it.effect("calls no code of a connector that was deleted meanwhile (laws 3 and 11)", () =>
    Effect.gen(function*() {
      const { herder, manual, settle, source } = yield* waiting
      yield* herder.delete("orders")
      yield* settle
      yield* manual.releaseAll
      yield* settle
      assert.deepStrictEqual(yield* source.calls("taskConfigs"), [])
    }))

  it.effect("generates once for the newest config (laws 1 and 3)", () =>
    Effect.gen(function*() {
      const { herder, manual, published, settle, source } = yield* waiting
      yield* herder.put("orders", source.config({ tasks: 3 }))
      for (let n = 0; n < 10; n++) {
        yield* settle
        yield* manual.releaseAll
      }
      assert.strictEqual((yield* source.calls("taskConfigs")).length, 1)
      assert.deepStrictEqual(yield* published("orders"), { revision: 2, parts: ["0", "1", "2"] })
    }))

  it.effect("is refused by the leader when the config changes between generation and commit, then tried anew (law 3, I3)", () =>
    Effect.gen(function*() {
      const { herder, lane, manual, published, settle, source } = yield* waiting
      yield* manual.release("generate the task configs of orders")
      assert.deepStrictEqual(yield* manual.waiting, ["publish the tasks of orders"])
      yield* herder.put("orders", source.config({ tasks: 3 }))
      yield* manual.release("publish the tasks of orders")
      assert.deepStrictEqual(yield* published("orders"), { revision: 0, parts: [] })
      for (let n = 0; n < 10; n++) {
        yield* settle
        yield* manual.releaseAll
      }
      assert.deepStrictEqual(yield* published("orders"), { revision: 2, parts: ["0", "1", "2"] })
      assert.deepStrictEqual(yield* lane("orders"), { state: "Idle", attempt: 0 })
    }))
})

describe("other connectors and other workers", () => {
  it.effect("a change of somebody else's placement moves no lane (law 3)", () =>
    Effect.gen(function*() {
      const scene = yield* Scene.make()
      yield* scene.source.script("orders", { taskConfigs: Script.always(Script.fail(Scene.down)) })
      yield* scene.deploy("orders", scene.source.config())
      yield* scene.deploy("users", scene.source.config())
      yield* Scene.wakeFor(scene, 4000)
      const before = yield* scene.lane("orders")
      yield* move(scene, "users")
      yield* scene.settle
      assert.deepStrictEqual(yield* scene.lane("orders"), before)
      yield* Scene.wakeFor(scene, 4000)
      assert.deepStrictEqual(yield* scene.source.calls("taskConfigs", "orders"), [0, 250, 750, 1750, 3750, 7750])
    }))
})
