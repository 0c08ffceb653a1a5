import { assert, describe, it } from "@effect/vitest"
import { SessionKeyPolicy, SessionKeys, StoreError } from "@kelpie/core"
import { Context, Effect, Fiber, Layer, Logger, Option, Random, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"

/** An engine that is shared by workers, counts what it is asked, and fails or waits as it is told to. */
const makeEngine = (given: ReadonlyArray<SessionKeys.EncodedKey> = []) => {
  const state = {
    keys: given,
    loads: 0,
    adds: 0,
    dropped: [] as Array<number>,
    beforeLoad: Effect.void as Effect.Effect<void, StoreError>,
    beforeAdd: (() => Effect.void) as (key: SessionKeys.EncodedKey) => Effect.Effect<void, StoreError>
  }
  const engine: SessionKeys.Encoded = {
    load: Effect.suspend(() => {
      state.loads++
      return Effect.andThen(state.beforeLoad, Effect.sync(() => state.keys))
    }),
    add: (key, after) =>
      Effect.suspend(() => {
        state.adds++
        return Effect.andThen(
          state.beforeAdd(key),
          Effect.sync(() => {
            if (state.keys.at(-1)?.id !== after) return false
            state.keys = [...state.keys, key]
            return true
          })
        )
      }),
    drop: (before) =>
      Effect.sync(() => {
        state.dropped.push(before)
        state.keys = state.keys.filter(({ createdAt }, n) => createdAt >= before || n === state.keys.length - 1)
      })
  }
  return { state, worker: SessionKeys.makeEncoded(engine) }
}
const unavailable = (detail: string) => new StoreError({ kind: "Unavailable", operation: "engine", detail })
const key = (id: string, createdAt: number) => ({ id, secret: id.padEnd(44, "s"), createdAt })
const found = (option: Option.Option<SessionKeys.Key>) => Option.getOrUndefined(option)?.id
const hour = 3_600_000

describe("SessionKeys: the current key", () => {
  it.effect("is drawn when there is none, kept, and the same for all workers", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      const [one, other] = [yield* worker, yield* worker]
      const first = yield* one.current
      assert.strictEqual((yield* one.current).id, first.id)
      assert.deepStrictEqual(yield* other.current, first)
      assert.strictEqual(Redacted.value((yield* other.current).secret), state.keys[0]?.secret)
      assert.strictEqual(state.adds, 1)
      assert.strictEqual(state.loads, 3)
      // 32 bytes in base64
      assert.match(Redacted.value(first.secret), /^[A-Za-z0-9+/]{43}=$/)
    }))

  it.effect("has a secret that no seed foretells", () =>
    Effect.gen(function*() {
      const drawn = Effect.suspend(() => Effect.flatMap(makeEngine().worker, ({ current }) => current))
      const [one, other] = [yield* Random.withSeed(drawn, "seed"), yield* Random.withSeed(drawn, "seed")]
      assert.strictEqual(one.id, other.id)
      assert.notStrictEqual(Redacted.value(one.secret), Redacted.value(other.secret))
    }))

  it.effect("is replaced once it is an hour old, by whoever needs it first", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      const [one, other] = [yield* worker, yield* worker]
      const first = yield* one.current
      yield* other.current
      yield* TestClock.adjust(hour - 1)
      assert.strictEqual((yield* one.current).id, first.id)
      yield* TestClock.adjust(1)
      const second = yield* other.current
      assert.notStrictEqual(second.id, first.id)
      assert.strictEqual((yield* one.current).id, second.id)
      assert.deepStrictEqual(state.keys.map(({ id }) => id), [first.id, second.id])
    }))

  it.effect("is rotated as often as the policy says", () =>
    Effect.gen(function*() {
      const keys = yield* makeEngine().worker.pipe(Effect.provide(SessionKeyPolicy.layer({ rotation: "1 minute" })))
      const first = yield* keys.current
      yield* TestClock.adjust("1 minute")
      assert.notStrictEqual((yield* keys.current).id, first.id)
    }))

  it.effect("is one for all who need it at the same time", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      state.beforeLoad = Effect.sleep(10)
      const keys = yield* worker
      const needing = yield* Effect.forkChild(
        Effect.forEach(Array(20).keys(), () => keys.current, { concurrency: "unbounded" })
      )
      yield* TestClock.adjust(100)
      assert.strictEqual(new Set((yield* Fiber.join(needing)).map(({ id }) => id)).size, 1)
      assert.strictEqual(state.adds, 1)
    }))

  it.effect("is the other's when another worker was faster", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      const other = yield* worker
      state.beforeAdd = () => {
        state.beforeAdd = () => Effect.void
        return Effect.asVoid(other.current)
      }
      const mine = yield* (yield* worker).current
      assert.strictEqual(state.keys.length, 1)
      assert.strictEqual(mine.id, state.keys[0]?.id)
    }))

  it.effect("is old for a worker that starts with an old key", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust(5 * hour)
      const { worker } = makeEngine([key("old", 4 * hour)])
      assert.notStrictEqual((yield* (yield* worker).current).id, "old")
    }))

  it.effect("is replaced in time when it seems to come from the future", () =>
    Effect.gen(function*() {
      const { worker } = makeEngine([key("future", 1000 * hour)])
      const keys = yield* worker
      assert.strictEqual((yield* keys.current).id, "future")
      yield* TestClock.adjust(hour)
      assert.notStrictEqual((yield* keys.current).id, "future")
    }))

  it.effect("stays the old one when it cannot be replaced, and is tried again", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      const keys = yield* worker
      const first = yield* keys.current
      yield* TestClock.adjust(hour)
      state.beforeAdd = () => Effect.fail(unavailable("no space"))
      const adds = state.adds
      assert.strictEqual((yield* keys.current).id, first.id)
      assert.strictEqual((yield* keys.current).id, first.id)
      assert.strictEqual(state.adds, adds + 1)
      state.beforeAdd = () => Effect.void
      yield* TestClock.adjust("10 seconds")
      assert.notStrictEqual((yield* keys.current).id, first.id)
    }).pipe(Effect.provide(Logger.layer([]))))

  it.effect("fails when there is none and none can be added", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      state.beforeLoad = Effect.fail(unavailable("no disk"))
      const keys = yield* worker
      assert.strictEqual((yield* Effect.flip(keys.current)).message, "engine: Unavailable: no disk")
      state.beforeLoad = Effect.never
      const waiting = yield* Effect.forkChild(Effect.flip(keys.current))
      yield* TestClock.adjust("10 seconds")
      assert.include((yield* Fiber.join(waiting)).message, "no answer within 10 seconds")
    }))

  it.effect("is taken as it is when others add keys that are too old again and again", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      state.beforeAdd = () =>
        Effect.sync(() => {
          state.keys = [...state.keys, key(`old ${state.adds}`, -2 * hour)]
        })
      assert.strictEqual((yield* (yield* worker).current).id, "old 3")
    }).pipe(Effect.provide(Logger.layer([]))))

  it.effect("is refused when its secret is too short to be one", () =>
    Effect.gen(function*() {
      const { worker } = makeEngine([{ id: "k", secret: "guessed", createdAt: 0 }])
      const error = yield* Effect.flip((yield* worker).current)
      assert.strictEqual(error.kind, "Corrupt")
      assert.notInclude(error.message, "guessed")
    }))
})

