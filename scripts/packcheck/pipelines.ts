/** Uses the packages as somebody who installed them: compiled under `nodenext`, and run, in memory and on SQLite. */
import * as Connectors from "@kelpie/connectors"
import { ConfigKey, SinkConnector, SourceConnector } from "@kelpie/core"
import { Herder, Kelpie } from "@kelpie/herder"
import { ConnectApi, Rest } from "@kelpie/rest"
import { nodeHandler } from "@kelpie/rest/node"
import { Sqlite } from "@kelpie/sqlite"
import * as SqliteDatabase from "@kelpie/sqlite/SqliteDatabase"
import { ScriptedSource } from "@kelpie/testkit"
import { Schema } from "effect"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"

const Numbers = SourceConnector.makeAsync("Numbers", {
  version: "1.0.0",
  config: { topic: ConfigKey.String("topic"), count: ConfigKey.Int("count", { default: 3 }) },
  offset: Schema.Struct({ at: Schema.Int }),
  async *task({ config }) {
    for (let at = 1; at <= config.count; at++) {
      yield { records: [{ topic: config.topic, value: { at } }], offset: { at } }
    }
  }
})

const until = async (what: string, look: () => boolean): Promise<void> => {
  for (let tries = 0; !look(); tries++) {
    if (tries > 500) throw new Error(`this did not happen: ${what}`)
    await setTimeout(20)
  }
}

const inMemory = async (): Promise<void> => {
  const taken: Array<unknown> = []
  const Collect = SinkConnector.makeAsync("Collect", {
    version: "1.0.0",
    config: {},
    put: async (records) => void taken.push(...records.map(({ value }) => value))
  })
  await using kelpie = await Kelpie.start({ plugins: [Numbers, Collect, ...Connectors.all] })
  await kelpie.put("numbers", Numbers.config({ topic: "numbers" }))
  await kelpie.put("collect", Collect.config({}, { topics: ["numbers"] }))
  await until("three records arrive", () => taken.length === 3)
  assert.deepEqual(taken, [{ at: 1 }, { at: 2 }, { at: 3 }])
}

const onSqlite = async (folder: string): Promise<void> => {
  const database = path.join(folder, "source.db")
  const file = path.join(folder, "copy.jsonl")
  const source = new DatabaseSync(database)
  source.exec(
    "CREATE TABLE fruits (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO fruits (name) VALUES ('fig'), ('plum')"
  )
  source.close()
  await using kelpie = await Kelpie.start({
    plugins: Connectors.all,
    stores: Sqlite.layer({ directory: path.join(folder, "data") })
  })
  await kelpie.put("fruits", Connectors.SqliteSource.config({ database }))
  await kelpie.put("copy", Connectors.FileSink.config({ file }, { topics: ["fruits"] }))
  await until(
    "two lines are written",
    () => fs.existsSync(file) && fs.readFileSync(file, "utf8").split("\n").length === 3
  )
  assert.equal(fs.readFileSync(file, "utf8"), `{"id":1,"name":"fig"}\n{"id":2,"name":"plum"}\n`)
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kelpie-installed-"))
try {
  await inMemory()
  await onSqlite(folder)
  assert.ok(
    [Herder, ConnectApi.ConnectApi, Rest.layer, nodeHandler, SqliteDatabase.open, ScriptedSource.make].every(Boolean)
  )
  process.stdout.write("pipelines in memory and on SQLite run\n")
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
