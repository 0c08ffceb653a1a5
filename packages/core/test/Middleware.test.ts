import { assert, describe, it } from "@effect/vitest"
import { Middleware, type Operation, PermanentError, ThrottledError, TransientError } from "@kelpie/core"
import {
  Cause,
  Clock,
  Context,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Metric,
  Ref,
  References,
  Tracer
} from "effect"
import { TestClock } from "effect/testing"

const put = (connector = "orders", task = 0): Operation.Of<"PutSink"> => ({
  _tag: "PutSink",
  connector,
  task,
  records: 5
})
const start: Operation.Operation = { _tag: "StartConnector", connector: "orders", revision: 1 }
const down = new TransientError({ message: "the database is down" })

/** A middleware that notes when it is entered and left. */
const noting = (log: Array<string>, name: string) =>
  Middleware.make((operation, next) =>
    Effect.suspend(() => {
      log.push(`> ${name} ${operation._tag}`)
      return Effect.tap(next, () => Effect.sync(() => log.push(`< ${name}`)))
    })
  )
const current = Effect.service(Middleware.Current)

describe("Middleware.compose", () => {
  it.effect("runs the first as the outermost", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const both = Middleware.compose([noting(log, "outer"), noting(log, "inner")])
      assert.strictEqual(yield* both(put(), Effect.succeed(7)), 7)
      assert.deepStrictEqual(log, ["> outer PutSink", "> inner PutSink", "< inner", "< outer"])
    }))

  it.effect("is the operation itself when there is none", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Middleware.compose([])(put(), Effect.succeed(7)), 7)
    }))

  it.effect("runs nothing inside when one does not run `next`", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const refusing = Middleware.make(() => Effect.fail(down))
      const all = Middleware.compose([noting(log, "outer"), refusing, noting(log, "inner")])
      assert.strictEqual(yield* Effect.flip(all(put(), Effect.sync(() => log.push("operation")))), down)
      assert.deepStrictEqual(log, ["> outer PutSink"])
    }))

  it.effect("runs everything inside again when one runs `next` twice", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const twice = Middleware.make((_, next) => Effect.andThen(next, next))
      let bodies = 0
      const counting = Middleware.make((_, next) => {
        bodies++
        return next
      })
      const all = Middleware.compose([twice, counting, noting(log, "inner")])
      yield* all(put(), Effect.sync(() => log.push("operation")))
      assert.deepStrictEqual(log.filter((line) => line === "operation").length, 2)
      assert.deepStrictEqual(log.filter((line) => line.startsWith(">")).length, 2)
      assert.strictEqual(bodies, 2)
    }))

  it.effect("passes errors and defects of the operation through", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const all = Middleware.compose([noting(log, "outer"), Middleware.span, Middleware.metrics, Middleware.logging])
      assert.strictEqual(yield* Effect.flip(all(put(), Effect.fail("my own error"))), "my own error")
      const exit = yield* Effect.exit(all(put(), Effect.die("a bug")))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    }).pipe(quiet))

  it.effect("turns a middleware that throws into a defect of the operation", () =>
    Effect.gen(function*() {
      const throwing = Middleware.make(() => {
        throw new Error("a bug")
      })
      const exit = yield* Effect.exit(Middleware.compose([throwing])(put(), Effect.void))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    }))
})

/** Without loggers. */
function quiet<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
  return Effect.provide(effect, Logger.layer([]))
}

describe("Middleware.on", () => {
  it.effect("is run for its operations only, with their fields and results", () =>
    Effect.gen(function*() {
      const seen: Array<number> = []
      const sinks = Middleware.on("PutSink", (operation, next) => {
        seen.push(operation.records)
        return next
      })
      yield* sinks(put(), Effect.void)
      yield* sinks(start, Effect.void)
      assert.deepStrictEqual(seen, [5])
      const doubled = Middleware.on(["PollSource", "GenerateTaskConfigs"], (_, next) => Effect.map(next, (n) => n * 2))
      assert.strictEqual(yield* doubled({ _tag: "PollSource", connector: "c", task: 0 }, Effect.succeed(4)), 8)
      assert.strictEqual(yield* doubled(start, Effect.succeed(4)), 4)
    }))
})

