import { assert, describe, it } from "@effect/vitest"
import { LeaderCommand, SessionKeyPolicy, SessionKeys, StoreError } from "@kelpie/core"
import { Herder, LeaderReceiver } from "@kelpie/herder"
import { Clock, Effect, Layer, Logger, ManagedRuntime, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { createServer } from "node:http"
import { nodeHandler } from "../src/node.ts"
import { serve } from "../src/NodeServer.ts"
import { send, sendBytes } from "./http.ts"
import * as Leaders from "./leaders.ts"

const { LeaderError } = LeaderCommand
const { ask, signed } = Leaders

const start = Effect.fnUntraced(function*(
  execute?: LeaderReceiver["Service"]["execute"],
  options?: Parameters<typeof Leaders.leader>[2]
) {
  const { keys, layer } = yield* Leaders.sharedKeys
  return { ...(yield* Leaders.leader(layer, execute, options)), keys, key: yield* keys.current }
})
const forged = { status: 403, json: { error_code: 403, message: "signature" } }
const nonce = (n: number) => n.toString(16).padStart(32, "0")

describe("a worker that takes commands", () => {
  it.effect("executes one that is signed", () =>
    Effect.gen(function*() {
      const { key, received, url } = yield* start(() => Effect.succeed({ position: 7, created: true }))
      assert.deepStrictEqual(yield* ask(url, signed(key)), { status: 200, json: { position: 7, created: true } })
      assert.deepStrictEqual(received, [Leaders.envelope])
    }))

  it.effect("does so below a prefix, that is not signed: a proxy may change it", () =>
    Effect.gen(function*() {
      const { key, received, url } = yield* start(undefined, { prefix: "/connect" })
      assert.match(url, /\/connect$/)
      assert.strictEqual((yield* ask(url, signed(key))).status, 200)
      assert.strictEqual(received.length, 1)
    }))

  it.effect("does so in a host without Effect", () =>
    Effect.gen(function*() {
      const { keys, layer } = yield* Leaders.sharedKeys
      const receiver = Layer.succeed(LeaderReceiver, { execute: () => Effect.succeed({ position: 3 }) })
      const runtime = yield* Effect.acquireRelease(
        Effect.sync(() => ManagedRuntime.make(Layer.mergeAll(Layer.mock(Herder, {}), receiver, layer))),
        ({ dispose }) => Effect.promise(dispose)
      )
      const url = yield* Leaders.listening(createServer(nodeHandler({ runtime }, { prefix: "/connect" })))
      // the runtime has a clock of its own
      const time = yield* TestClock.withLive(Clock.currentTimeMillis)
      const request = signed(yield* keys.current, { time })
      assert.deepStrictEqual(yield* ask(`${url}/connect`, request), { status: 200, json: { position: 3 } })
    }))

  it.effect("is one with a leader and keys: elsewhere there is no such path", () =>
    Effect.gen(function*() {
      const { keys, layer } = yield* Leaders.sharedKeys
      const receiver = Layer.succeed(LeaderReceiver, { execute: () => Effect.die("must not be asked") })
      const key = yield* keys.current
      for (const services of [Layer.empty, receiver, layer]) {
        const { url } = yield* Effect.provide(serve({ port: 0 }), Layer.merge(Layer.mock(Herder, {}), services))
        assert.deepStrictEqual(yield* ask(url, signed(key)), {
          status: 404,
          json: { error_code: 404, message: "HTTP 404 Not Found" }
        })
      }
    }))

  it.effect("has no other method on that path", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      for (const method of ["GET", "PUT", "OPTIONS", "DELETE"]) {
        assert.strictEqual((yield* send(url, { method, path: "/internal/leader" })).status, 404)
      }
    }))
})

