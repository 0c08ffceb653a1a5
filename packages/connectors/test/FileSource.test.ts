import { assert, describe, it } from "@effect/vitest"
import { FileSource } from "@kelpie/connectors/FileSource"
import { Effect, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { assertError, type Batch, batches, freshFolder, pullRecords, stored, valuesOf } from "./connectorTask.ts"

const write = (file: string, text: string | Buffer) => Effect.promise(() => fs.writeFile(file, text))
const append = (file: string, text: string) => Effect.promise(() => fs.appendFile(file, text))
const rename = (from: string, to: string) => Effect.promise(() => fs.rename(from, to))
const remove = (file: string) => Effect.promise(() => fs.rm(file))

const settings = (file: string, more?: Record<string, string>) => ({ file, topic: "lines", ...more })
const source = (file: string, offset?: unknown, more?: Record<string, string>) =>
  batches(FileSource, { config: settings(file, more), offsets: () => offset })

/** The task's stream, pulled by hand. */
const pulling = (...args: Parameters<typeof source>) => Stream.toPull(source(...args))
const pullLines = <E>(pull: Effect.Effect<ReadonlyArray<Batch>, E>, count: number) =>
  Effect.map(pullRecords(pull, count), valuesOf)
const lastOffset = (pulled: ReadonlyArray<Batch>) => stored(FileSource, pulled.at(-1)?.offset)

/** For what no event tells: time goes on until the effect is done. */
const whileTimePasses = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(
    effect,
    TestClock.adjust("1 second").pipe(
      Effect.andThen(Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))),
      Effect.forever
    )
  )

const freshFile = Effect.map(freshFolder, (folder) => path.join(folder, "app.log"))