class Audit extends Context.Service<Audit, { readonly write: (line: string) => Effect.Effect<void> }>()("test/Audit") {}

describe("Middleware.layer", () => {
  it.effect("takes middleware that needs services, which the layer then needs", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const audit = Effect.map(Audit, ({ write }) =>
        Middleware.on("PutSink", (operation, next) =>
          Effect.tap(next, () => write(`${operation.connector} put`))))
      const layer: Layer.Layer<never, never, Audit> = Middleware.layer([noting(log, "outer"), audit])
      const provided = layer.pipe(Layer.provide(Layer.succeed(Audit, {
        write: (line) =>
          Effect.sync(() => void log.push(line))
      })))
      const middleware = yield* Effect.provide(current, provided)
      assert.strictEqual(yield* middleware(put(), Effect.succeed(7)), 7)
      assert.deepStrictEqual(log, ["> outer PutSink", "orders put", "< outer"])
    }))

  it.effect("gives a scope to its items, closed with the layer", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const item = Effect.as(
        Effect.acquireRelease(Effect.sync(() => log.push("open")), () => Effect.sync(() => log.push("close"))),
        Middleware.span
      )
      const layer: Layer.Layer<never> = Middleware.layer([item])
      yield* Effect.provide(Effect.sync(() => log.push("use")), layer)
      assert.deepStrictEqual(log, ["open", "use", "close"])
    }))

  it.effect("fails to build as its items do", () =>
    Effect.gen(function*() {
      const layer: Layer.Layer<never, "no licence"> = Middleware.layer([Effect.fail("no licence" as const)])
      assert.strictEqual(yield* Effect.flip(Effect.provide(current, layer)), "no licence")
    }))

  it.effect("makes state anew for each runtime that is given the same layer", () =>
    Effect.gen(function*() {
      const layer = Middleware.layer([
        Middleware.rateLimit({ PutSink: { limit: 1, window: "1 hour", exceeded: "fail" } })
      ])
      const first = yield* Effect.provide(current, layer)
      const both = Effect.flatMap(current, (second) =>
        Effect.all([first(put(), Effect.void), second(put(), Effect.void)], { discard: true }))
      yield* Effect.provide(both, layer)
      assert.strictEqual((yield* Effect.flip(first(put(), Effect.void)))._tag, "ThrottledError")
    }))

  it.effect("is nothing by default", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* (yield* current)(put(), Effect.succeed(7)), 7)
    }))
})

class Port extends Context.Service<Port, {
  readonly call: (word: string) => Effect.Effect<string>
  readonly size: Effect.Effect<number>
}>()("test/Port") {
  static readonly base = Layer.succeed(this, {
    call: (word) => Effect.succeed(`base(${word})`),
    size: Effect.succeed(1)
  })
}
const wrap = (name: string) =>
  Middleware.decorate(Port, (below) => ({ call: (word) => Effect.map(below.call(word), (text) => `${name}(${text})`) }))
const call = Effect.flatMap(Port, (port) => port.call("x"))

