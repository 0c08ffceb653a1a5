/** Real herders with the definitions of `plugins.ts`, for tests of the API; they log nothing. */
import { Plugins } from "@kelpie/core"
import { Herder } from "@kelpie/herder"
import { Sqlite } from "@kelpie/sqlite"
import { Effect, Layer, Logger } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { plugins } from "./plugins.ts"

const quiet = Logger.layer([])

/** A fresh folder that goes with the scope. */
export const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(path.join(tmpdir(), "kelpie-rest-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

/** Nothing is kept. A fresh one each time it is built. */
export const memory: Layer.Layer<Herder> = Layer.fresh(
  Herder.layerMemory.pipe(Layer.provide([Plugins.layer(plugins), quiet]))
)

/** Everything is kept in a fresh folder. */
export const sqlite: Layer.Layer<Herder> = Layer.fresh(
  Layer.unwrap(
    Effect.map(folder, (directory) => Layer.provide(Herder.layerSolo, Sqlite.layer({ directory })))
  ).pipe(Layer.provide([Plugins.layer(plugins), quiet]), Layer.orDie)
)
