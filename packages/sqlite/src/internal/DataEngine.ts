/** `data.db` on its worker thread, shared by the three stores in it, and who waits for its records. */
import type { StoreError } from "@kelpie/core/StoreError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as path from "node:path"
import type { Options } from "../Sqlite.ts"
import type { DataCalls, StoredTopic } from "./calls.ts"
import { ControlEngine } from "./ControlEngine.ts"
import * as News from "./news.ts"
import * as Readers from "./readers.ts"
import * as Settings from "./settings.ts"
import * as StoreClient from "./storeClient.ts"

/** Private: the layers hide it. The service itself is what identifies the engine of prepared offsets. */
export class DataEngine extends Context.Service<DataEngine, {
  readonly call: StoreClient.Client<DataCalls>["call"]
  /** Every topic that is known here, in the order of creation. */
  readonly topics: ReadonlyArray<StoredTopic>
  readonly topic: (name: string) => StoredTopic | undefined
  readonly readers: Readers.Readers
  readonly news: News.News
  /** Partitions of a topic that its first append creates. */
  readonly partitions: number
}>()("@kelpie/sqlite/internal/DataEngine") {
  /** Alone. */
  static readonly layer = (options: Options): Layer.Layer<DataEngine, StoreError> =>
    Layer.effect(this, make(options, undefined, false))

  /** Beside `control.db`: both have to belong together. */
  static readonly layerBeside = (
    options: Options,
    shared: boolean
  ): Layer.Layer<DataEngine, StoreError, ControlEngine> =>
    Layer.effect(this, ControlEngine.use((control) => make(options, control.opened, shared)))
}

const make = Effect.fnUntraced(function*(
  options: Options,
  control: ControlEngine["Service"]["opened"] | undefined,
  /** Other processes write too. */
  shared: boolean
): Effect.fn.Return<DataEngine["Service"], StoreError, Scope.Scope> {
  const settings = yield* Settings.make(options)
  const opening = yield* Settings.opening(settings, control?.storeId)
  const readers = Readers.make()
  const topics: Array<StoredTopic> = []
  const byName = new Map<string, StoredTopic>()
  const client = yield* StoreClient.make<DataCalls>({
    name: "data",
    file: path.join(opening.directory, "data.db"),
    opening: { ...opening, clusterId: control?.clusterId ?? opening.clusterId, retention: settings.retention },
    onNews: (news) => {
      for (const topic of news as ReadonlyArray<StoredTopic>) { // of our own worker
        topics.push(topic)
        byName.set(topic.name, topic)
      }
      readers.wakeAll()
    }
  })
  const news = shared ? yield* News.make(opening.directory, "data.db") : News.slow
  yield* Effect.forkScoped(readers.watch(news.reader(), client.call("look", null, { operation: "look" })))
  return {
    news,
    call: client.call,
    topics,
    topic: (name) => byName.get(name),
    readers,
    partitions: settings.partitions
  }
})