describe("Middleware.decorate", () => {
  it.effect("changes some members of the port below and keeps the others", () =>
    Effect.gen(function*() {
      const layer: Layer.Layer<Port> = wrap("a").pipe(Layer.provide(Port.base))
      assert.strictEqual(yield* Effect.provide(call, layer), "a(base(x))")
      assert.strictEqual(yield* Effect.provide(Effect.flatMap(Port, (port) => port.size), layer), 1)
    }))

  it.effect("decorates what is decorated: the first in the pipe is the outermost", () =>
    Effect.gen(function*() {
      const layer = wrap("outer").pipe(Layer.provide(wrap("inner")), Layer.provide(Port.base))
      assert.strictEqual(yield* Effect.provide(call, layer), "outer(inner(base(x)))")
    }))

  it.effect("may be an effect with services and state of its own", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const counted = Middleware.decorate(Port, (below) =>
        Effect.gen(function*() {
          const audit = yield* Audit
          const calls = yield* Ref.make(0)
          return {
            call: (word) =>
              Effect.andThen(audit.write(word), Effect.andThen(Ref.update(calls, (n) => n + 1), below.call(word))),
            size: Ref.get(calls)
          }
        }))
      const needs: Layer.Layer<Port, never, Port | Audit> = counted
      const layer = needs.pipe(
        Layer.provide(Port.base),
        Layer.provide(Layer.succeed(Audit, { write: (line) => Effect.sync(() => void lines.push(line)) }))
      )
      const size = yield* Effect.provide(Effect.andThen(call, Effect.flatMap(Port, (port) => port.size)), layer)
      assert.strictEqual(size, 1)
      assert.deepStrictEqual(lines, ["x"])
    }))
})

describe("Middleware.timeout", () => {
  it.effect("interrupts at the limit and fails with an error that names operation and limit", () =>
    Effect.gen(function*() {
      const timeout = Middleware.timeout({ PutSink: "30 seconds" })
      const interrupted = yield* Ref.make(0)
      const fiber = yield* Effect.forkChild(
        Effect.flip(timeout(put("orders", 2), Effect.onInterrupt(Effect.never, () => Ref.set(interrupted, 1))))
      )
      yield* TestClock.adjust("29999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const error = yield* Fiber.join(fiber)
      assert.instanceOf(error, TransientError)
      assert.strictEqual(error.message, "PutSink of orders-2 took longer than 30s")
      assert.strictEqual(yield* Ref.get(interrupted), 1)
    }))

  it.effect("leaves other operations, and those that end in time, alone", () =>
    Effect.gen(function*() {
      const timeout = Middleware.timeout({ PutSink: "1 second" })
      const slow = yield* Effect.forkChild(timeout(start, Effect.as(Effect.sleep("1 hour"), "slow")))
      const quick = yield* Effect.forkChild(timeout(put(), Effect.as(Effect.sleep("999 millis"), "quick")))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([yield* Fiber.join(slow), yield* Fiber.join(quick)], ["slow", "quick"])
    }))
})

describe("Middleware.span", () => {
  it.effect("opens a span named after the operation, with connector and task", () =>
    Effect.gen(function*() {
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const operations = Effect.all([
        Middleware.span(put("orders", 3), Effect.void),
        Middleware.span(start, Effect.void)
      ])
      yield* Effect.withTracer(operations, tracer)
      assert.deepStrictEqual(spans.map((span) => span.name), ["PutSink", "StartConnector"])
      assert.deepStrictEqual(spans.map((span) => Object.fromEntries(span.attributes)), [
        { connector: "orders", task: 3 },
        { connector: "orders" }
      ])
    }))
})

describe("Middleware.metrics", () => {
  it.effect("counts by operation and outcome, and measures seconds of what ended by itself", () =>
    Effect.gen(function*() {
      const run = (effect: Effect.Effect<void, unknown>) =>
        Effect.forkChild(Middleware.metrics(put(), effect), { startImmediately: true })
      yield* run(Effect.sleep("3 seconds"))
      yield* run(Effect.andThen(Effect.sleep("1 second"), Effect.fail(down)))
      yield* run(Effect.andThen(Effect.sleep("1 second"), Effect.die("a bug")))
      const hanging = yield* run(Effect.never)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(hanging)
      const all = yield* Metric.snapshot
      const counts = all.flatMap((metric) =>
        metric.type === "Counter" && metric.id === "kelpie_operations_total"
          ? [[metric.attributes?.["operation"], metric.attributes?.["outcome"], Number(metric.state.count)]]
          : []
      )
      assert.sameDeepMembers(counts, [
        ["PutSink", "success", 1],
        ["PutSink", "failure", 2],
        ["PutSink", "interrupted", 1]
      ])
      const seconds = all.flatMap((metric) => metric.type === "Histogram" ? [metric.state] : [])
      assert.deepStrictEqual(seconds.map(({ count, max, min, sum }) => ({ count, max, min, sum })), [
        { count: 3, max: 3, min: 1, sum: 5 }
      ])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))
})

describe("Middleware.logging", () => {
  it.effect("warns of failures with their cause, and says the rest for debugging", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make(({ cause, logLevel, message }) => {
        const errors = cause.reasons.map((reason) => reason._tag === "Fail" && reason.error === down)
        lines.push(`${logLevel}: ${String(message)} ${errors.join(", ")}`.trim())
      })
      const run = (effect: Effect.Effect<void, TransientError>) =>
        Effect.forkChild(Middleware.logging(put("orders", 1), effect), { startImmediately: true })
      yield* Effect.gen(function*() {
        const hanging = yield* run(Effect.never)
        yield* run(Effect.andThen(Effect.sleep("2 seconds"), Effect.fail(down)))
        yield* TestClock.adjust("2 seconds")
        yield* run(Effect.void)
        yield* Fiber.interrupt(hanging)
      }).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Debug"))
      assert.deepStrictEqual(lines, [
        "Warn: PutSink of orders-1 failed after 2s true",
        "Debug: PutSink of orders-1 ended after 0",
        "Debug: PutSink of orders-1 was interrupted after 2s"
      ])
    }))

  it.effect("shows nothing of a command, which may hold a secret", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))
      const operation: Operation.Operation = {
        _tag: "SendToLeader",
        connector: "orders",
        command: { _tag: "PutConnector", name: "orders", config: { password: "hunter2" }, expect: "any" }
      }
      yield* Middleware.logging(operation, Effect.fail(down)).pipe(
        Effect.ignore,
        Effect.provide(Logger.layer([logger]))
      )
      assert.strictEqual(lines.length, 1)
      assert.notInclude(lines.join(), "hunter2")
    }))
})

