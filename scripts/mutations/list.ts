/**
 * Every known way to break the runtime, with the suites that should notice it. A text has to stand once in its file: one
 * that is changed there is changed here too, and `pnpm mutations --check` says which.
 */
import type { Mutation } from "./Mutation.ts"

const core = "packages/core/src"
const herder = "packages/herder/src"
const sqlite = "packages/sqlite/src"

/** The log, its claims and its commits. */
const log: ReadonlyArray<Mutation> = [
  {
    name: "a claim does not read to the end of the log",
    breaks: "I1",
    file: `${core}/internal/configStore.ts`,
    find: "          yield* readUnlocked\n          const term",
    replace: "          const term",
    suites: ["packages/core/test/ConfigStore.test.ts"]
  },
  {
    name: "a claim does not ask whether its session should lead",
    breaks: "I1",
    file: `${core}/internal/configStore.ts`,
    find: "if (!(yield* confirm)) {",
    replace: "if (!(yield* confirm) && session === \"\") {",
    suites: ["packages/testkit/test/ConfigStoreContract.test.ts"]
  },
  {
    name: "an older claim may still append",
    breaks: "I1",
    file: `${core}/internal/configStoreMemory.ts`,
    find: "if (claim !== claims) return",
    replace: "if (claim > claims) return",
    suites: ["packages/testkit/test/ConfigStoreContract.test.ts"]
  },
  {
    name: "a claim goes on after a commit whose outcome is unknown",
    breaks: "I1",
    file: `${core}/internal/configStore.ts`,
    find: "claim.unknown = !hadNoEffect(cause)",
    replace: "claim.unknown = false",
    suites: ["packages/core/test/ConfigStore.test.ts"]
  },
  {
    name: "the leader takes an unknown outcome for a failure",
    breaks: "I1",
    file: `${herder}/internal/leader.ts`,
    find: "if (writes.some((write) => moved.has(write.key) && ClusterState.holds(state, write))) return state.position",
    replace: "if (writes.length < 0) return state.position",
    suites: ["packages/herder/test/leader.test.ts"]
  },
  {
    name: "a guard that does not hold is not looked at",
    breaks: "I3",
    file: `${core}/internal/configStore.ts`,
    find: "return stale === undefined\n",
    replace: "return stale === undefined || stale.expect !== 0\n",
    suites: ["packages/testkit/test/ConfigStoreContract.test.ts"]
  },
  {
    name: "what its guard holds for is written, the rest of the batch is left out",
    breaks: "I3",
    file: `${core}/internal/configStore.ts`,
    find: "return stale === undefined\n          ? append(claim, writes.map((_) => _.write))",
    replace:
      "return stale === undefined || writes.length > 1\n          ? append(claim, writes.filter((_) => _ !== stale).map((_) => _.write))",
    suites: ["packages/testkit/test/ConfigStoreContract.test.ts"]
  },
  {
    name: "a command id is not remembered",
    breaks: "I10",
    file: `${herder}/internal/leader.ts`,
    find: "outcomes.set(one.envelope.id, now.wall, outcome, isLogged(one.envelope))",
    replace: "outcomes.forget(now.wall)",
    suites: ["packages/herder/test/leader.test.ts"]
  },
  {
    name: "a command that is sent again while it is under way is decided twice",
    breaks: "I10",
    file: `${herder}/internal/leader.ts`,
    find: "if (same !== undefined) return yield* Deferred.await(same.done)",
    replace: "if (same !== undefined) underWay.delete(envelope.id)",
    suites: ["packages/herder/test/leader.test.ts"]
  },
  {
    name: "the state of a commit is not shown to the worker that wrote it",
    breaks: "I14",
    file: `${core}/internal/configStore.ts`,
    find: "      log.apply(state, changed)\n",
    replace: "",
    suites: ["packages/core/test/ConfigStore.test.ts"]
  }
]

