import { assert, describe, it } from "@effect/vitest"
import { ConfigKey, PermanentError, Plugins, TransientError, VariableProvider, VariableSettings } from "@kelpie/core"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import * as Variables from "../src/internal/variables.ts"

/** A provider that knows some values by path and key, and notes how it is used. */
const vault = () => {
  const calls: Array<string> = []
  const values: Record<string, Record<string, string>> = {
    db: { user: "scott", password: "t1ger!" },
    "": { host: "example.org", empty: "" }
  }
  const provider = VariableProvider.make("vault", {
    version: "1",
    config: { url: ConfigKey.String("url", { default: "local" }) },
    open: ({ url }) =>
      Effect.gen(function*() {
        calls.push(`open ${url}`)
        yield* Effect.addFinalizer(() => Effect.sync(() => calls.push("close")))
        return ({ keys, path }) =>
          Effect.sync(() => {
            calls.push(`read ${path}: ${keys.join()}`)
            return { values: values[path] ?? {} }
          })
      })
  })
  return { calls, provider }
}
const makeWith = (...providers: ReadonlyArray<VariableProvider.VariableProvider>) =>
  Effect.provide(Effect.flatMap(Plugins, Variables.make), Plugins.layer(providers))

describe("variables", () => {
  it.effect("are resolved with a path, without one, and several in one value", () =>
    Effect.gen(function*() {
      const { calls, provider } = vault()
      const resolve = yield* makeWith(provider)
      const { config, secrets } = yield* resolve({
        plain: "value",
        url: "db://${vault:db:user}:${vault:db:password}@${vault:host}/${vault:db:user}",
        empty: "<${vault:empty}>"
      })
      assert.deepStrictEqual({ ...config }, {
        plain: "value",
        url: "db://scott:t1ger!@example.org/scott",
        empty: "<>"
      })
      assert.deepStrictEqual([...secrets].sort(), ["", "example.org", "scott", "t1ger!"])
      assert.deepStrictEqual(
        calls,
        ["open local", "read db: user,password", "read : host,empty"],
        "each path is read once"
      )
    }))

  it.effect("cost nothing where there are none", () =>
    Effect.gen(function*() {
      const { calls, provider } = vault()
      const resolve = yield* makeWith(provider)
      const config = { a: "$1", b: "{vault:db:user}", c: "a:b" }
      const resolved = yield* resolve(config)
      assert.strictEqual(resolved.config, config)
      assert.deepStrictEqual([resolved.secrets, calls], [[], []])
    }))

  it.effect("that are no reference stay as they are", () =>
    Effect.gen(function*() {
      const resolve = yield* makeWith(vault().provider)
      const config: Record<string, string> = { a: "${notareference}", b: "${vault:db:user" }
      assert.deepStrictEqual({ ...(yield* resolve(config)).config }, config)
    }))

  it.effect("put a value in as it is, whatever signs it holds", () =>
    Effect.gen(function*() {
      const signs = VariableProvider.make("signs", {
        version: "1",
        config: {},
        open: () => Effect.succeed(() => Effect.succeed({ values: { k: "$& $1 ${vault:db:user}" } }))
      })
      const resolve = yield* makeWith(vault().provider, signs)
      assert.strictEqual((yield* resolve({ a: "<${signs:k}>" })).config["a"], "<$& $1 ${vault:db:user}>")
    }))

  it.effect("that cannot be resolved fail with the key and the variable, and no value", () =>
    Effect.gen(function*() {
      const resolve = yield* makeWith(vault().provider)
      const missing = yield* Effect.flip(resolve({ "a.url": "${vault:db:password} ${vault:db:nothing}" }))
      assert.instanceOf(missing, TransientError)
      assert.strictEqual(missing.message, `the variable \${vault:db:nothing} of "a.url" cannot be resolved`)
      const unknown = yield* Effect.flip(resolve({ "a.url": "${vault:db:password}", "b.url": "${safe:x:y}" }))
      assert.strictEqual(unknown.message, `the variable \${safe:x:y} of "b.url" cannot be resolved`)
      const inherited = yield* Effect.flip(resolve({ a: "${vault:db:toString}" }))
      assert.include(inherited.message, "${vault:db:toString}")
    }))

  it.effect("keep keys that objects have by birth", () =>
    Effect.gen(function*() {
      const resolve = yield* makeWith(vault().provider)
      const given = JSON.parse(`{"__proto__":"\${vault:host}","constructor":"x"}`) as Record<string, string>
      const { config } = yield* resolve(given)
      assert.deepStrictEqual(Object.entries(config), [["__proto__", "example.org"], ["constructor", "x"]])
    }))

  it.effect("open their provider once, also when two need it at the same time, and close it with the runtime", () =>
    Effect.gen(function*() {
      const { calls, provider } = vault()
      const gate = yield* Deferred.make<void>()
      const slow = VariableProvider.make("vault", {
        version: "1",
        config: provider.fields,
        open: (config) => Effect.andThen(Deferred.await(gate), provider.open(config))
      })
      const scope = yield* Scope.make()
      const resolve = yield* Scope.provide(makeWith(slow), scope)
      const fibers = yield* Effect.forEach(
        [1, 2, 3],
        () => Effect.forkChild(resolve({ a: "${vault:host}" }), { startImmediately: true })
      )
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.joinAll(fibers)
      yield* resolve({ a: "${vault:host}" })
      assert.deepStrictEqual(calls.filter((call) => !call.startsWith("read")), ["open local"])
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(calls.at(-1), "close")
    }))

  it.effect("try again to open a provider that could not be opened", () =>
    Effect.gen(function*() {
      let opens = 0
      const flaky = VariableProvider.make("flaky", {
        version: "1",
        config: {},
        open: () =>
          ++opens < 2
            ? Effect.fail(new PermanentError({ message: "no" }))
            : Effect.succeed(() => Effect.succeed({ values: { k: "v" } }))
      })
      const resolve = yield* makeWith(flaky)
      assert.instanceOf(yield* Effect.flip(resolve({ a: "${flaky:k}" })), PermanentError)
      assert.strictEqual((yield* resolve({ a: "${flaky:k}" })).config["a"], "v")
    }))

  it.effect("give a provider its settings, or say what is wrong with them", () =>
    Effect.gen(function*() {
      const { calls, provider } = vault()
      const strict = VariableProvider.make("strict", {
        version: "1",
        config: { port: ConfigKey.Int("port") },
        open: () => Effect.die("not opened")
      })
      const resolve = yield* Effect.provideService(makeWith(provider, strict), VariableSettings, {
        vault: { url: "remote" }
      })
      yield* resolve({ a: "${vault:host}" })
      assert.strictEqual(calls[0], "open remote")
      const error = yield* Effect.flip(resolve({ a: "${strict:k}" }))
      assert.instanceOf(error, TransientError)
      assert.match(error.message, /the variable provider strict is not set up: .*port/)
    }))

  it.effect("of an async provider fail as its rejection says", () =>
    Effect.gen(function*() {
      const rejecting = VariableProvider.makeAsync("remote", {
        version: "1",
        config: {},
        get: ({ path }) => Promise.reject(path === "x" ? new PermanentError({ message: "gone" }) : new Error("down"))
      })
      const resolve = yield* makeWith(rejecting)
      assert.instanceOf(yield* Effect.flip(resolve({ a: "${remote:x:k}" })), PermanentError)
      assert.instanceOf(yield* Effect.flip(resolve({ a: "${remote:y:k}" })), TransientError)
    }))
})
