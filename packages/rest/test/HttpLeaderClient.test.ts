import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { LeaderClient, ReconfigurationPolicy, SessionKeys, StoreError } from "@kelpie/core"
import { LeaderClientContract, type LeaderWorld } from "@kelpie/testkit"
import { describeContract, withoutLeaks } from "@kelpie/testkit/vitest"
import { Clock, Context, Deferred, Effect, Fiber, Latch, Layer, Logger, Redacted, Tracer } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import * as Http from "node:http"
import * as Net from "node:net"
import { inspect } from "node:util"
import { HttpLeaderClient } from "../src/index.ts"
import * as Leaders from "./leaders.ts"

const { envelope } = Leaders
const silent = Effect.map(Leaders.closed, (address) => ({
  workerId: "absent:8083",
  session: "s2",
  address
}))

/** A leader and a client that share their keys. */
const connected = (http: Layer.Layer<HttpClient.HttpClient>) =>
  Effect.gen(function*() {
    const { layer } = yield* Leaders.sharedKeys
    let answer: Parameters<LeaderWorld["answer"]>[0] = () => Effect.die("not told what to answer")
    const { member, received } = yield* Leaders.leader(layer, (envelope) => answer(envelope))
    return {
      layer: HttpLeaderClient.layer().pipe(Layer.provide([layer, http])),
      leader: member,
      absent: yield* silent,
      received: Effect.sync(() => [...received]),
      answer: (next) =>
        Effect.sync(() => {
          answer = next
        })
    } satisfies LeaderWorld
  })

const platforms = {
  "undici": NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layerNodeHttp,
  "fetch": NodeHttpClient.layerFetch
}
for (const [name, http] of Object.entries(platforms)) {
  describeContract(`HttpLeaderClient, with ${name}`, LeaderClientContract(connected(http)))
}

/** A client of another worker. */
const clientOf = (
  keys: Layer.Layer<SessionKeys>,
  options?: HttpLeaderClient.Options,
  http: Layer.Layer<HttpClient.HttpClient> = NodeHttpClient.layerUndici
) =>
  Effect.map(
    Layer.build(HttpLeaderClient.layer(options).pipe(Layer.provide([keys, http]))),
    (context) => Context.get(context, LeaderClient)
  )

const shared = Effect.fnUntraced(
  function*(...options: Parameters<typeof clientOf> extends [unknown, ...infer O] ? O : never) {
    const { keys, layer } = yield* Leaders.sharedKeys
    return { keys, layer, client: yield* clientOf(layer, ...options) }
  }
)

/** A server that answers so, and the requests it got. */
const answering = Effect.fnUntraced(function*(answer: (response: Http.ServerResponse) => void) {
  const requests: Array<Http.IncomingHttpHeaders> = []
  const server = Http.createServer((request, response) => {
    requests.push(request.headers)
    request.resume().on("end", () => answer(response))
  })
  const address = yield* Leaders.listening(server)
  return { requests, server, member: { workerId: "leader:8083", session: "s1", address } }
})

/** A server of bare bytes. */
const bare = Effect.fnUntraced(function*(received: (socket: Net.Socket) => void) {
  let connections = 0
  const server = Net.createServer((socket) => {
    connections++
    socket.once("data", () => received(socket))
  })
  const address = yield* Leaders.listening(server)
  return { connections: () => connections, member: { workerId: "leader:8083", session: "s1", address } }
})

