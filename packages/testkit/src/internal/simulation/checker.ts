/**
 * The laws of a simulation, checked at the stores: the checker sees every accepted write, not what workers believe.
 *
 * The first law that breaks ends the run. Laws are cited by the numbers of the invariants of the design.
 */
import * as ClusterState from "@kelpie/core/ClusterState"
import * as ConfigRecord from "@kelpie/core/ConfigRecord"
import * as Item from "@kelpie/core/Item"
import * as HashMap from "effect/HashMap"

/** A law that broke. */
export interface Violation {
  readonly law: string
  readonly detail: string
}

/** What a connector should be, by the answers that clients were given. */
export interface Expected {
  /** `unknown`: an answer was lost, or told that the outcome is unknown. */
  readonly known: boolean
  readonly exists: boolean
  readonly target?: ConfigRecord.TargetState | undefined
  readonly config?: Readonly<Record<string, string>> | undefined
}

/** The checker of one run. */
export interface Checker {
  readonly violation: () => Violation | undefined
  readonly broken: (law: string, detail: string) => void
  /** The log accepted a commit. */
  readonly committed: (claim: number, newest: number, records: ReadonlyArray<ConfigRecord.Encoded>) => void
  /** A worker's life ended: its session owns nothing any more. */
  readonly ended: (session: string) => void
  readonly opened: (store: string, item: Item.Item, run: Item.Run) => void
  readonly wrote: (store: string, item: Item.Item, run: Item.Run) => void
  readonly appended: (key: string) => void
  /** An offset was stored: everything before it has to be in the log (I9). */
  readonly offsetStored: (connector: string, task: number, position: number) => void
  readonly putDone: (connector: string, key: string) => void
  /** A position was stored: everything before it has to be in the target (I9). */
  readonly positionStored: (connector: string, topic: string, partition: number, offset: number) => void
  readonly appendedKeys: ReadonlySet<string>
  readonly put: (connector: string) => ReadonlySet<string>
  readonly state: () => ClusterState.ClusterState
  /** Compares the log with what clients were told. */
  readonly compare: (expected: ReadonlyMap<string, Expected>) => void
}

/** The name of a record of the simulated sources. */
export const recordKey = (connector: string, task: number, sequence: number): string =>
  `${task}/${sequence}/${connector}`
/** The name of a place in the log. */
export const placeKey = (topic: string, partition: number, offset: number): string => `${partition}/${offset}/${topic}`

const handOver = (record: ConfigRecord.PlacementEntry): boolean =>
  record._tag === "Releasing" && (record.reason === "changed" || record.reason === "removed")

/** A checker that has seen nothing. */
export const make = (): Checker => {
  let violation: Violation | undefined
  let state = ClusterState.empty
  const dead = new Set<string>()
  const floors = new Map<string, Item.Run>()
  const appendedKeys = new Set<string>()
  const puts = new Map<string, Set<string>>()
  const broken = (law: string, detail: string) => {
    violation ??= { law, detail }
  }
  const putBy = (connector: string) => {
    let set = puts.get(connector)
    if (set === undefined) puts.set(connector, set = new Set())
    return set
  }

  /** I5 and I6, for the placement of one item from one commit to the next. */
  const placement = (before: ClusterState.ClusterState, after: ClusterState.ClusterState, item: Item.Item) => {
    const old = ClusterState.placement(before, item)
    const now = ClusterState.placement(after, item)
    if (now?._tag !== "Owned") return
    const owned = old?._tag === "Owned" && !dead.has(old.session) && old.position !== now.position
    if (owned) broken("I5", `${Item.format(item)} was given away while its owner ran it`)
    if (item.task === undefined) return
    for (const [other, record] of ClusterState.placements(after, item.connector)) {
      if (other === "connector" || !handOver(record) || record._tag !== "Releasing" || dead.has(record.session)) {
        continue
      }
      if (old?.position !== now.position) {
        broken("I6", `${Item.format(item)} was placed before ${item.connector}-${other} was released`)
      }
    }
  }

  return {
    violation: () => violation,
    broken,
    appendedKeys,
    put: putBy,
    state: () => state,
    ended: (session) => void dead.add(session),
    committed: (claim, newest, records) => {
      if (claim !== newest) broken("I1", "a claim that is not the newest appended")
      const before = state
      state = records.reduce(ClusterState.apply, state)
      for (const { key, position } of records) {
        const about = ConfigRecord.subject(key)
        if (position <= before.position) broken("I2", `the position ${position} was given twice`)
        if (about._tag === "placement") placement(before, state, about.item)
        if (about._tag !== "tasks") continue
        const set = HashMap.get(state.taskSets, about.name)
        const connector = ClusterState.connector(state, about.name)
        const stray = set._tag === "Some" && set.value.incarnation !== connector?.incarnation
        if (stray) broken("I4", `a task set of another incarnation of ${about.name} was written`)
        if (set._tag === "Some" && connector !== undefined && set.value.revision > connector.revision) {
          broken("I4", `the task set of ${about.name} names a revision that does not exist`)
        }
      }
    },
    opened: (store, item, run) => {
      const key = `${store} ${Item.key(item)}`
      const floor = floors.get(key)
      if (floor === undefined || Item.compareRun(run, floor) > 0) floors.set(key, run)
    },
    wrote: (store, item, run) => {
      const floor = floors.get(`${store} ${Item.key(item)}`)
      if (floor !== undefined && Item.compareRun(run, floor) < 0) {
        broken("I7", `${store}: a write of a replaced run of ${Item.format(item)} was accepted`)
      }
    },
    appended: (key) => void appendedKeys.add(key),
    offsetStored: (connector, task, position) => {
      for (let sequence = 0; sequence < position; sequence++) {
        if (appendedKeys.has(recordKey(connector, task, sequence))) continue
        return broken(
          "I9",
          `the offset ${position} of ${connector}-${task} stands for record ${sequence}, which is not stored`
        )
      }
    },
    putDone: (connector, key) => void putBy(connector).add(key),
    positionStored: (connector, topic, partition, offset) => {
      const done = putBy(connector)
      for (let at = 0; at < offset; at++) {
        if (done.has(placeKey(topic, partition, at))) continue
        return broken("I9", `${connector} stored the position ${offset} of ${topic}, but record ${at} was not put`)
      }
    },
    compare: (expected) => {
      for (const [name, { config, exists, known, target }] of expected) {
        if (!known) continue
        const connector = ClusterState.connector(state, name)
        if ((connector !== undefined) !== exists) {
          broken("I14", `${name} should ${exists ? "" : "not "}exist, by the answers that were given`)
        } else if (connector !== undefined && target !== undefined && connector.target !== target) {
          broken("I14", `${name} should be ${target}, but is ${connector.target}`)
        } else if (connector !== undefined && config !== undefined && differs(config, connector.config)) {
          broken("I14", `the acknowledged config of ${name} is not the stored one`)
        }
      }
    }
  }
}

const differs = (asked: Readonly<Record<string, string>>, stored: Readonly<Record<string, string>>): boolean =>
  Object.entries(asked).some(([key, value]) => stored[key] !== value)
