/** The world while a plan is made: mutable, and seen by nobody else. */
import type { HerderEvent } from "@kelpie/core/HerderEvent"
import * as Item from "@kelpie/core/Item"
import type * as Status from "@kelpie/core/Status"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import type * as Plan from "../Plan.ts"
import * as World from "../World.ts"
import * as Deadlines from "./deadlines.ts"

export class Draft {
  /** Connectors to look at. */
  readonly dirty = new Set<string>()
  readonly commands: Array<Plan.Command> = []
  readonly transitions: Array<Plan.Transition> = []
  readonly events: Array<HerderEvent> = []
  /** Items to confirm to the leader, all in one command. */
  readonly confirms: Array<Item.Item & { readonly position: number }> = []
  readonly #statuses = new Map<string, Status.StatusRecord>()
  readonly #removed = new Map<string, Item.Item>()
  world: World.World
  readonly now: number

  constructor(world: World.World, now: number) {
    this.world = world
    this.now = now
  }

  connector(name: string): World.ConnectorWorld {
    return World.connector(this.world, name)
  }

  /** Keeps a connector, and its next deadline. */
  setConnector(name: string, connector: World.ConnectorWorld): void {
    const before = World.nextAt(this.connector(name))
    const at = World.nextAt(connector)
    this.world = { ...this.world, connectors: HashMap.set(this.world.connectors, name, connector) }
    if (at !== before && at !== Infinity) {
      this.world = { ...this.world, deadlines: Deadlines.add(this.world.deadlines, at, name) }
    }
  }

  removeConnector(name: string): void {
    this.world = { ...this.world, connectors: HashMap.remove(this.world.connectors, name) }
  }

  status(item: Item.Item): Status.StatusRecord | undefined {
    return Option.getOrUndefined(HashMap.get(this.world.statuses, Item.key(item)))
  }

  setStatus(record: Status.StatusRecord): void {
    const key = Item.key(record)
    const before = this.status(record)
    const from = before?.token === record.token ? before.state : "UNASSIGNED"
    if (from !== record.state) {
      this.events.push({
        _tag: "StatusChanged",
        at: this.now,
        connector: record.connector,
        ...(record.task === undefined ? {} : { task: record.task }),
        from,
        to: record.state,
        ...(record.trace === undefined ? {} : { trace: record.trace })
      })
    }
    this.world = { ...this.world, statuses: HashMap.set(this.world.statuses, key, record) }
    this.#statuses.set(key, record)
    this.#removed.delete(key)
  }

  /** A status that somebody else stored. */
  readStatus(record: Status.StatusRecord): void {
    const before = this.status(record)
    if (before !== undefined && before.token > record.token) return
    this.world = { ...this.world, statuses: HashMap.set(this.world.statuses, Item.key(record), record) }
  }

  removeStatus({ connector, task }: Item.Item): void {
    const item = task === undefined ? Item.connector(connector) : Item.task(connector, task)
    const key = Item.key(item)
    if (!HashMap.has(this.world.statuses, key)) return
    this.world = { ...this.world, statuses: HashMap.remove(this.world.statuses, key) }
    this.#statuses.delete(key)
    this.#removed.set(key, item)
  }

  /** Takes the next number of an attempt. */
  nextAttempt(): number {
    const attempts = this.world.attempts + 1
    this.world = { ...this.world, attempts }
    return attempts
  }

  /** Takes the next number of a start. */
  nextRun(token: number): Item.Run {
    const start = this.world.runs + 1
    this.world = { ...this.world, runs: start }
    return { token, start }
  }

  finish(): Plan.Plan {
    if (this.confirms.length > 0) this.commands.push({ _tag: "ConfirmRelease", items: this.confirms })
    return {
      world: this.world,
      commands: this.commands,
      statusChanges: [...this.#statuses.values()],
      removed: [...this.#removed.values()],
      events: this.events,
      transitions: this.transitions,
      nextWakeAt: this.#nextWakeAt()
    }
  }

  /** The earliest deadline that still counts; those before it that do not are dropped. */
  #nextWakeAt(): number {
    for (let first = Deadlines.first(this.world.deadlines); first !== undefined;) {
      if (World.nextAt(this.connector(first.key)) === first.at) return first.at
      this.world = { ...this.world, deadlines: Deadlines.rest(this.world.deadlines) }
      first = Deadlines.first(this.world.deadlines)
    }
    return Infinity
  }
}