describe("FileSource", () => {
  it.effect("gives lines as string records, with the byte behind them as offset", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, "one\ntwo\r\ndr\u00e9i\n")
      const [batch] = yield* pullRecords(yield* pulling(file), 3)
      assert.deepStrictEqual(
        batch?.records,
        ["one", "two", "dr\u00e9i"].map((value) => ({
          topic: "lines",
          key: null,
          value,
          valueSchema: { type: "string" }
        }))
      )
      assert.deepStrictEqual(batch?.partition, { filename: file })
      assert.strictEqual(batch?.offset.position, 15)
    }))

  it.effect("gives at most batch.size lines in a batch", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, "1\n2\n3\n4\n5\n")
      const pulled = yield* pullRecords(yield* pulling(file, undefined, { "batch.size": "2" }), 5)
      assert.deepStrictEqual(pulled.map((batch) => batch.records.length), [2, 2, 1])
      assert.deepStrictEqual(pulled.map((batch) => batch.offset.position), [4, 8, 10])
    }))

  it.effect("follows a growing file by events, and holds a last line back until its end comes", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, "one\ntw")
      const pull = yield* pulling(file)
      assert.deepStrictEqual(yield* pullLines(pull, 1), ["one"])
      const next = yield* Effect.forkChild(pullLines(pull, 1), { startImmediately: true })
      yield* append(file, "o\nthr")
      assert.deepStrictEqual(yield* Fiber.join(next), ["two"])
      yield* append(file, "ee\r")
      yield* append(file, "\n")
      assert.deepStrictEqual(yield* pullLines(pull, 1), ["three"])
    }))

  it.effect("waits for a missing file", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const next = yield* Effect.forkChild(Effect.flatMap(pulling(file), (pull) => pullLines(pull, 1)), {
        startImmediately: true
      })
      yield* write(file, "here\n")
      assert.deepStrictEqual(yield* Fiber.join(next), ["here"])
    }))

  it.effect("waits for a missing folder, and looks every poll.interval.ms", () =>
    Effect.gen(function*() {
      const folder = path.join(yield* freshFolder, "later")
      const file = path.join(folder, "app.log")
      const pull = yield* pulling(file)
      const next = yield* Effect.forkChild(whileTimePasses(pullLines(pull, 1)), { startImmediately: true })
      yield* Effect.promise(() => fs.mkdir(folder))
      yield* write(file, "here\n")
      assert.deepStrictEqual(yield* Fiber.join(next), ["here"])
      // and it watches the folder now
      const more = yield* Effect.forkChild(pullLines(pull, 1), { startImmediately: true })
      yield* append(file, "more\n")
      assert.deepStrictEqual(yield* Fiber.join(more), ["more"])
    }))

  it.effect("starts again after a truncation", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, "one\ntwo\n")
      const pull = yield* pulling(file)
      yield* pullLines(pull, 2)
      yield* write(file, "new\n")
      const pulled = yield* pullRecords(pull, 1)
      assert.deepStrictEqual(valuesOf(pulled), ["new"])
      assert.strictEqual(pulled[0]?.offset.position, 4)
    }))

  it.effect("starts again when the file was rewritten and is longer than before", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, "one\ntwo\n")
      const pull = yield* pulling(file)
      yield* pullLines(pull, 2)
      yield* write(file, "ONE\nTWO\nTHREE\n")
      assert.deepStrictEqual(yield* pullLines(pull, 3), ["ONE", "TWO", "THREE"])
    }))

  it.effect("reads a renamed file to its end, its last line too, then the file that has its name", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, "1\n2\n")
      const pull = yield* pulling(file)
      yield* pullLines(pull, 2)
      yield* rename(file, `${file}.1`)
      yield* append(`${file}.1`, "3\n4 without end")
      yield* write(file, "5\n")
      assert.deepStrictEqual(yield* pullLines(pull, 3), ["3", "4 without end", "5"])
    }))

  it.effect("follows a renamed file until the new one is written to", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, "1\n")
      const pull = yield* pulling(file)
      yield* pullLines(pull, 1)
      yield* rename(file, `${file}.1`)
      yield* write(file, "")
      yield* append(`${file}.1`, "2\n")
      assert.deepStrictEqual(yield* pullLines(pull, 1), ["2"])
      yield* append(`${file}.1`, "3\n")
      yield* append(file, "4\n")
      assert.deepStrictEqual(yield* pullLines(pull, 2), ["3", "4"])
    }))

  it.effect("goes on in a file that was renamed while the task was stopped, then with the new one", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, "1\n2\n3\n")
      const offset = lastOffset(yield* pullRecords(yield* pulling(file, undefined, { "batch.size": "2" }), 2))
      yield* rename(file, path.join(path.dirname(file), "app-2026.log"))
      yield* write(file, "4\n5\n6\n7\n")
      assert.deepStrictEqual(yield* pullLines(yield* pulling(file, offset), 5), ["3", "4", "5", "6", "7"])
    }))

  it.effect("reads a file anew that took the name while the task was stopped", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, "1\n2\n")
      const offset = lastOffset(yield* pullRecords(yield* pulling(file), 2))
      // a file system may well give the same inode again: the checksum tells
      yield* remove(file)
      yield* write(file, "3\n4\n5\n")
      assert.deepStrictEqual(yield* pullLines(yield* pulling(file, offset), 3), ["3", "4", "5"])
    }))

  it.effect("takes the bare position that Connect stores, and starts again if the file is shorter", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, "one\ntwo\nthree\n")
      assert.deepStrictEqual(yield* pullLines(yield* pulling(file, stored(FileSource, { position: 4 })), 2), [
        "two",
        "three"
      ])
      assert.deepStrictEqual(yield* pullLines(yield* pulling(file, stored(FileSource, { position: 99 })), 3), [
        "one",
        "two",
        "three"
      ])
    }))

  it.effect.prop(
    "goes on from every offset without losing or repeating a line",
    {
      lines: Schema.Array(Schema.Literals(["", "a", "\u20ac\u20ac", "x\ry", "long".repeat(200), "\ufffd"])).check(
        Schema.isMinLength(1),
        Schema.isMaxLength(30)
      ),
      end: Schema.Literals(["\n", "\r\n"]),
      size: Schema.Literals(["1", "3", "2000"])
    },
    ({ end, lines, size }) =>
      Effect.gen(function*() {
        const file = yield* freshFile
        yield* write(file, lines.map((line) => line + end).join(""))
        const all = yield* pullRecords(yield* pulling(file, undefined, { "batch.size": size }), lines.length)
        assert.deepStrictEqual(valuesOf(all), lines)
        let done = 0
        for (const batch of all) {
          done += batch.records.length
          if (done === lines.length) break
          const rest = yield* pullLines(yield* pulling(file, stored(FileSource, batch.offset)), lines.length - done)
          assert.deepStrictEqual(rest, lines.slice(done))
        }
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 15 } }
  )

  it.effect("reads a file of many blocks, with lines longer than a block", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      const lines = Array.from({ length: 20_000 }, (_, i) => i % 5000 === 777 ? "x".repeat(600_000 + i) : `line ${i}`)
      yield* write(file, lines.join("\n") + "\n")
      assert.deepStrictEqual(yield* pullLines(yield* pulling(file), lines.length), lines)
    }))

  it.effect("fails at a line over max.line.bytes, after the lines before it", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, "short\n" + "x".repeat(11) + "\n")
      const pull = yield* pulling(file, undefined, { "max.line.bytes": "10" })
      assert.deepStrictEqual(yield* pullLines(pull, 1), ["short"])
      const error = yield* Effect.flip(pull)
      assertError(error, "PermanentError", file, "byte 6", "max.line.bytes", "10 bytes")
    }))

  it.effect("replaces bytes that are no UTF-8", () =>
    Effect.gen(function*() {
      const file = yield* freshFile
      yield* write(file, Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xe2, 0x82, 0x0a]))
      assert.deepStrictEqual(yield* pullLines(yield* pulling(file), 2), ["a\ufffdb", "\ufffd"])
    }))

  it.effect("refuses a folder", () =>
    Effect.gen(function*() {
      const folder = yield* freshFolder
      const error = yield* Effect.flip(Stream.runDrain(source(folder)))
      assertError(error, "PermanentError", folder, "not a regular file")
    }))

  it("answers to the names of Connect", () => {
    assert.include(FileSource.aliases, "org.apache.kafka.connect.file.FileStreamSourceConnector")
  })
})
