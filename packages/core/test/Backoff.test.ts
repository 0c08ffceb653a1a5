import { assert, describe, it } from "@effect/vitest"
import { Backoff } from "@kelpie/core"
import { Duration, Effect, Schedule, Schema } from "effect"

const curve = [250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]

describe("Backoff", () => {
  it("waits 250 ms, doubles, and stays at 60 s", () => {
    const delay = Backoff.exponential(250, 60_000)
    assert.deepStrictEqual(curve.map((_, index) => delay(index + 1)), curve)
  })

  it("does not overflow at attempt 10,000, nor with a large factor", () => {
    assert.strictEqual(Backoff.exponential(250, 60_000)(10_000), 60_000)
    assert.strictEqual(Backoff.exponential(1, 60_000, 1e9)(10_000), 60_000)
    assert.strictEqual(Backoff.fromSchedule(Backoff.defaultSchedule)(10_000), 60_000)
  })

  it.prop(
    "gives the same delays from the default schedule as from the formula",
    { failures: smallInt() },
    ({ failures }) => {
      assert.strictEqual(
        Backoff.fromSchedule(Backoff.defaultSchedule)(failures),
        Backoff.exponential(250, 60_000)(failures)
      )
    }
  )

  it("remembers the delays of a schedule in whatever order they are asked for", () => {
    const delay = Backoff.fromSchedule(Backoff.defaultSchedule)
    assert.deepStrictEqual([5, 1, 9, 5].map(delay), [4000, 250, 60_000, 4000])
  })

  it("ends after the number of recurrences of a bounded schedule", () => {
    const delay = Backoff.fromSchedule(Schedule.max([Backoff.defaultSchedule, Schedule.recurs(3)]))
    assert.deepStrictEqual([1, 2, 3, 4, 5, 10_000].map(delay), [250, 500, 1000, undefined, undefined, undefined])
  })

  it("counts the delays as the elapsed time of a schedule that is bounded in time", () => {
    const delay = Backoff.fromSchedule(Backoff.defaultSchedule.pipe(Schedule.upTo({ duration: "2 seconds" })))
    assert.deepStrictEqual([1, 2, 3, 4, 5].map(delay), [250, 500, 1000, 2000, undefined])
  })

  it("reports a schedule that fails instead of ending for ever", () => {
    const broken = Schedule.fromStep(Effect.succeed(() => Effect.die(new Error("no such table"))))
    assert.throws(() => Backoff.fromSchedule(broken)(1), /no such table/)
    const async = Schedule.fromStep(
      Effect.succeed(() => Effect.as(Effect.never, [undefined, Duration.zero] as [undefined, Duration.Duration]))
    )
    assert.throws(() => Backoff.fromSchedule(async)(1))
  })

  it("draws the same number for the same words, and another one for others", () => {
    assert.strictEqual(Backoff.draw("seed", "orders", 1), Backoff.draw("seed", "orders", 1))
    assert.notStrictEqual(Backoff.draw("seed", "orders", 1), Backoff.draw("seed", "orders", 2))
    assert.notStrictEqual(Backoff.draw("a", "bc"), Backoff.draw("ab", "c"))
  })

  it("spreads similar names evenly over [0, 1)", () => {
    const buckets = new Array<number>(10).fill(0)
    for (let i = 0; i < 10_000; i++) {
      const drawn = Backoff.draw("seed", `orders-${i}`, 3)
      assert.isTrue(drawn >= 0 && drawn < 1)
      const bucket = Math.floor(drawn * 10)
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
    }
    // the standard deviation of a bucket of 1,000 is 30
    for (const count of buckets) assert.isTrue(Math.abs(count - 1000) < 150, buckets.join(", "))
  })
})

function smallInt() {
  return Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))
}
