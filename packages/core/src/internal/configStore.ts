/** The config store over an engine that keeps strings: applies, guards, tells what changed. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as Backoff from "../Backoff.ts"
import * as ClusterState from "../ClusterState.ts"
import * as ConfigRecord from "../ConfigRecord.ts"
import type { ConfigStore } from "../ConfigStore.ts"
import * as Newest from "../Newest.ts"
import { StoreError } from "../StoreError.ts"

/** How many changed keys are remembered; who asks for older ones looks at every key. */
const rememberedChanges = 65_536

const maxDelayMillis = 5000
const delays = Backoff.exponential(100, maxDelayMillis)

interface Changed {
  readonly position: number
  readonly key: string
}

interface Claimed {
  /** The engine's number. */
  readonly number: number
  /** Whether the outcome of a commit is unknown: then this claim appends nothing more, for its state may have a gap (I1). */
  unknown: boolean
}

/** The newest state, and what changed lately. */
const makeLog = () => {
  const newest = Newest.make(ClusterState.empty)
  let recent: Array<Changed> = []
  /** Changes up to this position are forgotten. */
  let forgotten = 0
  return {
    state: newest.get,
    apply: (next: ClusterState.ClusterState, changed: ReadonlyArray<Changed>) => {
      for (const change of changed) recent.push(change)
      if (recent.length > 2 * rememberedChanges) {
        forgotten = recent[recent.length - rememberedChanges - 1]?.position ?? forgotten
        recent = recent.slice(-rememberedChanges)
      }
      newest.set(next)
    },
    changedSince: (position: number): ConfigStore.Change => {
      const state = newest.get()
      if (position < forgotten) return { state, keys: allKeys(state) }
      const keys = new Set<string>()
      for (let i = recent.length - 1; i >= 0; i--) {
        const change = recent[i]
        if (change === undefined || change.position <= position) break
        keys.add(change.key)
      }
      return { state, keys }
    },
    changes: newest.changes
  }
}

const allKeys = (state: ClusterState.ClusterState): ReadonlyArray<string> => [
  "cluster",
  "leader",
  ...Array.from(HashMap.keys(state.connectors), (name) => `connector/${name}`),
  ...Array.from(HashMap.keys(state.taskSets), (name) => `tasks/${name}`),
  ...Array.from(HashMap.entries(state.placements)).flatMap(([name, items]) =>
    Array.from(items.keys(), (item) => `placement/${item}/${name}`)
  ),
  ...Array.from(HashMap.keys(state.outcomes), (id) => `outcome/${id}`),
  ...Array.from(HashMap.keys(state.logLevels), (logger) => `log-level/${logger}`),
  ...HashMap.keys(state.unreadable)
]

/** The position of a key's last record; 0 when there is none. */
const positionOf = (state: ClusterState.ClusterState, key: string): number => {
  const broken = HashMap.get(state.unreadable, key)
  if (broken._tag === "Some") return broken.value.position
  const about = ConfigRecord.subject(key)
  switch (about._tag) {
    case "cluster":
      return state.cluster?.position ?? 0
    case "leader":
      return state.leader?.position ?? 0
    case "connector":
      return ClusterState.connector(state, about.name)?.position ?? 0
    case "tasks": {
      const set = HashMap.get(state.taskSets, about.name)
      return set._tag === "Some" ? set.value.position : 0
    }
    case "placement":
      return ClusterState.placement(state, about.item)?.position ?? 0
    case "outcome": {
      const outcome = HashMap.get(state.outcomes, about.id)
      return outcome._tag === "Some" ? outcome.value.position : 0
    }
    case "log-level": {
      const level = HashMap.get(state.logLevels, about.logger)
      return level._tag === "Some" ? level.value.position : 0
    }
    default:
      return 0
  }
}

/** Whether a text has more bytes of UTF-8; counts only when its length alone does not tell. */
const isLarger = (text: string, maxBytes: number): boolean =>
  text.length > maxBytes || (text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes)

/** Whether an append that failed so had no effect; after any other end nobody knows. */
const hadNoEffect = (cause: Cause.Cause<StoreError>): boolean => {
  const error = Cause.findError(cause)
  return !Cause.hasInterrupts(cause) && Result.isSuccess(error) &&
    (error.success.kind === "Fenced" || error.success.kind === "Conflict")
}

