import { Effect } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"

/** A fresh folder, removed with the scope. */
export const folder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "kelpie-custom-layer-"))),
  (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true }))
)
