import { assert, describe, it } from "@effect/vitest"
import { RegexRouter } from "@kelpie/connectors/RegexRouter"
import { assertRefused, sunk, transform, valued } from "./transforming.ts"

const routed = (regex: string, replacement: string, topic: string) =>
  transform(RegexRouter, { regex, replacement })({ ...valued(1), topic })?.topic

describe("RegexRouter", () => {
  it("renames a topic whose whole name matches", () => {
    assert.strictEqual(routed("([^.]+)\\.([^.]+)\\.([^.]+)", "$3-$1", "db.public.orders"), "orders-db")
    assert.strictEqual(routed("(?<env>\\w+)-(?<name>.*)", "${name}_${env}", "prod-orders"), "orders_prod")
    assert.strictEqual(routed(".*", "all", "orders"), "all")
  })

  it("leaves a topic that matches in part only", () => {
    assert.strictEqual(routed("order", "x", "orders"), "orders")
    const record = valued(1)
    assert.strictEqual(transform(RegexRouter, { regex: "order", replacement: "x" })(record), record)
  })

  it("replaces the first part that it finds, which need not be the whole", () => {
    assert.strictEqual(routed("a|ab", "x", "ab"), "xb")
  })

  it("keeps the rest of a record of a sink", () => {
    const record = sunk(valued(null))
    const result = transform(RegexRouter, { regex: "ord(.*)", replacement: "$1" })(record)
    assert.deepStrictEqual(result, { ...record, topic: "ers" })
  })

  it("gives every record of a topic the same name, for more topics than it remembers", () => {
    const route = transform(RegexRouter, { regex: "t(\\d+)", replacement: "x$1" })
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 1500; i++) assert.strictEqual(route({ topic: `t${i}`, value: 1 })?.topic, `x${i}`)
    }
  })

  it("refuses a record whose topic would have no name", () => {
    assertRefused(() => routed("orders(.*)", "$1", "orders"), "RegexRouter", "empty")
  })

  it("reads the replacement as Java does", () => {
    assert.strictEqual(routed("(a)(b)?.*", "[$1][$2]", "axx"), "[a][]")
    assert.strictEqual(routed("(.).*", "$12", "axx"), "a2")
    assert.strictEqual(routed("(.).*", "$0-$1", "axx"), "axx-a")
    assert.strictEqual(routed("(.).*", "\\$1\\\\", "axx"), "$1\\")
  })

  it("refuses a bad configuration", () => {
    assertRefused(() => transform(RegexRouter, {}), "regex", "replacement")
    assertRefused(() => transform(RegexRouter, { regex: "(", replacement: "x" }), "configuration regex", "not closed")
    for (const replacement of ["$", "$2", "${x}", "${x", "a\\", "$x"]) {
      assertRefused(() => transform(RegexRouter, { regex: "(a)", replacement }), "RegexRouter", "replacement")
    }
  })
})