describe("a leader that is not reached", () => {
  it.effect("has no address, and that is said", () =>
    Effect.gen(function*() {
      const { client } = yield* shared()
      const error = yield* Effect.flip(client.send({ workerId: "leader:8083", session: "s1" }, envelope))
      assert.strictEqual(error.kind, "Unreachable")
      assert.strictEqual(error.message, "the leader leader:8083 tells no address where it takes commands")
    }))

  it.effect("listens no more", () =>
    Effect.gen(function*() {
      const { client } = yield* shared()
      const absent = yield* silent
      const error = yield* Effect.flip(client.send(absent, envelope))
      assert.strictEqual(error.kind, "Unreachable")
      assert.strictEqual(
        error.message,
        `cannot reach the leader absent:8083 at ${absent.address}: ECONNREFUSED`
      )
    }))

  it.effect("has a name that nobody knows, or an address that is none", () =>
    Effect.gen(function*() {
      for (const http of Object.values(platforms)) {
        const { client } = yield* shared(undefined, http)
        const address = "http://nowhere.invalid:8083"
        const error = yield* Effect.flip(client.send({ workerId: "leader:8083", session: "s1", address }, envelope))
        assert.strictEqual(error.kind, "Unreachable")
        assert.match(error.message, /^cannot reach the leader leader:8083 at http:\/\/nowhere\.invalid:8083: E[A-Z_]+$/)
      }
      const { client } = yield* shared()
      for (const address of ["", "nowhere", "http://[::", "ftp://127.0.0.1:1"]) {
        const error = yield* Effect.flip(client.send({ workerId: "leader:8083", session: "s1", address }, envelope))
        assert.deepInclude(error, { kind: "Unreachable" }, address)
        assert.include(error.message, "leader:8083")
      }
    }))

  it.effect("has an address with a password, which is not told", () =>
    Effect.gen(function*() {
      const { client } = yield* shared()
      const { address } = yield* silent
      const secret = address.replace("http://", "http://user:s3cret@")
      const error = yield* Effect.flip(client.send({ workerId: "w", session: "s", address: secret }, envelope))
      assert.include(error.message, address)
      assert.notInclude(inspect(error, { depth: 10 }), "s3cret")
    }))
})

describe("a connection that breaks", () => {
  for (const [name, http] of Object.entries(platforms)) {
    it.effect(`after the command was sent leaves unknown what became of it; nothing is sent again, with ${name}`, () =>
      Effect.gen(function*() {
        const { client } = yield* shared(undefined, http)
        const begun = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"pos"
        const ways: ReadonlyArray<(socket: Net.Socket) => void> = [
          (socket) => socket.resetAndDestroy(),
          (socket) => socket.end(),
          (socket) => socket.end(begun),
          (socket) => socket.end("no HTTP\r\n\r\n")
        ]
        for (const way of ways) {
          const { connections, member } = yield* bare(way)
          const error = yield* Effect.flip(client.send(member, envelope))
          assert.strictEqual(error.kind, "Unknown")
          assert.include(error.message, `the leader leader:8083 at ${member.address} may have received the command`)
          assert.strictEqual(connections(), 1)
        }
      }))
  }

  it.effect("is none when it is kept: commands share it", () =>
    Effect.gen(function*() {
      const { client } = yield* shared()
      let connections = 0
      const { member, server } = yield* answering((response) => response.end("{\"position\":1}"))
      server.on("connection", () => {
        connections++
      })
      for (let n = 0; n < 50; n++) yield* client.send(member, envelope)
      assert.isBelow(connections, 5)
    }))
})

describe("an answer that is none of a leader", () => {
  it.effect("is told by address and status, and not quoted", () =>
    Effect.gen(function*() {
      const { client } = yield* shared()
      const json = { "content-type": "application/json" }
      const cases: ReadonlyArray<readonly [number, Record<string, string>, string, string]> = [
        [200, json, "", "Unreachable"],
        [200, { "content-type": "text/html" }, "<html>s3cret</html>", "Unreachable"],
        [200, json, "{\"position\":\"s3cret\"}", "Unreachable"],
        [200, json, `{"position":1,"padding":"${"s3cret".repeat(100_000)}"}`, "Unreachable"],
        [204, {}, "", "Unreachable"],
        [302, { location: "http://127.0.0.1:1/s3cret" }, "", "Unreachable"],
        [401, json, "{\"error_code\":401,\"message\":\"s3cret\"}", "Unreachable"],
        [403, json, "{\"error_code\":403,\"message\":\"signature\"}", "Unreachable"],
        [404, json, "{\"error_code\":404,\"message\":\"s3cret\"}", "Unreachable"],
        [409, json, "{\"error_code\":409,\"message\":\"s3cret\",\"kind\":\"Whatever\"}", "Unreachable"],
        [503, json, "{\"error_code\":503,\"message\":\"The worker is not running\"}", "Unreachable"],
        // the leader may be at work behind whoever answers
        [500, json, "{\"error_code\":500,\"message\":\"s3cret\"}", "Unknown"],
        [502, { "content-type": "text/html" }, "s3cret", "Unknown"],
        [504, {}, "", "Unknown"]
      ]
      for (const [status, headers, body, kind] of cases) {
        const { member, requests } = yield* answering((response) => response.writeHead(status, headers).end(body))
        const error = yield* Effect.flip(client.send(member, envelope))
        assert.strictEqual(error.kind, kind)
        const where = `the leader leader:8083 at ${member.address}`
        assert.strictEqual(error.message, `${where} answered ${status}, and not as a leader does`)
        assert.notInclude(`${inspect(error, { depth: 10 })}${JSON.stringify(error)}`, "s3cret")
        assert.strictEqual(requests.length, 1)
      }
    }))

  it.effect("is not read to an end that never comes", () =>
    Effect.gen(function*() {
      const { client } = yield* shared()
      const { member } = yield* answering((response) => {
        const more = () => {
          if (!response.destroyed) response.write("{\"position\":1,".repeat(1000), () => setImmediate(more))
        }
        more()
      })
      const error = yield* Effect.flip(client.send(member, envelope))
      assert.strictEqual(error.kind, "Unreachable")
    }))
})

