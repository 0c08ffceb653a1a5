/** `control.db` on its worker thread, for the layers of this package. */
import * as Identity from "@kelpie/core/Identity"
import type { StoreError } from "@kelpie/core/StoreError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as path from "node:path"
import type { Options } from "../Sqlite.ts"
import type { ControlCalls } from "./calls.ts"
import * as News from "./news.ts"
import * as Settings from "./settings.ts"
import * as StoreClient from "./storeClient.ts"

/** Private: the layers hide it. */
export class ControlEngine extends Context.Service<
  ControlEngine,
  StoreClient.Client<ControlCalls> & {
    readonly news: News.News
  }
>()("@kelpie/sqlite/internal/ControlEngine") {
  static readonly layer = (options: Options): Layer.Layer<ControlEngine, StoreError> =>
    Layer.effect(this, make(options, false))

  /** Beside other processes that write too. */
  static readonly layerShared = (options: Options): Layer.Layer<ControlEngine, StoreError> =>
    Layer.effect(this, make(options, true))
}

/** The id of a directory is drawn here, in case that the file is new. */
const make = Effect.fnUntraced(
  function*(options: Options, shared: boolean): Effect.fn.Return<ControlEngine["Service"], StoreError, Scope.Scope> {
    const settings = yield* Settings.make(options)
    const opening = yield* Settings.opening(settings, yield* Identity.draw)
    const client = yield* StoreClient.make<ControlCalls>({
      name: "control",
      file: path.join(opening.directory, "control.db"),
      opening
    })
    return { ...client, news: shared ? yield* News.make(opening.directory, "control.db") : News.slow }
  }
)
