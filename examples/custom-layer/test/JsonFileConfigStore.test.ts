import { assert, describe, it } from "@effect/vitest"
import { ConfigRecord, ConfigStore, type StoreError } from "@kelpie/core"
import { ConfigStoreContract } from "@kelpie/testkit"
import { describeContract } from "@kelpie/testkit/vitest"
import { Effect, type Layer } from "effect"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as JsonFileConfigStore from "../src/JsonFileConfigStore.ts"
import { folder } from "./folder.ts"

const world = Effect.map(folder, (folder) => JsonFileConfigStore.layer(path.join(folder, "config.json")))

// it is for one process: what the contract asks of two at the same time is left out
describeContract("JsonFileConfigStore", ConfigStoreContract(world, { shared: false }))

/** Opens the store, writes connectors, and closes it. */
const write = (store: Layer.Layer<ConfigStore, StoreError>, ...names: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { claim } = yield* ConfigStore
    const { commit } = yield* claim("session", Effect.succeed(true))
    for (const name of names) {
      yield* commit([{
        write: ConfigRecord.connector(name, {
          incarnation: "1",
          revision: 1,
          config: {},
          target: "STARTED",
          retries: 0,
          held: false
        })
      }])
    }
  }).pipe(Effect.provide(store))

describe("the JSON file", () => {
  it.live("holds the last record of each key, and no half-written file stands beside it", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const file = path.join(directory, "config.json")
      yield* write(JsonFileConfigStore.layer(file), "a", "b", "a")
      const { position, records } = JSON.parse(yield* Effect.promise(() => fs.readFile(file, "utf8")))
      assert.deepStrictEqual(records.map(({ key }: { readonly key: string }) => key), [
        "leader",
        "connector/b",
        "connector/a"
      ])
      assert.strictEqual(position, 4)
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(directory)), ["config.json"])
    }))

  it.live("is as it was when a replacement was never given its name", () =>
    Effect.gen(function*() {
      const file = path.join(yield* folder, "config.json")
      const store = JsonFileConfigStore.layer(file)
      yield* write(store, "a")
      yield* Effect.promise(() => fs.writeFile(`${file}.new`, `{"claim":9,"rec`))
      yield* write(store, "b")
      const keys = (yield* Effect.provide(Effect.flatMap(ConfigStore, (store) => store.changedSince(0)), store)).keys
      assert.includeMembers([...keys], ["connector/a", "connector/b"])
    }))

  it.live("is refused, and stays, when it is something else", () =>
    Effect.gen(function*() {
      const file = path.join(yield* folder, "config.json")
      yield* Effect.promise(() => fs.writeFile(file, "[1, 2]"))
      const error = yield* Effect.flip(write(JsonFileConfigStore.layer(file), "a"))
      assert.strictEqual(error.kind, "Corrupt")
      assert.include(error.message, `${file} is no config log`)
      assert.strictEqual(yield* Effect.promise(() => fs.readFile(file, "utf8")), "[1, 2]")
    }))
})