describe("time", () => {
  it.effect("is over for a command without an answer", () =>
    Effect.gen(function*() {
      for (
        const [options, budgetMillis, limit] of [
          [undefined, undefined, 10_000],
          [{ deadline: "1 second" }, undefined, 1000],
          [{ deadline: "1 second" }, 2500, 2500]
        ] as const
      ) {
        const { client, layer } = yield* shared(options)
        const arrived = yield* Deferred.make<void>()
        const { member } = yield* Leaders.leader(
          layer,
          () => Effect.andThen(Deferred.succeed(arrived, undefined), Effect.never)
        )
        const sending = yield* Effect.forkChild(Effect.flip(client.send(member, { ...envelope, budgetMillis })))
        yield* Deferred.await(arrived)
        yield* TestClock.adjust(limit - 1)
        assert.isUndefined(sending.pollUnsafe())
        yield* TestClock.adjust(1)
        const error = yield* Fiber.join(sending)
        assert.strictEqual(error.kind, "TimedOut")
        assert.strictEqual(
          error.message,
          `the leader leader:8083 at ${member.address} did not answer within ${limit} ms`
        )
      }
    }))

  it.effect("is that of the policy when nobody says another", () =>
    Effect.gen(function*() {
      const { client, layer } = yield* Effect.provide(shared(), ReconfigurationPolicy.layer({ sendDeadline: 70 }))
      const arrived = yield* Deferred.make<void>()
      const { member } = yield* Leaders.leader(
        layer,
        () => Effect.andThen(Deferred.succeed(arrived, undefined), Effect.never)
      )
      const sending = yield* Effect.forkChild(Effect.flip(client.send(member, envelope)))
      yield* Deferred.await(arrived)
      yield* TestClock.adjust(70)
      assert.strictEqual((yield* Fiber.join(sending)).kind, "TimedOut")
    }))

  it.effect("that was waited is taken from the budget; without a budget none is told", () =>
    Effect.gen(function*() {
      const { client, layer } = yield* shared({ concurrency: 1 })
      const first = yield* Latch.make(false)
      const arrived = yield* Deferred.make<void>()
      const { member, received } = yield* Leaders.leader(layer, () =>
        Effect.as(Effect.andThen(Deferred.succeed(arrived, undefined), first.await), { position: 1 }))
      const one = yield* Effect.forkChild(client.send(member, envelope))
      yield* Deferred.await(arrived)
      const other = yield* Effect.forkChild(client.send(member, { ...envelope, budgetMillis: 5000 }), {
        startImmediately: true
      })
      yield* TestClock.adjust(2000)
      yield* first.open
      yield* Fiber.join(one)
      yield* Fiber.join(other)
      assert.deepStrictEqual(
        received.map(({ budgetMillis }) =>
          budgetMillis
        ),
        [undefined, 3000]
      )
    }))

  it.effect("that was over before anything was sent leaves nothing unknown", () =>
    Effect.gen(function*() {
      const { client, layer } = yield* shared({ concurrency: 1 })
      const arrived = yield* Deferred.make<void>()
      const { member, received } = yield* Leaders.leader(
        layer,
        () => Effect.andThen(Deferred.succeed(arrived, undefined), Effect.never)
      )
      const first = yield* Effect.forkChild(client.send(member, { ...envelope, budgetMillis: 60_000 }))
      yield* Deferred.await(arrived)
      const waiting = yield* Effect.forkChild(Effect.flip(client.send(member, envelope)), { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      const error = yield* Fiber.join(waiting)
      assert.strictEqual(error.kind, "Unreachable")
      assert.include(error.message, "nothing could be sent")
      yield* Fiber.interrupt(first)
      assert.strictEqual(received.length, 1)
    }))
})

describe("commands to one leader", () => {
  it.effect("are as many at the same time as is said, and do not hold up those to another", () =>
    Effect.gen(function*() {
      const { client, layer } = yield* shared({ concurrency: 2 })
      const gate = yield* Latch.make(false)
      const two = yield* Deferred.make<void>()
      let now = 0
      let most = 0
      const busy = yield* Leaders.leader(layer, () =>
        Effect.gen(function*() {
          most = Math.max(most, ++now)
          if (now === 2) yield* Deferred.succeed(two, undefined)
          yield* gate.await
          now--
          return { position: 1 }
        }))
      const idle = yield* Leaders.leader(layer)
      const all = yield* Effect.forkChild(
        Effect.forEach(Array(7).keys(), (n) => client.send(busy.member, { ...envelope, id: `${n}` }), {
          concurrency: "unbounded"
        })
      )
      yield* Deferred.await(two)
      yield* client.send({ ...idle.member, session: "s9" }, envelope)
      assert.strictEqual(busy.received.length, 2)
      yield* gate.open
      yield* Fiber.join(all)
      assert.strictEqual(most, 2)
      assert.strictEqual(busy.received.length, 7)
    }))
})

describe("keys", () => {
  /** Two workers with one engine. */
  const two = Effect.gen(function*() {
    const { engine, state } = Leaders.makeEngine()
    const leaderKeys = yield* SessionKeys.makeEncoded(engine)
    const clientKeys = yield* SessionKeys.makeEncoded(engine)
    const { member, received } = yield* Leaders.leader(Layer.succeed(SessionKeys, leaderKeys))
    const client = yield* clientOf(Layer.succeed(SessionKeys, clientKeys))
    return { client, clientKeys, leaderKeys, member, received, state }
  })

  it.effect("are drawn by the first that sends, and replaced every hour", () =>
    Effect.gen(function*() {
      const { client, member, received, state } = yield* two
      yield* client.send(member, envelope)
      assert.strictEqual(state.keys.length, 1)
      for (let hour = 0; hour < 3; hour++) {
        yield* TestClock.adjust("1 hour")
        yield* client.send(member, envelope)
      }
      assert.strictEqual(received.length, 4)
      // all but the two last are dropped
      assert.strictEqual(state.keys.length, 2)
    }))

  it.effect("that were replaced without this worker's knowledge are read anew, at once and once", () =>
    Effect.gen(function*() {
      const { client, leaderKeys, member, received, state } = yield* two
      yield* client.send(member, envelope)
      const secret = "another secret, long enough to be one"
      state.keys = [...state.keys, { id: "early", secret, createdAt: 1000 }]
      yield* TestClock.adjust("1 second")
      yield* leaderKeys.refresh
      yield* TestClock.adjust("20 minutes")
      assert.deepStrictEqual(yield* client.send(member, envelope), { position: 1 })
      assert.strictEqual(received.length, 2)
    }))

  it.effect("that the leader does not have are its error, after one more try", () =>
    Effect.gen(function*() {
      const { keys, layer } = yield* Leaders.sharedKeys
      const { member, received } = yield* Leaders.leader(
        Layer.succeed(SessionKeys, { ...keys, find: () => Effect.succeedNone })
      )
      let requests = 0
      const client = yield* clientOf(layer, {
        transformClient: HttpClient.mapRequest((request) => {
          requests++
          return request
        })
      })
      const error = yield* Effect.flip(client.send(member, envelope))
      assert.strictEqual(error.kind, "ExpiredKey")
      assert.strictEqual(error.message, "the key is not known here, or was replaced")
      assert.strictEqual(requests, 2)
      assert.strictEqual(received.length, 0)
    }))

  it.effect("that cannot be read keep commands from being sent", () =>
    Effect.gen(function*() {
      const { member, received } = yield* Leaders.leader((yield* Leaders.sharedKeys).layer)
      const error = new StoreError({ kind: "Unavailable", operation: "load", detail: "s3cret" })
      const { engine } = Leaders.makeEngine()
      const broken = Layer.effect(SessionKeys, SessionKeys.makeEncoded({ ...engine, load: Effect.fail(error) }))
      const failed = yield* Effect.flip((yield* clientOf(broken)).send(member, envelope))
      assert.strictEqual(failed.kind, "Store")
      assert.notInclude(inspect(failed, { depth: 10 }), "s3cret")
      assert.strictEqual(received.length, 0)
    }))

  it.effect("do not help when the clocks differ: it is said by how much", () =>
    Effect.gen(function*() {
      const { client, layer } = yield* shared()
      const { member, received } = yield* Leaders.leader(layer)
      const clock = yield* Clock.Clock
      const ahead: Clock.Clock = {
        ...clock,
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + 45_000,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + 45_000)
      }
      const error = yield* Effect.flip(Effect.provideService(client.send(member, envelope), Clock.Clock, ahead))
      assert.strictEqual(error.kind, "ClockSkew")
      assert.include(error.message, "45000 ms ahead")
      assert.strictEqual(received.length, 0)
    }))
})

describe("a command", () => {
  it.effect("that is too long is not sent", () =>
    Effect.gen(function*() {
      const { client, layer } = yield* shared()
      const { member, received } = yield* Leaders.leader(layer)
      const config = { text: "x".repeat(4 * 1024 * 1024) }
      const error = yield* Effect.flip(
        client.send(member, { id: "1", command: { _tag: "PutConnector", name: "a", config, expect: "any" } })
      )
      assert.strictEqual(error.kind, "Invalid")
      assert.match(error.message, /^the command has \d+ bytes, and leaders take 4194304$/)
      assert.strictEqual(received.length, 0)
    }))

  it.effect("goes through what the host does with every request", () =>
    Effect.gen(function*() {
      const { client } = yield* shared({
        transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("x-tenant", "t1"))
      })
      const { member, requests } = yield* answering((response) => response.end("{\"position\":1}"))
      yield* client.send(member, envelope)
      assert.strictEqual(requests[0]?.["x-tenant"], "t1")
    }))

  it.live("leaves nothing behind, answered or not", () =>
    withoutLeaks(Effect.gen(function*() {
      const { client, layer } = yield* shared()
      const arrived = yield* Deferred.make<void>()
      const { member } = yield* Leaders.leader(
        layer,
        ({ id }) =>
          id === "hangs"
            ? Effect.andThen(Deferred.succeed(arrived, undefined), Effect.never)
            : Effect.succeed({ position: 1 })
      )
      yield* client.send(member, envelope)
      const hanging = yield* Effect.forkChild(client.send(member, { ...envelope, id: "hangs" }))
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(hanging)
      yield* Effect.flip(client.send(yield* silent, envelope))
    })))
})

