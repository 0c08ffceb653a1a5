/**
 * The leader's decisions about many workers: who gets an item, which items move when a worker joins, and what one command
 * costs among many items. No log and no store: decisions are pure, and their writes are applied to the state.
 */
import { ClusterState, ConfigRecord, Item, type LeaderCommand, type Membership } from "@kelpie/core"
import { LeaderDecision } from "@kelpie/herder"
import { Report } from "./src/Report.ts"
import { median } from "./src/Rounds.ts"

const connectors = Number(process.env["COUNT"] ?? 1000)
const tasks = 5
const workers = 10
const rounds = 15
const warmUp = 30

/** Workers of two sorts, so that it matters who can do what; `alike`: all can do everything. */
const membersOf = (count: number, alike: boolean): ReadonlyArray<Membership.Member> =>
  Array.from({ length: count }, (_, at) => ({
    workerId: `w${at}:8083`,
    session: `session-${at}`,
    plugins: alike || at % 2 === 0 ? ["Lines", "Table"] : ["Lines"],
    labels: { zone: alike || at % 3 === 0 ? "a" : "b" }
  }))

const nameOf = (at: number) => `orders-${at}`
const configOf = (at: number) => ({
  "connector.class": at % 2 === 0 ? "Lines" : "Table",
  "tasks.max": `${tasks}`,
  ...(at % 4 === 0 ? { "placement.labels": "zone=a" } : {})
})
const put = (at: number): LeaderCommand.LeaderCommand => ({
  _tag: "PutConnector",
  name: nameOf(at),
  config: configOf(at),
  expect: "absent"
})

const applied = (state: ClusterState.ClusterState, writes: ReadonlyArray<ConfigRecord.Write>) =>
  writes.reduce(LeaderDecision.after, state)

/** Connectors with their task sets, and nobody who owns anything. */
const unplaced = (count: number): ClusterState.ClusterState => {
  let state = ClusterState.empty
  for (let at = 0; at < count; at++) {
    const config = configOf(at)
    const entry: ConfigRecord.ConnectorEntry = {
      incarnation: "one",
      revision: 1,
      config,
      target: "STARTED",
      retries: 0,
      held: false
    }
    const set = Array.from({ length: tasks }, (_, task) => ({ config: { task }, digest: `${task}` }))
    state = applied(state, [
      ConfigRecord.connector(nameOf(at), entry),
      ConfigRecord.taskSet(nameOf(at), { incarnation: "one", revision: 1, digest: "", config, tasks: set })
    ])
  }
  return state
}

const nobody: ReadonlySet<string> = new Set()

const placedOn = (state: ClusterState.ClusterState, members: ReadonlyArray<Membership.Member>) =>
  applied(state, LeaderDecision.recover(state, { members }, "cluster", nobody))

/** The same records in new maps, so that nothing is remembered of them. */
const stranger = (state: ClusterState.ClusterState): ClusterState.ClusterState =>
  applied(
    { ...state, placements: ClusterState.empty.placements },
    [...state.placements].flatMap(([name, records]) =>
      Array.from(records, ([task, record]) =>
        ConfigRecord.placement(task === "connector" ? Item.connector(name) : Item.task(name, task), record))
    )
  )

/**
 * The middle of some rounds, in milliseconds of this thread's processor time: what else the machine does is not counted.
 * Neither is what is made for a round.
 */
const timed = <A, B>(make: () => A, run: (made: A) => B): { readonly millis: number; readonly last: B } => {
  const all: Array<number> = []
  for (let round = 0;; round++) {
    const made = make()
    const from = process.threadCpuUsage()
    const last = run(made)
    const { system, user } = process.threadCpuUsage(from)
    if (round >= warmUp) all.push((system + user) / 1000)
    if (all.length === rounds) return { millis: median(all), last }
  }
}

const check = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what)
}

const report = new Report(
  "placement",
  `decisions about ${connectors.toLocaleString("en-US")} connectors with ${tasks} tasks each on ${workers} workers; ` +
    `processor time, the middle of ${rounds} rounds after ${warmUp} that warm up`
)

const items = connectors * (tasks + 1)
for (const alike of [true, false]) {
  const sort = alike ? "workers that are alike" : "workers that differ"
  const members = membersOf(workers, alike)
  const state = unplaced(connectors)
  const whole = timed(() => state, (given) => LeaderDecision.recover(given, { members }, "cluster", nobody))
  check(whole.last.length === items + 1, `${whole.last.length} records`)
  report.add({ measure: `all items placed, ${sort}`, value: whole.millis, unit: "ms", budget: { atMost: 20 } })

  const placed = placedOn(state, members)
  const joined = [...members, ...membersOf(workers + 2, alike).slice(workers)]
  const join = timed(() => stranger(placed), (given) => LeaderDecision.balance(given, { members: joined }))
  check(join.last.length === Math.floor(items / 10), `${join.last.length} items move`)
  report.add({ measure: `the moves when two join, ${sort}`, value: join.millis, unit: "ms" })
}

/** What one create costs, in microseconds, in a group of so many among so many connectors. */
const creates = (among: number, group: number): number => {
  const members = membersOf(workers, true)
  const placed = placedOn(unplaced(among), members)
  const { millis } = timed(() => placed, (given) => {
    let state = given
    for (let at = 0; at < group; at++) {
      const decision = LeaderDecision.decide(state, put(among + at), { members, incarnation: `i${at}` })
      if (decision._tag === "Success") state = applied(state, decision.success.writes)
    }
    check(ClusterState.placement(state, Item.connector(nameOf(among + group - 1)))?._tag === "Owned", "not placed")
  })
  return millis / group * 1000
}
const first = creates(connectors, 1000)
report.add({ measure: "one create in a group of 1,000", value: first, unit: "us" })
const many = creates(connectors * 10, 1000)
report.add({
  measure: "the same among ten times as many connectors",
  value: many,
  unit: "us",
  note: `${(many / first).toFixed(2)} of the first`
})
report.finish()