describe("a signature", () => {
  it.effect("covers all that decides what a request does", () =>
    Effect.gen(function*() {
      const { key, keys, received, url } = yield* start()
      yield* TestClock.adjust("1 hour")
      const other = yield* keys.current
      const time = 3_600_000
      const genuine = signed(key, { time })
      const changed = (headers: Record<string, string>) => ({
        ...genuine,
        headers: { ...genuine.headers, ...headers }
      })
      const wrong = [
        { ...genuine, body: genuine.body.replace("\"a\"", "\"b\"") },
        changed({ "x-kelpie-digest": "0".repeat(64) }),
        changed({ "x-kelpie-signature": "0".repeat(64) }),
        changed({ "x-kelpie-timestamp": `${time + 1}` }),
        changed({ "x-kelpie-nonce": nonce(1) }),
        // known here, but not the one that signed
        changed({ "x-kelpie-key": other.id }),
        signed({ ...key, secret: Redacted.make(`${Redacted.value(key.secret)} `) }, { time }),
        signed(key, { time, path: "/internal/other" }),
        signed(key, { time, method: "PUT" })
      ]
      for (const request of wrong) assert.deepStrictEqual(yield* ask(url, request), forged)
      assert.strictEqual(received.length, 0)
      assert.strictEqual((yield* ask(url, signed(key, { time, nonce: nonce(2) }))).status, 200)
    }))

  it.effect("is needed, whole and in its form", () =>
    Effect.gen(function*() {
      const { key, received, url } = yield* start()
      const genuine = signed(key)
      const names = ["key", "timestamp", "nonce", "digest", "signature"].map((name) => `x-kelpie-${name}`)
      for (const name of names) {
        const { [name]: value = "", ...headers } = genuine.headers
        assert.deepStrictEqual(yield* ask(url, { ...genuine, headers }), forged)
        for (const bad of ["", `${value}0`.padEnd(300, "0"), `${value}, ${value}`, "-1"]) {
          // ids of keys may be anything; one that is not known is told
          if (name.endsWith("key") && bad === "-1") continue
          assert.deepStrictEqual(yield* ask(url, { ...genuine, headers: { ...headers, [name]: bad } }), forged)
        }
      }
      assert.strictEqual(received.length, 0)
    }))

  it.effect("is that of a body that came to its end", () =>
    Effect.gen(function*() {
      const { key, received, url } = yield* start()
      const genuine = signed(key, { body: `${JSON.stringify(Leaders.envelope)}   ` })
      assert.deepStrictEqual(yield* ask(url, { ...genuine, body: JSON.stringify(Leaders.envelope) }), forged)
      assert.deepStrictEqual(yield* ask(url, { ...signed(key, { nonce: nonce(1) }), body: "" }), forged)
      assert.strictEqual(received.length, 0)
    }))

  it.effect("is looked at before a body is waited for", () =>
    Effect.gen(function*() {
      const { key, url } = yield* start()
      const { headers } = signed(key)
      const lines = Object.entries({ ...headers, "x-kelpie-signature": "0".repeat(64) }).map(([name, value]) =>
        `${name}: ${value}`
      )
      const head = [
        "POST /internal/leader HTTP/1.1",
        "host: x",
        "content-length: 4000000",
        "connection: close",
        ...lines
      ]
      assert.match(yield* sendBytes(url, [...head, "", ""].join("\r\n")), /^HTTP\/1\.1 403 [^]*"message":"signature"}$/)
    }))

  it.effect("counts once", () =>
    Effect.gen(function*() {
      const { key, received, url } = yield* start()
      assert.strictEqual((yield* ask(url, signed(key))).status, 200)
      const again = { status: 403, json: { error_code: 403, message: "replayed", kind: "Unknown" } }
      assert.deepStrictEqual(yield* ask(url, signed(key)), again)
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* ask(url, signed(key)), again)
      assert.strictEqual(received.length, 1)
      assert.strictEqual((yield* ask(url, signed(key, { nonce: nonce(1) }))).status, 200)
    }))

  it.effect("is of the present, and whose clock is too far off is told by how much", () =>
    Effect.gen(function*() {
      const { key, received, url } = yield* start()
      yield* TestClock.adjust("1 minute")
      const cases = [
        [30_000, undefined],
        [90_000, undefined],
        [29_999, "the sender's clock is 30001 ms behind the leader's; 30000 ms are accepted"],
        [90_001, "the sender's clock is 30001 ms ahead of the leader's; 30000 ms are accepted"],
        [0, "the sender's clock is 60000 ms behind the leader's; 30000 ms are accepted"]
      ] as const
      for (const [n, [time, message]] of cases.entries()) {
        const answer = yield* ask(url, signed(key, { time, nonce: nonce(n) }))
        assert.deepStrictEqual(
          answer,
          message === undefined
            ? { status: 200, json: { position: 1 } }
            : { status: 403, json: { error_code: 403, message, kind: "ClockSkew" } }
        )
      }
      assert.strictEqual(received.length, 2)
    }))
})

