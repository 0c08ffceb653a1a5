/** A runtime that keeps what was asked for in a JSON file that people can read, and its data in SQLite. */
import { Plugins } from "@kelpie/core"
import { Herder } from "@kelpie/herder"
import { Sqlite } from "@kelpie/sqlite"
import { Layer } from "effect"
import * as path from "node:path"
import * as Audit from "./Audit.ts"
import * as JsonFileConfigStore from "./JsonFileConfigStore.ts"

/** The layer below a directory that exists. It needs what the plugins need, and an `Auditor`. */
export const layer = <const P extends Parameters<typeof Plugins.layer>[0]>(directory: string, plugins: P) =>
  Herder.layerSolo.pipe(
    Layer.provide(Audit.layer), // the nearest: what the herder sees
    Layer.provide(JsonFileConfigStore.layer(path.join(directory, "config.json"))),
    Layer.provide(Sqlite.layer({ directory })), // the other three stores
    Layer.provide(Plugins.layer(plugins))
  )
