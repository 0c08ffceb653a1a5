/**
 * The world around a plan, as a model: a config log, a worker whose runs and attempts end in any order and in any way, and
 * a second worker. Every plan is checked against what the model knows; a law that does not hold throws.
 */
import { assert } from "@effect/vitest"
import { ClusterState, ConfigRecord, Item, type Machine, type Status } from "@kelpie/core"
import { Lane, Plan, RunMachine, World } from "@kelpie/herder"
import { HashMap, HashSet } from "effect"
import * as Fifo from "../src/internal/fifo.ts"
import { ModelLog } from "./ModelLog.ts"

type LiveRun = { readonly item: Item.Item; readonly run: Item.Run; phase: "starting" | "running" | "stopping" }
type Attempt = {
  readonly attempt: number
  readonly connector: string
  readonly run: Item.Run
  readonly revision: number
  readonly retries: number
  interrupted: boolean
  orphan: boolean
}
type Releasing = Extract<Plan.Command, { _tag: "ConfirmRelease" }>["items"][number]
/** An edge as the tables list it. */
export type Edge = { readonly machine: string; readonly from: string; readonly event: string; readonly to: string }

const me = "me"
const classes: ReadonlyArray<Status.FailureClass> = [
  "transient",
  "throttled",
  "not-leader",
  "no-leader",
  "expired-key",
  "expired-key",
  "permanent",
  "defect",
  "timed-out"
]
const runClasses: ReadonlyArray<RunMachine.Failure["class"]> = [
  "transient",
  "permanent",
  "defect",
  "fenced",
  "transient"
]

/** Every step of the tables while a plan is made; it is made without a pause, so the steps are its own. */
let steps: Array<Edge & { readonly moved: boolean }> = []
const spy = <S extends Machine.Tagged, E extends Machine.Tagged, C, K>(machine: Machine.Machine<S, E, C, K>) => {
  const { name, step } = machine
  const recorded: typeof step = (state, event, context) => {
    const result = step(state, event, context)
    const moved = result[0] !== state
    steps.push({ machine: name, from: state._tag, event: event._tag, to: result[0]._tag, moved })
    return result
  }
  Object.assign(machine, { step: recorded })
}
spy(Lane.machine)
spy(RunMachine.machine)

/** The policies of a connector depend on its config, so that walks meet all of them. */
const policies: World.Settings["policies"] = (_, __, { n = "0" }) => ({
  lane: {
    delayMillis: ({ failures }) => Number(n) % 3 === 0 && failures >= 3 ? undefined : 100 * 2 ** Math.min(failures, 6),
    maxDefects: 2,
    failsWhenExhausted: Number(n) % 2 === 0
  },
  restart: {
    delayMillis: (restarts) => Number(n) % 2 === 0 ? 50 * restarts : undefined,
    budget: 2,
    windowMillis: 10_000
  }
})

const settings: World.Settings = {
  workerId: "me:8083",
  limits: { generate: 1, generateSlow: 1, start: 1, orphans: 2 },
  policies,
  confirmDelayMillis: (failures) => 100 * failures
}

/** Pairs of a name and a small number name everything that a walk may do. */
export class PlanModel {
  readonly log = new ModelLog([me])
  readonly edges: Array<Edge> = []
  world: World.World = { ...World.make(settings), session: me }
  now = 1000
  #nextWakeAt = Infinity
  readonly #inbox: Array<Plan.Message> = []
  readonly #unseen = new Set<string>()
  readonly #runs = new Map<string, LiveRun>()
  readonly #attempts = new Map<number, Attempt>()
  #confirms: Array<Releasing> = []
  /** Messages that were good once. */
  #old: Array<Plan.Message> = []
  #starts = 0

  // --- what may happen -------------------------------------------------------------------------------------------

  /** Puts a message into the inbox; a plan is made of all that is in it. */
  tell(message: Plan.Message): void {
    this.#inbox.push(message)
    this.#old.push(message)
    this.#old = this.#old.slice(-24)
  }

  write(keys: ReadonlyArray<string>): void {
    for (const key of keys) this.#unseen.add(key)
  }

