import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as Evenly from "../src/internal/evenly.ts"

/** What a distribution costs: the squared loads, then what left its place. */
const cost = (fixed: ReadonlyArray<number>, kinds: ReadonlyArray<Evenly.Kind>, counts: Evenly.Distribution) => {
  const squares = Evenly.loadsOf(fixed, counts).reduce((sum, load) => sum + load * load, 0)
  const moves = kinds.reduce(
    (sum, { at }, kind) =>
      at.reduce((all, before, place) => all + Math.max(0, before - (counts[kind]?.[place] ?? 0)), sum),
    0
  )
  return { squares, moves }
}

/** Every way to put so many items to some places. */
const ways = (count: number, able: ReadonlyArray<number>, size: number): ReadonlyArray<ReadonlyArray<number>> => {
  const [first, ...others] = able
  if (first === undefined) return count === 0 ? [new Array<number>(size).fill(0)] : []
  return Array.from(
    { length: count + 1 },
    (_, here) => ways(count - here, others, size).map((rest) => rest.map((n, place) => place === first ? here : n))
  ).flat()
}

/** The cheapest of all distributions. */
const cheapest = (fixed: ReadonlyArray<number>, kinds: ReadonlyArray<Evenly.Kind>) => {
  let all: ReadonlyArray<Evenly.Distribution> = [[]]
  for (const { able, at, free } of kinds) {
    const own = ways(at.reduce((sum, n) => sum + n, free), able, fixed.length)
    all = all.flatMap((before) => own.map((one) => [...before, one]))
  }
  const costs = all.map((one) => cost(fixed, kinds, one))
  return costs.reduce((a, b) => b.squares < a.squares || b.squares === a.squares && b.moves < a.moves ? b : a)
}

describe("spread", () => {
  it("puts what is nowhere to the least loaded places, and leaves what is level", () => {
    assert.deepStrictEqual(Evenly.spread([3, 0, 1], [{ able: [0, 1, 2], at: [0, 0, 0], free: 3 }]), [[0, 2, 1]])
    assert.deepStrictEqual(Evenly.spread([0, 0], [{ able: [0, 1], at: [3, 2], free: 0 }]), [[3, 2]])
  })

  it("moves along others where there is no direct way", () => {
    const kinds = [{ able: [0, 1], at: [3, 0, 0], free: 0 }, { able: [1, 2], at: [0, 2, 1], free: 0 }]
    assert.deepStrictEqual(Evenly.spread([0, 0, 0], kinds), [[2, 1, 0], [0, 1, 2]])
  })

  it("levels thousands of items over many places at once", () => {
    const places = Array.from({ length: 40 }, (_, place) => place)
    const at = places.map((place) => place < 30 ? 400 : 0)
    const [counts = []] = Evenly.spread(places.map(() => 0), [{ able: places, at, free: 7 }])
    assert.deepStrictEqual([Math.min(...counts), Math.max(...counts)], [300, 301])
    assert.deepStrictEqual(cost([], [{ able: places, at, free: 7 }], [counts]).moves, 3000 - 7)
  })

  const small = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
  const kind = Schema.Struct({
    able: small(14),
    at: Schema.Tuple([small(2), small(2), small(2), small(2)]),
    free: small(2)
  })

  it.prop("gives the best distribution of all, with the fewest moves", [
    Arbitrary.schema(Schema.Tuple([small(3), small(3), small(3), small(3)])),
    Arbitrary.array(Arbitrary.schema(kind), { minLength: 1, maxLength: 3 })
  ], ([fixed, given]) => {
    const kinds = given.map(({ able, at, free }) => {
      const places = [0, 1, 2, 3].filter((place) => ((able + 1) >> place & 1) === 1)
      return { able: places, at: at.map((n, place) => places.includes(place) ? n : 0), free }
    })
    const found = Evenly.spread(fixed, kinds)
    found.forEach((counts, at) => {
      const one = kinds[at]
      assert.isTrue(counts.every((n, place) => n >= 0 && (n === 0 || one?.able.includes(place) === true)))
      assert.strictEqual(counts.reduce((a, b) => a + b, 0), one?.at.reduce((a, b) => a + b, one.free))
    })
    assert.deepStrictEqual(cost(fixed, kinds, found), cheapest(fixed, kinds))
  }, { arbitrary: { runs: 300 }, timeout: 60_000 })
})
