import { assert, describe, it } from "@effect/vitest"
import * as SeenRequests from "../src/internal/seenRequests.ts"

const make = (capacity = 1000) => SeenRequests.make({ skewMillis: 30_000, capacity })

describe("requests that were seen", () => {
  it("are known as long as their signature is accepted", () => {
    const seen = make()
    assert.isTrue(seen.isNew("a", 30_000, 0))
    for (const now of [0, 30_000, 60_000]) assert.isFalse(seen.isNew("a", 30_000, now))
    assert.isTrue(seen.isNew("b", 30_000, 60_000))
  })

  it("are forgotten when it is not accepted any more", () => {
    const seen = make(3)
    for (let minute = 0; minute < 10; minute++) {
      const now = minute * 120_000
      for (const nonce of ["a", "b", "c"]) assert.isTrue(seen.isNew(nonce, now, now))
      for (const nonce of ["a", "b", "c"]) assert.isFalse(seen.isNew(nonce, now, now))
    }
  })

  it("count as seen when there are too many, oldest first", () => {
    const seen = make(3)
    for (const n of [2, 1, 3]) assert.isTrue(seen.isNew(`${n}`, n * 1000, 4000))
    assert.isTrue(seen.isNew("4", 4000, 4000))
    // the first second is forgotten: what comes from it is not new for certain
    assert.isFalse(seen.isNew("1", 1000, 4000))
    assert.isFalse(seen.isNew("another", 1999, 4000))
    for (const n of [2, 3, 4]) assert.isFalse(seen.isNew(`${n}`, n * 1000, 4000))
  })

  it("are not new again when the clock was set back a little", () => {
    const seen = make()
    assert.isTrue(seen.isNew("a", 100_000, 100_000))
    assert.isTrue(seen.isNew("b", 140_000, 140_000))
    assert.isFalse(seen.isNew("a", 100_000, 110_000))
  })

  it("do not keep anybody out when the clock was far ahead", () => {
    const seen = make(3)
    const wrong = 4_000_000_000_000
    for (const n of [0, 1, 2, 3]) assert.isTrue(seen.isNew(`${n}`, wrong + n * 1000, wrong + n * 1000))
    // what is left from then takes no room
    for (const nonce of ["a", "b", "c"]) assert.isTrue(seen.isNew(nonce, 1000, 1000))
    for (const nonce of ["a", "b", "c"]) assert.isFalse(seen.isNew(nonce, 1000, 1000))
  })
})