describe("Middleware.concurrency", () => {
  it.effect("runs so many at the same time, the others in order", () =>
    Effect.gen(function*() {
      const limited = yield* Middleware.concurrency({ PutSink: 2 })
      const started: Array<number> = []
      const run = (n: number) =>
        Effect.forkChild(
          limited(put(), Effect.andThen(Effect.sync(() => started.push(n)), Effect.sleep("1 second"))),
          { startImmediately: true }
        )
      yield* Effect.forEach([1, 2, 3, 4, 5], run)
      assert.deepStrictEqual(started, [1, 2])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(started, [1, 2, 3, 4])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(started, [1, 2, 3, 4, 5])
    }))

  it.effect("gives a place back when an operation fails, dies or is interrupted", () =>
    Effect.gen(function*() {
      const limited = yield* Middleware.concurrency({ PutSink: 1 })
      yield* Effect.exit(limited(put(), Effect.fail(down)))
      yield* Effect.exit(limited(put(), Effect.die("a bug")))
      yield* Fiber.interrupt(yield* Effect.forkChild(limited(put(), Effect.never), { startImmediately: true }))
      assert.strictEqual(yield* limited(put(), Effect.succeed(1)), 1)
      assert.strictEqual(yield* limited(start, Effect.succeed(2)), 2)
    }))

  it.effect("names operation and number when the limit makes no sense", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Middleware.concurrency({ PutSink: 0 }))
      assert.include(
        Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "",
        "Middleware.concurrency: PutSink must be a whole number from 1, not 0"
      )
    }))
})

