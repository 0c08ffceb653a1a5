/** Appends records with offsets and commits to the config log, and prints the number of each that was acknowledged. */
import * as ConfigRecord from "@kelpie/core/ConfigRecord"
import { ConfigStore } from "@kelpie/core/ConfigStore"
import * as Item from "@kelpie/core/Item"
import { OffsetStore } from "@kelpie/core/OffsetStore"
import { TopicLog } from "@kelpie/core/TopicLog"
import * as Sqlite from "@kelpie/sqlite/Sqlite"
import * as Effect from "effect/Effect"

const [directory = "", count = "Infinity"] = process.argv.slice(2)
const item = Item.task("orders", 0)
const run = { token: 1, start: 1 }
const bytes = new TextEncoder()

const program = Effect.gen(function*() {
  const log = yield* TopicLog
  const offsets = yield* OffsetStore
  const config = yield* ConfigStore
  const claim = yield* config.claim("child", Effect.succeed(true))
  const opened = yield* offsets.open(item, run)
  const writer = yield* log.open(item, run)
  for (let n = 1; n <= Number(count); n++) {
    const records = [{ key: null, value: bytes.encode(String(n)), headers: [], timestampMillis: n }]
    yield* writer.append(
      [{ topic: "orders", records }],
      opened.prepare([{ partition: "{}", offset: JSON.stringify({ n }) }])
    )
    yield* claim.commit([{
      write: ConfigRecord.placement(Item.task(`job-${n}`, 0), { _tag: "Released", reason: "moved" })
    }])
    process.stdout.write(`${n}\n`)
  }
})

await program.pipe(Effect.scoped, Effect.provide(Sqlite.layer({ directory })), Effect.runPromise)