/** Sessions, their leases, and what comes from other workers. */
const group: ReadonlyArray<Mutation> = [
  {
    name: "a lease is ended by an observer that was away meanwhile",
    breaks: "I13",
    file: `${core}/internal/lease.ts`,
    find: "known === undefined || wasAway || known.counter !== counter",
    replace: "known === undefined || known.counter !== counter",
    suites: ["packages/core/test/MemoryGroup.test.ts"]
  },
  {
    name: "a session acts until its lease is over for others too",
    breaks: "I12",
    file: `${core}/internal/lease.ts`,
    find: "sent + lease - margin",
    replace: "sent + lease + margin",
    suites: ["packages/core/test/MemoryGroup.test.ts"]
  },
  {
    name: "a session is ended though it has renewed since",
    breaks: "I13",
    file: `${core}/MemoryGroup.ts`,
    find: "row.counter === counter ? undefined : row",
    replace: "row.counter < 0 ? row : undefined",
    suites: ["packages/core/test/MemoryGroup.test.ts"]
  },
  {
    name: "the runs of an ended session are not fenced",
    breaks: "I6, I7",
    file: `${herder}/internal/leader.ts`,
    find: "if (fence !== undefined && ended.length > 0) {",
    replace: "if (fence !== undefined && ended.length < 0) {",
    suites: ["packages/herder/test/leader.test.ts"]
  },
  {
    name: "a new leader does not know the outcomes of the last one",
    breaks: "I10",
    file: `${herder}/internal/leader.ts`,
    find: "    outcomes.read(yield* store.state)\n",
    replace: "",
    suites: ["packages/herder/test/leader.test.ts"]
  },
  {
    name: "a command whose time is over takes effect",
    breaks: "I15",
    file: `${herder}/internal/leader.ts`,
    find: "one.endsAt < now.monotonic",
    replace: "one.endsAt < 0",
    suites: ["packages/herder/test/leader.test.ts"]
  }
]