describe("Middleware.rateLimit", () => {
  it.effect("starts at most so many within any window, and lets the others wait in order", () =>
    Effect.gen(function*() {
      const limited = yield* Middleware.rateLimit({ PutSink: { limit: 2, window: "10 seconds" } })
      const starts: Array<readonly [number, number]> = []
      const run = (n: number) =>
        Effect.forkChild(
          limited(put(), Effect.map(Clock.currentTimeMillis, (now) => starts.push([n, now]))),
          { startImmediately: true }
        )
      yield* run(1)
      yield* TestClock.adjust("4 seconds")
      yield* Effect.forEach([2, 3, 4, 5], run)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(starts, [[1, 0], [2, 4000], [3, 10_000], [4, 14_000], [5, 20_000]])
    }))

  it.effect("takes no turn for one that is interrupted while it waits", () =>
    Effect.gen(function*() {
      const limited = yield* Middleware.rateLimit({ PutSink: { limit: 1, window: "10 seconds" } })
      const starts: Array<readonly [number, number]> = []
      const run = (n: number) =>
        Effect.forkChild(
          limited(put(), Effect.map(Clock.currentTimeMillis, (now) => starts.push([n, now]))),
          { startImmediately: true }
        )
      yield* run(1)
      const second = yield* run(2)
      yield* run(3)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.interrupt(second)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(starts, [[1, 0], [3, 10_000]])
    }))

  it.effect("says how long to wait when it does not wait itself", () =>
    Effect.gen(function*() {
      const limited = yield* Middleware.rateLimit({ PutSink: { limit: 1, window: "10 seconds", exceeded: "fail" } })
      yield* limited(put(), Effect.void)
      yield* TestClock.adjust("3 seconds")
      const error = yield* Effect.flip(limited(put(), Effect.void))
      assert.instanceOf(error, ThrottledError)
      assert.strictEqual(Duration.toMillis(error.retryAfter), 7000)
      yield* TestClock.adjust("7 seconds")
      yield* limited(put(), Effect.void)
    }))
})

