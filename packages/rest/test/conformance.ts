/** The cases that any server of this API has to pass: for a herder in memory here, and for a real one elsewhere. */
import { it } from "@effect/vitest"
import { Context, Effect, type Layer } from "effect"
import { replay } from "./conformance/replay.ts"
import { themes } from "./conformance/themes.ts"

/** Where the server listens, with its prefix. Its plugins are those of `plugins.ts`. */
export class BaseUrl extends Context.Service<BaseUrl, string>()("@kelpie/rest/test/BaseUrl") {}

/** One test for each theme, against one server. */
export const conformance = <E>(title: string, server: Layer.Layer<BaseUrl, E>): void =>
  it.layer(server, { excludeTestServices: true })(title, (it) => {
    for (const theme of themes) {
      it.effect(theme.title, () => Effect.flatMap(BaseUrl, (url) => replay(theme, url)), { timeout: 60_000 })
    }
  })
