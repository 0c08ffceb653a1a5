/**
 * The decision for one connector: ownership first, then what is asked for, then its runs, then its lane.
 *
 * Each part compares what should be with what is and sends its machine the event that brings them together.
 */
import type * as ConfigRecord from "@kelpie/core/ConfigRecord"
import * as Item from "@kelpie/core/Item"
import * as View from "../View.ts"
import type * as World from "../World.ts"
import type { Draft } from "./draft.ts"
import * as planLane from "./planLane.ts"
import * as planRun from "./planRun.ts"
import * as planStatus from "./planStatus.ts"

export { leaderKnown, message as laneMessage } from "./planLane.ts"
export { message as runMessage } from "./planRun.ts"

/** Looks at every connector that something happened to, then gives free slots to who waits for one. */
export const planDirty = (draft: Draft): void => {
  for (const name of draft.dirty) act(draft, name)
  planRun.admit(draft)
  planLane.admit(draft)
  // who was admitted shows it too
  for (const name of draft.dirty) show(draft, name)
}

const act = (draft: Draft, name: string): void => {
  const { wanted } = draft.logged(name)
  planRun.plan(draft, Item.connector(name), wanted.get("connector"))
  const tasks = new Set(draft.connector(name).tasks.keys())
  for (const item of wanted.keys()) if (item !== "connector") tasks.add(item)
  for (const task of tasks) planRun.plan(draft, Item.task(name, task), wanted.get(task))
  planRelease(draft, name)
  planLane.plan(draft, name, wanted.get("connector"))
}

const show = (draft: Draft, name: string): void => {
  planStatus.plan(draft, name, draft.logged(name).wanted)
  if (draft.leads) planStatus.pruneAll(draft, name)
  planHealth(draft, name)
  forget(draft, name)
}

const noConfirms: World.ConnectorWorld["confirms"] = new Map()

/** What has let go of an item that it was asked to let go of, is told to the leader, once. */
const planRelease = (draft: Draft, name: string): void => {
  const connector = draft.connector(name)
  let confirms = noConfirms
  for (const [item, record] of draft.logged(name).placements) {
    if (!releasing(record, draft.world.session)) continue
    const unit: Item.Item = item === "connector" ? Item.connector(name) : Item.task(name, item)
    const run = (item === "connector" ? connector.connector : connector.tasks.get(item))?.run
    if (run !== undefined && run._tag !== "Idle") continue
    const known = connector.confirms.get(Item.key(unit))
    const due = known?.position !== record.position || (known.retryAt !== undefined && known.retryAt <= draft.now)
    if (due) draft.confirms.push({ ...unit, position: record.position })
    const failures = known?.position === record.position ? known.failures : 0
    confirms = new Map(confirms).set(
      Item.key(unit),
      due || known === undefined ? { position: record.position, failures, retryAt: undefined } : known
    )
  }
  if (confirms.size > 0 || connector.confirms.size > 0) draft.setConnector(name, { ...connector, confirms })
}

const releasing = (record: ConfigRecord.PlacementEntry, session: string | undefined): boolean =>
  record._tag === "Releasing" && record.session === session

/** The leader answered, or could not be told: then it is told again later. */
export const confirmed = (draft: Draft, items: ReadonlyArray<Item.Item>, ok: boolean): void => {
  if (ok) return // the log moves and says so
  for (const item of items) {
    const connector = draft.connector(item.connector)
    const confirm = connector.confirms.get(Item.key(item))
    if (confirm === undefined) continue
    const failures = confirm.failures + 1
    const retryAt = draft.now + draft.world.settings.confirmDelayMillis(failures)
    draft.setConnector(item.connector, {
      ...connector,
      confirms: new Map(connector.confirms).set(Item.key(item), { ...confirm, failures, retryAt })
    })
  }
}

const planHealth = (draft: Draft, name: string): void => {
  const { connector: asked, placements, set } = draft.logged(name)
  if (!draft.has(name) || asked === undefined) return
  const connector = draft.connector(name)
  /** I8: a status counts with its item's present token only. */
  const visible = (item: Item.Item) => {
    const placed = placements.get(item.task ?? "connector")
    const record = draft.status(item)
    return placed?._tag === "Owned" && record?.token === placed.position ? record : undefined
  }
  const { conditions, health } = View.healthOf({
    target: asked.target,
    connector: visible(Item.connector(name)),
    tasks: (set?.tasks ?? []).map((_, task) => visible(Item.task(name, task)))
  })
  if (connector.health === health) return
  draft.setConnector(name, { ...connector, health })
  if (connector.health === undefined) return
  draft.events.push({
    _tag: "HealthChanged",
    at: draft.now,
    connector: name,
    from: connector.health,
    to: health,
    reason: conditions[0]?.reason ?? health
  })
}

/** A connector of which nothing is left here. */
const forget = (draft: Draft, name: string): void => {
  if (draft.logged(name).connector !== undefined || !draft.has(name)) return
  const { connector, confirms, live, tasks } = draft.connector(name)
  if (connector.run._tag !== "Idle" || tasks.size > 0 || confirms.size > 0 || live !== undefined) return
  draft.removeConnector(name)
}