describe("a key", () => {
  const expired = {
    status: 403,
    json: { error_code: 403, message: "the key is not known here, or was replaced", kind: "ExpiredKey" }
  }

  it.effect("has to be known", () =>
    Effect.gen(function*() {
      const { key, received, url } = yield* start()
      // the keys are read anew a second after the last time
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* ask(url, signed({ ...key, id: "another" })), expired)
      assert.strictEqual(received.length, 0)
    }))

  it.effect("serves on for ten minutes after another worker replaced it, and no longer", () =>
    Effect.gen(function*() {
      const { engine } = Leaders.makeEngine()
      const other = yield* SessionKeys.makeEncoded(engine)
      const old = yield* other.current
      const { received, url } = yield* Leaders.leader(Layer.effect(SessionKeys, SessionKeys.makeEncoded(engine)))
      const at = (millis: number, key: SessionKeys.Key) => ask(url, signed(key, { time: millis, nonce: nonce(millis) }))
      assert.strictEqual((yield* at(0, old)).status, 200)
      yield* TestClock.adjust("1 hour")
      const next = yield* other.current
      assert.notStrictEqual(next.id, old.id)
      assert.strictEqual((yield* at(3_600_000, next)).status, 200)
      yield* TestClock.adjust(599_999)
      assert.strictEqual((yield* at(4_199_999, old)).status, 200)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* at(4_200_000, old), expired)
      assert.strictEqual((yield* at(4_200_001, next)).status, 200)
      assert.strictEqual(received.length, 4)
    }))

  it.effect("cannot be looked up while the store does not answer: nothing is executed", () =>
    Effect.gen(function*() {
      const { engine } = Leaders.makeEngine()
      const key = yield* (yield* SessionKeys.makeEncoded(engine)).current
      const error = new StoreError({ kind: "Unavailable", operation: "read", detail: "s3cret path" })
      const broken = SessionKeys.makeEncoded({ ...engine, load: Effect.fail(error) })
      const { received, url } = yield* Leaders.leader(Layer.effect(SessionKeys, broken))
      assert.deepStrictEqual(yield* ask(url, signed(key)), {
        status: 503,
        json: { error_code: 503, message: "the keys of this cluster cannot be read", kind: "Store" }
      })
      assert.strictEqual(received.length, 0)
    }))
})

describe("a body", () => {
  it.effect("may have 4 MiB", () =>
    Effect.gen(function*() {
      const { key, received, url } = yield* start()
      const text = JSON.stringify(Leaders.envelope)
      const tooLarge = {
        status: 413,
        json: {
          error_code: 413,
          message: "HTTP 413 Content Too Large: the body is longer than 4194304 bytes",
          kind: "Invalid"
        }
      }
      const longest = signed(key, { body: text.padEnd(4 * 1024 * 1024) })
      assert.strictEqual((yield* ask(url, longest)).status, 200)
      const over = signed(key, { body: text.padEnd(4 * 1024 * 1024 + 1), nonce: nonce(1) })
      assert.deepStrictEqual(yield* ask(url, over), tooLarge)
      const inChunks = signed(key, { body: text.padEnd(4 * 1024 * 1024 + 1), nonce: nonce(2) })
      const { json, status } = yield* send(url, { ...inChunks, chunkBytes: 1024 * 1024 })
      assert.deepStrictEqual({ json, status }, tooLarge)
      assert.strictEqual(received.length, 1)
    }))

  it.effect("is a command in JSON, and what it is otherwise is not quoted", () =>
    Effect.gen(function*() {
      const { key, received, url } = yield* start()
      const wrong = [
        "s3cret",
        "{\"id\":\"s3cret\"",
        "[\"s3cret\"]",
        "{}",
        "{\"id\":\"1\",\"command\":{\"_tag\":\"s3cret\"}}"
      ]
      for (const [n, body] of wrong.entries()) {
        const answer = yield* send(url, signed(key, { body, nonce: nonce(n) }))
        assert.strictEqual(answer.status, 400)
        assert.deepInclude(answer.json, { error_code: 400, kind: "Invalid" })
        assert.notInclude(answer.text, "s3cret")
      }
      const plain = signed(key, { nonce: nonce(100) })
      const answer = yield* ask(url, { ...plain, headers: { ...plain.headers, "content-type": "text/plain" } })
      assert.strictEqual(answer.status, 415)
      assert.deepInclude(answer.json, { kind: "Invalid" })
      assert.strictEqual(received.length, 0)
    }))

  it.effect("tells how much time is left, and is not executed when none is (I15)", () =>
    Effect.gen(function*() {
      const { key, received, url } = yield* start()
      const body = (budgetMillis: number) => JSON.stringify({ ...Leaders.envelope, budgetMillis })
      assert.strictEqual((yield* ask(url, signed(key, { body: body(1500) }))).status, 200)
      assert.deepStrictEqual(yield* ask(url, signed(key, { body: body(0), nonce: nonce(1) })), {
        status: 504,
        json: { error_code: 504, message: "the time for the command was over when it arrived", kind: "TimedOut" }
      })
      assert.deepStrictEqual(received.map(({ budgetMillis }) => budgetMillis), [1500])
    }))
})