describe("SessionKeys: the key of a request", () => {
  it.effect("is found when another worker added it", () =>
    Effect.gen(function*() {
      const { worker } = makeEngine()
      const [one, other] = [yield* worker, yield* worker]
      const { id } = yield* one.current
      assert.strictEqual(found(yield* other.find(id)), id)
    }))

  it.effect("is accepted for ten minutes after it was replaced, then forgotten everywhere", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      const [one, other] = [yield* worker, yield* worker]
      const first = yield* one.current
      yield* TestClock.adjust(hour)
      const second = yield* one.current
      yield* TestClock.adjust(600_000 - 1)
      assert.strictEqual(found(yield* one.find(first.id)), first.id)
      assert.strictEqual(found(yield* other.find(first.id)), first.id)
      yield* TestClock.adjust(1)
      assert.isUndefined(found(yield* one.find(first.id)))
      assert.isUndefined(found(yield* other.find(first.id)))
      assert.strictEqual(found(yield* other.find(second.id)), second.id)
      yield* one.refresh
      assert.deepStrictEqual(state.keys.map(({ id }) => id), [second.id])
    }))

  it.effect("is accepted as long as the policy says", () =>
    Effect.gen(function*() {
      const { worker } = makeEngine()
      const keys = yield* Effect.provide(worker, SessionKeyPolicy.layer({ grace: "1 minute" }))
      const first = yield* keys.current
      yield* TestClock.adjust(hour)
      yield* keys.current
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(found(yield* keys.find(first.id)))
    }))

  it.effect("is not accepted anew by a worker that starts later", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust(2 * hour)
      const { worker } = makeEngine([key("a", hour), key("b", 2 * hour - 600_000)])
      const keys = yield* worker
      assert.isUndefined(found(yield* keys.find("a")))
      assert.strictEqual(found(yield* keys.find("b")), "b")
    }))

  it.effect("is read anew at most once a second, and who asks too early gets the next answer", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      const keys = yield* worker
      yield* keys.current
      const loads = state.loads
      const asking = yield* Effect.forkChild(
        Effect.forEach(Array(50).keys(), (n) => keys.find(`unknown ${n}`), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust(999)
      assert.strictEqual(state.loads, loads)
      // added after they asked
      state.keys = [...state.keys, key("unknown 7", 999)]
      yield* TestClock.adjust(1)
      const all = yield* Fiber.join(asking)
      assert.strictEqual(state.loads, loads + 1)
      assert.deepStrictEqual(all.map(found).filter((id) => id !== undefined), ["unknown 7"])
    }))

  it.effect("is looked for in what was read after it was asked for", () =>
    Effect.gen(function*() {
      let kept: ReadonlyArray<SessionKeys.EncodedKey> = []
      const keys = yield* SessionKeys.makeEncoded({
        // what it tells is what was there when it began
        load: Effect.suspend(() => Effect.as(Effect.sleep(500), kept)),
        add: () => Effect.succeed(false),
        drop: () => Effect.void
      })
      const early = yield* Effect.forkChild(keys.find("another"), { startImmediately: true })
      yield* TestClock.adjust(100)
      kept = [key("added", 100)]
      const late = yield* Effect.forkChild(keys.find("added"), { startImmediately: true })
      yield* TestClock.adjust(2000)
      assert.isUndefined(found(yield* Fiber.join(early)))
      assert.strictEqual(found(yield* Fiber.join(late)), "added")
    }))

  it.effect("cannot be told while the engine does not answer", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      const keys = yield* worker
      state.beforeLoad = Effect.andThen(Effect.sleep(10), Effect.fail(unavailable("no disk")))
      const all = yield* Effect.forkChild(
        Effect.forEach(["a", "b", "c"], (id) => Effect.flip(keys.find(id)), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust(1010)
      assert.deepStrictEqual((yield* Fiber.join(all)).map(({ kind }) => kind), [
        "Unavailable",
        "Unavailable",
        "Unavailable"
      ])
      // the first was under way already; the others share the next
      assert.strictEqual(state.loads, 2)
    }))

  it.effect("is waited for without holding up others when who asked is gone", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      const keys = yield* worker
      state.beforeLoad = Effect.never
      const gone = yield* Effect.forkChild(keys.find("a"), { startImmediately: true })
      yield* Fiber.interrupt(gone)
      state.beforeLoad = Effect.void
      assert.isDefined((yield* keys.current).id)
    }))

  it.effect("is known at once after a refresh", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      const keys = yield* worker
      yield* keys.current
      state.keys = [...state.keys, key("next", 0)]
      yield* keys.refresh
      assert.strictEqual((yield* keys.current).id, "next")
    }))
})