describe("Middleware.circuitBreaker", () => {
  const make = Middleware.circuitBreaker({
    on: ["PutSink"],
    key: (operation) => operation.connector,
    failures: 3,
    cooldown: "10 seconds"
  })
  const broken = Effect.fail(down)
  const failTimes = (breaker: Middleware.Middleware, times: number, connector = "orders") =>
    Effect.forEach(Array.from({ length: times }), () => Effect.flip(breaker(put(connector), broken)))
  const refusal = (breaker: Middleware.Middleware, connector = "orders") =>
    Effect.flip(breaker(put(connector), Effect.die("must not run")))

  it.effect("opens after so many failures in a row, and tells until when", () =>
    Effect.gen(function*() {
      const breaker = yield* make
      assert.deepStrictEqual(yield* failTimes(breaker, 3), [down, down, down])
      const error = yield* refusal(breaker)
      assert.instanceOf(error, ThrottledError)
      assert.strictEqual(Duration.toMillis(error.retryAfter), 10_000)
      yield* TestClock.adjust("9999 millis")
      const last = yield* refusal(breaker)
      assert.instanceOf(last, ThrottledError)
      assert.strictEqual(Duration.toMillis(last.retryAfter), 1)
    }))

  it.effect("starts to count anew after a success", () =>
    Effect.gen(function*() {
      const breaker = yield* make
      yield* failTimes(breaker, 2)
      yield* breaker(put(), Effect.void)
      yield* failTimes(breaker, 2)
      assert.strictEqual(yield* breaker(put(), Effect.succeed("open to all")), "open to all")
    }))

  it.effect("lets one through after the cooldown, whose success closes it", () =>
    Effect.gen(function*() {
      const breaker = yield* make
      yield* failTimes(breaker, 3)
      yield* TestClock.adjust("10 seconds")
      const probe = yield* Effect.forkChild(breaker(put(), Effect.sleep("1 second")), { startImmediately: true })
      assert.instanceOf(yield* refusal(breaker), TransientError)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(probe)
      yield* failTimes(breaker, 2)
      assert.strictEqual(yield* breaker(put(), Effect.succeed("closed")), "closed")
    }))

  it.effect("opens for another cooldown when that one fails", () =>
    Effect.gen(function*() {
      const breaker = yield* make
      yield* failTimes(breaker, 3)
      yield* TestClock.adjust("10 seconds")
      yield* failTimes(breaker, 1)
      yield* TestClock.adjust("9999 millis")
      assert.instanceOf(yield* refusal(breaker), ThrottledError)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* breaker(put(), Effect.succeed("closed")), "closed")
    }))

  it.effect("lets the next one through when that one is interrupted", () =>
    Effect.gen(function*() {
      const breaker = yield* make
      yield* failTimes(breaker, 3)
      yield* TestClock.adjust("10 seconds")
      const probe = yield* Effect.forkChild(breaker(put(), Effect.never), { startImmediately: true })
      yield* Fiber.interrupt(probe)
      assert.strictEqual(yield* breaker(put(), Effect.succeed("closed")), "closed")
    }))

  it.effect("counts an interruption neither as a failure nor as a success", () =>
    Effect.gen(function*() {
      const breaker = yield* make
      const interrupt = Effect.flatMap(
        Effect.forkChild(breaker(put(), Effect.never), { startImmediately: true }),
        Fiber.interrupt
      )
      yield* Effect.repeat(interrupt, { times: 5 })
      yield* failTimes(breaker, 2)
      yield* interrupt
      yield* failTimes(breaker, 1)
      assert.instanceOf(yield* refusal(breaker), ThrottledError)
    }))

  it.effect("counts defects, but not permanent errors: those are answers", () =>
    Effect.gen(function*() {
      const breaker = yield* make
      const refused = new PermanentError({ message: "no such table" })
      yield* Effect.repeat(Effect.flip(breaker(put(), Effect.fail(refused))), { times: 9 })
      yield* Effect.repeat(Effect.exit(breaker(put(), Effect.die("a bug"))), { times: 2 })
      assert.instanceOf(yield* refusal(breaker), ThrottledError)
    }))

  it.effect("counts what it is told to count", () =>
    Effect.gen(function*() {
      const breaker = yield* Middleware.circuitBreaker({
        on: ["PutSink"],
        key: () => "all",
        failures: 1,
        cooldown: "1 second",
        isFailure: (error) => error === "fatal"
      })
      yield* Effect.flip(breaker(put(), Effect.fail("small")))
      yield* Effect.flip(breaker(put(), Effect.fail("fatal")))
      assert.instanceOf(yield* refusal(breaker), ThrottledError)
    }))

  it.effect("keeps the circuits of keys apart, and leaves other operations alone", () =>
    Effect.gen(function*() {
      const breaker = yield* make
      yield* failTimes(breaker, 3, "orders")
      assert.strictEqual(yield* breaker(put("users"), Effect.succeed("closed")), "closed")
      assert.strictEqual(yield* breaker(start, Effect.succeed("not guarded")), "not guarded")
      assert.instanceOf(yield* refusal(breaker, "orders"), ThrottledError)
    }))

  it.effect("ignores how operations end that were let through before it opened", () =>
    Effect.gen(function*() {
      const breaker = yield* make
      const slowSuccess = yield* Effect.forkChild(breaker(put(), Effect.sleep("2 seconds")), { startImmediately: true })
      const slowFailure = yield* Effect.forkChild(
        Effect.flip(breaker(put(), Effect.andThen(Effect.sleep("12 seconds"), broken))),
        { startImmediately: true }
      )
      yield* failTimes(breaker, 3)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(slowSuccess)
      assert.instanceOf(yield* refusal(breaker), ThrottledError)
      yield* TestClock.adjust("8 seconds")
      yield* breaker(put(), Effect.void)
      yield* failTimes(breaker, 2)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(slowFailure)
      assert.strictEqual(yield* breaker(put(), Effect.succeed("closed")), "closed")
    }))

  it.effect("is not confused by a wall clock that jumps", () =>
    Effect.gen(function*() {
      const breaker = yield* make
      yield* TestClock.adjust("1 hour")
      yield* failTimes(breaker, 3)
      yield* TestClock.setTime(0)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* breaker(put(), Effect.succeed("closed")), "closed")
    }))
})
