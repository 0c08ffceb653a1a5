import { assert, it } from "@effect/vitest"
import { Middleware } from "@kelpie/core"
import type { Herder } from "@kelpie/herder"
import { ScriptedSource } from "@kelpie/testkit"
import { Effect, Layer, Logger, Stream } from "effect"
import * as Running from "./fixtures/Running.ts"

/** A herder in which something is done while the first task set of `c` is on its way to the leader. */
const during = Effect.fnUntraced(
  function*(act: (herder: Herder["Service"], config: Record<string, string>) => Effect.Effect<unknown>) {
    const source = yield* ScriptedSource.make()
    const logged: Array<string> = []
    const events: Array<string> = []
    let herder: Herder["Service"] | undefined
    let sets = 0
    const meddle = Middleware.make((operation, next) => {
      const first = operation._tag === "SendToLeader" && operation.command._tag === "PublishTaskSet" && sets++ === 0
      return first && herder !== undefined
        ? Effect.andThen(act(herder, { ...source.config({ tasks: 2 }) }), next)
        : next
    })
    const logger = Logger.make(({ message }) => {
      logged.push(String(message))
    })
    const running = yield* Running.virtual({
      plugins: [source],
      settings: Layer.merge(Middleware.layer([meddle]), Logger.layer([logger]))
    })
    herder = running.herder
    yield* Effect.forkScoped(
      Stream.runForEach(running.herder.events, (event) =>
        Effect.sync(() => {
          if (event._tag === "LaneChanged") events.push(`${event.from} -> ${event.to} (${event.event})`)
        })),
      { startImmediately: true }
    )
    yield* running.herder.create("c", source.config())
    return { ...running, events, logged, sets: () => sets }
  }
)

it.effect("a task set that a newer config overtook is no failure: it is made anew, and nothing is logged (laws 3 and 14)", () =>
  Effect.gen(function*() {
    const { events, logged, sets, until } = yield* during((herder, config) => Effect.orDie(herder.put("c", config)))
    const { revision, tasks } = yield* until("c", ({ health, tasks }) => health === "healthy" && tasks.length === 2)
    assert.deepStrictEqual([revision.stored, revision.applied, tasks.length], [2, 2, 2])
    assert.strictEqual(sets(), 2)
    assert.notInclude(events.join("\n"), "Waiting")
    assert.deepStrictEqual(logged, [])
  }))

it.effect.each(["pause", "stop", "delete"] as const)(
  "a %s that overtakes it cancels it, and nothing is logged",
  (verb) =>
    Effect.gen(function*() {
      const { events, herder, logged, until } = yield* during((herder) => Effect.orDie(herder[verb]("c")))
      if (verb === "delete") yield* Running.settled(herder.list, ({ length }) => length === 0)
      else yield* until("c", ({ state }) => state === (verb === "pause" ? "PAUSED" : "STOPPED"))
      yield* Running.settled(Effect.sync(() => events.at(-1) ?? ""), (event) => event.endsWith("-> Idle (Cancelled)"))
      assert.notInclude(events.join("\n"), "Waiting")
      assert.deepStrictEqual(logged, [])
    })
)