/** What the leader decides: guards, task sets, placement. */
const decisions: ReadonlyArray<Mutation> = [
  {
    name: "a task set counts for another incarnation",
    breaks: "I4",
    file: `${core}/ClusterState.ts`,
    find: "return set !== undefined && set.incarnation === connector(self, name)?.incarnation ? set : undefined",
    replace: "return set !== undefined && connector(self, name) !== undefined ? set : undefined",
    suites: ["packages/core/test/ClusterState.test.ts"]
  },
  {
    name: "half of a task set is written",
    breaks: "I4",
    file: `${herder}/LeaderDecision.ts`,
    find: "const set: ConfigRecord.TaskSetEntry = { incarnation, revision, digest, config, tasks }",
    replace:
      "const set: ConfigRecord.TaskSetEntry = { incarnation, revision, digest, config, tasks: tasks.slice(0, Math.ceil(tasks.length / 2)) }",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  },
  {
    name: "a task set from an older revision is accepted",
    breaks: "I3, law 3",
    file: `${herder}/LeaderDecision.ts`,
    find: "connector.incarnation !== incarnation || connector.revision !== revision ||",
    replace: "connector.incarnation !== incarnation ||",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  },
  {
    name: "a task set for another incarnation is accepted",
    breaks: "I3, law 3",
    file: `${herder}/LeaderDecision.ts`,
    find: "connector.incarnation !== incarnation || connector.revision !== revision ||",
    replace: "connector.revision !== revision ||",
    suites: ["packages/herder/test/Guards.test.ts"]
  },
  {
    name: "a task set of an older owner is accepted",
    breaks: "I3, law 3",
    file: `${herder}/LeaderDecision.ts`,
    find: "ClusterState.token(state, Item.connector(name)) !== token",
    replace: "false",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  },
  {
    name: "a task set is accepted for a connector that is paused or stopped",
    breaks: "I3, law 3",
    file: `${herder}/LeaderDecision.ts`,
    find: "if (connector.target !== \"STARTED\") return refuse(",
    replace: "if (connector.target === undefined) return refuse(",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  },
  {
    name: "a patch replaces a config that was changed meanwhile",
    breaks: "I3",
    file: `${herder}/LeaderDecision.ts`,
    find: "existing.incarnation !== expect.incarnation || existing.revision !== expect.revision",
    replace: "existing.incarnation !== expect.incarnation",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  },
  {
    name: "a connector instance is placed while its owner has not let go",
    breaks: "I5",
    file: `${herder}/LeaderDecision.ts`,
    find: "return record === undefined || record._tag === \"Released\"\n    ? own(Item.connector(name)",
    replace: "return record === undefined || record._tag !== \"Owned\"\n    ? own(Item.connector(name)",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  },
  {
    name: "a task is placed while somebody owns it",
    breaks: "I5",
    file: `${herder}/LeaderDecision.ts`,
    find: "return record === undefined || record._tag === \"Released\"\n      ? own(Item.task(name, task)",
    replace: "return record === undefined || record.position > 0\n      ? own(Item.task(name, task)",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  },
  {
    name: "items are placed on a worker's id instead of its session",
    breaks: "I5",
    file: `${herder}/internal/leader.ts`,
    find: "({ members }) => ({ members, placement })",
    replace: "({ members }) => ({ members: members.map((one) => ({ ...one, session: one.workerId })), placement })",
    suites: ["packages/herder/test/leader.test.ts"]
  },
  {
    name: "new tasks do not wait for those that are changed or removed",
    breaks: "I6",
    file: `${herder}/LeaderDecision.ts`,
    find: "if (item !== \"connector\" && handOver) return []",
    replace: "if (item === \"connector\" && handOver) return []",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  },
  {
    name: "a release is confirmed for whatever was asked last",
    breaks: "I5",
    file: `${herder}/LeaderDecision.ts`,
    find: "if (record?._tag !== \"Releasing\" || record.position !== position) continue",
    replace: "if (record?._tag !== \"Releasing\") continue",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  },
  {
    name: "a release is confirmed while the item still runs",
    breaks: "I6",
    file: `${herder}/internal/planConnector.ts`,
    find: "if (run !== undefined && run._tag !== \"Idle\") continue",
    replace: "if (run !== undefined && run._tag === \"Running\") continue",
    suites: ["packages/herder/test/Plan.test.ts"]
  },
  {
    name: "a new leader forgets what ended sessions owned",
    breaks: "I17",
    file: `${herder}/LeaderDecision.ts`,
    find: "const releases = names.flatMap((name) => releaseEnded(state, name, ended))",
    replace: "const releases = names.flatMap((name) => releaseEnded(state, name, new Set()))",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  },
  {
    name: "every task is released when one of them changed",
    breaks: "law 9",
    file: `${herder}/LeaderDecision.ts`,
    find: "if (next?.digest === task.digest) return",
    replace: "if (tasks.every((one, place) => one.digest === oldTasks[place]?.digest)) return",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  },
  {
    name: "an equal config is a new revision",
    breaks: "law 9",
    file: `${herder}/LeaderDecision.ts`,
    find: "return sameConfig(existing.config, config)\n",
    replace: "return existing.config === config\n",
    suites: ["packages/herder/test/LeaderDecision.test.ts"]
  }
]

