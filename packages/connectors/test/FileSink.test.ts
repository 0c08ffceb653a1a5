import { assert, describe, it } from "@effect/vitest"
import { FileSink } from "@kelpie/connectors/FileSink"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { assertError, freshFolder, sinkRecord, sinkTask } from "./connectorTask.ts"

const freshFile = Effect.map(freshFolder, (folder) => path.join(folder, "out.txt"))
const read = (file: string) => Effect.promise(() => fs.readFile(file, "utf8"))

describe("FileSink", () => {
  it.effect("appends a line for each record: strings as they are, other values as JSON", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const task = yield* sinkTask(FileSink, { file })
      const values = [
        "text",
        { a: 1, b: [true, null] },
        7,
        null,
        9007199254740993n,
        Buffer.from("hi"),
        new Map([[1, "x"]])
      ]
      yield* task.put(values.map((value) => sinkRecord(value)))
      yield* task.put([sinkRecord({ bytes: new Uint8Array([104, 105]) })])
      assert.strictEqual(
        yield* read(file),
        `text\n{"a":1,"b":[true,null]}\n7\nnull\n9007199254740993\n"aGk="\n[[1,"x"]]\n{"bytes":"aGk="}\n`
      )
    }))

  it.effect("keeps what the file holds, and lets a second task append to it", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* Effect.promise(() => fs.writeFile(file, "old\n"))
      const first = yield* sinkTask(FileSink, { file })
      const second = yield* sinkTask(FileSink, { file })
      yield* first.put([sinkRecord("1")])
      yield* second.put([sinkRecord("2")])
      yield* first.put([sinkRecord("3")])
      assert.strictEqual(yield* read(file), "old\n1\n2\n3\n")
    }))

  it.effect("begins on a new line when a crash has left half of one", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* Effect.promise(() => fs.writeFile(file, `{"id":1}\n{"id":2,"na`))
      const task = yield* sinkTask(FileSink, { file })
      yield* task.put([sinkRecord({ id: 2 }), sinkRecord({ id: 3 })])
      assert.strictEqual(yield* read(file), `{"id":1}\n{"id":2,"na\n{"id":2}\n{"id":3}\n`)
    }))

  it.effect("reports a value that has no JSON, and writes the others", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const task = yield* sinkTask(FileSink, { file })
      const circular: Record<string, unknown> = {}
      circular["self"] = circular
      yield* task.put([sinkRecord("1"), sinkRecord(circular), sinkRecord("2")])
      assert.strictEqual(yield* read(file), "1\n2\n")
      assert.deepStrictEqual(task.reported.map(([value]) => value), [circular])
    }))

  it.effect("flushes to the disk unless flush.mode is none", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const task = yield* sinkTask(FileSink, { file })
      yield* task.put([sinkRecord("1")])
      yield* task.flush ?? Effect.die("there is no flush")
      assert.isUndefined((yield* sinkTask(FileSink, { file, "flush.mode": "none" })).flush)
    }))

  it.effect("names a folder that does not exist, and does not create it", () =>
    Effect.gen(function*() {
      const folder = path.join(yield* freshFolder, "none")
      const error = yield* Effect.flip(sinkTask(FileSink, { file: path.join(folder, "out.txt") }))
      assertError(error, "PermanentError", folder, "does not exist")
    }))

  it.effect("refuses a folder in the place of the file", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(sinkTask(FileSink, { file: yield* freshFolder }))
      assertError(error, "PermanentError", "it is a folder")
    }))
})
