import { assert, describe, it } from "@effect/vitest"
import { type Backoff, ReconfigurationPolicy, RestartPolicy } from "@kelpie/core"
import type { Lane } from "@kelpie/herder"
import { Duration, Effect, Schema } from "effect"
import * as Policies from "../src/internal/policies.ts"

type Settings = Effect.Success<typeof ReconfigurationPolicy>

const read = (
  config: Record<string, string> = {},
  change: Partial<Settings> = {},
  restart: Partial<Effect.Success<typeof RestartPolicy>> = {},
  about = { seed: "seed", name: "orders", incarnation: "i" }
) =>
  Effect.map(
    Effect.all([ReconfigurationPolicy, RestartPolicy]),
    ([reconfiguration, restarts]) =>
      Policies.make({ ...reconfiguration, ...change }, { ...restarts, ...restart }, about.seed)(
        about.name,
        about.incarnation,
        config
      )
  )

const tries = (failures: number, more: Partial<Lane.Tries> = {}): Lane.Tries => ({
  failures,
  defects: 0,
  firstAt: 0,
  lastAt: 0,
  last: { class: "transient", stage: "generating", message: "no" },
  ...more
})
const delays = (policy: Lane.Policy, ...failures: ReadonlyArray<number>) =>
  failures.map((n) => policy.delayMillis(tries(n)))

describe("the policy of a lane (laws 6 and 8)", () => {
  it.effect("doubles from 250 ms to 60 s for ever, without jitter, by default", () =>
    Effect.gen(function*() {
      const { lane } = yield* read()
      assert.deepStrictEqual(
        delays(lane, 1, 2, 3, 8, 9, 10, 11, 1001, 10_000, Number.MAX_SAFE_INTEGER),
        [250, 500, 1000, 32_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000]
      )
      assert.strictEqual(lane.maxDefects, 10)
      assert.isTrue(lane.failsWhenExhausted)
    }))

  it.effect("takes first delay, cap, bounds and the end of the row from the config", () =>
    Effect.gen(function*() {
      const { lane } = yield* read({
        "reconfiguration.retry.backoff.ms": "1000",
        "reconfiguration.retry.backoff.max.ms": "5000",
        "reconfiguration.retry.max.attempts": "6",
        "reconfiguration.retry.exhausted": "park"
      })
      assert.deepStrictEqual(delays(lane, 1, 2, 3, 4, 5, 6), [1000, 2000, 4000, 5000, 5000, undefined])
      assert.isFalse(lane.failsWhenExhausted)
      const other = yield* read({ "reconfiguration.retry.backoff.ms": "7" })
      assert.deepStrictEqual(delays(other.lane, 1, 10_000), [7, 60_000], "what is left out is the runtime's")
    }))

  it.effect("gives up so long after the first failure, not before", () =>
    Effect.gen(function*() {
      const { lane } = yield* read({ "reconfiguration.retry.timeout.ms": "1000" })
      assert.strictEqual(lane.delayMillis(tries(3, { firstAt: 5000, lastAt: 5999 })), 1000)
      assert.isUndefined(lane.delayMillis(tries(4, { firstAt: 5000, lastAt: 6000 })))
      const bounded = yield* read({}, { maxElapsed: Duration.seconds(1), maxAttempts: 3 })
      assert.isUndefined(bounded.lane.delayMillis(tries(2, { lastAt: 1000 })))
      assert.deepStrictEqual(delays(bounded.lane, 2, 3), [500, undefined])
    }))

  it.effect("leaves out numbers that are none, such as a variable", () =>
    Effect.gen(function*() {
      const { lane } = yield* read({
        "reconfiguration.retry.backoff.ms": "${file:f:delay}",
        "reconfiguration.retry.max.attempts": "0",
        "reconfiguration.retry.timeout.ms": "-1"
      })
      assert.deepStrictEqual(delays(lane, 1, 100), [250, 60_000])
    }))

  it.effect("asks a policy in code with all that it may use, and gives up when it does", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const { lane } = yield* read({}, {
        delay: (failures, elapsedMillis, failure) => {
          asked.push([failures, elapsedMillis, failure.class])
          return [undefined, 10, 90_000, NaN, -1, 0][failures]
        }
      })
      assert.deepStrictEqual(delays(lane, 1, 2, 3, 4, 5, 6), [10, 60_000, undefined, undefined, 0, undefined])
      lane.delayMillis(tries(1, { firstAt: 100, lastAt: 350 }))
      assert.deepStrictEqual(asked.at(-1), [1, 250, "transient"])
    }))

  it.effect("waits as long as a throttled failure asks for, also above the cap and beside jitter", () =>
    Effect.gen(function*() {
      const throttled = (retryAfterMillis: number) =>
        tries(1, { last: { class: "throttled", stage: "generating", message: "slow down", retryAfterMillis } })
      for (const jitter of ["none", "equal"] as const) {
        const { lane } = yield* read({}, { jitter })
        assert.strictEqual(lane.delayMillis(throttled(90_000)), 90_000)
        assert.isAtLeast(lane.delayMillis(throttled(1)) ?? 0, 125, "a hint never shortens")
      }
    }))

  it.effect.prop("draws equal jitter between half of the delay and all of it, the same for the same words", {
    name: Schema.String,
    incarnation: Schema.String,
    failures: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000 }))
  }, ({ failures, incarnation, name }) =>
    Effect.gen(function*() {
      const about = { seed: "s", name, incarnation }
      const { lane } = yield* read({ "reconfiguration.retry.jitter": "equal" }, {}, {}, about)
      const again = yield* read({}, { jitter: "equal" }, {}, about)
      const full = Math.min(60_000, 250 * 2 ** Math.min(failures - 1, 20))
      const [delay] = delays(lane, failures)
      assert.isAtLeast(delay ?? 0, full / 2)
      assert.isAtMost(delay ?? Infinity, full)
      assert.deepStrictEqual(delays(again.lane, failures), [delay])
    }))

  it.effect("spreads connectors, incarnations, attempts and runtimes", () =>
    Effect.gen(function*() {
      const at = (about: { seed: string; name: string; incarnation: string }, failures: number) =>
        Effect.map(read({}, { jitter: "equal" }, {}, about), ({ lane }) => lane.delayMillis(tries(failures)))
      const base = { seed: "a", name: "b", incarnation: "c" }
      const drawn = yield* Effect.all([
        at(base, 20),
        at({ ...base, seed: "x" }, 20),
        at({ ...base, name: "x" }, 20),
        at({ ...base, incarnation: "x" }, 20),
        at(base, 21)
      ])
      assert.strictEqual(new Set(drawn).size, 5)
    }))

  it.effect("lets the config turn jitter off", () =>
    Effect.gen(function*() {
      const { lane } = yield* read({ "reconfiguration.retry.jitter": "none" }, { jitter: "equal" })
      assert.deepStrictEqual(delays(lane, 1, 2), [250, 500])
    }))
})