describe("SessionKeys: secrets", () => {
  const shows = (value: unknown) => `${String(value)} ${JSON.stringify(value)} ${inspect(value, { depth: 10 })}`

  it.effect("are shown by nothing", () =>
    Effect.gen(function*() {
      const { state, worker } = makeEngine()
      const keys = yield* worker
      const one = yield* keys.current
      const secret = state.keys[0]?.secret ?? ""
      assert.isAbove(secret.length, 40)
      for (const value of [one, [one], keys, yield* keys.find(one.id), Effect.succeed(one)]) {
        assert.notInclude(shows(value), secret)
      }
      assert.include(JSON.stringify(one), "<redacted:session key>")
    }))

  it.effect("are not in the errors of an engine that quotes them, nor in the log", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const logger = Logger.make((entry) => {
        logged.push(Logger.formatJson.log(entry))
      })
      const { state, worker } = makeEngine()
      const secrets: Array<string> = []
      state.beforeAdd = ({ secret }) => {
        secrets.push(secret)
        return Effect.fail(
          new StoreError({
            kind: "Unavailable",
            operation: "insert",
            detail: `cannot insert ${secret}`,
            cause: new Error(`VALUES ('${secret}')`)
          })
        )
      }
      const keys = yield* worker
      const error = yield* Effect.flip(keys.current)
      assert.strictEqual(error.message, "insert: Unavailable: cannot insert <redacted>")
      state.keys = [key("old", 0)]
      yield* TestClock.adjust(hour)
      yield* Effect.provide(keys.current, Logger.layer([logger]))
      state.beforeLoad = Effect.fail(
        new StoreError({ kind: "Corrupt", operation: "select", cause: new Error(state.keys[0]?.secret) })
      )
      const broken = yield* Effect.flip(keys.refresh)
      assert.strictEqual(secrets.length, 2)
      assert.strictEqual(logged.length, 1)
      for (const secret of [...secrets, key("old", 0).secret]) {
        assert.notInclude(shows(error) + shows(broken) + logged.join(), secret)
      }
    }))
})