describe("what the leader says", () => {
  it.effect("has a status for each kind", () =>
    Effect.gen(function*() {
      let next = new LeaderError({ kind: "Unknown", message: "" })
      const { key, url } = yield* start(() => Effect.suspend(() => Effect.fail(next)))
      const statuses = {
        NotFound: 404,
        Exists: 409,
        Stale: 409,
        Stopped: 409,
        Invalid: 400,
        NoLeader: 503,
        Expired: 503,
        NotLeader: 409,
        Unreachable: 503,
        TimedOut: 504,
        Rebalancing: 409,
        ExpiredKey: 403,
        ClockSkew: 403,
        Throttled: 429,
        Store: 503,
        Unknown: 504
      } as const satisfies Record<LeaderCommand.LeaderError["kind"], number>
      let n = 0
      for (const kind of LeaderError.fields.kind.literals) {
        next = new LeaderError({ kind, message: `because ${kind}`, cause: new Error("s3cret") })
        const answer = yield* send(url, signed(key, { nonce: nonce(n++) }))
        assert.strictEqual(answer.status, statuses[kind])
        const throttled = kind === "Throttled"
        assert.deepStrictEqual(answer.json, {
          error_code: statuses[kind],
          message: `because ${kind}`,
          kind,
          ...(throttled ? { retryAfterMillis: 1000 } : {})
        })
        assert.strictEqual(answer.headers["retry-after"], throttled ? "1" : undefined)
      }
    }))

  it.effect("has how long to wait, and who leads instead", () =>
    Effect.gen(function*() {
      const other = { workerId: "other:8083", session: "s2", address: "http://other:8083" }
      let next = new LeaderError({ kind: "Throttled", message: "busy", retryAfterMillis: 1001 })
      const { key, url } = yield* start(() => Effect.suspend(() => Effect.fail(next)))
      const throttled = yield* send(url, signed(key))
      assert.strictEqual(throttled.headers["retry-after"], "2")
      assert.deepInclude(throttled.json, { retryAfterMillis: 1001 })
      next = new LeaderError({ kind: "NotLeader", message: "not me", leader: other })
      assert.deepStrictEqual((yield* ask(url, signed(key, { nonce: nonce(1) }))).json, {
        error_code: 409,
        message: "not me",
        kind: "NotLeader",
        leader: other
      })
    }))

  it.effect("may be a fault: then nobody knows, and neither answer nor log quotes the command", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const logger = Logger.make((entry) => {
        logged.push(Logger.formatJson.log(entry))
      })
      const { key, url } = yield* Effect.provide(
        start(() => Effect.die(new TypeError("cannot use s3cret"))),
        Logger.layer([logger])
      )
      assert.deepStrictEqual(yield* ask(url, signed(key)), {
        status: 500,
        json: { error_code: 500, message: "Internal error: the log of the worker tells more", kind: "Unknown" }
      })
      assert.strictEqual(logged.length, 1)
      assert.include(logged[0], "TypeError")
      assert.notInclude(logged[0], "s3cret")
    }))
})

describe("settings", () => {
  it.effect("say how far clocks may differ", () =>
    Effect.gen(function*() {
      const { key, url } = yield* Effect.provide(start(), SessionKeyPolicy.layer({ skew: "1 second" }))
      yield* TestClock.adjust(1001)
      assert.deepInclude((yield* ask(url, signed(key))).json, { kind: "ClockSkew" })
      assert.strictEqual((yield* ask(url, signed(key, { time: 1 }))).status, 200)
    }))
})
