/**
 * The state of the cluster at a position: the last record of each key up to there, and nothing else (design, I2).
 *
 * `apply` is a map write. Every condition between keys is a join made when reading: a task set counts only if it names
 * its connector's present incarnation (I4).
 */
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as ConfigRecord from "./ConfigRecord.ts"
import * as Item from "./Item.ts"

/** An entry with the position of its record. */
export type At<A> = A & { readonly position: number }

/** The placement records of a connector's items: `connector` for its instance, else the task's number. */
export type Placements = ReadonlyMap<"connector" | number, At<ConfigRecord.PlacementEntry>>

/** Everything the config log says. Immutable and persistent: a change costs what it changes. */
export interface ClusterState {
  /** Position of the last record of the last applied commit; 0 when there is none. */
  readonly position: number
  readonly cluster: At<ConfigRecord.ClusterEntry> | undefined
  readonly leader: At<ConfigRecord.LeaderEntry> | undefined
  readonly connectors: HashMap.HashMap<string, At<ConfigRecord.ConnectorEntry>>
  readonly taskSets: HashMap.HashMap<string, At<ConfigRecord.TaskSetEntry>>
  /** By connector name, then by item. */
  readonly placements: HashMap.HashMap<string, Placements>
  /** By command id. */
  readonly outcomes: HashMap.HashMap<string, At<ConfigRecord.OutcomeEntry>>
  /** By logger. */
  readonly logLevels: HashMap.HashMap<string, At<ConfigRecord.LogLevelEntry>>
  /** Keys whose last record cannot be read, and why. */
  readonly unreadable: HashMap.HashMap<string, At<{ readonly reason: string }>>
}

/** Before the first record. */
export const empty: ClusterState = {
  position: 0,
  cluster: undefined,
  leader: undefined,
  connectors: HashMap.empty(),
  taskSets: HashMap.empty(),
  placements: HashMap.empty(),
  outcomes: HashMap.empty(),
  logLevels: HashMap.empty(),
  unreadable: HashMap.empty()
}

const at = <A>(entry: A | undefined, position: number): At<A> | undefined =>
  entry === undefined ? undefined : { ...entry, position }

const put = <A>(map: HashMap.HashMap<string, At<A>>, key: string, entry: A | undefined, position: number) =>
  entry === undefined ? HashMap.remove(map, key) : HashMap.set(map, key, { ...entry, position })

const place = (
  all: ClusterState["placements"],
  item: Item.Item,
  entry: ConfigRecord.PlacementEntry | undefined,
  position: number
): ClusterState["placements"] => {
  const records = new Map(placementsOf(all, item.connector))
  if (entry === undefined) records.delete(item.task ?? "connector")
  else records.set(item.task ?? "connector", { ...entry, position })
  return records.size === 0 ? HashMap.remove(all, item.connector) : HashMap.set(all, item.connector, records)
}

const none: Placements = new Map()
const placementsOf = (all: ClusterState["placements"], name: string): Placements =>
  Option.getOrElse(HashMap.get(all, name), () => none)

/** The state after one write. */
export const write = (self: ClusterState, write: ConfigRecord.Write, position: number): ClusterState => {
  const about = ConfigRecord.subject(write.key)
  const unreadable = HashMap.isEmpty(self.unreadable) ? self.unreadable : HashMap.remove(self.unreadable, write.key)
  const next = { ...self, position, unreadable }
  // the key decides the type of the entry: `Write` is made by the constructors of ConfigRecord only
  switch (about._tag) {
    case "cluster":
      return { ...next, cluster: at(write.entry as ConfigRecord.ClusterEntry | undefined, position) }
    case "leader":
      return { ...next, leader: at(write.entry as ConfigRecord.LeaderEntry | undefined, position) }
    case "connector":
      return {
        ...next,
        connectors: put(self.connectors, about.name, write.entry as ConfigRecord.ConnectorEntry | undefined, position)
      }
    case "tasks":
      return {
        ...next,
        taskSets: put(self.taskSets, about.name, write.entry as ConfigRecord.TaskSetEntry | undefined, position)
      }
    case "placement":
      return {
        ...next,
        placements: place(self.placements, about.item, write.entry as ConfigRecord.PlacementEntry | undefined, position)
      }
    case "outcome":
      return {
        ...next,
        outcomes: put(self.outcomes, about.id, write.entry as ConfigRecord.OutcomeEntry | undefined, position)
      }
    case "log-level":
      return {
        ...next,
        logLevels: put(self.logLevels, about.logger, write.entry as ConfigRecord.LogLevelEntry | undefined, position)
      }
    default:
      return next // a key of a newer version
  }
}

