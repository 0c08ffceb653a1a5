import { FileSource } from "@kelpie/connectors"
import { StatusStore } from "@kelpie/core"
import { SourceContract, StatusStoreContract } from "@kelpie/testkit"
import { describeContract } from "@kelpie/testkit/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

const folder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "kelpie-readme-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true }))
)
const freshFile = Effect.map(folder, (folder) => path.join(folder, "lines.txt"))
let lines = 0
const appendLines = (file: string, count: number) =>
  Effect.sync(() => {
    for (let n = 0; n < count; n++) fs.appendFileSync(file, `line ${++lines}\n`)
  })

describeContract(
  "FileSource",
  SourceContract(FileSource, {
    world: freshFile, // made anew for each law; its scope cleans up
    config: (file) => FileSource.config({ file, topic: "lines", batchSize: 2 }),
    produce: (file, count) => appendLines(file, count) // so many more records become available
  })
)

describeContract("my store", StatusStoreContract(Effect.succeed(StatusStore.layerMemory), { durable: false }))
