import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as Fifo from "../src/internal/fifo.ts"

/** A value that is pushed, or `undefined` for a pop. */
const operations = Arbitrary.array(Arbitrary.schema(Schema.UndefinedOr(Schema.Int)), { maxLength: 200 })

const drain = (from: Fifo.Fifo<number>): ReadonlyArray<number> => {
  const all: Array<number> = []
  for (let next = Fifo.pop(from); next !== undefined; next = Fifo.pop(next[1])) all.push(next[0])
  return all
}

describe("a queue", () => {
  it("has nothing in the beginning", () => {
    assert.isUndefined(Fifo.pop(Fifo.empty))
  })

  it.prop("gives first what came first, as an array does", [operations], ([operations]) => {
    let self: Fifo.Fifo<number> = Fifo.empty
    const model: Array<number> = []
    for (const value of operations) {
      if (value === undefined) {
        const next = Fifo.pop(self)
        assert.strictEqual(next?.[0], model.shift())
        if (next !== undefined) self = next[1]
      } else {
        self = Fifo.push(self, value)
        model.push(value)
      }
    }
    assert.deepStrictEqual(drain(self), model)
  }, { arbitrary: { size: 200 } })

  it.prop("does not change when others are made from it", [operations], ([operations]) => {
    const versions: Array<readonly [Fifo.Fifo<number>, ReadonlyArray<number>]> = []
    let self: Fifo.Fifo<number> = Fifo.empty
    for (const value of operations) {
      self = value === undefined ? Fifo.pop(self)?.[1] ?? self : Fifo.push(self, value)
      versions.push([self, drain(self)])
    }
    for (const [version, content] of versions) assert.deepStrictEqual(drain(version), content)
  }, { arbitrary: { size: 60 } })
})