describe("the policy of restarts", () => {
  it.effect("is off by default, and on by the runtime or by the config", () =>
    Effect.gen(function*() {
      assert.isUndefined((yield* read()).restart.delayMillis(1))
      assert.strictEqual((yield* read({}, {}, { enabled: true })).restart.delayMillis(1), 1000)
      assert.strictEqual((yield* read({ "restart.policy": "on-failure" })).restart.delayMillis(2), 2000)
      assert.isUndefined((yield* read({ "restart.policy": "none" }, {}, { enabled: true })).restart.delayMillis(1))
    }))

  it.effect("takes delays, budget and window from the config, and never exceeds the cap", () =>
    Effect.gen(function*() {
      const { restart } = yield* read({
        "restart.policy": "on-failure",
        "restart.backoff.ms": "10",
        "restart.backoff.max.ms": "35",
        "restart.max.attempts": "7",
        "restart.window.ms": "99"
      })
      assert.deepStrictEqual([1, 2, 3, 10_000].map(restart.delayMillis), [10, 20, 35, 35])
      assert.deepStrictEqual([restart.budget, restart.windowMillis], [7, 99])
      const defaults = yield* read({ "restart.policy": "on-failure" })
      assert.deepStrictEqual([defaults.restart.budget, defaults.restart.windowMillis], [5, 600_000])
      assert.strictEqual(defaults.restart.delayMillis(10_000), 300_000)
    }))

  it.effect("ends when the policy in code ends", () =>
    Effect.gen(function*() {
      const delay: Backoff.Backoff = (restarts) => restarts < 2 ? 5 : undefined
      const { restart } = yield* read({ "restart.policy": "on-failure" }, {}, { delay })
      assert.deepStrictEqual([1, 2].map(restart.delayMillis), [5, undefined])
    }))
})
