import { assert, describe, it, vi } from "@effect/vitest"
import { ExecutorLimits, LeaderCommand, PermanentError } from "@kelpie/core"
import { Lane, RunMachine } from "@kelpie/herder"
import { Script } from "@kelpie/testkit"
import * as ScriptedLeader from "@kelpie/testkit/ScriptedLeader"
import { Effect, type Scope } from "effect"
import * as Group from "./fixtures/Group.ts"
import * as Scene from "./fixtures/Scene.ts"
import { down } from "./fixtures/Scene.ts"

vi.setConfig({ testTimeout: 60_000 })

type Act = (scene: Scene.Scene) => Effect.Effect<unknown, unknown>

/** A deployed connector in which the lane has come to some state. */
const states: Record<string, { readonly reach: Act; readonly options?: Scene.Options }> = {
  Idle: { reach: ({ deploy, source }) => deploy("orders", source.config()) },
  // another connector holds the only slot
  Queued: {
    options: { settings: ExecutorLimits.layer({ generate: 1 }) },
    reach: ({ deploy, source }) =>
      source.script("busy", { taskConfigs: [Script.hang()] }).pipe(
        Effect.andThen(deploy("busy", source.config())),
        Effect.andThen(deploy("orders", source.config()))
      )
  },
  Running: {
    reach: ({ deploy, source }) =>
      Effect.andThen(source.script("orders", { taskConfigs: [Script.sleep(1000)] }), deploy("orders", source.config()))
  },
  Waiting: {
    reach: ({ deploy, source }) =>
      Effect.andThen(
        source.script("orders", { taskConfigs: Script.failTimes(2, down) }),
        deploy("orders", source.config())
      )
  },
  Parked: {
    reach: ({ deploy, source }) =>
      Effect.andThen(
        source.script("orders", { taskConfigs: [Script.fail(new PermanentError({ message: "no such table" }))] }),
        deploy("orders", source.config())
      )
  }
}

/** What happens to a lane in any state. */
const acts: Record<string, Act> = {
  "is asked and goes on": ({ advance, settle, source }) =>
    source.requestReconfiguration("orders").pipe(
      Effect.andThen(settle),
      Effect.andThen(advance(1000)),
      Effect.andThen(settle)
    ),
  "is retried": ({ herder }) => herder.retry("orders"),
  "is parked and let go of": ({ herder, settle }) =>
    herder.park("orders").pipe(Effect.andThen(settle), Effect.andThen(herder.unpark("orders"))),
  "is paused and resumed": ({ herder, settle }) =>
    herder.pause("orders").pipe(Effect.andThen(settle), Effect.andThen(herder.resume("orders"))),
  "goes on": ({ advance, settle }) => Effect.andThen(advance(1000), settle)
}

const error = (kind: LeaderCommand.LeaderError["kind"]) =>
  ScriptedLeader.refuse(new LeaderCommand.LeaderError({ kind, message: kind }))

/** A lane that has something to publish at a leader elsewhere. */
const elsewhere = (
  answers: ReadonlyArray<ScriptedLeader.Answer>,
  act: (scene: Scene.Scene, group: Group.Group) => Effect.Effect<unknown, unknown>
) =>
  Effect.gen(function*() {
    const leader = yield* ScriptedLeader.make()
    const group = Group.make()
    const scene = yield* Scene.make({ leader, settings: group.layer })
    yield* scene.deploy("orders", scene.source.config())
    yield* scene.source.setTasks("orders", 2)
    yield* leader.script(answers)
    yield* scene.ask("orders")
    yield* act(scene, group)
    yield* scene.settle
    return scene
  })

const alone = (act: Act, options?: Scene.Options) =>
  Effect.tap(Scene.make(options), (scene) => Effect.andThen(act(scene), scene.settle))
const restarts = { "restart.policy": "on-failure" }

/** What happens to a leader, and to runs. */
const others: Record<string, Effect.Effect<Scene.Scene, unknown, Scope.Scope>> = {
  "an expired key is refreshed": elsewhere([error("ExpiredKey")], () => Effect.void),
  "a new leader is followed": elsewhere([error("NotLeader")], (_, group) => group.elect("session-3")),
  "a task dies and is started anew": alone((scene) =>
    scene.source.script("orders", { poll: [Script.die(new Error("a bug"))] }).pipe(
      Effect.andThen(scene.deploy("orders", scene.source.config({}, restarts))),
      Effect.andThen(scene.wake)
    )
  ),
  "a connector that does not start is deleted": alone((scene) =>
    scene.source.script("orders", { start: [Script.fail(down)] }).pipe(
      Effect.andThen(scene.deploy("orders", scene.source.config())),
      Effect.andThen(scene.herder.delete("orders"))
    )
  ),
  "a connector that starts is deleted": alone((scene) =>
    scene.source.script("orders", { start: [Script.hang()] }).pipe(
      Effect.andThen(scene.deploy("orders", scene.source.config())),
      Effect.andThen(scene.herder.delete("orders"))
    )
  ),
  "a connector that waits for its start is deleted": alone(
    (scene) =>
      scene.source.script("busy", { start: [Script.hang()] }).pipe(
        Effect.andThen(scene.deploy("busy", scene.source.config())),
        Effect.andThen(scene.deploy("orders", scene.source.config())),
        Effect.andThen(scene.herder.delete("orders"))
      ),
    { settings: ExecutorLimits.layer({ start: 1 }) }
  )
}

const scenarios = [
  ...Object.entries(states).flatMap(([state, { options, reach }]) =>
    Object.entries(acts).map(([act, run]) =>
      [
        `a lane that is ${state} ${act}`,
        alone((scene) => Effect.andThen(reach(scene), run(scene)), options)
      ] as const
    )
  ),
  ...Object.entries(others)
]

/** The edges in a timeline: `10 orders run Idle -> Queued (Wanted)`. */
const edgesIn = (timeline: ReadonlyArray<string>) =>
  timeline.flatMap((line) => {
    const match = / (run|reconfiguration) +(\w+) -> (\w+) \((\w+)\)$/.exec(line)
    return match === null ? [] : [`${match[1]}: ${match[2]} --${match[4]}--> ${match[3]}`]
  })

/** It leaves the lane as it is, so no transition tells of it. */
const untold = "reconfiguration: Waiting --LeaderKnown--> Waiting"

describe("the scenarios together", () => {
  it.effect("take every edge of the lane's and the run's table, and no other", () =>
    Effect.gen(function*() {
      const taken = new Set<string>()
      for (const [name, scenario] of scenarios) {
        const timeline = yield* Effect.scoped(Effect.flatMap(scenario, (scene) => scene.timeline))
        const edges = edgesIn(timeline)
        assert.isAbove(edges.length, 0, name)
        for (const edge of edges) taken.add(edge)
      }
      const all = [Lane.machine, RunMachine.machine].flatMap(({ edges, name }) =>
        edges.map(({ event, from, to }) => `${name}: ${from} --${event}--> ${to}`)
      )
      assert.deepStrictEqual(all.filter((edge) => !taken.has(edge)), [untold], "edges that no scenario took")
      assert.deepStrictEqual([...taken].filter((edge) => !all.includes(edge)), [], "edges that no table has")
    }))
})
