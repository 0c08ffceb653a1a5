/** What must not compile. Each line below a directive is a mistake that a user will make; nothing here is run. */
// The compiler alone decides here.
// @effect-diagnostics *:skip-file
import {
  ConfigKey,
  ConfigStore,
  Machine,
  Middleware,
  Plugins,
  SinkConnector,
  SourceConnector,
  type Stores
} from "@kelpie/core"
import { Context, Data, Effect, Layer, Schema, Stream } from "effect"

type State = { readonly _tag: "Open" } | { readonly _tag: "Closed"; readonly since: number }
type Event = { readonly _tag: "Push" } | { readonly _tag: "Lock" }
const close = { _tag: "Closed", since: 0 } as const

export const missingEdge = Machine.make<State, Event, number, never>("door", ({ stay, to }) => ({
  Open: { Push: to("Closed")((_, __, since) => [{ _tag: "Closed", since }, []]), Lock: stay },
  // @ts-expect-error the edge for `Lock` is missing
  Closed: { Push: to("Open")(() => [{ _tag: "Open" }, []]) }
}))
export const missingState = Machine.make<State, Event, number, never>("door", ({ stay, to }) => // @ts-expect-error the row of `Closed` is missing
({ Open: { Push: to("Closed")(() => [close, []]), Lock: stay } }))
export const unnamedTarget = Machine.make<State, Event, number, never>("door", ({ stay, to }) => ({
  // @ts-expect-error the edge says that it leads to `Open`
  Open: { Push: to("Open")(() => [close, []]), Lock: stay },
  Closed: { Push: to("Open")(() => [{ _tag: "Open" }, []]), Lock: stay }
}))
export const unknownTarget = Machine.make<State, Event, number, never>("door", ({ stay, to }) => ({
  // @ts-expect-error a door is never `Ajar`
  Open: { Push: to("Ajar")(() => [close, []]), Lock: stay },
  Closed: { Push: stay, Lock: stay }
}))

class QueryError extends Data.TaggedError("QueryError")<{}> {}
class Database
  extends Context.Service<Database, { readonly query: Effect.Effect<ReadonlyArray<string>> }>()("t/Database")
{}

export const unclassifiedError = SourceConnector.make("Tables", {
  version: "1",
  config: {},
  // @ts-expect-error QueryError is none of the three classes
  task: () => Stream.fail(new QueryError())
})
export const wrongPartition = SourceConnector.make("Tables", {
  version: "1",
  config: { first: ConfigKey.Int("first") },
  partition: Schema.Struct({ table: Schema.String }),
  offset: Schema.Struct({ row: Schema.Int }),
  // @ts-expect-error a partition has `table`
  task: ({ config }) => Stream.make({ records: [], partition: { tabel: "a" }, offset: { row: config.first } })
})
export const wrongOffset = SourceConnector.make("Tables", {
  version: "1",
  config: {},
  offset: Schema.Struct({ row: Schema.Int }),
  // @ts-expect-error an offset has a number
  task: () => Stream.make({ records: [], offset: { row: "7" } })
})
export const wrongTaskConfig = SourceConnector.make("Tables", {
  version: "1",
  config: {},
  taskConfig: Schema.Struct({ tables: Schema.Array(Schema.String) }),
  // @ts-expect-error a task config has `tables`
  start: () => Effect.succeed({ taskConfigs: () => Effect.succeed([{ table: "a" }]) }),
  task: () => Stream.empty
})
export const unknownProperty = SourceConnector.make("Tables", {
  version: "1",
  config: { first: ConfigKey.Int("first") },
  // @ts-expect-error a problem is about a property of the config
  validate: () => Effect.succeed([{ property: "frist", message: "no" }]),
  task: () => Stream.empty
})

const Numbers = SourceConnector.make("Numbers", {
  version: "1",
  config: {
    token: ConfigKey.Redacted("token"),
    every: ConfigKey.Millis("every.ms"),
    batch: ConfigKey.Int("batch.size", { optional: true })
  },
  task: ({ config }) => {
    // @ts-expect-error an optional key may be absent
    const batch: number = config.batch
    return Stream.make({ records: [{ topic: "t", value: batch }], offset: undefined })
  }
})
// @ts-expect-error `token` is required
Numbers.config({ every: "5 minutes" })
// @ts-expect-error a duration, or a variable
Numbers.config({ token: "secret", every: true })
Numbers.config({ token: "${file:secrets:token}", every: "5 minutes", batch: 10 })

export const Values = SinkConnector.make("Values", {
  version: "1",
  config: {},
  value: Schema.Struct({ id: Schema.Int }),
  task: () =>
    Effect.succeed({
      put: (records) => {
        // @ts-expect-error values are what the schema says
        const ids: ReadonlyArray<string> = records.map((record) => record.value.id)
        return Effect.logDebug(ids)
      }
    })
})

const Tables = SourceConnector.make("Tables", {
  version: "1",
  config: {},
  task: () => Stream.unwrap(Effect.map(Database, () => Stream.empty))
})
// @ts-expect-error the host has to provide Database, which Tables needs
export const missingHostService: Layer.Layer<Plugins> = Plugins.layer([Tables])
// @ts-expect-error two layers in one array stand side by side: the wrapper still asks for the store below it
export const wrapperBesideItsPort: Layer.Layer<ConfigStore> = Layer.mergeAll(
  Middleware.decorate(ConfigStore, () => ({})),
  ConfigStore.layerMemory
)
// @ts-expect-error a store is missing
export const notAllStores: Layer.Layer<Stores.Stores> = ConfigStore.layerMemory

// @ts-expect-error a middleware cannot invent a result
export const inventedResult = Middleware.make(() => Effect.succeed(1))
// @ts-expect-error nor an error that nobody knows how to treat
export const unknownError = Middleware.make((_, next) => Effect.andThen(Effect.fail(new QueryError()), next))
// @ts-expect-error nor ask for services while it runs
export const lateService = Middleware.make((_, next) => Effect.andThen(Database, next))
export const wrongField = Middleware.on("PutSink", (operation, next) =>
  // @ts-expect-error `PutSink` has no attempt
  operation.attempt > 1 ? Effect.void : next)
// @ts-expect-error the result of `PollSource` is a number
export const wrongResult = Middleware.on("PollSource", () => Effect.succeed("many"))
// @ts-expect-error there is no such operation
export const wrongOperation = Middleware.timeout({ PushSink: "1 minute" })
export const wrongKey = Middleware.circuitBreaker({
  on: ["StartTask"],
  // @ts-expect-error `StartTask` has no records
  key: ({ records }) => `${records}`,
  failures: 1,
  cooldown: "1 second"
})
// @ts-expect-error `comit` is no member of the port
export const misspeltMember = Middleware.decorate(ConfigStore, (store) => ({ comit: store.claim }))
// @ts-expect-error the layer needs what its middleware needs
export const neededService: Layer.Layer<never> = Middleware.layer([Effect.as(Database, Middleware.span)])