/** Writers, floors, offsets and positions. */
const data: ReadonlyArray<Mutation> = [
  {
    name: "a floor accepts every run",
    breaks: "I7",
    file: `${core}/Floors.ts`,
    find: "return floor === undefined || Item.compareRun(run, floor) >= 0",
    replace: "return floor === undefined || Item.compareRun(run, floor) !== undefined",
    suites: ["packages/testkit/test/OffsetStoreContract.test.ts"]
  },
  {
    name: "an older run may open a writer",
    breaks: "I7",
    file: `${core}/Floors.ts`,
    find: "if (floor !== undefined && Item.compareRun(run, floor) < 0) return false",
    replace: "if (floor !== undefined && Item.compareRun(run, floor) < 0) return true",
    suites: ["packages/testkit/test/OffsetStoreContract.test.ts"]
  },
  {
    name: "the offset store in memory ignores floors",
    breaks: "I7",
    file: `${core}/OffsetStore.ts`,
    find: "if (Floors.isClosed(scope) || !floors.accepts(item, run)) return",
    replace: "if (Floors.isClosed(scope)) return",
    suites: ["packages/testkit/test/OffsetStoreContract.test.ts"]
  },
  {
    name: "the topic log in memory appends for a fenced run",
    breaks: "I7",
    file: `${core}/internal/topicLogMemory.ts`,
    find: "if (Floors.isClosed(scope) || !floors.accepts(item, run)) return Effect.fail(fenced(\"append\"))",
    replace: "if (Floors.isClosed(scope)) return Effect.fail(fenced(\"append\"))",
    suites: ["packages/testkit/test/TopicLogContract.test.ts"]
  },
  {
    name: "the topic log in memory stores positions of a fenced run",
    breaks: "I7",
    file: `${core}/internal/topicLogMemory.ts`,
    find: "if (Floors.isClosed(scope) || !floors.accepts(item, run)) return Effect.fail(fenced(\"commit positions\"))",
    replace: "if (Floors.isClosed(scope)) return Effect.fail(fenced(\"commit positions\"))",
    suites: ["packages/testkit/test/TopicLogContract.test.ts"]
  },
  {
    name: "a closed writer goes on writing",
    breaks: "I7",
    file: `${core}/Floors.ts`,
    find: "scope.state._tag === \"Closed\"",
    replace: "scope.state._tag === \"\"",
    suites: ["packages/testkit/test/OffsetStoreContract.test.ts"]
  },
  {
    name: "a task opens its writers and does not read the log again",
    breaks: "I7",
    file: `${herder}/internal/worker.ts`,
    find: "      yield* stillOwned(item, run)\n",
    replace: "",
    suites: ["packages/herder/test/Fencing.test.ts"]
  },
  {
    name: "a task opens its writers and believes what it knew of the log before",
    breaks: "I7",
    file: `${herder}/internal/worker.ts`,
    find: "const state = yield* runtime.configStore.refresh",
    replace: "const state = yield* runtime.configStore.state",
    suites: ["packages/herder/test/Fencing.test.ts"]
  },
  {
    name: "a run that stops leaves its writers open",
    breaks: "I6, I7",
    file: `${herder}/internal/worker.ts`,
    find: "      Effect.ensuring(Scope.close(handle.scope, Exit.void))\n",
    replace: "",
    suites: ["packages/herder/test/Fencing.test.ts"]
  },
  {
    name: "offsets are stored before their records",
    breaks: "I9",
    file: `${herder}/internal/sourceTask.ts`,
    find: "persist(this.#env, this.#writers.log.append(appends, prepared))",
    replace:
      "Effect.andThen(prepared === undefined ? Effect.void : persist(this.#env, prepared.commit), persist(this.#env, this.#writers.log.append(appends, undefined)))",
    suites: ["simulate"]
  },
  {
    name: "the topic log in memory stores offsets before the records",
    breaks: "I9",
    file: `${core}/internal/topicLogMemory.ts`,
    find:
      "for (const one of appends) appendTo(one, options?.usage)\n                return offsets === undefined ? Effect.void : offsets.commit",
    replace:
      "return Effect.map(offsets?.commit ?? Effect.void, () => appends.forEach((one) => appendTo(one, options?.usage)))",
    suites: ["packages/core/test/TopicLog.test.ts"]
  },
  {
    name: "a task that stops drops what it has read",
    breaks: "I6, I9",
    file: `${herder}/internal/worker.ts`,
    find: "Effect.andThen(lost ? Effect.void : handle.drain)",
    replace: "Effect.andThen(Effect.void)",
    suites: ["packages/herder/test/Reconfiguration.publishing.test.ts"]
  },
  {
    name: "positions are stored before the sink has flushed",
    breaks: "I9",
    file: `${herder}/internal/sinkTask.ts`,
    find:
      "      if (task.flush !== undefined) yield* persist(env, contain(env.config.redact, task.flush))\n      yield* persist(env, subscription.commit([...dirty.values()]))\n",
    replace:
      "      yield* persist(env, subscription.commit([...dirty.values()]))\n      if (task.flush !== undefined) yield* persist(env, contain(env.config.redact, task.flush))\n",
    suites: ["packages/herder/test/BrokenConnectors.test.ts"]
  },
  {
    name: "positions are stored before the sink has taken the records",
    breaks: "I9",
    file: `${herder}/internal/sinkTask.ts`,
    find: "return Effect.as(Effect.flatMap(put(task, ready), () => moved(ready, scope)), true)",
    replace:
      "return Effect.as(moved(ready, scope).pipe(Effect.andThen(commit(task)), Effect.andThen(put(task, ready))), true)",
    suites: ["simulate"]
  },
  {
    name: "errors.tolerance none is treated as all",
    breaks: "design, section 9",
    file: `${herder}/internal/tolerance.ts`,
    find: "if (settings.tolerance === \"all\") return",
    replace: "if (settings.tolerance !== undefined) return",
    suites: ["packages/herder/test/tolerance.test.ts"]
  },
  {
    name: "a dead letter is not waited for",
    breaks: "I9",
    file: `${herder}/internal/tolerance.ts`,
    find: "  yield* report(record)\n",
    replace: "  yield* Effect.forkDetach(report(record))\n",
    suites: ["packages/herder/test/tolerance.test.ts"]
  },
  {
    name: "offsets are altered although a later task has opened",
    breaks: "I7",
    file: `${core}/Floors.ts`,
    find: "if (raised.some(([, floor]) => Item.compareRun(run, floor) < 0)) return false",
    replace: "if (raised.length < 0) return false",
    suites: ["packages/herder/test/Offsets.test.ts", "packages/testkit/test/OffsetStoreContract.test.ts"]
  },
  {
    name: "SQLite alters offsets although a later task has opened",
    breaks: "I7",
    file: `${sqlite}/internal/worker/floors.ts`,
    find: "if (raised.some(({ token }) => Number(token) > position)) {",
    replace: "if (raised.length < 0) {",
    suites: ["packages/sqlite/test/Contracts.test.ts"]
  },
  {
    name: "offsets are altered while tasks still stop",
    breaks: "I7",
    file: `${herder}/internal/offsets.ts`,
    find: "if (isReleased(state, name)) return state",
    replace: "if (isReleased(state, name) || state.position > 0) return state",
    suites: ["packages/herder/test/Offsets.test.ts"]
  },
  {
    name: "topics are remembered under the name of the connector",
    breaks: "used topics",
    file: `${herder}/internal/topicUse.ts`,
    find: "ClusterState.connector(state, name)?.incarnation)",
    replace: "ClusterState.connector(state, name)?.incarnation.slice(0, 0))",
    suites: ["packages/herder/test/Offsets.test.ts"]
  },
  {
    name: "the SQLite stores ignore floors",
    breaks: "I7",
    file: `${sqlite}/internal/worker/floors.ts`,
    find: "if (!stands(of, run)) throw",
    replace: "if (!stands(of, run) && run.start < 0) throw",
    suites: ["packages/sqlite/test/OffsetStore.test.ts"]
  },
  {
    name: "SQLite stores records without the offsets that belong to them",
    breaks: "I9",
    file: `${sqlite}/internal/worker/topics.ts`,
    find: "if (offsets !== undefined) store(offsets)",
    replace: "if (offsets === undefined) store(offsets)",
    suites: ["packages/sqlite/test/TopicLog.test.ts"]
  }
]

