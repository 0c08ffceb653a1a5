/** `npx -y pnpm@12 demo`: ends with exit code 0 if every row of the source is in every copy, and with 1 otherwise. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import { demo } from "./demo.ts"
import { Progress } from "./Progress.ts"

const limit = "55 seconds"

const main = Effect.gen(function*() {
  const progress = yield* Progress.make
  const problems = yield* demo(progress).pipe(
    Effect.scoped,
    Effect.timeoutOrElse({ duration: limit, orElse: () => Effect.succeed([`it took longer than ${limit}`]) }),
    Effect.catch((error) => Effect.succeed([error.message]))
  )
  yield* progress.print(
    problems.length === 0
      ? "\nEvery row has arrived."
      : `\nWRONG:\n${problems.map((problem) => `- ${problem}`).join("\n")}`
  )
  if (problems.length > 0) process.exitCode = 1
})

main.pipe(Effect.provide(Layer.mergeAll(NodeServices.layer, FetchHttpClient.layer)), NodeRuntime.runMain)