  seeLog(): void {
    if (this.#unseen.size === 0) return
    this.tell({ _tag: "StateChanged", state: this.log.state, keys: [...this.#unseen] })
    this.#unseen.clear()
  }

  /** The other worker may be given items, or is given none. */
  shares(shares: boolean): void {
    this.log.sessions = shares ? [me, "other"] : [me]
  }

  /** Somebody rebalances: the owner of an item is asked to let it go. */
  move(item: Item.Item): void {
    const record = ClusterState.placement(this.log.state, item)
    if (record?._tag !== "Owned") return
    const { session } = record
    this.write(this.log.commit([ConfigRecord.placement(item, { _tag: "Releasing", session, reason: "moved" })]))
  }

  othersConfirm(): void {
    this.write(this.log.confirmAll(["other"]))
  }

  pass(millis: number): void {
    this.now += millis
  }

  /** One of the runs in a phase, if there is one. */
  run(phase: LiveRun["phase"], n: number): LiveRun | undefined {
    return pick([...this.#runs.values()].filter((run) => run.phase === phase), n)
  }

  attempt(orphan: boolean, n: number): Attempt | undefined {
    return pick([...this.#attempts.values()].filter((attempt) => attempt.orphan === orphan), n)
  }

  started(run: LiveRun): void {
    run.phase = "running"
    this.tell({ _tag: "RunStarted", item: run.item, run: run.run, version: "1" })
  }

  /** A run that fails has closed all that it held when it tells so. */
  failed({ item, run }: LiveRun, n: number): void {
    this.#runs.delete(Item.key(item))
    const failure = { class: pick(runClasses, n) ?? "transient", trace: "it failed" } as const
    this.tell({ _tag: "RunFailed", item, run, failure })
  }

  stopped({ item, run }: LiveRun): void {
    this.#runs.delete(Item.key(item))
    this.tell({ _tag: "RunStopped", item, run })
  }

  asks({ item, run }: LiveRun): void {
    this.tell({ _tag: "Asked", connector: item.connector, run })
  }

  retrying({ item, run }: LiveRun, n: number): void {
    const retrying = n % 2 === 0
      ? undefined
      : { message: "no", attempt: n, since: this.now, nextAttemptAt: this.now + 1 }
    this.tell({ _tag: "RunRetrying", item, run, retrying })
  }

  advanced({ attempt, connector }: Attempt, n: number): void {
    this.tell({ _tag: "Advanced", connector, attempt, stage: n % 2 === 0 ? "sending" : "comparing" })
  }

  /** The attempt publishes what it generated, as the leader allows. */
  succeeded({ attempt, connector, revision, run }: Attempt, digests: ReadonlyArray<string>): void {
    this.#attempts.delete(attempt)
    const asked = ClusterState.connector(this.log.state, connector)
    if (asked === undefined || asked.revision !== revision) {
      return this.tell({ _tag: "Settled", connector, attempt, ended: true, outcome: { _tag: "Succeeded" } })
    }
    const decision = this.log.decide({
      _tag: "PublishTaskSet",
      name: connector,
      incarnation: asked.incarnation,
      revision,
      token: run.token,
      digest: "whole",
      config: asked.config,
      tasks: digests.map((digest) => ({ config: {}, digest }))
    })
    if (decision._tag === "Success") this.write(this.log.commit(decision.success.writes))
    const failure = { class: "transient", stage: "sending", message: "stale" } as const
    this.tell({
      _tag: "Settled",
      connector,
      attempt,
      ended: true,
      outcome: decision._tag === "Success" ? { _tag: "Succeeded" } : { _tag: "Failed", failure },
      generated: digests.length
    })
  }

  attemptFailed({ attempt, connector }: Attempt, n: number): void {
    this.#attempts.delete(attempt)
    const failure = { class: pick(classes, n) ?? "transient", stage: "generating", message: "no" } as const
    this.tell({ _tag: "Settled", connector, attempt, ended: true, outcome: { _tag: "Failed", failure } })
  }

  /** An attempt that does not listen: it has its outcome, and its code has not returned. */
  abandoned(one: Attempt): void {
    const { attempt, connector } = one
    one.orphan = true
    const failure = { class: "timed-out", stage: "generating", message: "late" } as const
    this.tell({
      _tag: "Settled",
      connector,
      attempt,
      ended: false,
      outcome: one.interrupted ? { _tag: "Interrupted" } : { _tag: "Failed", failure }
    })
  }

  interrupted({ attempt, connector }: Attempt): void {
    this.#attempts.delete(attempt)
    this.tell({ _tag: "Settled", connector, attempt, ended: true, outcome: { _tag: "Interrupted" } })
  }

  returned({ attempt, connector }: Attempt): void {
    this.#attempts.delete(attempt)
    this.tell({ _tag: "AttemptEnded", connector, attempt })
  }

  /** The leader hears of the oldest confirmations; the answer may get lost. */
  confirm(answered: boolean): void {
    const items = this.#confirms
    if (items.length === 0) return
    this.#confirms = []
    const plain = items.map(({ connector, position, task }) => ({
      connector,
      position,
      ...(task === undefined ? {} : { task })
    }))
    this.write(this.log.send({ _tag: "ConfirmRelease", items: plain }))
    this.tell({ _tag: "Confirmed", items, ok: answered })
  }

  /** The leader cannot be told. */
  confirmFails(): void {
    const items = this.#confirms
    this.#confirms = []
    if (items.length > 0) this.tell({ _tag: "Confirmed", items, ok: false })
  }

  /** Another worker's status. */
  readStatus(item: Item.Item): void {
    const record = ClusterState.placement(this.log.state, item)
    if (record?._tag !== "Owned" || record.session === me) return
    this.tell({
      _tag: "StatusesRead",
      records: [{
        connector: item.connector,
        ...(item.task === undefined ? {} : { task: item.task }),
        token: record.position,
        state: "RUNNING",
        workerId: "other:8083",
        version: "1",
        since: this.now
      }]
    })
  }

  // --- what a plan may do ----------------------------------------------------------------------------------------

  /** Makes a plan of the inbox and holds it against the laws. */
  plan(): void {
    const inbox = this.#inbox.splice(0)
    steps = []
    const plan = Plan.plan(this.world, inbox, this.now)
    this.world = plan.world
    this.#nextWakeAt = plan.nextWakeAt
    const moved = steps.filter((step) => step.moved)
    assert.deepStrictEqual(
      plan.transitions.map(({ event, from, machine, to }) => ({ machine, from, event, to })),
      moved.map(({ event, from, machine, to }) => ({ machine, from, event, to })),
      "every step that moved a machine is told, in order"
    )
    this.edges.push(...steps)
    for (const command of plan.commands) this.#carryOut(command)
    this.#checkCounts()
    this.#checkRuns()
    this.#checkLanes()
    assert.strictEqual(plan.nextWakeAt, this.#earliest(), "it wakes for the earliest deadline")
    assert.isAbove(plan.nextWakeAt, this.now, "what is due was done")
    this.#checkNothing({ _tag: "Resync" })
  }

  /** A message that came too late, twice, or for nobody: it changes nothing (law 3). */
  stale(n: number): void {
    this.plan()
    const before = content(this.world)
    for (const message of this.#staleMessages(n)) {
      assert.deepStrictEqual(content(this.#checkNothing(message)), before, message._tag)
    }
  }

  #carryOut(command: Plan.Command): void {
    const { state } = this.world
    switch (command._tag) {
      case "StartConnector":
      case "StartTask": {
        const item: Item.Item = command._tag === "StartTask"
          ? Item.task(command.connector, command.task)
          : Item.connector(command.connector)
        assert.isFalse(this.#runs.has(Item.key(item)), `${Item.format(item)} runs already`)
        assert.strictEqual(this.#owned(item), command.run.token, `${Item.format(item)} is not owned here`)
        assert.strictEqual(ClusterState.connector(state, item.connector)?.target, "STARTED")
        assert.isAbove(command.run.start, this.#starts, "starts count on")
        this.#starts = command.run.start
        this.#runs.set(Item.key(item), { item, run: command.run, phase: "starting" })
        return
      }
      case "StopRun": {
        const run = this.#runs.get(Item.key(command.item))
        assert.isDefined(run, `${Item.format(command.item)} does not run`)
        assert.deepStrictEqual(run.run, command.run, "the run that is stopped is the one that runs")
        assert.notStrictEqual(run.phase, "stopping", "it is told once")
        run.phase = "stopping"
        return
      }
      case "Generate": {
        const { attempt, connector, revision, run } = command
        const instance = this.#runs.get(Item.key(Item.connector(connector)))
        assert.isTrue(instance?.phase === "running" && Item.compareRun(instance.run, run) === 0, "its instance runs")
        const asked = ClusterState.connector(state, connector)
        assert.isDefined(asked)
        assert.strictEqual(asked.revision, revision)
        const retries = asked.retries
        for (const other of this.#attempts.values()) {
          if (other.connector !== connector) continue
          assert.isTrue(other.orphan, "law 1: single flight")
          const same = Item.compareRun(other.run, run) === 0 && other.retries === retries
          assert.isFalse(same, "law 4: not beside its own orphan")
        }
        assert.isFalse(this.#attempts.has(attempt))
        this.#attempts.set(attempt, { attempt, connector, run, revision, retries, interrupted: false, orphan: false })
        return
      }
      case "Interrupt": {
        const attempt = this.#attempts.get(command.attempt)
        assert.isDefined(attempt, "the attempt that is interrupted is under way")
        assert.strictEqual(attempt.connector, command.connector)
        assert.isFalse(attempt.orphan || attempt.interrupted, "it is told once")
        attempt.interrupted = true
        return
      }
      case "ConfirmRelease":
        for (const item of command.items) {
          assert.isFalse(this.#runs.has(Item.key(item)), `${Item.format(item)} still runs`)
          const record = ClusterState.placement(state, item)
          assert.isTrue(record?._tag === "Releasing" && record.session === me && record.position === item.position)
          const open = this.#confirms.some((one) => Item.key(one) === Item.key(item) && one.position === item.position)
          assert.isFalse(open, "it is not told again before the answer")
        }
        this.#confirms.push(...command.items)
        return
      case "Log":
        assert.isNotEmpty(command.message)
    }
  }

  /** The token of an item that this worker owns, as far as the plan knows. */
  #owned(item: Item.Item): number | undefined {
    const { state } = this.world
    const record = ClusterState.placement(state, item)
    const known = item.task === undefined
      ? ClusterState.connector(state, item.connector) !== undefined
      : item.task < (ClusterState.taskSet(state, item.connector)?.tasks.length ?? 0)
    return known && record?._tag === "Owned" && record.session === me ? record.position : undefined
  }

  #items(): ReadonlyArray<readonly [Item.Item, World.ItemWorld]> {
    return [...this.world.connectors].flatMap(([name, connector]) => [
      [Item.connector(name), connector.connector] as const,
      ...[...connector.tasks].map(([task, world]) => [Item.task(name, task), world] as const)
    ])
  }

  #checkCounts(): void {
    const { connectors, orphans, settings: { limits }, slots } = this.world
    const lives = [...HashMap.values(connectors)].map((connector) => connector.live?.slot)
    const counted = {
      generate: lives.filter((slot) => slot === "generate").length,
      generateSlow: lives.filter((slot) => slot === "generateSlow").length,
      start: this.#items().filter(([, { run }]) => run._tag === "Starting").length
    }
    assert.deepStrictEqual(slots, counted, "slots are counted right")
    for (const pool of ["generate", "generateSlow", "start"] as const) {
      assert.isTrue(slots[pool] >= 0 && slots[pool] <= limits[pool], `${pool}: ${slots[pool]} slots`)
    }
    const abandoned = [...this.#attempts.values()].filter((attempt) => attempt.orphan).length
    assert.strictEqual(HashSet.size(orphans), abandoned, "orphans are counted right")
    // law 5: a free slot is given away
    const waiting = this.#items().some(([, { run }]) => run._tag === "Queued")
    assert.isTrue(!waiting || slots.start === limits.start, "nobody waits for a free start slot")
    for (const connector of HashMap.values(connectors)) {
      const blocked = connector.live !== undefined &&
        (!connector.live.orphan || connector.live.laneKey === connector.laneKey)
      if (connector.lane._tag !== "Queued" || blocked) continue
      const full = connector.slow
        ? slots.generateSlow === limits.generateSlow || abandoned >= limits.orphans
        : slots.generate === limits.generate
      assert.isTrue(full, "nobody waits for a free slot to generate in")
    }
  }

  #checkRuns(): void {
    const phases = { Starting: "starting", Running: "running", Stopping: "stopping" } as const
    const alive = new Map<string, string>()
    for (const [item, { run }] of this.#items()) {
      if (run._tag === "Starting" || run._tag === "Running" || run._tag === "Stopping") {
        alive.set(Item.key(item), `${phases[run._tag]} ${run.run.token}/${run.run.start}`)
      }
    }
    const model = [...this.#runs].map(([key, { phase, run }]) => [key, `${phase} ${run.token}/${run.start}`] as const)
    assert.deepStrictEqual(Object.fromEntries(alive), Object.fromEntries(model), "the world knows what runs")
    for (const [name] of this.world.state.connectors) {
      const { target } = ClusterState.connector(this.world.state, name) ?? { target: undefined }
      for (const item of ClusterState.items(this.world.state, name)) {
        const wanted = target === "STARTED" && this.#owned(item) !== undefined
        if (wanted) assert.notStrictEqual(this.runState(item), "Idle", `${Item.format(item)} is wanted`)
      }
    }
    for (const [item, { run }] of this.#items()) {
      const wanted = ClusterState.connector(this.world.state, item.connector)?.target === "STARTED" &&
        this.#owned(item) !== undefined
      if (!wanted) assert.include(["Idle", "Stopping"], run._tag, `${Item.format(item)} is not wanted`)
    }
  }

  /** Laws 3 and 11: a lane does something only for the instance that runs, and only one attempt is its own. */
  #checkLanes(): void {
    for (const [name, { connector, lane, live }] of this.world.connectors) {
      const target = ClusterState.connector(this.world.state, name)?.target
      if (lane._tag !== "Idle") {
        assert.strictEqual(target, "STARTED")
        assert.strictEqual(connector.run._tag, "Running")
        assert.isDefined(this.#owned(Item.connector(name)))
      }
      if (lane._tag === "Running") assert.strictEqual(live?.attempt, lane.attempt)
    }
    for (const { attempt, connector, interrupted, orphan } of this.#attempts.values()) {
      if (orphan) continue
      const world = World.connector(this.world, connector)
      assert.strictEqual(world.live?.attempt, attempt, "an attempt under way is known")
      const wanted = world.lane._tag === "Running" && world.lane.attempt === attempt
      assert.strictEqual(interrupted, !wanted, "an attempt that nobody wants is interrupted, any other is not")
    }
  }

  /** The earliest of all timers, told by their own fields. */
  #earliest(): number {
    const times = [...HashMap.values(this.world.connectors)].flatMap(({ confirms, lane }) => [
      ...(lane._tag === "Waiting" ? [lane.wakeAt] : []),
      ...[...confirms.values()].flatMap(({ retryAt }) => retryAt === undefined ? [] : [retryAt])
    ])
    for (const [, { run }] of this.#items()) {
      if (run._tag === "Failed" && run.restartAt !== undefined) times.push(run.restartAt)
    }
    return Math.min(Infinity, ...times)
  }

  /** A message has no effect: a slow look at everything, for one, finds nothing to heal. */
  #checkNothing(message: Plan.Message): World.World {
    const { commands, events, removed, statusChanges, transitions, world } = Plan.plan(this.world, [message], this.now)
    const effects = [commands, transitions, statusChanges, removed, events].flat()
    if (effects.length > 0) assert.deepStrictEqual([message, ...effects], [], "a message changes what it should not")
    return world
  }

  #staleMessages(n: number): ReadonlyArray<Plan.Message> {
    const messages: Array<Plan.Message> = this.#old.filter((message) => this.#isStale(message))
    const nobody = Item.task("nobody", n)
    const run = { token: n, start: 1_000_000 }
    messages.push(
      {
        _tag: "StateChanged",
        state: this.world.state,
        keys: ["connector/orders", "tasks/users", "placement/0/orders", "x/y"]
      },
      { _tag: "RunStarted", item: nobody, run, version: "1" },
      { _tag: "RunStopped", item: Item.connector("orders"), run },
      { _tag: "RunFailed", item: Item.connector("users"), run, failure: { class: "transient", trace: "" } },
      { _tag: "Asked", connector: "orders", run },
      { _tag: "Advanced", connector: "orders", attempt: 1_000_000, stage: "sending" },
      { _tag: "Settled", connector: "orders", attempt: 1_000_000, ended: n % 2 === 0, outcome: { _tag: "Succeeded" } },
      { _tag: "AttemptEnded", connector: "users", attempt: 1_000_000 },
      { _tag: "Confirmed", items: [nobody], ok: false },
      { _tag: "GroupChanged", session: me, leader: this.world.leader }
    )
    for (const { item, phase, run } of this.#runs.values()) {
      // what a run may not say in its phase; that it started may come after its stop began
      if (phase === "running") messages.push({ _tag: "RunStarted", item, run, version: "1" })
      if (phase !== "stopping") messages.push({ _tag: "RunStopped", item, run })
      else messages.push({ _tag: "RunFailed", item, run, failure: { class: "transient", trace: "" } })
    }
    for (const { attempt, connector, orphan } of this.#attempts.values()) {
      if (!orphan) messages.push({ _tag: "AttemptEnded", connector, attempt })
      else messages.push({ _tag: "Settled", connector, attempt, ended: n % 2 === 0, outcome: { _tag: "Succeeded" } })
    }
    return messages
  }

  #isStale(message: Plan.Message): boolean {
    switch (message._tag) {
      case "RunStarted":
      case "RunFailed":
      case "RunStopped":
      case "RunRetrying": {
        const live = this.#runs.get(Item.key(message.item))
        return live === undefined || Item.compareRun(live.run, message.run) !== 0
      }
      case "Asked": {
        const live = this.#runs.get(Item.key(Item.connector(message.connector)))
        return live?.phase !== "running" || Item.compareRun(live.run, message.run) !== 0
      }
      case "Settled":
      case "Advanced":
      case "AttemptEnded":
        return !this.#attempts.has(message.attempt)
      default:
        return false
    }
  }

  runState(item: Item.Item): RunMachine.RunState["_tag"] {
    const connector = World.connector(this.world, item.connector)
    return ((item.task === undefined ? connector.connector : connector.tasks.get(item.task)) ?? World.emptyItem()).run
      ._tag
  }

  // --- the end ---------------------------------------------------------------------------------------------------

  /** Operators let everything go on, and from now on everything succeeds. */
  rest(): void {
    for (const [name] of this.log.state.connectors) {
      this.write(this.log.offer({ _tag: "HoldReconfiguration", name, held: false }))
      const tasks = ClusterState.taskSet(this.log.state, name)?.tasks.map((_, task) => task) ?? []
      this.write(this.log.offer({ _tag: "Restart", name, connector: true, tasks }))
    }
    for (let round = 0; round < 1000; round++) {
      this.seeLog()
      this.plan()
      if (this.#settleAll()) continue
      if (this.#nextWakeAt === Infinity) return this.#checkRest()
      this.now = this.#nextWakeAt
    }
    assert.fail("it does not come to rest")
  }

  /** Ends well whatever is under way; false when nothing is. */
  #settleAll(): boolean {
    let some = this.#unseen.size > 0 || this.#confirms.length > 0
    for (const run of this.#runs.values()) {
      if (run.phase === "running") continue
      some = true
      if (run.phase === "starting") this.started(run)
      else this.stopped(run)
    }
    for (const attempt of this.#attempts.values()) {
      some = true
      if (attempt.orphan) this.returned(attempt)
      else if (attempt.interrupted) this.interrupted(attempt)
      else this.succeeded(attempt, ["r0", "r1"])
    }
    this.confirm(true)
    this.othersConfirm()
    return some || this.#unseen.size > 0
  }

  #checkRest(): void {
    const { state } = this.world
    assert.deepStrictEqual(this.log.releasing(), [])
    assert.strictEqual(this.#attempts.size, 0)
    for (const [name, { target, revision }] of state.connectors) {
      const mine = this.#owned(Item.connector(name)) !== undefined
      if (target === "STARTED" && mine) {
        assert.strictEqual(ClusterState.taskSet(state, name)?.revision, revision, `${name} has tasks of its config`)
        assert.strictEqual(World.connector(this.world, name).lane._tag, "Idle")
      }
      for (const item of ClusterState.items(state, name)) {
        assert.strictEqual(ClusterState.placement(state, item)?._tag, "Owned", Item.format(item))
        if (this.#owned(item) === undefined) continue
        assert.strictEqual(this.runState(item), target === "STARTED" ? "Running" : "Idle", Item.format(item))
      }
    }
    for (const [name] of this.world.connectors) {
      assert.isTrue(HashMap.has(state.connectors, name), `${name} is forgotten`)
    }
    for (const { item } of this.#runs.values()) assert.isDefined(this.#owned(item), Item.format(item))
  }
}

const pick = <A>(all: ReadonlyArray<A>, n: number): A | undefined => all[n % Math.max(1, all.length)]

/** A world without what only makes it fast. */
const content = (
  { attempts, connectors, leader, orphans, queues, runs, slots, starts, state, statuses }: World.World
) => ({
  attempts,
  connectors: Object.fromEntries(Array.from(connectors, ([name, { logged: _, ...rest }]) => [name, rest])),
  leader,
  orphans: [...orphans],
  queues: [drain(queues.generate), drain(queues.generateSlow), drain(starts)],
  runs,
  slots,
  position: state.position,
  statuses: Object.fromEntries(statuses)
})

const drain = <A>(fifo: Fifo.Fifo<A>): ReadonlyArray<A> => {
  const all: Array<A> = []
  for (let next = Fifo.pop(fifo); next !== undefined; next = Fifo.pop(next[1])) all.push(next[0])
  return all
}