/** The state after one record of the log. */
export const apply = (self: ClusterState, record: ConfigRecord.Encoded): ClusterState => {
  const decoded = ConfigRecord.decode(record)
  switch (decoded._tag) {
    case "Write":
      return write(self, decoded.write, record.position)
    case "Unknown":
      return { ...self, position: record.position }
    default: {
      const removed = write(self, { key: record.key, entry: undefined } as ConfigRecord.Write, record.position)
      const { position } = record
      return {
        ...removed,
        unreadable: HashMap.set(removed.unreadable, record.key, { reason: decoded.reason, position })
      }
    }
  }
}

/** The entry of a key. */
const entryOf = (self: ClusterState, about: ConfigRecord.Subject): object | undefined => {
  switch (about._tag) {
    case "cluster":
      return self.cluster
    case "leader":
      return self.leader
    case "connector":
      return connector(self, about.name)
    case "tasks":
      return Option.getOrUndefined(HashMap.get(self.taskSets, about.name))
    case "placement":
      return placement(self, about.item)
    case "outcome":
      return Option.getOrUndefined(HashMap.get(self.outcomes, about.id))
    case "log-level":
      return Option.getOrUndefined(HashMap.get(self.logLevels, about.logger))
    default:
      return undefined
  }
}

/** Whether the last record of a key says what a write says. */
export const holds = (self: ClusterState, { entry, key }: ConfigRecord.Write): boolean => {
  const found = entryOf(self, ConfigRecord.subject(key))
  if (found === undefined || entry === undefined) return found === entry
  const { position: _, ...rest } = found as At<object>
  return JSON.stringify(rest) === JSON.stringify(entry)
}

/** The connector of that name. */
export const connector = (self: ClusterState, name: string): At<ConfigRecord.ConnectorEntry> | undefined =>
  Option.getOrUndefined(HashMap.get(self.connectors, name))

/** The task set of the connector's present incarnation (I4). */
export const taskSet = (self: ClusterState, name: string): At<ConfigRecord.TaskSetEntry> | undefined => {
  const set = Option.getOrUndefined(HashMap.get(self.taskSets, name))
  return set !== undefined && set.incarnation === connector(self, name)?.incarnation ? set : undefined
}

/** The placement record of an item. */
export const placement = (self: ClusterState, item: Item.Item): At<ConfigRecord.PlacementEntry> | undefined =>
  placementsOf(self.placements, item.connector).get(item.task ?? "connector")

/** The placement records of all items of a connector name. */
export const placements = (self: ClusterState, name: string): Placements => placementsOf(self.placements, name)

/** The token of an item's owner: the position of its `Owned` record. */
export const token = (self: ClusterState, item: Item.Item): number | undefined => {
  const record = placement(self, item)
  return record?._tag === "Owned" ? record.position : undefined
}

/** Why the connector of that name cannot be read, if so. */
export const unreadable = (self: ClusterState, name: string): string | undefined =>
  Option.getOrUndefined(HashMap.get(self.unreadable, `connector/${name}`))?.reason

/** Names of all connectors, the unreadable ones too, in the order of their UTF-16 code units. */
export const names = (self: ClusterState): ReadonlyArray<string> => {
  const names = [...HashMap.keys(self.connectors)]
  for (const key of HashMap.keys(self.unreadable)) {
    const about = ConfigRecord.subject(key)
    if (about._tag === "connector") names.push(about.name)
  }
  return names.sort()
}

/** The items that should be placed: every connector, and every task of its task set. */
export const items = (self: ClusterState, name: string): ReadonlyArray<Item.Item> => {
  if (connector(self, name) === undefined) return []
  const tasks = taskSet(self, name)?.tasks ?? []
  return [Item.connector(name), ...tasks.map((_, task) => Item.task(name, task))]
}
