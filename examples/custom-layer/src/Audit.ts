/** Middleware of a port: tells an auditor of every commit, whatever the config store below is. */
import { ConfigStore, Middleware } from "@kelpie/core"
import { Context, Effect } from "effect"

/** Who wants to know. */
export class Auditor extends Context.Service<Auditor, {
  readonly committed: (position: number, keys: ReadonlyArray<string>) => Effect.Effect<void>
}>()("example/Auditor") {}

/** Needs a config store and gives one: the members that it returns are those that change. */
export const layer = Middleware.decorate(ConfigStore, (below) =>
  Effect.map(Auditor, ({ committed }) => ({
    claim: (session, confirm) =>
      Effect.map(below.claim(session, confirm), (claim) => ({
        ...claim,
        commit: (writes) =>
          Effect.tap(claim.commit(writes), (position) => committed(position, writes.map(({ write }) => write.key)))
      }))
  })))
