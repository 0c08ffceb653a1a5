/** A feed and a shelf in memory, and a source and a sink for them that keep their contracts: what the broken ones differ from. */
import {
  ConfigKey,
  type ConnectorError,
  PermanentError,
  type SinkConnector,
  type SinkRecord,
  type SourceConnector,
  TaskSplit,
  TransientError
} from "@kelpie/core"
import { Leaks, SinkContract, SourceContract } from "@kelpie/testkit"
import { Context, Effect, Latch, Layer, Option, Redacted, Schema, Stream } from "effect"

/** What the connectors talk to. */
export class Outside extends Context.Service<Outside, {
  readonly shards: Record<string, Array<number>>
  readonly shelf: Array<number>
  readonly waiting: Set<Latch.Latch>
  readonly connections: Set<string>
  isDown: boolean
  made: number
}>()("test/Outside") {}
export type World = Outside["Service"]

export const world = Effect.sync((): World => ({
  shards: { even: [], odd: [] },
  shelf: [],
  waiting: new Set(),
  connections: new Set(),
  isDown: false,
  made: 0
}))
/** Adds numbers, in turn to the shards. */
export const produce = (world: World, count: number) =>
  Effect.sync(() => {
    for (let n = 0; n < count; n++) {
      const number = world.made++
      world.shards[number % 2 === 0 ? "even" : "odd"]?.push(number)
    }
    for (const latch of world.waiting) latch.openUnsafe()
  })
const outage = (world: World) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      world.isDown = true
    }),
    () =>
      Effect.sync(() => {
        world.isDown = false
      })
  )

export const token = "a token that is right"

export const config = {
  token: ConfigKey.Redacted("feed.token", { doc: "Opens the feed" }),
  topic: ConfigKey.String("topic", {
    default: "feed",
    doc: "Topic to write to",
    check: (topic) => topic === "" ? "is empty" : undefined
  })
}
export type Config = ConfigKey.Values<typeof config>

export const Shards = Schema.Struct({ shards: Schema.Array(Schema.String) })
export const Shard = Schema.Struct({ shard: Schema.String })
export const Next = Schema.Struct({ next: Schema.Int })

/** A connection; the scope closes it. */
export const connect = Effect.fnUntraced(function*(config: Config, name: string) {
  const world = yield* Outside
  if (world.isDown) return yield* new TransientError({ message: "the feed is down" })
  if (Redacted.value(config.token) !== token) {
    return yield* new PermanentError({ message: "the feed refuses feed.token" })
  }
  yield* Leaks.probe(`connection ${name}`)
  yield* Effect.acquireRelease(
    Effect.sync(() => world.connections.add(name)),
    () => Effect.sync(() => world.connections.delete(name))
  )
  return world
})

/** Two of a shard's numbers at a time, those to come too. */
export const readShard = (world: World, config: Config, shard: string, from: number) =>
  Stream.scoped(Stream.fromPull(Effect.gen(function*() {
    let next = from
    const latch = Latch.makeUnsafe(false)
    yield* Effect.acquireRelease(
      Effect.sync(() => world.waiting.add(latch)),
      () => Effect.sync(() => world.waiting.delete(latch))
    )
    const pull: Effect.Effect<readonly [SourceConnector.Batch<{ shard: string }, { next: number }>]> = Effect.suspend(
      () => {
        const numbers = world.shards[shard]?.slice(next, next + 2) ?? []
        if (numbers.length === 0) {
          latch.closeUnsafe()
          return Effect.andThen(latch.await, pull)
        }
        next += numbers.length
        const records = numbers.map((value) => ({ topic: config.topic, value }))
        return Effect.succeed([{ records, partition: { shard }, offset: { next } }] as const)
      }
    )
    return pull
  })))

export type TaskContext = SourceConnector.TaskContext<
  typeof config,
  typeof Shards.Type,
  typeof Shard.Type,
  typeof Next.Type
>

/** The batches of a task, each shard read by `read`. */
export const readShards = (
  context: TaskContext,
  read: typeof readShard = readShard
) =>
  Stream.unwrap(Effect.gen(function*() {
    const world = yield* connect(context.config, `task ${context.task}`)
    return Stream.fromIterable(context.taskConfig.shards).pipe(
      Stream.flatMap((shard) =>
        Stream.unwrap(Effect.map(context.offsets.get({ shard }), (stored) =>
          read(
            world,
            context.config,
            shard,
            Option.match(stored, { onNone: () => 0, onSome: ({ next }) => next })
          ))), {
        concurrency: "unbounded"
      })
    )
  }))

export const source = {
  version: "1.0.0",
  config,
  taskConfig: Shards,
  partition: Shard,
  offset: Next,
  validate: ({ topic }: Config): Effect.Effect<ReadonlyArray<ConfigKey.Problem<typeof config>>> =>
    Effect.succeed(topic === "nowhere" ? [{ property: "topic", message: "it is nowhere" }] : []),
  start: ({ config }: { readonly config: Config }) =>
    Effect.map(connect(config, "instance"), (world) => ({
      taskConfigs: (maxTasks: number) =>
        Effect.succeed(TaskSplit.evenly(Object.keys(world.shards), maxTasks).map((shards) => ({ shards })))
    })),
  task: (context: TaskContext) => readShards(context)
}

/** The contract of a source for the feed. */
export const sourceLaws = (definition: SourceConnector.SourceConnector<typeof config, Outside>) =>
  SourceContract(definition, {
    world,
    config: () => definition.config({ token }),
    services: (world) => Layer.succeed(Outside, world),
    produce,
    outage,
    held: ({ connections }) => Effect.sync(() => [...connections])
  })

export const sink = {
  version: "1.0.0",
  config,
  value: Schema.Int,
  task: ({ config, report, task }: SinkContext) =>
    Effect.map(connect(config, `task ${task}`), (world): SinkConnector.Task<number> => ({ put: putOn(world, report) }))
}
export type SinkContext = SinkConnector.TaskContext<typeof config> & SinkConnector.ReportContext<number>

/** Puts numbers on the shelf; a number below zero does not fit there. */
export const putOn = (world: World, report: SinkContext["report"]) =>
  Effect.fnUntraced(function*(records: ReadonlyArray<SinkRecord<number>>): Effect.fn.Return<void, ConnectorError> {
    if (world.isDown) return yield* new TransientError({ message: "the shelf is down" })
    for (const record of records) {
      if (record.value >= 0) world.shelf.push(record.value)
      else yield* report(record, new PermanentError({ message: "below zero" }))
    }
  })

/** The contract of a sink for the shelf. */
export const sinkLaws = (
  definition: SinkConnector.SinkConnector<typeof config, Outside>,
  options: { readonly once?: boolean } = {}
) =>
  SinkContract(definition, {
    world,
    config: () => definition.config({ token }, {}),
    services: (world) => Layer.succeed(Outside, world),
    value: (n) => n,
    badValue: -1,
    read: ({ shelf }) => Effect.sync(() => [...shelf]),
    outage,
    held: ({ connections }) => Effect.sync(() => [...connections]),
    ...options
  })
