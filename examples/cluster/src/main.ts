/** `npx -y pnpm@12 cluster`: ends with exit code 0 if nothing was lost and nothing of a replaced run was stored. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { cluster } from "./cluster.ts"

const main = Effect.gen(function*() {
  const from = yield* Clock.currentTimeMillis
  const { late, wrong } = yield* Effect.scoped(
    cluster((text) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => Console.log(`${((now - from) / 1000).toFixed(1).padStart(6)} s  ${text}`)
      )
    )
  ).pipe(Effect.catch((error) => Effect.succeed({ wrong: [String(error)], late: [] })))
  const problems = [...wrong, ...late]
  yield* Console.log(problems.length === 0 ? "\nNothing was lost." : `\nWRONG:\n${problems.join("\n")}`)
  if (problems.length > 0) process.exitCode = 1
})

main.pipe(Effect.provide(Layer.mergeAll(NodeServices.layer, NodeHttpClient.layerUndici)), NodeRuntime.runMain)
