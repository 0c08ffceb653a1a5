import { assert, describe, it } from "@effect/vitest"
import { DirectoryVariables } from "@kelpie/connectors/DirectoryVariables"
import { EnvVariables } from "@kelpie/connectors/EnvVariables"
import { FileVariables } from "@kelpie/connectors/FileVariables"
import { ConfigKey, PermanentError, TransientError, type VariableProvider } from "@kelpie/core"
import { Effect, Result, Schema } from "effect"
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = Effect.acquireRelease(
  Effect.promise(async () => realpath(await mkdtemp(join(tmpdir(), "kelpie-variables-")))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const write = (path: string, text: string) => Effect.promise(() => writeFile(path, text))

const open = <F extends ConfigKey.Fields>(
  provider: VariableProvider.VariableProvider<F>,
  config: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function*() {
    const values = yield* Effect.fromResult(ConfigKey.decode(provider.fields, config))
    return yield* provider.open(values)
  })

describe("properties", () => {
  /** Reads a text with the provider, the keys of `expected`. */
  const check = (text: string, expected: Readonly<Record<string, string>>) =>
    Effect.gen(function*() {
      const path = join(yield* folder, "some.properties")
      yield* write(path, text)
      const read = yield* open(FileVariables)
      assert.deepStrictEqual((yield* read({ path, keys: Object.keys(expected) })).values, expected)
    })
  const lacks = (text: string, key: string) => Effect.flip(check(text, { [key]: "" }))

  it.effect("separate key and value by =, : or white space", () =>
    check("a=1\nb:2\nc 3\nd = 4\ne\t:\t5\nf\ng=\nh==8\ni 9 = x", {
      a: "1",
      b: "2",
      c: "3",
      d: "4",
      e: "5",
      f: "",
      g: "",
      h: "=8",
      i: "9 = x"
    }))

  it.effect("skip comments and empty lines, also with an indent", () =>
    Effect.gen(function*() {
      const text = "# one\n  ! two\n\n \t\n  a = b # part of the value\n"
      yield* check(text, { a: "b # part of the value" })
      for (const key of ["#", "!", ""]) yield* lacks(text, key)
    }))

  it.effect("join a line that ends in a backslash with the next, without its indent", () =>
    check("fruits = apple, \\\n    banana, \\\r\n    # no comment\nb=1\\\\\nc=2\nd=3\\", {
      fruits: "apple, banana, # no comment",
      b: "1\\",
      c: "2",
      d: "3"
    }))

  it.effect("end a continued line at an empty one, and never continue a comment", () =>
    check("a=1\\\n\nb=2\n# c \\\nd=4", { a: "1", b: "2", d: "4" }))

  it.effect("undo escapes in keys and values", () =>
    check("a\\ b\\=c = \\t\\n\\r\\f\\\\\\q\\:\\u00e9\\uD83D\\uDE00\n", { "a b=c": "\t\n\r\f\\q:é😀" }))

  it.effect("keep white space at the end of a value, and the last of repeated keys", () =>
    check("a=1  \r\na=2 \t\rb=3", { a: "2 \t", b: "3" }))

  const escaped = (text: string) =>
    Array.from(
      { length: text.length },
      (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`
    ).join("")
  it.effect.prop(
    "are read back whatever they hold, when it is written in escapes",
    { key: Schema.String, value: Schema.String },
    ({ key, value }) => Effect.scoped(check(`${escaped(key)}=${escaped(value)}`, { [key]: value })),
    { arbitrary: { runs: 30 } }
  )
})

describe("FileVariables", () => {
  it.live("gives the keys that are asked for", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "db.properties")
      yield* write(path, "user=kelpie\npassword=p\\=w\nother=x\n")
      const read = yield* open(FileVariables)
      assert.deepStrictEqual(yield* read({ path, keys: ["user", "password"] }), {
        values: { user: "kelpie", password: "p=w" }
      })
    }))

  it.live("reads the file anew each time", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "db.properties")
      const read = yield* open(FileVariables)
      yield* write(path, "password=old")
      yield* read({ path, keys: ["password"] })
      yield* write(path, "password=new")
      assert.deepStrictEqual((yield* read({ path, keys: ["password"] })).values, { password: "new" })
    }))

  it.live("fails for now when the file or the key is missing, and names it without any value", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "db.properties")
      const read = yield* open(FileVariables)
      const noFile = yield* Effect.flip(read({ path, keys: ["password"] }))
      yield* write(path, "secret=hunter2")
      const noKey = yield* Effect.flip(read({ path, keys: ["secret", "password"] }))
      assert.instanceOf(noFile, TransientError)
      assert.include(noFile.message, path)
      assert.instanceOf(noKey, TransientError)
      assert.strictEqual(noKey.message, `${path} has no key "password"`)
    }))

  it.live("refuses an empty path, a folder, and a file that is too big", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const big = join(path, "big")
      yield* write(big, "x".repeat(1024 * 1024 + 1))
      const read = yield* open(FileVariables)
      for (const wrong of ["", path, big]) {
        assert.instanceOf(yield* Effect.flip(read({ path: wrong, keys: ["a"] })), PermanentError)
      }
    }))

  it.live("reads only inside allowed.paths, with links resolved", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const inside = join(root, "in")
      const sibling = join(root, "in-not")
      yield* Effect.promise(() => Promise.all([mkdir(inside), mkdir(sibling)]))
      yield* write(join(inside, "a"), "k=1")
      yield* write(join(sibling, "a"), "k=2")
      yield* Effect.promise(() => symlink(join(sibling, "a"), join(inside, "link")))
      yield* Effect.promise(() => symlink(inside, join(root, "way-in")))
      const read = yield* open(FileVariables, { "allowed.paths": `/nowhere,${inside}` })
      const get = (path: string) => read({ path, keys: ["k"] })
      assert.deepStrictEqual((yield* get(join(inside, "a"))).values, { k: "1" })
      assert.deepStrictEqual((yield* get(join(root, "way-in", "a"))).values, { k: "1" })
      const refused = [join(sibling, "a"), join(inside, "link"), `${inside}/../in-not/a`, join(root, "missing")]
      for (const path of refused) {
        const error = yield* Effect.flip(get(path))
        assert.instanceOf(error, PermanentError)
        assert.strictEqual(error.message, `${path} is outside of allowed.paths of this variable provider`)
      }
      assert.instanceOf(yield* Effect.flip(get(join(inside, "missing"))), TransientError)
    }))

  it("wants absolute allowed.paths", () => {
    const result = ConfigKey.decode(FileVariables.fields, { "allowed.paths": "/a,b" })
    assert.isTrue(Result.isFailure(result))
    assert.deepStrictEqual(Result.isFailure(result) && result.failure[0]?.key, "allowed.paths")
  })

  it("answers to Connect's names", () => {
    assert.deepStrictEqual(
      [FileVariables, EnvVariables, DirectoryVariables].map(({ aliases, name }) => [name, ...aliases]),
      [
        ["file", "org.apache.kafka.common.config.provider.FileConfigProvider", "FileConfigProvider"],
        ["env", "org.apache.kafka.common.config.provider.EnvVarConfigProvider", "EnvVarConfigProvider"],
        ["directory", "org.apache.kafka.common.config.provider.DirectoryConfigProvider", "DirectoryConfigProvider"]
      ]
    )
  })
})

describe("DirectoryVariables", () => {
  it.live("gives the whole text of each file, through links as Kubernetes makes them", () =>
    Effect.gen(function*() {
      const root = yield* folder
      yield* Effect.promise(() => mkdir(join(root, "..v1")))
      yield* write(join(root, "..v1", "user"), "kelpie")
      yield* write(join(root, "..v1", "password"), "pässword\n")
      yield* Effect.promise(() => symlink("..v1", join(root, "..data")))
      yield* Effect.promise(() => symlink("..data/user", join(root, "user")))
      yield* Effect.promise(() => symlink("..data/password", join(root, "password")))
      const read = yield* open(DirectoryVariables, { "allowed.paths": root })
      assert.deepStrictEqual(yield* read({ path: root, keys: ["user", "password"] }), {
        values: { user: "kelpie", password: "pässword\n" }
      })
    }))

  it.live("fails for now when a file is missing or is none", () =>
    Effect.gen(function*() {
      const root = yield* folder
      yield* Effect.promise(() => mkdir(join(root, "sub")))
      const read = yield* open(DirectoryVariables)
      for (const key of ["missing", "sub"]) {
        const error = yield* Effect.flip(read({ path: root, keys: [key] }))
        assert.instanceOf(error, TransientError)
        assert.include(error.message, join(root, key))
      }
    }))

  it.live("refuses keys that lead out of the directory, and links out of allowed.paths", () =>
    Effect.gen(function*() {
      const root = yield* folder
      const inside = join(root, "in")
      yield* Effect.promise(() => mkdir(inside))
      yield* write(join(root, "secret"), "x")
      yield* Effect.promise(() => symlink("../secret", join(inside, "link")))
      const read = yield* open(DirectoryVariables, { "allowed.paths": inside })
      for (const key of ["../secret", "..", ".", "", "a/b", "link"]) {
        assert.instanceOf(yield* Effect.flip(read({ path: inside, keys: [key] })), PermanentError, key)
      }
      assert.instanceOf(yield* Effect.flip(read({ path: "", keys: ["a"] })), PermanentError)
      assert.instanceOf(yield* Effect.flip(read({ path: root, keys: ["secret"] })), PermanentError)
    }))
})

describe("EnvVariables", () => {
  const withEnvironment = (variables: Readonly<Record<string, string>>) =>
    Effect.acquireRelease(
      Effect.sync(() => Object.assign(process.env, variables)),
      () => Effect.sync(() => Object.keys(variables).forEach((name) => delete process.env[name]))
    )

  it.effect("gives what is set, and nothing for the rest", () =>
    Effect.gen(function*() {
      yield* withEnvironment({ KELPIE_TEST_A: "1", KELPIE_TEST_EMPTY: "" })
      const read = yield* open(EnvVariables)
      const keys = ["KELPIE_TEST_A", "KELPIE_TEST_EMPTY", "KELPIE_TEST_MISSING", "constructor"]
      assert.deepStrictEqual(yield* read({ path: "", keys }), { values: { KELPIE_TEST_A: "1", KELPIE_TEST_EMPTY: "" } })
    }))

  it.effect("gives only names that the whole pattern matches", () =>
    Effect.gen(function*() {
      yield* withEnvironment({ KELPIE_TEST_X: "1", KELPIE_TEST_XY: "2", A_KELPIE_TEST_X: "3", KELPIE_TEST_Z: "4" })
      const read = yield* open(EnvVariables, { "allowlist.pattern": "KELPIE_TEST_X|KELPIE_TEST_Z" })
      const keys = ["KELPIE_TEST_X", "KELPIE_TEST_XY", "A_KELPIE_TEST_X", "KELPIE_TEST_Z"]
      assert.deepStrictEqual((yield* read({ path: "", keys })).values, { KELPIE_TEST_X: "1", KELPIE_TEST_Z: "4" })
    }))

  it.effect("refuses a path", () =>
    Effect.gen(function*() {
      const read = yield* open(EnvVariables)
      assert.instanceOf(yield* Effect.flip(read({ path: "/etc", keys: ["A"] })), PermanentError)
    }))

  it("refuses a pattern that is none", () => {
    assert.isTrue(Result.isFailure(ConfigKey.decode(EnvVariables.fields, { "allowlist.pattern": "(" })))
  })
})
