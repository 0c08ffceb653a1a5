import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { Command } from "effect/cli"
import { options } from "../src/options.ts"
import type { Options } from "../src/worker.ts"

/** Runs the command with something that takes the options instead of the worker. */
const parse = Effect.fnUntraced(
  function*(flags: ReadonlyArray<string>, env: Readonly<Record<string, string>>) {
    let taken: Options | undefined
    const command = Command.make("kelpie", options, (options) => Effect.sync(() => void (taken = options)))
    const provider = ConfigProvider.fromEnv({ env })
    yield* Command.runWith(command, { version: "0.0.0" })(flags).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, provider)
    )
    return taken
  },
  Effect.provide(NodeServices.layer)
)

/** What the command says of wrong options. */
const refused = (flags: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.map(
    Effect.flip(parse(flags, env)),
    (error) => error._tag === "ShowHelp" ? error.errors.map(({ message }) => message).join("\n") : error.message
  )

describe("options of the worker", () => {
  it.effect("listens on the loopback address at Connect's port, and keeps its data beside it", () =>
    Effect.gen(function*() {
      const taken = yield* parse([], {})
      assert.deepInclude(taken, { host: "127.0.0.1", port: 8083, dataDir: "kelpie-data", withTestkit: false })
    }))

  it.effect("takes the flag before the variable, and the variable before the default", () =>
    Effect.gen(function*() {
      const env = { KELPIE_PORT: "1", KELPIE_HOST: "::1", KELPIE_WITH_TESTKIT: "true", KELPIE_LOG_LEVEL: "Debug" }
      const taken = yield* parse(["--port", "2"], env)
      assert.deepInclude(taken, { host: "::1", port: 2, withTestkit: true, logLevel: "Debug", partitions: 1 })
    }))

  it.effect.each(
    [
      [["--port", "70000"], {}, "--port", "a port: a whole number from 0 to 65535"],
      [["--port", "http"], {}, "--port", "number"],
      [[], { KELPIE_PORT: "70000" }, "KELPIE_PORT", "a port: a whole number from 0 to 65535"],
      [[], { KELPIE_PORT: "http" }, "KELPIE_PORT", "number"],
      [[], { KELPIE_WITH_TESTKIT: "perhaps" }, "KELPIE_WITH_TESTKIT", "false"],
      [["--data-dir", ""], {}, "--data-dir", "at least 1"],
      [["--partitions", "0"], {}, "--partitions", "a whole number from 1"],
      [["--prot", "8083"], {}, "--prot", "--port"],
      [["--synchronous", "sometimes"], {}, "--synchronous", "full"],
      [[], { KELPIE_LOG_LEVEL: "loud" }, "KELPIE_LOG_LEVEL", "Debug"]
    ] as const
  )("refuses %j %j, and names the option and what it takes", ([flags, env, option, takes]) =>
    Effect.gen(function*() {
      const text = yield* refused(flags, env)
      assert.include(text, option)
      assert.include(text, takes)
    }))
})