describe("SessionKeys.layerMemory", () => {
  it.effect("gives the same keys to all that are built with it together, and others to others", () =>
    Effect.gen(function*() {
      class A extends Context.Service<A, string>()("A") {}
      class B extends Context.Service<B, string>()("B") {}
      const idOf = Effect.flatMap(SessionKeys, ({ current }) => Effect.map(current, ({ id }) => id))
      const both = Layer.merge(Layer.effect(A, idOf), Layer.effect(B, idOf)).pipe(
        Layer.provide(SessionKeys.layerMemory)
      )
      const [one, other] = [yield* Layer.build(both), yield* Layer.build(Layer.fresh(both))]
      assert.strictEqual(Context.get(one, A), Context.get(one, B))
      assert.notStrictEqual(Context.get(one, A), Context.get(other, A))
    }))

  it.effect("rotates and forgets", () =>
    Effect.gen(function*() {
      const keys = yield* SessionKeys
      const first = yield* keys.current
      yield* TestClock.adjust(hour)
      const second = yield* keys.current
      assert.strictEqual(found(yield* keys.find(first.id)), first.id)
      yield* TestClock.adjust(hour)
      yield* keys.current
      const asking = yield* Effect.forkChild(keys.find(first.id))
      yield* TestClock.adjust("1 second")
      assert.isUndefined(found(yield* Fiber.join(asking)))
      assert.strictEqual(found(yield* keys.find(second.id)), second.id)
    }).pipe(Effect.provide(SessionKeys.layerMemory)))
})