/** The lane of reconfiguration. */
const lane: ReadonlyArray<Mutation> = [
  {
    name: "a lane is not cancelled when its connector is paused, stopped or deleted",
    breaks: "law 11",
    file: `${herder}/internal/planLane.ts`,
    find: "if (lane._tag !== \"Idle\") send(draft, name, { _tag: \"Cancelled\" })",
    replace: "if (lane._tag === \"Idle\") send(draft, name, { _tag: \"Cancelled\" })",
    suites: ["packages/herder/test/Reconfiguration.backoff.test.ts"]
  },
  {
    name: "a cancelled attempt is not interrupted",
    breaks: "law 11",
    file: `${herder}/Lane.ts`,
    find: "Cancelled: to(\"Idle\")(({ attempt }) => [idle, [{ _tag: \"Interrupt\", attempt }]])",
    replace: "Cancelled: to(\"Idle\")(() => [idle, []])",
    suites: ["packages/herder/test/Reconfiguration.backoff.test.ts"]
  },
  {
    name: "a request cuts the wait short: the connector retries twice",
    breaks: "law 2",
    file: `${herder}/Lane.ts`,
    find: "Asked: stay, // law 2: the connector's own request keeps the schedule",
    replace: "Asked: to(\"Queued\")(({ tries }) => [queued(tries), []]),",
    suites: ["packages/herder/test/Reconfiguration.backoff.test.ts"]
  },
  {
    name: "a request while an attempt runs is dropped",
    breaks: "law 2",
    file: `${herder}/Lane.ts`,
    find: "again ? queued(fresh) : idle,",
    replace: "idle,",
    suites: ["packages/herder/test/Reconfiguration.backoff.test.ts"]
  },
  {
    name: "a due retry starts the schedule anew",
    breaks: "law 6",
    file: `${herder}/Lane.ts`,
    find: "Due: to(\"Queued\")(({ tries }) => [queued(tries), []])",
    replace: "Due: to(\"Queued\")(() => [queued(fresh), []])",
    suites: ["packages/herder/test/Reconfiguration.backoff.test.ts"]
  },
  {
    name: "an operator's retry keeps the failures before it",
    breaks: "laws 2 and 12",
    file: `${herder}/Lane.ts`,
    find:
      "Asked: stay, // law 2: the connector's own request keeps the schedule\n    Renewed: to(\"Queued\")(() => [queued(fresh), []])",
    replace:
      "Asked: stay, // law 2: the connector's own request keeps the schedule\n    Renewed: to(\"Queued\")(({ tries }) => [queued(tries), []])",
    suites: ["packages/herder/test/Reconfiguration.operator.test.ts"]
  },
  {
    name: "an operator's retry waits for the attempt that runs",
    breaks: "laws 2 and 12",
    file: `${herder}/Lane.ts`,
    find: "Renewed: to(\"Queued\")(({ attempt }) => [queued(fresh), [{ _tag: \"Interrupt\", attempt }]])",
    replace: "Renewed: to(\"Running\")((lane) => [{ ...lane, again: true }, []])",
    suites: ["packages/herder/test/Lane.test.ts"]
  },
  {
    name: "the result of another attempt is applied",
    breaks: "law 3, I11",
    file: `${herder}/internal/planLane.ts`,
    find: "connector.lane._tag === \"Running\" && connector.lane.attempt === message.attempt",
    replace: "connector.lane._tag === \"Running\"",
    suites: ["packages/herder/test/Plan.test.ts"]
  },
  {
    name: "the result of an older run is applied",
    breaks: "I11",
    file: `${herder}/internal/planRun.ts`,
    find: "state._tag === \"Queued\" || Item.compareRun(state.run, run) !== 0) return",
    replace: "state._tag === \"Queued\") return",
    suites: ["packages/herder/test/Plan.test.ts"]
  },
  {
    name: "a lane is admitted beside its own orphan",
    breaks: "law 4",
    file: `${herder}/internal/planLane.ts`,
    find: "live !== undefined && (!live.orphan || live.laneKey === laneKey)",
    replace: "live !== undefined && !live.orphan && live.laneKey === laneKey",
    suites: ["packages/herder/test/Reconfiguration.hang.test.ts"]
  },
  {
    name: "the slot of an attempt that timed out is not given back",
    breaks: "law 4, I16",
    file: `${herder}/internal/planLane.ts`,
    find:
      "  freeSlot(draft, name)\n  const connector = draft.connector(name)\n  if (connector.live === undefined) return\n",
    replace:
      "  if (ended) freeSlot(draft, name)\n  const connector = draft.connector(name)\n  if (connector.live === undefined) return\n",
    suites: ["packages/herder/test/Reconfiguration.hang.test.ts"]
  },
  {
    name: "hung connectors wait in the same pool as all others",
    breaks: "law 4",
    file: `${herder}/internal/planLane.ts`,
    find: "slow: outcome._tag === \"Failed\" && outcome.failure.class === \"timed-out\",",
    replace: "slow: false,",
    suites: ["packages/herder/test/Reconfiguration.hang.test.ts"]
  },
  {
    name: "a job is not given up at its deadline",
    breaks: "law 4, I16",
    file: `${herder}/internal/jobs.ts`,
    find: "Effect.as(Effect.sleep(job.deadline), { _tag: \"TimedOut\" } as const)",
    replace: "Effect.as(Effect.never, { _tag: \"TimedOut\" } as const)",
    suites: ["packages/herder/test/jobs.test.ts"]
  },
  {
    name: "delays overflow",
    breaks: "law 6",
    file: `${core}/Backoff.ts`,
    find: "Math.min(cap, first * factor ** Math.min(failures - 1, 64))",
    replace: "Math.min(cap, first * (factor === 2 ? 1 << (failures - 1) : factor ** (failures - 1)))",
    suites: ["packages/core/test/Backoff.test.ts"]
  },
  {
    name: "delays have no cap",
    breaks: "law 6",
    file: `${herder}/internal/policies.ts`,
    find: "const capped = Math.min(wanted, cap)",
    replace: "const capped = wanted",
    suites: ["packages/herder/test/policies.test.ts"]
  },
  {
    name: "jitter lengthens delays",
    breaks: "law 6",
    file: `${herder}/internal/policies.ts`,
    find: "capped * (0.5 + Backoff.draw(",
    replace: "capped * (1 + Backoff.draw(",
    suites: ["packages/herder/test/policies.test.ts"]
  },
  {
    name: "a permanent failure is retried",
    breaks: "law 7",
    file: `${herder}/Lane.ts`,
    find: "if (failure.class === \"permanent\") return park(\"permanent\", true)",
    replace: "",
    suites: ["packages/herder/test/Reconfiguration.backoff.test.ts"]
  },
  {
    name: "an expired key is refreshed at once for ever",
    breaks: "law 7",
    file: `${herder}/Lane.ts`,
    find: "if (failure.class === \"expired-key\" && lane.tries.last?.class !== \"expired-key\") {",
    replace: "if (failure.class === \"expired-key\") {",
    suites: ["packages/herder/test/Reconfiguration.stages.test.ts"]
  },
  {
    name: "who waits for a leader does not follow a new one",
    breaks: "law 7",
    file: `${herder}/Lane.ts`,
    find: "[followsLeader(lane.tries.last?.class) ? queued(lane.tries) : lane, []]",
    replace: "[lane, []]",
    suites: ["packages/herder/test/Reconfiguration.stages.test.ts"]
  },
  {
    name: "defects are retried for ever",
    breaks: "law 7",
    file: `${herder}/Lane.ts`,
    find: "if (tries.defects >= policy.maxDefects) return park(",
    replace: "if (tries.defects > 1_000_000) return park(",
    suites: ["packages/herder/test/Reconfiguration.operator.test.ts"]
  },
  {
    name: "bounded attempts are not bounded",
    breaks: "law 8",
    file: `${herder}/internal/policies.ts`,
    find: "if (failures >= maxAttempts || lastAt - firstAt >= maxElapsed) return undefined",
    replace: "if (lastAt - firstAt >= maxElapsed) return undefined",
    suites: ["packages/herder/test/policies.test.ts"]
  },
  {
    name: "an unchanged task set is written again",
    breaks: "law 9",
    file: `${herder}/internal/generation.ts`,
    find: "if (unchanged) return",
    replace: "if (unchanged && published.position < 0) return",
    suites: ["packages/herder/test/Reconfiguration.publishing.test.ts"]
  },
  {
    name: "a rotated secret does not restart the tasks",
    breaks: "law 9",
    file: `${herder}/internal/generation.ts`,
    find: "const { config: resolved } = yield* runtime.variables(asked.config)",
    replace: "const resolved = asked.config",
    suites: ["packages/herder/test/Reconfiguration.publishing.test.ts"]
  },
  {
    name: "the log tells every failure",
    breaks: "law 14",
    file: `${herder}/internal/planLane.ts`,
    find: "if (last === undefined || !(powerOfTwo || command.classChanged || command.parked)) return",
    replace: "if (last === undefined) return",
    suites: ["packages/herder/test/Reconfiguration.operator.test.ts"]
  },
  {
    name: "an attempt that somebody else interrupted is not told",
    breaks: "law 15",
    file: `${herder}/internal/planLane.ts`,
    find: "  const outcome = message.outcome._tag === \"Interrupted\" ? interrupted : message.outcome\n",
    replace:
      "  if (message.outcome._tag === \"Interrupted\") return\n  const outcome = message.outcome as Extract<LaneMessage, { _tag: \"Settled\" }>[\"outcome\"] & Lane.Event\n",
    suites: ["packages/herder/test/Plan.test.ts"]
  },
  {
    name: "an operator's retry is acted on at every look",
    breaks: "law 12",
    file: `${herder}/internal/planLane.ts`,
    find: "  if (key !== laneKey) draft.setConnector(name, { ...draft.connector(name), laneKey: key })\n",
    replace: "",
    suites: ["packages/herder/test/Plan.test.ts"]
  }
]

