import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as Deadlines from "../src/internal/deadlines.ts"

/** A time that is added, or `undefined` for taking the earliest. */
const operations = Arbitrary.array(
  Arbitrary.schema(Schema.UndefinedOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 })))),
  { maxLength: 200 }
)

/** Every deadline, in the order in which they are taken. */
const drain = (from: Deadlines.Deadlines): ReadonlyArray<Deadlines.Deadline> => {
  const all: Array<Deadlines.Deadline> = []
  let self = from
  for (let first = Deadlines.first(self); first !== undefined; first = Deadlines.first(self)) {
    all.push(first)
    self = Deadlines.rest(self)
  }
  return all
}
const times = (deadlines: ReadonlyArray<Deadlines.Deadline>) => deadlines.map((deadline) => deadline.at)
const keys = (deadlines: ReadonlyArray<Deadlines.Deadline>) => deadlines.map((deadline) => deadline.key).sort()

describe("deadlines", () => {
  it("are none in the beginning, and none after taking one of none", () => {
    assert.isUndefined(Deadlines.first(Deadlines.empty))
    assert.isUndefined(Deadlines.first(Deadlines.rest(Deadlines.empty)))
  })

  it.prop("give the earliest first, as a sorted list does, and lose none", [operations], ([operations]) => {
    let self = Deadlines.empty
    let model: Array<Deadlines.Deadline> = []
    for (const [index, at] of operations.entries()) {
      if (at === undefined) {
        const first = Deadlines.first(self)
        model = model.filter((one) => one.key !== first?.key)
        self = Deadlines.rest(self)
      } else {
        self = Deadlines.add(self, at, `${index}`)
        model = [...model, { at, key: `${index}` }].sort((a, b) => a.at - b.at)
      }
      assert.strictEqual(Deadlines.first(self)?.at, model[0]?.at)
    }
    const left = drain(self)
    assert.deepStrictEqual(times(left), times(model))
    assert.deepStrictEqual(keys(left), keys(model))
  }, { arbitrary: { size: 200 } })

  it.prop("do not change when others are made from them", [operations], ([operations]) => {
    const versions: Array<readonly [Deadlines.Deadlines, ReadonlyArray<Deadlines.Deadline>]> = []
    let self = Deadlines.empty
    for (const [index, at] of operations.slice(0, 40).entries()) {
      self = at === undefined ? Deadlines.rest(self) : Deadlines.add(self, at, `${index}`)
      versions.push([self, drain(self)])
    }
    for (const [version, content] of versions) assert.deepStrictEqual(drain(version), content)
  }, { arbitrary: { size: 200 } })

  it("take any number in one order without a deep stack", () => {
    let self = Deadlines.empty
    for (let at = 100_000; at > 0; at--) self = Deadlines.add(self, at, "k")
    self = Deadlines.rest(self)
    assert.strictEqual(Deadlines.first(self)?.at, 2)
    let up = Deadlines.empty
    for (let at = 1; at <= 100_000; at++) up = Deadlines.add(up, at, "k")
    assert.strictEqual(Deadlines.first(Deadlines.rest(up))?.at, 2)
  })
})
