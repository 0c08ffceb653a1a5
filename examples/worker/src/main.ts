/** Starts the stand-alone worker: `node main.ts --port 8083 --data-dir ./data`. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as CliConfig from "effect/cli/CliConfig"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Runtime from "effect/Runtime"
import { options } from "./options.ts"
import { worker } from "./worker.ts"

// a signal is how a worker is meant to end
const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)

const services = Layer.mergeAll(
  NodeServices.layer,
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version] }),
  Layer.succeed(Logger.LogToStderr, true)
)

Command.make(
  "kelpie",
  options,
  (options) => Effect.provideService(worker(options), References.MinimumLogLevel, options.logLevel)
).pipe(
  Command.withDescription("Runs connectors that are submitted over HTTP, and keeps everything in one directory."),
  Command.run({ version: "0.1.0" }),
  Effect.provide(services),
  NodeRuntime.runMain({ teardown })
)
