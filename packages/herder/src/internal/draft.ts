/**
 * The world while a plan is made: mutable, and seen by nobody else. What it touches is read and written once, however
 * often the decisions look at it: a tick costs what it changes.
 */
import type { HerderEvent } from "@kelpie/core/HerderEvent"
import * as Item from "@kelpie/core/Item"
import type * as Status from "@kelpie/core/Status"
import type * as Plan from "../Plan.ts"
import * as World from "../World.ts"
import * as Deadlines from "./deadlines.ts"
import { Overlay } from "./overlay.ts"

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** The draft of one plan. */
export class Draft {
  /** Connectors to look at. */
  readonly dirty = new Set<string>()
  readonly commands: Array<Plan.Command> = []
  readonly transitions: Array<Plan.Transition> = []
  readonly events: Array<HerderEvent> = []
  /** Items to confirm to the leader, all in one command. */
  readonly confirms: Array<Item.Item & { readonly position: number }> = []
  /** All but what is kept by connector. */
  readonly world: Mutable<Omit<World.World, "connectors" | "statuses">>
  readonly now: number
  readonly #connectors: Overlay<World.ConnectorWorld>
  readonly #statuses: Overlay<World.Statuses>
  /** Copies of this draft, by connector. */
  readonly #copies = new Map<string, Map<"connector" | number, Status.StatusRecord>>()
  /** Statuses to store and to forget. */
  readonly #changed = new Map<string, Status.StatusRecord>()
  readonly #removed = new Map<string, Item.Item>()

  constructor(world: World.World, now: number) {
    const { connectors, statuses, ...rest } = world
    this.#connectors = new Overlay(connectors)
    this.#statuses = new Overlay(statuses)
    this.world = rest
    this.now = now
  }

  /** What the log says of a connector. */
  logged(name: string): World.Logged {
    const known = this.#connectors.get(name)
    if (known?.logged !== undefined) return known.logged
    const logged = World.logged(this.world.state, this.world.session, name)
    if (known !== undefined) this.#connectors.set(name, { ...known, logged })
    return logged
  }

  /** The log has moved on, or this worker is another session: the connector is looked at anew. */
  look(name: string): void {
    this.dirty.add(name)
    const known = this.#connectors.get(name)
    if (known?.logged === undefined) return
    const logged = World.logged(this.world.state, this.world.session, name)
    if (!World.sameLogged(logged, known.logged)) this.#connectors.set(name, { ...known, logged })
  }

  /** Connectors of which something is known here. */
  get names(): Iterable<string> {
    return this.#connectors.keys()
  }

  has(name: string): boolean {
    return this.#connectors.get(name) !== undefined
  }

  connector(name: string): World.ConnectorWorld {
    return this.#connectors.get(name) ?? World.nothing
  }

  setConnector(name: string, connector: World.ConnectorWorld): void {
    this.#connectors.set(name, connector)
  }

  removeConnector(name: string): void {
    this.#connectors.set(name, undefined)
  }

  /** Whether this worker should lead. */
  get leads(): boolean {
    return this.world.session !== undefined && this.world.leader === this.world.session
  }

  /** Connectors of which statuses are known. */
  get statusNames(): Iterable<string> {
    return this.#statuses.keys()
  }

  /** All of a connector. */
  statuses(name: string): ReadonlyArray<Status.StatusRecord> {
    return [...this.#statuses.get(name)?.values() ?? []]
  }

  status(item: Item.Item): Status.StatusRecord | undefined {
    return this.#statuses.get(item.connector)?.get(item.task ?? "connector")
  }

  setStatus(record: Status.StatusRecord): void {
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
    this.#copy(record.connector).set(record.task ?? "connector", record)
    const key = Item.key(record)
    this.#changed.set(key, record)
    this.#removed.delete(key)
  }

  #copy(name: string): Map<"connector" | number, Status.StatusRecord> {
    let copy = this.#copies.get(name)
    if (copy === undefined) this.#copies.set(name, copy = new Map(this.#statuses.get(name)))
    // also when it was forgotten in between
    this.#statuses.set(name, copy)
    return copy
  }

  /** A status that somebody else stored. */
  readStatus(record: Status.StatusRecord): void {
    const before = this.status(record)
    if (before !== undefined && before.token > record.token) return
    this.#copy(record.connector).set(record.task ?? "connector", record)
  }

  removeStatus({ connector, task }: Item.Item): void {
    const item = task === undefined ? Item.connector(connector) : Item.task(connector, task)
    if (this.status(item) === undefined) return
    const copy = this.#copy(connector)
    copy.delete(task ?? "connector")
    if (copy.size === 0) this.#statuses.set(connector, undefined)
    const key = Item.key(item)
    this.#changed.delete(key)
    this.#removed.set(key, item)
  }

  /** Takes the next number of an attempt. */
  nextAttempt(): number {
    return ++this.world.attempts
  }

  /** Takes the next number of a start. */
  nextRun(token: number): Item.Run {
    return { token, start: ++this.world.runs }
  }

  finish(): Plan.Plan {
    if (this.confirms.length > 0) this.commands.push({ _tag: "ConfirmRelease", items: this.confirms })
    this.#keepDeadlines()
    const world: World.World = {
      ...this.world,
      connectors: this.#connectors.finish(),
      statuses: this.#statuses.finish()
    }
    const nextWakeAt = earliest(world, this.world)
    return {
      world: { ...world, deadlines: this.world.deadlines },
      commands: this.commands,
      statusChanges: [...this.#changed.values()],
      removed: [...this.#removed.values()],
      events: this.events,
      transitions: this.transitions,
      nextWakeAt
    }
  }

  #keepDeadlines(): void {
    for (const [name, connector, old] of this.#connectors.changed()) {
      if (connector === undefined) continue
      const at = World.nextAt(connector)
      const before = World.nextAt(old ?? World.nothing)
      // one that was due was taken out
      if (at !== Infinity && (at !== before || before <= this.now)) {
        this.world.deadlines = Deadlines.add(this.world.deadlines, at, name)
      }
    }
  }
}

/** The earliest deadline that still counts; those before it that do not are dropped. */
const earliest = (world: World.World, kept: Mutable<Pick<World.World, "deadlines">>): number => {
  for (let first = Deadlines.first(kept.deadlines); first !== undefined; first = Deadlines.first(kept.deadlines)) {
    if (World.nextAt(World.connector(world, first.key)) === first.at) return first.at
    kept.deadlines = Deadlines.rest(kept.deadlines)
  }
  return Infinity
}