/** Status, restarts, secrets, the tick. */
const others: ReadonlyArray<Mutation> = [
  {
    name: "a status with an old token is shown",
    breaks: "I8",
    file: `${herder}/View.ts`,
    find: "return record !== undefined && record.token === ClusterState.token(self.state, item) ? record : undefined",
    replace: "return record",
    suites: ["packages/herder/test/View.test.ts"]
  },
  {
    name: "an older status replaces a newer one",
    breaks: "I8",
    file: `${herder}/internal/draft.ts`,
    find: "if (before !== undefined && before.token > record.token) return",
    replace: "",
    suites: ["packages/herder/test/View.test.ts"]
  },
  {
    name: "a connector without its tasks is healthy",
    breaks: "design, section 7",
    file: `${herder}/View.ts`,
    find: "return [{ reason: \"TaskStarting\", message: `task ${task} has not started yet` }]",
    replace: "return []",
    suites: ["packages/herder/test/View.test.ts"]
  },
  {
    name: "a failed run is restarted beyond its budget",
    breaks: "design, section 6",
    file: `${herder}/internal/planRun.ts`,
    find: "return delay === undefined || recent.length >= policy.budget ? undefined : draft.now + delay",
    replace: "return delay === undefined ? undefined : draft.now + delay",
    suites: ["packages/herder/test/Reconfiguration.restart.test.ts"]
  },
  {
    name: "a run that failed for good is restarted",
    breaks: "law 7",
    file: `${herder}/internal/planRun.ts`,
    find: "if (failure.class === \"permanent\") return undefined",
    replace: "",
    suites: ["packages/herder/test/Reconfiguration.restart.test.ts"]
  },
  {
    name: "a failure of taskConfigs shows its secrets",
    breaks: "secrets",
    file: `${herder}/internal/generation.ts`,
    find: "contain(config.redact, runtime.plugins.provide(generating)),",
    replace: "runtime.plugins.provide(generating),",
    suites: ["packages/herder/test/Reconfiguration.secrets.test.ts"]
  },
  {
    name: "a task config that holds a secret is stored",
    breaks: "secrets",
    file: `${herder}/internal/generation.ts`,
    find: "if (config.redact(text) !== text) {",
    replace: "if (config.redact(text) === \"\") {",
    suites: ["packages/herder/test/Reconfiguration.secrets.test.ts"]
  },
  {
    name: "a signal that comes during a tick is lost",
    breaks: "law 13",
    file: `${herder}/Tick.ts`,
    find: "            failing = false\n",
    replace: "            failing = false\n            awake.closeUnsafe()\n",
    suites: ["packages/herder/test/Tick.test.ts"]
  },
  {
    name: "a release that could not be confirmed is not confirmed again",
    breaks: "I17",
    file: `${herder}/World.ts`,
    find: "  for (const confirm of self.confirms.values()) at = Math.min(at, confirm.retryAt ?? Infinity)\n",
    replace: "",
    suites: ["packages/herder/test/Plan.test.ts"]
  },
  {
    name: "an older status is stored after a newer one",
    breaks: "I8",
    file: `${herder}/internal/statusWriter.ts`,
    find: "waiting = new Map([...batch, ...waiting])",
    replace: "waiting = new Map([...waiting, ...batch])",
    suites: ["packages/herder/test/statusWriter.test.ts"]
  }
]

/** All of them. */
export const mutations: ReadonlyArray<Mutation> = [...log, ...group, ...decisions, ...data, ...lane, ...others]