/** Makes the service. */
export const make = Effect.fnUntraced(
  function*(engine: ConfigStore.Encoded): Effect.fn.Return<ConfigStore["Service"], StoreError, Scope.Scope> {
    const log = makeLog()
    const maxRecordBytes = engine.maxRecordBytes ?? 1024 * 1024
    const lock = yield* Semaphore.make(1)

    const readUnlocked = Effect.suspend(() => engine.read(log.state().position)).pipe(
      Effect.map((records) => {
        if (records.length > 0) log.apply(records.reduce(ClusterState.apply, log.state()), records)
        return log.state()
      })
    )
    const refresh = lock.withPermits(1)(readUnlocked)

    /** What was told of is read, if not now, then later: nobody tells of it again. */
    const untilRead = (failures: number): Effect.Effect<void> =>
      Effect.catch(Effect.asVoid(refresh), () =>
        Effect.andThen(
          Effect.sleep(delays(failures) ?? maxDelayMillis),
          Effect.suspend(() => untilRead(failures + 1))
        ))

    const append = Effect.fnUntraced(function*(claim: Claimed, writes: ReadonlyArray<ConfigRecord.Write>) {
      if (claim.unknown) {
        return yield* new StoreError({
          kind: "Fenced",
          operation: "commit",
          detail: "the outcome of an earlier commit is unknown: claim again"
        })
      }
      const records = writes.map(ConfigRecord.encode)
      const large = records.find(({ value }) => value !== null && isLarger(value, maxRecordBytes))
      if (large !== undefined) {
        return yield* new StoreError({
          kind: "Conflict",
          operation: "commit",
          detail: `the record "${large.key}" is larger than ${maxRecordBytes} bytes`
        })
      }
      // an interruption between the append and its application would leave a gap in the state
      return yield* Effect.uninterruptibleMask((restore) =>
        restore(engine.append(claim.number, records)).pipe(
          Effect.onError((cause) =>
            Effect.sync(() => {
              claim.unknown = !hadNoEffect(cause)
            })
          ),
          Effect.map((positions) => applyWrites(writes, positions))
        )
      )
    })

    const applyWrites = (writes: ReadonlyArray<ConfigRecord.Write>, positions: ReadonlyArray<number>): number => {
      let state = log.state()
      const changed = writes.map((write, index) => {
        const position = positions[index] ?? state.position
        state = ClusterState.write(state, write, position)
        return { key: write.key, position }
      })
      log.apply(state, changed)
      return state.position
    }

    const commit = (claim: Claimed) => (writes: ReadonlyArray<ConfigStore.GuardedWrite>) =>
      lock.withPermits(1)(Effect.suspend(() => {
        const stale = writes.find(({ expect, write }) =>
          expect !== undefined && positionOf(log.state(), write.key) !== expect
        )
        return stale === undefined
          ? append(claim, writes.map((_) => _.write))
          : Effect.fail(
            new StoreError({ kind: "Conflict", operation: "commit", detail: `"${stale.write.key}" has changed` })
          )
      }))

    if (engine.changed !== undefined) {
      // listens before it reads: what is appended in between is told of
      yield* Stream.runForEach(engine.changed, () => untilRead(1)).pipe(Effect.forkScoped({ startImmediately: true }))
    }
    yield* refresh
    return {
      state: Effect.sync(log.state),
      refresh,
      changedSince: (position) => Effect.sync(() => log.changedSince(position)),
      changes: log.changes,
      exclusive: engine.exclusive ?? Effect.void,
      clusterId: engine.clusterId,
      maxRecordBytes,
      claim: (session, confirm) =>
        lock.withPermits(1)(Effect.gen(function*() {
          const claim: Claimed = { number: yield* engine.claim, unknown: false }
          if (!(yield* confirm)) {
            return yield* new StoreError({ kind: "Fenced", operation: "claim", detail: "somebody else should lead" })
          }
          yield* readUnlocked
          const term = yield* append(claim, [{ key: "leader", entry: { session } }])
          return { term, commit: commit(claim) }
        }))
    }
  }
)