describe("secrets", () => {
  it.effect("are in no error, log or span, nor is a signature", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const logger = Logger.make((entry) => {
        told.push(Logger.formatJson.log(entry))
      })
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const { client, keys, layer } = yield* shared()
      const secret = Redacted.value((yield* keys.current).secret)
      const { member } = yield* Leaders.leader(layer)
      const { member: elsewhere, requests } = yield* answering((response) => response.writeHead(500).end("{}"))
      const { member: resetting } = yield* bare((socket) => socket.resetAndDestroy())
      yield* Effect.gen(function*() {
        yield* client.send(member, envelope)
        for (const other of [elsewhere, resetting, yield* silent]) {
          const error = yield* Effect.flip(client.send(other, envelope))
          yield* Effect.logError("failed", error)
          told.push(`${inspect(error, { depth: 20, showHidden: true })}${JSON.stringify(error)}`)
        }
      }).pipe(
        Effect.withTracer(tracer),
        Effect.provideService(HttpClient.TracerHeaderFilter, () => true),
        Effect.provide(Logger.layer([logger]))
      )
      for (const { attributes, events, name } of spans) {
        told.push(inspect([name, [...attributes], events], { depth: 20 }))
      }
      const text = told.join("\n")
      assert.isAbove(spans.length, 3)
      assert.isAbove(secret.length, 40)
      assert.include(text, "x-kelpie-nonce")
      assert.notInclude(text, secret)
      assert.notInclude(text, String(requests[0]?.["x-kelpie-signature"]))
    }))
})
